//! Recorded launches: the state of recording, and the graph that comes out.

use super::buffer::BufferView;
use super::driver::{Driver, GraphHandle, Owned};
use super::error::ComputeError;

/// A graph of launches, instantiated and on the device. It refers to the views that its launches
/// used: a replay after their release is refused.
#[derive(Debug)]
pub struct CapturedGraph<D: Driver> {
    pub(super) graph: Owned<D, GraphHandle>,
    pub(super) views: Vec<BufferView>,
    pub(super) launches: usize,
}

impl<D: Driver> CapturedGraph<D> {
    /// Launches in the graph.
    pub fn launches(&self) -> usize {
        self.launches
    }
}

/// Whether launches run or are recorded.
///
/// `Idle` → begin → `Recording` → end → `Idle`. A launch that the driver refuses while recording
/// leads to `Broken`, from which only the end leads on, with an error. Nothing is allocated, written
/// from the host, read or waited for while recording.
#[derive(Debug, Default)]
pub(super) enum CaptureState {
    #[default]
    Idle,
    Recording {
        views: Vec<BufferView>,
        launches: usize,
    },
    Broken,
}

impl CaptureState {
    /// An error unless launches run.
    pub(super) fn require_idle(&self, operation: &'static str) -> Result<(), ComputeError> {
        match self {
            Self::Idle => Ok(()),
            _ => Err(ComputeError::RecordingForbids { operation }),
        }
    }

    pub(super) fn is_idle(&self) -> bool {
        matches!(self, Self::Idle)
    }

    /// Notes a launch, where launches are recorded.
    pub(super) fn launched<'a>(&mut self, used: impl Iterator<Item = &'a BufferView>) {
        if let Self::Recording { views, launches } = self {
            *launches += 1;
            for view in used {
                if !views.contains(view) {
                    views.push(*view);
                }
            }
        }
    }

    /// Notes that the driver refused something.
    pub(super) fn broke(&mut self) {
        if !self.is_idle() {
            *self = Self::Broken;
        }
    }
}
