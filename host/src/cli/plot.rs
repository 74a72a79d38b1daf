//! `host plot`: figures for papers.

use super::args::{PlotArgs, WhatArg};
use super::{exit, terminal};
use crate::figure::{FigureError, Request, What, write};
use crate::output::read::ResultFile;

/// Runs the command.
pub(super) fn plot(args: &PlotArgs) -> u8 {
    let (what, name) = match args.what {
        WhatArg::Series => (What::Series, "series"),
        WhatArg::Map => (What::Map, "map"),
        WhatArg::Fc => (What::Matrix, "fc"),
        WhatArg::Spectrum => (What::Spectrum, "spectrum"),
    };
    let request = Request {
        what,
        array: args.array.clone(),
        variable: args.variable.clone(),
        points: args
            .points
            .clone()
            .map_or(Vec::new(), |p| p.0.into_iter().flatten().take(64).collect()),
        nodes: args.nodes.clone(),
        axes: args.across.iter().chain(&args.upwards).cloned().collect(),
        at: args.at.iter().map(|s| (s.name.clone(), s.value)).collect(),
        width_mm: args.width,
    };
    let stem = args.result.file_stem().unwrap_or("figure".as_ref()).to_string_lossy();
    let out = args
        .out
        .clone()
        .unwrap_or_else(|| args.result.with_file_name(format!("{stem}_{name}.svg")));
    let written = ResultFile::open(&args.result)
        .map_err(FigureError::from)
        .and_then(|result| write(&result, &request, &out, args.dpi));
    match written {
        Ok(()) => {
            terminal::say(&out.display().to_string());
            exit::DONE
        }
        Err(error) => {
            terminal::complain(&format!("error: {}", terminal::chain(&error)));
            exit::USAGE
        }
    }
}
