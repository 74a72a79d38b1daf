//! Cutting a module to one kernel: a driver compiles all that it is given.

use std::collections::BTreeSet;

/// Why a module cannot be cut.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SpliceError {
    /// It does not hold the kernel.
    #[error("the kernels do not contain `{0}`")]
    NoKernel(String),
    /// It ends inside of something.
    #[error("the kernels end in the middle of a definition")]
    Unfinished,
}

/// The module with one kernel, and with the variables and functions that it names, directly or not.
///
/// # Errors
/// See [`SpliceError`].
pub fn cut(module: &str, kernel: &str) -> Result<String, SpliceError> {
    let parts = parts(module)?;
    let is_kernel = |part: &Part<'_>| part.name == Some(kernel) && part.text.contains(".entry");
    let chosen = parts.iter().position(is_kernel);
    let chosen = chosen.ok_or_else(|| SpliceError::NoKernel(kernel.to_owned()))?;
    let mut wanted = BTreeSet::from([chosen]);
    let mut open = vec![chosen];
    while let Some(at) = open.pop() {
        let words: BTreeSet<&str> = words(parts[at].text).collect();
        for (index, part) in parts.iter().enumerate() {
            let named = part.name.is_some_and(|name| words.contains(name));
            if named && wanted.insert(index) {
                open.push(index);
            }
        }
    }
    let kept = parts.iter().enumerate();
    let kept = kept.filter(|(index, part)| part.name.is_none() || wanted.contains(index));
    Ok(kept.map(|(_, part)| part.text).collect())
}

/// A definition at the top level, or what stands before all of them.
struct Part<'m> {
    text: &'m str,
    /// `None` for directives, which hold for the whole module.
    name: Option<&'m str>,
}

/// Cuts a module into its definitions. rustc writes every definition and every brace at top level at
/// the start of a line.
fn parts(module: &str) -> Result<Vec<Part<'_>>, SpliceError> {
    let (mut parts, mut start, mut at, mut depth) = (Vec::new(), 0, 0, 0_usize);
    for line in module.split_inclusive('\n') {
        let end = at + line.len();
        let code = line.split("//").next().unwrap_or(line);
        depth += code.matches(['{', '(']).count();
        depth = depth.saturating_sub(code.matches(['}', ')']).count());
        let code = code.trim_end();
        let directive =
            [".version", ".target", ".address_size"].iter().any(|d| code.starts_with(d));
        // A function's parameters end without a semicolon; its body, or a variable, does not.
        if depth == 0 && (directive || code.ends_with(['}', ';'])) {
            let text = &module[start..end];
            parts.push(Part { text, name: if directive { None } else { name(text) } });
            start = end;
        }
        at = end;
    }
    if depth == 0 { Ok(parts) } else { Err(SpliceError::Unfinished) }
}

/// What a definition defines: the word before its parameters, its extent, or its end.
fn name(text: &str) -> Option<&str> {
    let code = text.lines().find(|line| line.starts_with('.'))?;
    let end = code.find(['(', '[', ';', '=', '{']).unwrap_or(code.len());
    // A function with a result has it in parentheses before its name.
    let head = if code.contains(".func") && code[..end].trim_end().ends_with(".func") {
        let after = code.find(')')? + 1;
        let rest = &code[after..];
        &rest[..rest.find('(').unwrap_or(rest.len())]
    } else {
        &code[..end]
    };
    head.split_whitespace().last()
}

/// All words that could be names.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '$' | '%' | '.')))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MODULE: &str = "//\n// a comment (\n\n.version 7.0\n.target sm_80\n.address_size 64\n\n\
        .extern .shared .align 16 .b8 dynamic[];\n.global .align 4 .b32 table[2] = {1, 2};\n\
        .global .align 4 .b32 other = 3;\n\n.visible .entry first(\n\t.param .u32 first_param_0\n)\n\
        {\n\t.reg .b32 \t%r<2>;\n\t{ .reg .b32 t; }\n\tmov.u32 %r1, table;\n\tret;\n\n}\n\
        .visible .entry first_of_two()\n{\n\tret;\n}\n";

    #[test]
    fn a_kernel_is_kept_with_what_it_names() {
        let cut = cut(MODULE, "first").unwrap();
        assert!(cut.contains(".version 7.0") && cut.contains(".address_size 64"));
        assert!(cut.contains("table[2]") && cut.contains("entry first(\n"));
        assert!(
            !cut.contains("dynamic") && !cut.contains("other") && !cut.contains("first_of_two")
        );
        assert!(cut.ends_with("ret;\n\n}\n"));
    }

    #[test]
    fn what_is_not_there_is_an_error() {
        assert_eq!(cut(MODULE, "firs"), Err(SpliceError::NoKernel("firs".to_owned())));
        let cut_off = &MODULE[..MODULE.len() - 3];
        assert_eq!(cut(cut_off, "first"), Err(SpliceError::Unfinished));
    }
}
