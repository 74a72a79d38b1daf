//! How far a run is: a bar on a terminal, a line now and then elsewhere.

use crate::sweep::Progress;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal;
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// Seconds between lines where there is no terminal.
const LINE_EVERY: Duration = Duration::from_secs(10);

/// Shows progress on standard error.
pub(super) struct Meter {
    bar: ProgressBar,
    /// Set where lines are printed: the time of the last.
    last_line: Option<Mutex<Instant>>,
    started: Instant,
}

impl Meter {
    /// Shows `total` node-steps, or nothing if `quiet`.
    pub(super) fn new(total: u64, quiet: bool) -> Self {
        let terminal = std::io::stderr().is_terminal();
        let bar = ProgressBar::new(total);
        if quiet || !terminal {
            bar.set_draw_target(ProgressDrawTarget::hidden());
        }
        let style = ProgressStyle::with_template(
            "{bar:32} {percent:>3} %  {human_pos} of {human_len} node-steps  \
             {per_sec}  {eta} left",
        );
        if let Ok(style) = style {
            bar.set_style(style);
        }
        let started = Instant::now();
        let last_line = (!quiet && !terminal).then(|| Mutex::new(started));
        Self { bar, last_line, started }
    }

    /// Takes the bar away.
    pub(super) fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

impl Progress for Meter {
    fn advance(&self, node_steps: u64) {
        self.bar.inc(node_steps);
        let Some(last) = &self.last_line else { return };
        // Another thread that holds the lock is printing already.
        let Ok(mut last) = last.try_lock() else { return };
        if last.elapsed() < LINE_EVERY {
            return;
        }
        *last = Instant::now();
        let (done, total) = (self.bar.position(), self.bar.length().unwrap_or(0));
        let rate = done as f64 / self.started.elapsed().as_secs_f64();
        let left = total.saturating_sub(done) as f64 / rate;
        let percent = 100.0 * done as f64 / total.max(1) as f64;
        super::terminal::complain(&format!(
            "{percent:.0} % done, {rate:.2e} node-steps/s, {left:.0} s left"
        ));
    }
}
