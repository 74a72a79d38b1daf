//! Where a point of the sweep stands among the points that were run.

use super::view::View;
use crate::output::read::{ReadError, ResultFile, SweepAxis};

/// The axes of an array's points, and which of their combinations the array holds.
#[derive(Clone, Debug)]
pub struct Points {
    /// The axes, the last fastest; of a zip the first alone.
    pub axes: Vec<SweepAxis>,
    /// Numbers of the points that were run, if not all.
    numbers: Option<Vec<i64>>,
}

impl Points {
    /// The points of an array.
    ///
    /// # Errors
    /// If the numbers of its points can't be read.
    pub fn of(result: &ResultFile, view: &View) -> Result<Self, ReadError> {
        let sweep = &result.manifest().sweep;
        let mut axes = sweep.axes.clone();
        if sweep.mode == "zip" {
            axes.truncate(1);
        }
        let cells = view.points.as_ref().is_some_and(|p| p.name == "cell");
        if cells {
            // Trials were put together.
            axes.retain(|a| a.name != "trial");
        }
        let numbers = match result.array("point") {
            Ok(_) if !cells => {
                Some(result.values("point")?.to_f64().iter().map(|&n| n as i64).collect())
            }
            _ => None,
        };
        Ok(Self { axes, numbers })
    }

    /// The place in the array of a combination of positions along the axes; none if it wasn't run.
    pub fn place(&self, at: &[usize]) -> Option<usize> {
        let number = self.axes.iter().zip(at).fold(0, |n, (axis, k)| n * axis.values.len() + k);
        self.place_of(number as u64)
    }

    /// The place in the array of a point by its number; none if it wasn't run.
    pub fn place_of(&self, number: u64) -> Option<usize> {
        match &self.numbers {
            None => {
                let all: usize = self.axes.iter().map(|a| a.values.len()).product();
                usize::try_from(number).ok().filter(|&n| n < all)
            }
            Some(numbers) => numbers.binary_search(&i64::try_from(number).ok()?).ok(),
        }
    }

    /// The number of the point at a place in the array.
    pub fn number(&self, place: usize) -> u64 {
        match &self.numbers {
            None => place as u64,
            Some(numbers) => numbers.get(place).map_or(0, |&n| n as u64),
        }
    }

    /// Positions along the axes of a point by its number.
    pub fn positions(&self, mut number: u64) -> Vec<usize> {
        let mut at: Vec<usize> = (self.axes.iter().rev())
            .map(|axis| {
                let n = axis.values.len().max(1) as u64;
                let k = (number % n) as usize;
                number /= n;
                k
            })
            .collect();
        at.reverse();
        at
    }
}
