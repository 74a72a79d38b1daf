//! What to run: a kernel's text and buffers, and how to spread it over the device.

use std::fmt;
use std::sync::Arc;

use sha2::{Digest, Sha256};

use super::buffer::{BufferUsage, BufferView};
use super::device::AdapterConstraints;
use super::driver::LaunchShape;
use super::error::ComputeError;

/// 256-bit digest of a text: two texts with the same digest are the same text.
pub type SourceDigest = [u8; 32];

/// A text with its digest, which is computed once. Cloning shares the text.
#[derive(Clone, PartialEq, Eq)]
pub struct SourceText {
    digest: SourceDigest,
    text: Arc<str>,
}

/// A text in PTX.
pub type PtxText = SourceText;

impl SourceText {
    /// Takes the text and computes its digest.
    pub fn new(text: impl Into<Arc<str>>) -> Self {
        let text = text.into();
        Self { digest: Sha256::digest(text.as_bytes()).into(), text }
    }

    /// SHA-256 of the text.
    pub fn digest(&self) -> &SourceDigest {
        &self.digest
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.text
    }
}

impl fmt::Debug for SourceText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SourceText({} bytes, {:02x?}…)", self.text.len(), &self.digest[..4])
    }
}

/// What the device runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KernelBody {
    /// CUDA C++, compiled at run time by NVRTC. It sees `WORKGROUP_SIZE`, `ITEMS_PER_INVOCATION`
    /// and `VECTOR_WIDTH` of the schedule as macros.
    CudaC(SourceText),
    /// PTX, compiled by the driver.
    Ptx(PtxText),
}

/// What the CPU context runs: the buffers in the order of the kernel's arguments, and the number
/// of elements.
pub type NativeKernel = Arc<dyn Fn(&mut [&mut [u8]], u64) + Send + Sync>;

/// One buffer argument of a kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BufferBinding {
    /// Number within the group.
    pub binding: u32,
    /// Group; groups come in ascending order.
    pub group: u32,
    /// What the kernel does with it.
    pub usage: BufferUsage,
}

/// A kernel: entry point, buffers, bodies.
///
/// Its parameters are one pointer for each buffer, sorted by group and binding, and then the number
/// of elements as `unsigned long long`.
#[derive(Clone)]
pub struct KernelSpec {
    /// Name of the entry point, unmangled.
    pub entry: String,
    /// The buffer arguments.
    pub buffers: Vec<BufferBinding>,
    /// For the GPU.
    pub body: Option<KernelBody>,
    /// For the CPU.
    pub native: Option<NativeKernel>,
}

impl fmt::Debug for KernelSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KernelSpec")
            .field("entry", &self.entry)
            .field("buffers", &self.buffers)
            .field("body", &self.body)
            .field("native", &self.native.is_some())
            .finish()
    }
}

impl KernelSpec {
    /// A kernel in PTX.
    pub fn ptx(entry: &str, ptx: impl Into<Arc<str>>) -> Self {
        Self::with_body(entry, KernelBody::Ptx(SourceText::new(ptx)))
    }

    /// A kernel in CUDA C++.
    pub fn cuda_c(entry: &str, source: impl Into<Arc<str>>) -> Self {
        Self::with_body(entry, KernelBody::CudaC(SourceText::new(source)))
    }

    fn with_body(entry: &str, body: KernelBody) -> Self {
        Self { entry: entry.to_owned(), buffers: Vec::new(), body: Some(body), native: None }
    }

    /// Adds a buffer argument.
    #[must_use]
    pub fn buffer(mut self, binding: u32, group: u32, usage: BufferUsage) -> Self {
        self.buffers.push(BufferBinding { binding, group, usage });
        self
    }

    /// Adds the body for the CPU.
    #[must_use]
    pub fn native(mut self, body: impl Fn(&mut [&mut [u8]], u64) + Send + Sync + 'static) -> Self {
        self.native = Some(Arc::new(body));
        self
    }

    /// The views in the order of the kernel's arguments.
    ///
    /// # Errors
    ///
    /// [`ComputeError::InvalidArguments`] where the views are not those of [`Self::buffers`].
    pub(super) fn order_views(
        &self,
        views: &[BufferView],
    ) -> Result<Vec<BufferView>, ComputeError> {
        let mut ordered = views.to_vec();
        ordered.sort_by_key(|view| (view.group, view.binding));
        let mut declared: Vec<_> = self.buffers.iter().map(|b| (b.group, b.binding)).collect();
        declared.sort_unstable();
        let given: Vec<_> = ordered.iter().map(|view| (view.group, view.binding)).collect();
        if declared == given {
            return Ok(ordered);
        }
        Err(ComputeError::InvalidArguments {
            entry: self.entry.clone(),
            problem: format!(
                "the kernel has buffers (group, binding) {declared:?}, the call {given:?}"
            ),
        })
    }
}

/// How a kernel over many elements is spread over threads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Schedule {
    /// Threads of a block.
    pub workgroup_size: u32,
    /// Vectors that one thread works on.
    pub items_per_invocation: u32,
    /// Elements of one vector: 1, 2 or 4.
    pub vector_width: u32,
}

impl Default for Schedule {
    fn default() -> Self {
        Self { workgroup_size: 256, items_per_invocation: 1, vector_width: 1 }
    }
}

impl Schedule {
    /// The launch of `element_count` elements: enough blocks along x to give every element a thread,
    /// and at least one.
    ///
    /// # Errors
    ///
    /// [`ComputeError::InvalidSchedule`] with the quantity that is beyond the device's limits.
    pub fn launch_shape(
        &self,
        element_count: u64,
        constraints: &AdapterConstraints,
    ) -> Result<LaunchShape, ComputeError> {
        let most = constraints.max_threads_per_block.min(constraints.max_block[0]);
        within("workgroup_size", self.workgroup_size.into(), 1, most.into())?;
        within("items_per_invocation", self.items_per_invocation.into(), 1, 1 << 20)?;
        if !matches!(self.vector_width, 1 | 2 | 4) {
            return Err(ComputeError::InvalidSchedule {
                what: "vector_width",
                value: self.vector_width.into(),
                allowed: "1, 2 or 4".to_owned(),
            });
        }
        let per_block = u64::from(self.workgroup_size)
            * u64::from(self.items_per_invocation)
            * u64::from(self.vector_width);
        let blocks = element_count.div_ceil(per_block).max(1);
        within("number of workgroups", blocks, 1, constraints.max_grid[0].into())?;
        let blocks = u32::try_from(blocks).unwrap_or(u32::MAX);
        Ok(LaunchShape {
            grid: [blocks, 1, 1],
            block: [self.workgroup_size, 1, 1],
            dynamic_shared_bytes: 0,
        })
    }
}

/// An error where `value` is not in `least..=most`.
pub(super) fn within(
    what: &'static str,
    value: u64,
    least: u64,
    most: u64,
) -> Result<(), ComputeError> {
    if (least..=most).contains(&value) {
        return Ok(());
    }
    Err(ComputeError::InvalidSchedule { what, value, allowed: format!("{least} to {most}") })
}
