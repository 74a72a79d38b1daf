//! Every argument of the command line.

use crate::back::gpu::PlanName;
use crate::experiment::{AxisSpec, ObserveSpec};
use clap::{Args, Parser, Subcommand, ValueEnum};
use std::path::PathBuf;

/// Whole-brain network experiments from TVBO YAML, on the GPU or the CPU with the same bits.
#[derive(Debug, Parser)]
#[command(name = "host", version, arg_required_else_help = true, after_help = AFTER_HELP)]
pub struct Cli {
    /// What to do; `run` if left out.
    #[command(subcommand)]
    pub command: Command,
}

const AFTER_HELP: &str = "\
`host FILE` is short for `host run FILE`. FILE may also be the name of a shipped example or model
(see `host models`).

Exit codes: 0 done, 1 the experiment was refused, 2 wrong usage or a file can't be read or written,
3 the device can't be used, 130 interrupted.";

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run an experiment and write its results.
    Run(RunArgs),
    /// Check an experiment and say what was understood; runs nothing.
    Check(CheckArgs),
    /// Say how an experiment would run: delays, history, memory, batches; runs nothing.
    Plan(PlanArgs),
    /// Write an experiment as one file of CUDA C for nvcc, NVRTC or PyCUDA; runs nothing.
    Export(ExportArgs),
    /// Write a result as one HTML page that needs no network: maps, time courses, matrices, spectra.
    Report(ReportArgs),
    /// Draw a figure of a result, as SVG or PNG.
    Plot(PlotArgs),
    /// List the shipped models, coupling functions and examples.
    Models(ModelsArgs),
}

impl Command {
    /// The names that may stand first; anything else is a FILE for `run`.
    pub const NAMES: &[&str] =
        &["run", "check", "plan", "export", "report", "plot", "models", "help"];
}

/// Which device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Device {
    /// The GPU where there is one, else the CPU.
    Auto,
    /// The CPU.
    Cpu,
    /// CUDA devices by index.
    Cuda(Vec<u32>),
}

impl std::str::FromStr for Device {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "auto" => Ok(Self::Auto),
            "cpu" => Ok(Self::Cpu),
            "cuda" => Ok(Self::Cuda(vec![0])),
            _ => text
                .strip_prefix("cuda:")
                .and_then(|list| list.split(',').map(|n| n.parse().ok()).collect())
                .map(Self::Cuda)
                .ok_or_else(|| format!("`{text}` is none of auto, cpu, cuda, cuda:N, cuda:N,M")),
        }
    }
}

/// Word length.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum PrecisionArg {
    /// 32 bits.
    F32,
    /// 64 bits.
    F64,
}

/// Normal numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum NormalArg {
    /// The same bits on every device.
    Portable,
    /// cuRAND's `curand_normal`; NVIDIA GPUs only.
    Curand,
}

/// Another program's rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum CompatArg {
    /// TVBO's CUDA kernel: Euler, zero start, linear coupling of the first state.
    TvboKernel,
}

/// What is kept of the time course.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Record {
    /// Every step.
    Raw,
    /// Averages over periods, in the model's time unit.
    Average(f64),
    /// Nothing but the average over the whole run.
    None,
}

impl std::str::FromStr for Record {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "raw" => return Ok(Self::Raw),
            "none" => return Ok(Self::None),
            _ => {}
        }
        let period = text.strip_prefix("tavg:").and_then(|p| p.parse::<f64>().ok());
        match period {
            Some(period) if period > 0.0 && period.is_finite() => Ok(Self::Average(period)),
            _ => Err(format!("`{text}` is none of raw, none, tavg:PERIOD")),
        }
    }
}

/// `NAME=VALUE`.
#[derive(Clone, Debug, PartialEq)]
pub struct Setting {
    /// The parameter.
    pub name: String,
    /// Its value.
    pub value: f64,
}

impl std::str::FromStr for Setting {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, value) =
            text.split_once('=').ok_or_else(|| format!("`{text}` is not NAME=VALUE"))?;
        let value =
            value.trim().parse().map_err(|_| format!("`{value}` in `{text}` is not a number"))?;
        Ok(Self { name: name.trim().to_owned(), value })
    }
}

