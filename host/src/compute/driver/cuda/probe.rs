//! Asks a device who it is and what it can do.

use cust::CudaApiVersion;
use cust::device::Device;
use cust::sys::{self, CUdevice_attribute_enum as Attribute, CUuuid};

use super::{DriverError, check, cust_error};
use crate::compute::device::{AdapterConstraints, AdapterIdentity};

/// PCI vendor number of NVIDIA.
const PCI_NVIDIA: &str = "0x10de";

pub(super) fn identity(device: Device, ordinal: u32) -> Result<AdapterIdentity, DriverError> {
    let name = device.name().map_err(|e| cust_error("cuDeviceGetName", e))?;
    let version = CudaApiVersion::get().map_err(|e| cust_error("cuDriverGetVersion", e))?;
    let module = std::fs::read_to_string("/sys/module/nvidia/version").unwrap_or_default();
    let mut driver = format!("CUDA {}.{}", version.major(), version.minor());
    if !module.trim().is_empty() {
        driver = format!("{} ({driver})", module.trim());
    }
    let mut uuid = CUuuid { bytes: [0; 16] };
    // SAFETY: the device is the driver's own; the pointer is to a local.
    let has_uuid =
        check("cuDeviceGetUuid_v2", unsafe { sys::cuDeviceGetUuid_v2(&mut uuid, device.as_raw()) });
    Ok(AdapterIdentity {
        vendor: vendor(device, &name)?,
        device: name,
        driver,
        ordinal,
        uuid: has_uuid.is_ok().then(|| uuid.bytes.map(|byte| byte as u8)),
    })
}

/// The vendor by the PCI registry, or the first word of the product's name.
fn vendor(device: Device, name: &str) -> Result<String, DriverError> {
    let [domain, bus, slot] = [
        Attribute::CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID,
        Attribute::CU_DEVICE_ATTRIBUTE_PCI_BUS_ID,
        Attribute::CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID,
    ]
    .map(|which| attribute(device, which));
    let path = format!("/sys/bus/pci/devices/{:04x}:{:02x}:{:02x}.0/vendor", domain?, bus?, slot?);
    match std::fs::read_to_string(path) {
        Ok(number) if number.trim() == PCI_NVIDIA => Ok("NVIDIA".to_owned()),
        Ok(number) => Ok(format!("PCI vendor {}", number.trim())),
        Err(_) => Ok(name.split_whitespace().next().unwrap_or("unknown").to_owned()),
    }
}

pub(super) fn constraints(device: Device) -> Result<AdapterConstraints, DriverError> {
    let read = |which| attribute(device, which);
    let total = device.total_memory().map_err(|e| cust_error("cuDeviceTotalMem_v2", e))?;
    Ok(AdapterConstraints {
        max_threads_per_block: read(Attribute::CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK)?,
        max_block: [
            read(Attribute::CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X)?,
            read(Attribute::CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y)?,
            read(Attribute::CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z)?,
        ],
        max_grid: [
            read(Attribute::CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X)?,
            read(Attribute::CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y)?,
            read(Attribute::CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z)?,
        ],
        warp_size: read(Attribute::CU_DEVICE_ATTRIBUTE_WARP_SIZE)?,
        shared_bytes_per_block: read(Attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK)?,
        shared_bytes_per_block_optin: read(
            Attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN,
        )?,
        shared_bytes_per_multiprocessor: read(
            Attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR,
        )?,
        registers_per_multiprocessor: read(
            Attribute::CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR,
        )?,
        max_threads_per_multiprocessor: read(
            Attribute::CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR,
        )?,
        multiprocessors: read(Attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)?,
        async_copy_engines: read(Attribute::CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT)?,
        total_memory: total as u64,
        compute_capability: Some((
            read(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?,
            read(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?,
        )),
    })
}

fn attribute(device: Device, which: Attribute) -> Result<u32, DriverError> {
    let mut value = 0;
    // SAFETY: the device is the driver's own; the pointer is to a local.
    let result = unsafe { sys::cuDeviceGetAttribute(&mut value, which, device.as_raw()) };
    check("cuDeviceGetAttribute", result)?;
    Ok(u32::try_from(value).unwrap_or(0))
}
