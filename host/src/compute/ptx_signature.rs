//! Reads the parameters of a kernel from its PTX, so that a launch can be checked on the host.
//!
//! The driver copies as many bytes of every argument as the kernel declares, from wherever the
//! caller points; a launch with fewer is an over-read that no driver reports.

/// Sizes in bytes of the parameters of entry point `entry`, none where the text has no such entry.
pub(super) fn parameter_sizes(ptx: &str, entry: &str) -> Option<Vec<usize>> {
    let mut rest = ptx;
    while let Some(at) = rest.find(".entry") {
        rest = rest[at + ".entry".len()..].trim_start();
        let end = rest.find(|c: char| !is_identifier(c)).unwrap_or(rest.len());
        let (name, tail) = rest.split_at(end);
        rest = tail;
        if name != entry {
            continue;
        }
        let Some(list) = tail.trim_start().strip_prefix('(') else {
            return Some(Vec::new()); // An entry may have no list at all.
        };
        let list = &list[..list.find(')')?];
        return list.split(',').map(str::trim).filter(|p| !p.is_empty()).map(size).collect();
    }
    None
}

fn is_identifier(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '$' | '%')
}

/// Size of one declaration such as `.param .align 8 .b8 name[40]`.
fn size(declaration: &str) -> Option<usize> {
    let element = declaration.split_whitespace().find_map(|word| {
        let kind = word.strip_prefix('.')?;
        let bits = kind.strip_prefix(['b', 'u', 's', 'f'])?;
        bits.parse::<usize>().ok().map(|bits| bits / 8)
    })?;
    let count = match declaration.rsplit_once('[') {
        Some((_, tail)) => tail.strip_suffix(']')?.trim().parse::<usize>().ok()?,
        None => 1,
    };
    element.checked_mul(count)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PTX: &str = "
.version 8.0
.visible .entry step_long(
\t.param .u64 .ptr .global .align 4 step_long_param_0,
\t.param .u32 step_long_param_1
)
{ ret; }
.visible .entry step(
\t.param .u64 step_param_0,
\t.param .f32 step_param_1,
\t.param .align 8 .b8 step_param_2[40]
)
.maxntid 256, 1, 1
{ ret; }
.visible .entry bare() { ret; }
.entry nothing { ret; }
";

    #[test]
    fn sizes_are_those_of_the_declarations() {
        assert_eq!(parameter_sizes(PTX, "step_long"), Some(vec![8, 4]));
        assert_eq!(parameter_sizes(PTX, "step"), Some(vec![8, 4, 40]));
        assert_eq!(parameter_sizes(PTX, "bare"), Some(vec![]));
        assert_eq!(parameter_sizes(PTX, "nothing"), Some(vec![]));
        assert_eq!(parameter_sizes(PTX, "ste"), None);
        assert_eq!(parameter_sizes("", "step"), None);
    }

    #[test]
    fn a_broken_list_is_no_signature() {
        assert_eq!(parameter_sizes(".entry step(.param .u64 a", "step"), None);
        assert_eq!(parameter_sizes(".entry step(.param .texref a)", "step"), None);
    }
}