/// What changes an experiment before it is checked, planned or run.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Changes to the experiment")]
pub struct ChangeArgs {
    /// Recorded steps (instead of a duration).
    #[arg(long, value_name = "N", conflicts_with = "duration")]
    pub n_steps: Option<u64>,
    /// Step size, in the model's time unit.
    #[arg(long, value_name = "X", allow_negative_numbers = true)]
    pub dt: Option<f64>,
    /// Recorded time, in the model's time unit.
    #[arg(long, value_name = "T", allow_negative_numbers = true)]
    pub duration: Option<f64>,
    /// Conduction speed in mm/ms (m/s).
    #[arg(long, value_name = "V", allow_negative_numbers = true)]
    pub speed: Option<f64>,
    /// A factor on every network coupling input.
    #[arg(long, value_name = "G", allow_negative_numbers = true)]
    pub coupling: Option<f64>,
    /// Set a parameter: NAME=VALUE, for example `c_lin.G=0.5`; repeatable.
    #[arg(long, value_name = "NAME=VALUE", allow_negative_numbers = true)]
    pub set: Vec<Setting>,
    /// Sweep a parameter: NAME=LO:HI:N, NAME=LO:HI:N:log or NAME=a,b,c; repeatable, the last runs
    /// fastest.
    #[arg(long, value_name = "NAME=LO:HI:N")]
    pub sweep: Vec<AxisSpec>,
    /// What the results hold beside the means over time: names of the file's observations and of
    /// kinds, as NAME[:SOURCE][:NUMBER…], separated by commas; all of the file's if left out. For
    /// example `fc,fc_correlation`, `bold:S_e:1000,fcd:60:2`, `spectrum:y0`.
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub observe: Vec<ObserveSpec>,
    /// Empirical functional connectivity to score against, [node, node]: .csv, .tsv, .txt, .npy, .npz,
    /// .h5.
    #[arg(long, value_name = "FILE")]
    pub empirical_fc: Option<PathBuf>,
    /// Empirical BOLD to score against, [sample, node], sampled as the simulated one.
    #[arg(long, value_name = "FILE")]
    pub empirical_bold: Option<PathBuf>,
    /// Repeat each point of the sweep so often, with other random numbers; the results hold every
    /// trial, and mean and standard deviation over trials.
    #[arg(long, value_name = "N")]
    pub trials: Option<u64>,
    /// Seed of all random numbers.
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Word length of the whole simulation.
    #[arg(long, value_enum)]
    pub precision: Option<PrecisionArg>,
    /// Normal numbers of the noise.
    #[arg(long, value_enum)]
    pub normal: Option<NormalArg>,
    /// Take another program's rules, for comparison; options beside it win. See docs/export.md.
    #[arg(long, value_enum)]
    pub compat: Option<CompatArg>,
}

/// `host run`.
#[derive(Debug, Args)]
pub struct RunArgs {
    /// A TVBO experiment (YAML), or the name of a shipped example or model.
    pub file: String,
    /// Where to run: auto, cpu, cuda, cuda:N, cuda:N,M.
    #[arg(long, default_value = "auto", env = "HOST_DEVICE")]
    pub device: Device,
    /// Where results go: PATH.npz or PATH.zarr; beside the working folder as NAME.npz if left out.
    #[arg(long, short, value_name = "PATH")]
    pub out: Option<PathBuf>,
    /// What is kept of the time course: raw, tavg:PERIOD, none. One point keeps raw, a sweep none.
    #[arg(long)]
    pub record: Option<Record>,
    /// Run only these points of the sweep: N or FROM..TO, separated by commas.
    #[arg(long, value_name = "LIST")]
    pub points: Option<Points>,
    /// Write the results as a page too (see `host report`): PATH.html, beside the results if left out.
    #[arg(long, value_name = "PATH.html", num_args = 0..=1)]
    pub report: Option<Option<PathBuf>>,
    /// CPU threads; all cores if left out.
    #[arg(long, value_name = "N", value_parser = threads)]
    pub threads: Option<usize>,
    /// Points of a batch on a GPU; as many as fit if left out.
    #[arg(long, value_name = "N")]
    pub batch_points: Option<usize>,
    /// Steps of a launch on a GPU; chosen if left out.
    #[arg(long, value_name = "N")]
    pub launch_steps: Option<u32>,
    /// Kernels on a GPU: auto, plain, delayed, sparse, dense. Results do not depend on it.
    #[arg(long, value_name = "NAME", default_value = "auto", value_parser = plan)]
    pub plan: PlanName,
    /// Say more: the device's compilation of the kernel.
    #[arg(long, short)]
    pub verbose: bool,
    /// No progress, no summary; errors only.
    #[arg(long, short)]
    pub quiet: bool,
    /// Print the summary as one line of JSON.
    #[arg(long)]
    pub json: bool,
    /// Changes to the experiment.
    #[command(flatten)]
    pub changes: ChangeArgs,
}

