//! `host report`: a result as a page.

use super::args::ReportArgs;
use super::{exit, terminal};
use crate::output::read::ResultFile;
use crate::report::{self, Limit};
use std::path::Path;

/// Runs the command.
pub(super) fn report(args: &ReportArgs) -> u8 {
    let out = args.out.clone().unwrap_or_else(|| args.result.with_extension("html"));
    write(&args.result, &out, Limit(args.limit.saturating_mul(1 << 20)), false)
}

/// Writes the page of the result at `from` and says where it is.
pub(super) fn write(from: &Path, out: &Path, limit: Limit, quiet: bool) -> u8 {
    let written = ResultFile::open(from)
        .map_err(report::ReportError::from)
        .and_then(|result| report::write(&result, out, limit));
    match written {
        Ok(()) => {
            if !quiet {
                terminal::say(&out.display().to_string());
            }
            exit::DONE
        }
        Err(error) => {
            terminal::complain(&format!("error: {}", terminal::chain(&error)));
            exit::USAGE
        }
    }
}
