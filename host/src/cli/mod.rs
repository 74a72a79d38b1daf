//! The command line: arguments in, calls of the library, text out. The only module that prints.

pub mod args;
mod check;
mod device;
pub mod exit;
mod export;
mod load;
mod models;
mod plan;
mod plot;
mod progress;
mod report;
mod run;
mod summary;
mod terminal;

use args::{Cli, Command};
use clap::Parser;
use std::ffi::OsString;

/// Runs a command line, program name first, and returns its exit code.
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    let cli = match Cli::try_parse_from(with_command(arguments)) {
        Ok(cli) => cli,
        Err(error) => {
            // Help and version are errors to clap, but not to the user.
            let code = if error.use_stderr() { exit::USAGE } else { exit::DONE };
            // Nowhere is left to report that the terminal is gone.
            let _ = error.print();
            return code;
        }
    };
    let code = match cli.command {
        Command::Run(args) => run::run(&args),
        Command::Check(args) => check::check(&args),
        Command::Plan(args) => plan::plan(&args),
        Command::Export(args) => export::export(&args),
        Command::Report(args) => report::report(&args),
        Command::Plot(args) => plot::plot(&args),
        Command::Models(args) => models::models(&args),
    };
    match terminal::written() {
        Err(error) if code == exit::DONE => {
            terminal::complain(&format!("error: can't write to standard output: {error}"));
            exit::USAGE
        }
        _ => code,
    }
}

/// The arguments with `run` put in where the first is neither a command nor an option of the
/// program.
fn with_command(arguments: impl IntoIterator<Item = OsString>) -> Vec<OsString> {
    let mut arguments: Vec<OsString> = arguments.into_iter().collect();
    let is_command = |first: &OsString| {
        let first = first.to_string_lossy();
        let of_program = ["-h", "--help", "-V", "--version"];
        Command::NAMES.contains(&first.as_ref()) || of_program.contains(&first.as_ref())
    };
    if arguments.get(1).is_some_and(|first| !is_command(first)) {
        arguments.insert(1, "run".into());
    }
    arguments
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn run_is_put_in_only_where_no_command_stands() {
        let words = |line: &str| line.split(' ').map(OsString::from).collect::<Vec<_>>();
        assert_eq!(with_command(words("host a.yaml --quiet")), words("host run a.yaml --quiet"));
        assert_eq!(with_command(words("host --quiet a.yaml")), words("host run --quiet a.yaml"));
        for line in ["host check a.yaml", "host --help", "host", "host -V"] {
            assert_eq!(with_command(words(line)), words(line));
        }
    }
}