fn plan(name: &str) -> Result<PlanName, String> {
    let known = PlanName::ALL.into_iter().find(|plan| plan.name() == name);
    known.ok_or_else(|| {
        let names: Vec<&str> = PlanName::ALL.into_iter().map(PlanName::name).collect();
        format!("plans are {}", names.join(", "))
    })
}

fn threads(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(n) if (1..=4096).contains(&n) => Ok(n),
        _ => Err("a number from 1 to 4096 is needed".to_owned()),
    }
}

/// Points of a sweep by number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Points(pub Vec<std::ops::Range<u64>>);

impl std::str::FromStr for Points {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let range = |part: &str| -> Option<std::ops::Range<u64>> {
            match part.split_once("..") {
                Some((from, to)) => Some(from.trim().parse().ok()?..to.trim().parse().ok()?),
                None => {
                    let at: u64 = part.trim().parse().ok()?;
                    Some(at..at.checked_add(1)?)
                }
            }
        };
        let ranges: Option<Vec<_>> = text.split(',').map(range).collect();
        ranges
            .filter(|list| list.iter().all(|r| r.start < r.end))
            .map(Self)
            .ok_or_else(|| format!("`{text}` is not a list of points such as 7 or 0..64,100"))
    }
}

/// `host check`.
#[derive(Debug, Args)]
pub struct CheckArgs {
    /// TVBO experiments (YAML), or names of shipped examples or models.
    #[arg(required = true)]
    pub files: Vec<String>,
    /// Print findings and summary as JSON lines.
    #[arg(long)]
    pub json: bool,
    /// Print the compiled program.
    #[arg(long)]
    pub dump: bool,
    /// Changes to the experiment.
    #[command(flatten)]
    pub changes: ChangeArgs,
}

/// `host plan`.
#[derive(Debug, Args)]
pub struct PlanArgs {
    /// A TVBO experiment (YAML), or the name of a shipped example or model.
    pub file: String,
    /// What is kept of the time course, as for `run`.
    #[arg(long)]
    pub record: Option<Record>,
    /// CPU threads; all cores if left out.
    #[arg(long, value_name = "N", value_parser = threads)]
    pub threads: Option<usize>,
    /// Print as one line of JSON.
    #[arg(long)]
    pub json: bool,
    /// Changes to the experiment.
    #[command(flatten)]
    pub changes: ChangeArgs,
}

/// `host export`.
#[derive(Debug, Args)]
pub struct ExportArgs {
    /// A TVBO experiment (YAML), or the name of a shipped example or model.
    pub file: String,
    /// Where the source goes; to NAME.cu in the working folder if left out.
    #[arg(long, short, value_name = "PATH.cu")]
    pub out: Option<PathBuf>,
    /// Write a Python driver (PyCUDA) and its inputs beside it: PATH.py and PATH.npz.
    #[arg(long)]
    pub driver: bool,
    /// Run it, too: compile it with NVRTC, run a short piece on the first GPU, and compare it with the
    /// program's own kernel.
    #[arg(long)]
    pub verify: bool,
    /// Changes to the experiment.
    #[command(flatten)]
    pub changes: ChangeArgs,
}

