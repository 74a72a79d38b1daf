//! What is found while lowering. The same equation is compiled into several sections, so the same
//! finding may come up again; it is kept once.

use crate::diagnostic::{Collector, Diagnostic, Diagnostics};
use std::cell::RefCell;

/// A part could not be compiled, and the reason is among the findings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Poisoned;

#[derive(Debug, Default)]
pub(super) struct Findings(RefCell<Vec<Diagnostic>>);

impl Findings {
    pub(super) fn push(&self, diagnostic: Diagnostic) {
        let mut list = self.0.borrow_mut();
        if !list.contains(&diagnostic) {
            list.push(diagnostic);
        }
    }

    /// The warnings if there was no error, else everything.
    pub(super) fn finish(self) -> Result<Vec<Diagnostic>, Diagnostics> {
        let mut collector = Collector::default();
        self.0.into_inner().into_iter().for_each(|d| collector.push(d));
        collector.finish()
    }
}
