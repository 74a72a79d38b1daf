//! Kernels, graphs and time.

use std::sync::Arc;
use std::time::Duration;

use super::{ComputeContext, StreamKind, Timestamp};
use crate::compute::buffer::BufferView;
use crate::compute::driver::{Driver, LaunchShape, Owned};
use crate::compute::error::ComputeError;
use crate::compute::graph::{CaptureState, CapturedGraph};
use crate::compute::kernel::{KernelSpec, Schedule};
use crate::compute::launch::{Argument, Arguments, check_shape};
use crate::compute::module::{self, Function};

impl<D: Driver> ComputeContext<D> {
    /// The loaded function of a kernel, from the cache or compiled now.
    ///
    /// # Errors
    ///
    /// [`ComputeError::InvalidKernel`] with the compiler's log, [`ComputeError::Nvrtc`],
    /// [`ComputeError::NoBody`]; [`ComputeError::RecordingForbids`] where it is not loaded yet.
    pub fn load_function(
        &mut self,
        spec: &KernelSpec,
        schedule: &Schedule,
    ) -> Result<Arc<Function>, ComputeError> {
        let image = module::image(spec, schedule, self.constraints().compute_capability)?;
        if let Some(function) = self.module_cache.get(&image.ptx, &spec.entry) {
            return Ok(function);
        }
        self.capture.require_idle("the loading of a module")?;
        let function = Arc::new(module::load(&*self.driver, &image, &spec.entry)?);
        self.module_cache.insert(&image.ptx, &function);
        Ok(function)
    }

    /// Queues a launch, or records it.
    ///
    /// # Errors
    ///
    /// [`ComputeError::InvalidArguments`] where number or sizes of the arguments are not those of
    /// the kernel; [`ComputeError::InvalidSchedule`] beyond a limit; [`ComputeError::StaleView`];
    /// what the driver refuses.
    pub fn launch(
        &mut self,
        function: &Function,
        shape: &LaunchShape,
        arguments: &Arguments,
    ) -> Result<(), ComputeError> {
        arguments.check(function)?;
        check_shape(shape, function, self.driver.constraints())?;
        let mut bytes = Vec::with_capacity(arguments.list.len());
        for argument in &arguments.list {
            bytes.push(match argument {
                Argument::View(view) => self.address_of(view)?.0.to_ne_bytes().to_vec(),
                Argument::Value(value) => value.clone(),
            });
        }
        self.join_if_prefetched(arguments.views())?;
        function.permit_shared(&*self.driver, shape.dynamic_shared_bytes)?;
        let pointers: Vec<&[u8]> = bytes.iter().map(Vec::as_slice).collect();
        let launched = self.driver.launch(&self.stream, function.handle(), shape, &pointers);
        self.note_failure(launched)?;
        self.capture.launched(arguments.views());
        self.used(arguments.views())
    }

    /// Runs a kernel over `element_count` elements, `warmups` times untimed and `samples` times
    /// timed by events around the launch, and waits. Returns the nanoseconds of each timed run.
    ///
    /// # Errors
    ///
    /// As [`Self::load_function`] and [`Self::launch`].
    pub fn run_kernel(
        &mut self,
        spec: &KernelSpec,
        schedule: &Schedule,
        views: &[BufferView],
        element_count: u64,
        warmups: u32,
        samples: u32,
    ) -> Result<Vec<u64>, ComputeError> {
        self.capture.require_idle("a timed run")?;
        let shape = schedule.launch_shape(element_count, self.constraints())?;
        let ordered = spec.order_views(views)?;
        let function = self.load_function(spec, schedule)?;
        let arguments = ordered
            .iter()
            .fold(Arguments::new(), |arguments, view| arguments.view(*view))
            .value(&element_count);
        for _ in 0..warmups {
            self.launch(&function, &shape, &arguments)?;
        }
        let mut stamps = Vec::with_capacity(samples as usize);
        for _ in 0..samples {
            let begin = self.timestamp(StreamKind::Compute)?;
            self.launch(&function, &shape, &arguments)?;
            stamps.push((begin, self.timestamp(StreamKind::Compute)?));
        }
        self.synchronize()?;
        stamps
            .iter()
            .map(|(begin, end)| Ok(self.driver.elapsed_ns(&begin.0, &end.0)?.unsigned_abs()))
            .collect()
    }

