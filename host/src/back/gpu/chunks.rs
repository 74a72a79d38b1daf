//! A batch on the device: its arrays, and its chunks of steps, which are recorded once and replayed.

use super::{ArrayId, Arrays, Batch, Call, CallArguments, DeviceJob, HostArray, Launch, Upload};
use crate::back::Samples;
use crate::compute::module::Function;
use crate::compute::{
    Arguments, BufferView, CapturedCudaGraph, ComputeError, CudaComputeContext, LaunchShape,
};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The least that is allocated: a kernel gets an address for an empty array too.
const LEAST_BYTES: usize = 16;
/// Calls of a chunk from which recording them pays.
const LEAST_CALLS: usize = 3;

/// The arrays of a batch on the device, and what is read back.
pub(super) struct Chunks {
    views: BTreeMap<ArrayId, BufferView>,
    columns: HostArray,
    rows: HostArray,
    nonfinite: Vec<u64>,
    /// The calls of a full chunk, and how many steps that is.
    recorded: Option<(u32, CapturedCudaGraph)>,
}

fn reserve(context: &mut CudaComputeContext, bytes: usize) -> Result<BufferView, ComputeError> {
    context.allocate_kept(bytes.max(LEAST_BYTES) as u64, 0, 0)
}

impl Chunks {
    /// Puts the arrays of a batch on the device, beside what it computes if it is a prefetch.
    pub(super) fn upload(
        context: &mut CudaComputeContext,
        job: &DeviceJob<'_>,
        batch: &Batch<'_>,
        mut arrays: Arrays,
        prefetch: bool,
    ) -> Result<Self, ComputeError> {
        let mut views = BTreeMap::new();
        // The first chunk is the longest.
        let first = batch.launches().next();
        for id in ArrayId::OF_CHUNKS {
            let array = first.as_ref().and_then(|launch| launch.array(id));
            let bytes = array.map_or(0, |array| array.bytes().len());
            views.insert(id, reserve(context, bytes)?);
        }
        for (&id, upload) in &arrays {
            let bytes = upload.bytes(job.float_bytes());
            let view = reserve(context, bytes)?;
            views.insert(id, view);
            match upload {
                Upload::Values(values) if values.bytes().is_empty() => {}
                Upload::Values(values) if prefetch => {
                    context.write_view_prefetch(&view, values.bytes())?;
                }
                Upload::Values(values) => context.write_view(&view, values.bytes())?,
                Upload::Zeros(_) => context.fill_view(&view, 0)?,
                // Chunks leave gaps where a point has room for more rows than it gets.
                Upload::Floats(_) if id == ArrayId::Rows => context.fill_view(&view, 0)?,
                Upload::Floats(_) => {}
            }
        }
        let precision = job.job().precision;
        let rows = arrays.get(&ArrayId::Rows).map_or(0, |rows| rows.bytes(1));
        let mut taken = |id| match arrays.remove(&id) {
            Some(Upload::Values(values)) => values,
            _ => HostArray::zeros(precision, 0),
        };
        let columns = taken(ArrayId::Columns);
        let nonfinite = match taken(ArrayId::Nonfinite) {
            HostArray::U64(steps) => steps,
            _ => Vec::new(),
        };
        let rows = HostArray::zeros(precision, rows);
        Ok(Self { views, columns, rows, nonfinite, recorded: None })
    }

    /// Queues the calls of a chunk.
    pub(super) fn launch(
        &mut self,
        context: &mut CudaComputeContext,
        functions: &[Arc<Function>],
        job: &DeviceJob<'_>,
        launch: &Launch,
    ) -> Result<(), ComputeError> {
        for id in ArrayId::OF_CHUNKS {
            if let (Some(array), Some(view)) = (launch.array(id), self.views.get(&id))
                && !array.bytes().is_empty()
            {
                context.write_view(view, array.bytes())?;
            }
        }
        self.call(context, functions, job, &launch.before)?;
        if let Some((steps, graph)) = &self.recorded
            && *steps == launch.steps
        {
            return context.launch_graph(graph);
        }
        let same_again = launch.calls.len() >= LEAST_CALLS
            && launch.calls.iter().all(|c| matches!(c.arguments, CallArguments::Group(_)));
        if self.recorded.is_some() || !same_again {
            return self.call(context, functions, job, &launch.calls);
        }
        // What is not on the device yet can't be waited for while calls are recorded.
        context.join_prefetch()?;
        context.begin_graph_capture()?;
        let called = self.call(context, functions, job, &launch.calls);
        let graph = context.end_graph_capture();
        called?;
        let graph = graph?;
        context.launch_graph(&graph)?;
        self.recorded = Some((launch.steps, graph));
        Ok(())
    }

    fn call(
        &self,
        context: &mut CudaComputeContext,
        functions: &[Arc<Function>],
        job: &DeviceJob<'_>,
        calls: &[Call],
    ) -> Result<(), ComputeError> {
        let entries = job.entries();
        for call in calls {
            let mut arguments = match &call.arguments {
                CallArguments::Points(arguments) => Arguments::new().value(arguments),
                CallArguments::Group(arguments) => Arguments::new().value(arguments),
            };
            for id in entries[call.kernel].1 {
                arguments = arguments.view(self.views[id]);
            }
            let shape = LaunchShape {
                grid: [call.grid[0], call.grid[1], 1],
                block: [call.threads, 1, 1],
                dynamic_shared_bytes: call.shared_bytes,
            };
            context.launch(&functions[call.kernel], &shape, &arguments)?;
        }
        Ok(())
    }

    /// Waits for a chunk and hands over its rows and the first non-finite steps.
    pub(super) fn collect<E: From<ComputeError>>(
        &mut self,
        context: &mut CudaComputeContext,
        launch: &Launch,
        take: impl FnOnce(Samples<'_>, &[u64]) -> Result<(), E>,
    ) -> Result<(), E> {
        if launch.rows.iter().any(|r| r.count > 0) {
            context.read_buffer_into(&self.views[&ArrayId::Rows], self.rows.bytes_mut())?;
        }
        let nonfinite = bytemuck::cast_slice_mut(&mut self.nonfinite);
        context.read_buffer_into(&self.views[&ArrayId::Nonfinite], nonfinite)?;
        match self.rows.samples() {
            Some(rows) => take(rows, &self.nonfinite),
            None => Ok(()),
        }
    }

    /// What lanes keep after the last chunk, and the first non-finite steps.
    pub(super) fn finish(
        &mut self,
        context: &mut CudaComputeContext,
    ) -> Result<(&HostArray, &[u64]), ComputeError> {
        context.read_buffer_into(&self.views[&ArrayId::Columns], self.columns.bytes_mut())?;
        Ok((&self.columns, &self.nonfinite))
    }
}
