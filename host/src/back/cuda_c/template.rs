//! Text with parts that are left out and parts that are put in.
//!
//! Lines of a template that start with `//@` are instructions: `//@if NAME` … `//@end` keeps what is
//! between if the name is known, `//@insert NAME` puts a text in, indented as the instruction is.

use std::collections::{BTreeMap, BTreeSet};

/// What a template is filled with.
#[derive(Clone, Debug, Default)]
pub(super) struct Template {
    conditions: BTreeSet<&'static str>,
    texts: BTreeMap<&'static str, String>,
}

impl Template {
    /// Keeps the parts of this name.
    pub(super) fn keep(&mut self, name: &'static str, holds: bool) {
        if holds {
            self.conditions.insert(name);
        }
    }

    /// Gives the text of an `insert`.
    pub(super) fn insert(&mut self, name: &'static str, text: impl Into<String>) {
        self.texts.insert(name, text.into());
    }

    /// The template's text, filled.
    pub(super) fn fill(&self, template: &str) -> String {
        let mut out = String::new();
        // Whether each open condition holds, together with those around it.
        let mut open = vec![true];
        for line in template.lines() {
            let kept = open.last().copied().unwrap_or(true);
            let instruction = line.trim_start();
            if let Some(name) = instruction.strip_prefix("//@if ") {
                open.push(kept && self.conditions.contains(name));
            } else if instruction == "//@end" {
                open.pop();
            } else if kept && let Some(name) = instruction.strip_prefix("//@insert ") {
                let indent = line.len() - instruction.len();
                for line in self.texts.get(name).map(String::as_str).unwrap_or_default().lines() {
                    let width = if line.is_empty() { 0 } else { indent };
                    out += &format!("{:width$}{line}\n", "");
                }
            } else if kept {
                out += line;
                out.push('\n');
            }
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_kept_left_out_and_put_in() {
        let mut template = Template::default();
        template.keep("a", true);
        template.keep("b", false);
        template.insert("text", "x;\n\n    y;");
        let text = "for {\n//@if a\n  1\n//@if b\n  2\n//@end\n  //@insert text\n//@end\n}\n";
        assert_eq!(template.fill(text), "for {\n  1\n  x;\n\n      y;\n}\n");
        let outer = "//@if b\n0\n//@if a\n1\n//@end\n2\n//@end\n3\n";
        assert_eq!(template.fill(outer), "3\n");
    }
}