    /// Records launches from now on instead of running them.
    ///
    /// # Errors
    ///
    /// [`ComputeError::Capture`] where a graph is being recorded; what the driver refuses.
    pub fn begin_graph_capture(&mut self) -> Result<(), ComputeError> {
        if !self.capture.is_idle() {
            return Err(ComputeError::Capture { problem: "a graph is being recorded already" });
        }
        // A wait for a prefetch cannot be part of a graph.
        self.join_prefetch()?;
        self.driver.begin_capture(&self.stream)?;
        self.capture = CaptureState::Recording { views: Vec::new(), launches: 0 };
        Ok(())
    }

    /// Ends recording; the graph is instantiated and uploaded.
    ///
    /// # Errors
    ///
    /// [`ComputeError::Capture`] where nothing was recorded, or a launch was refused meanwhile.
    pub fn end_graph_capture(&mut self) -> Result<CapturedGraph<D>, ComputeError> {
        match std::mem::take(&mut self.capture) {
            CaptureState::Idle => Err(ComputeError::Capture { problem: "none was begun" }),
            CaptureState::Broken => {
                self.driver.abandon_capture(&self.stream)?;
                Err(ComputeError::Capture { problem: "a launch was refused while recording" })
            }
            CaptureState::Recording { views, launches } => {
                let graph = Owned::new(&self.driver, self.driver.end_capture(&self.stream)?);
                Ok(CapturedGraph { graph, views, launches })
            }
        }
    }

    /// Queues a replay.
    ///
    /// # Errors
    ///
    /// [`ComputeError::StaleView`] where a view of its launches was released, or the graph belongs
    /// to another context; what the driver refuses.
    pub fn launch_graph(&mut self, graph: &CapturedGraph<D>) -> Result<(), ComputeError> {
        self.capture.require_idle("a replay")?;
        for view in &graph.views {
            self.address_of(view)?;
        }
        self.join_if_prefetched(graph.views.iter())?;
        self.driver.launch_graph(&self.stream, &graph.graph)?;
        self.used(graph.views.iter())
    }

    /// Puts a time stamp behind what is queued on a stream.
    ///
    /// # Errors
    ///
    /// [`ComputeError::RecordingForbids`]; what the driver refuses.
    pub fn timestamp(&mut self, stream: StreamKind) -> Result<Timestamp<D>, ComputeError> {
        self.capture.require_idle("a time stamp")?;
        let event = Owned::new(&self.driver, self.driver.create_event(true)?);
        let driver = Arc::clone(&self.driver);
        match stream {
            StreamKind::Compute => driver.record_event(&self.stream, &event)?,
            StreamKind::Prefetch => driver.record_event(&self.prefetch()?.stream, &event)?,
        }
        Ok(Timestamp(event))
    }

    /// Time from one stamp to another, waiting for both; zero where `to` came first.
    ///
    /// # Errors
    ///
    /// An error of earlier work.
    pub fn elapsed(
        &self,
        from: &Timestamp<D>,
        to: &Timestamp<D>,
    ) -> Result<Duration, ComputeError> {
        self.capture.require_idle("waiting")?;
        self.driver.synchronize_event(&from.0)?;
        self.driver.synchronize_event(&to.0)?;
        let nanoseconds = self.driver.elapsed_ns(&from.0, &to.0)?;
        Ok(Duration::from_nanos(u64::try_from(nanoseconds).unwrap_or(0)))
    }
}
