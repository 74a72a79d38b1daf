//! From `--device` to a device.

use super::args::{self, RunArgs};
use crate::back::gpu::kernels_for;
use crate::compute::{DeviceSummary, cuda_devices};
use crate::simulation::Device;

/// The device to run on, and what to say about the choice; or why it can't be had.
pub(super) fn choose(args: &RunArgs) -> Result<(Device, String), String> {
    let cuda = |ordinals| Device::Cuda {
        ordinals,
        batch_points: args.batch_points,
        launch_steps: args.launch_steps,
        plan: args.plan,
    };
    match &args.device {
        args::Device::Cpu => Ok((Device::Cpu, String::new())),
        args::Device::Auto => match cuda_devices() {
            Ok(devices) if !devices.is_empty() => match usable(&devices[0]) {
                Ok(()) => Ok((cuda(vec![0]), describe(&devices[0]))),
                Err(reason) => Ok((Device::Cpu, format!(" ({reason})"))),
            },
            Ok(_) => Ok((Device::Cpu, " (there is no NVIDIA GPU)".to_owned())),
            Err(error) if args.verbose => Ok((Device::Cpu, format!(" ({})", first_line(&error)))),
            Err(_) => Ok((Device::Cpu, " (no usable NVIDIA GPU; --verbose says why)".to_owned())),
        },
        args::Device::Cuda(ordinals) => {
            let devices = cuda_devices().map_err(|error| {
                format!("{}; run on the CPU with --device cpu", first_line(&error))
            })?;
            let mut known = Vec::new();
            for &ordinal in ordinals {
                match devices.get(ordinal as usize) {
                    Some(device) => {
                        usable(device)?;
                        known.push(describe(device));
                    }
                    None => {
                        let count = super::terminal::count(devices.len() as u64, "device");
                        return Err(format!("there is no cuda:{ordinal}: {count}, from 0"));
                    }
                }
            }
            Ok((cuda(ordinals.clone()), known.concat()))
        }
    }
}

/// Whether this program has kernels for a device.
fn usable(device: &DeviceSummary) -> Result<(), String> {
    kernels_for(&device.constraints).map(|_| ()).map_err(|error| error.to_string())
}

fn describe(device: &DeviceSummary) -> String {
    format!(" ({}, {} free)", device.identity.device, super::terminal::bytes(device.memory.free))
}

fn first_line(error: &dyn std::error::Error) -> String {
    super::terminal::chain(error).lines().next().unwrap_or_default().to_owned()
}