/// `host report`.
#[derive(Debug, Args)]
pub struct ReportArgs {
    /// A result: a .npz file or a .zarr folder that `host run` wrote.
    pub result: PathBuf,
    /// Where the page goes; beside the result as NAME.html if left out.
    #[arg(long, short, value_name = "PATH.html")]
    pub out: Option<PathBuf>,
    /// Largest size of what the page holds of the points in detail; maps are always whole.
    #[arg(long, value_name = "MIB", default_value_t = 24)]
    pub limit: u64,
}

/// What `host plot` draws.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum WhatArg {
    /// Time courses, a panel a point.
    Series,
    /// One number a point over one or two axes of the sweep.
    Map,
    /// A matrix such as functional connectivity, beside the empirical one where there is one.
    Fc,
    /// Power spectra.
    Spectrum,
}

/// `host plot`.
#[derive(Debug, Args)]
pub struct PlotArgs {
    /// A result: a .npz file or a .zarr folder that `host run` wrote.
    pub result: PathBuf,
    /// What to draw.
    #[arg(long, value_enum)]
    pub what: WhatArg,
    /// The array; the first that can be drawn so if left out.
    #[arg(long, value_name = "NAME")]
    pub array: Option<String>,
    /// The variable; the first if left out.
    #[arg(long, value_name = "NAME")]
    pub variable: Option<String>,
    /// Points, by number, of which each gets a panel: N or FROM..TO, separated by commas; 64 at most.
    #[arg(long, value_name = "LIST")]
    pub points: Option<Points>,
    /// Nodes in colour, separated by commas; the others are grey.
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub nodes: Vec<String>,
    /// The axis across a map; the longest two axes if left out.
    #[arg(long, value_name = "AXIS")]
    pub across: Option<String>,
    /// The axis up a map.
    #[arg(long, value_name = "AXIS", requires = "across")]
    pub upwards: Option<String>,
    /// Where a map cuts a further axis: AXIS=VALUE; at the best point if left out; repeatable.
    #[arg(long, value_name = "AXIS=VALUE", allow_negative_numbers = true)]
    pub at: Vec<Setting>,
    /// Width in millimetres.
    #[arg(long, value_name = "MM", default_value_t = 140.0)]
    pub width: f64,
    /// Pixels an inch of a PNG.
    #[arg(long, value_name = "N", default_value_t = 300.0)]
    pub dpi: f64,
    /// Where the figure goes: PATH.svg or PATH.png; beside the result if left out.
    #[arg(long, short, value_name = "PATH")]
    pub out: Option<PathBuf>,
}

/// `host models`.
#[derive(Debug, Args)]
pub struct ModelsArgs {
    /// Print the YAML of one entry.
    pub name: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn arguments_are_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn every_command_may_stand_first() {
        for command in Cli::command().get_subcommands() {
            assert!(Command::NAMES.contains(&command.get_name()), "{}", command.get_name());
        }
    }

    #[test]
    fn points_are_numbers_and_ranges() {
        assert_eq!("3,5..7".parse::<Points>().unwrap().0, [3..4, 5..7]);
        for bad in ["", "5..5", "7..5", "x", "1..", "-1"] {
            assert!(bad.parse::<Points>().is_err(), "{bad}");
        }
    }

    #[test]
    fn devices() {
        assert_eq!("cuda:0,2".parse::<Device>().unwrap(), Device::Cuda(vec![0, 2]));
        assert_eq!("cuda".parse::<Device>().unwrap(), Device::Cuda(vec![0]));
        for bad in ["gpu", "cuda:", "cuda:x", "cuda:0,"] {
            assert!(bad.parse::<Device>().is_err(), "{bad}");
        }
    }

    #[test]
    fn records() {
        assert_eq!("tavg:2.5".parse::<Record>().unwrap(), Record::Average(2.5));
        for bad in ["tavg", "tavg:0", "tavg:-1", "tavg:nan", "tavg:inf", "all"] {
            assert!(bad.parse::<Record>().is_err(), "{bad}");
        }
    }
}
