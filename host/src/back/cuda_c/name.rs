//! Names and comments of the source: nothing that a model is called can break it.

use std::collections::HashSet;
use std::fmt::Write;

/// Identifiers for the names of one kind, `prefix_name`, all different.
///
/// Every identifier that comes from a model starts with a prefix of its kind, so that none is a word of
/// CUDA or C++, or a name of the kernel itself: `dt`, `I`, `double` become `p_dt`, `p_I`, `p_double`.
pub(super) fn identifiers(prefix: &str, names: &[String]) -> Vec<String> {
    let mut taken = HashSet::new();
    let unique = names.iter().map(|name| {
        let plain = format!("{prefix}_{}", letters(name));
        let mut candidate = plain.clone();
        let mut count = 1;
        while !taken.insert(candidate.clone()) {
            count += 1;
            candidate = format!("{plain}_{count}");
        }
        candidate
    });
    unique.collect()
}

/// A name in ASCII letters, digits and single underscores; two in a row belong to the compiler.
fn letters(name: &str) -> String {
    let mut text = String::new();
    for letter in name.chars() {
        if letter.is_ascii_alphanumeric() {
            text.push(letter);
        } else if letter.is_ascii() {
            if !text.ends_with('_') && !text.is_empty() {
                text.push('_');
            }
        } else {
            // Writing to a string cannot fail.
            let _ = write!(text, "u{:04x}", u32::from(letter));
        }
    }
    let end = text.trim_end_matches('_').len();
    text.truncate(end);
    if text.is_empty() { "unnamed".to_owned() } else { text }
}

/// A text that may stand in a comment: one line that neither ends the comment nor continues it.
pub(super) fn comment(text: &str) -> String {
    let plain: String =
        text.chars().map(|c| if c.is_control() || c == '\\' { ' ' } else { c }).collect();
    // `??/` is a backslash in old C++.
    plain.replace("*/", "* /").replace("/*", "/ *").replace("??", "? ?").trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(prefix: &str, names: &[&str]) -> Vec<String> {
        identifiers(prefix, &names.iter().map(|&n| n.to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn words_of_the_language_get_a_prefix() {
        assert_eq!(named("p", &["dt", "I", "double"]), ["p_dt", "p_I", "p_double"]);
    }

    #[test]
    fn different_names_stay_different() {
        let names = named("p", &["c.a", "c_a", "c__a", "_c_a", "c_a_2", "α", "u03b1"]);
        let unique: HashSet<&String> = names.iter().collect();
        assert_eq!(unique.len(), names.len(), "{names:?}");
        for name in &names {
            assert!(name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_'), "{name}");
            assert!(!name.contains("__"), "{name}");
        }
    }

    #[test]
    fn a_name_without_letters_is_a_name() {
        assert_eq!(named("x", &["_", "__"]), ["x_unnamed", "x_unnamed_2"]);
    }

    #[test]
    fn comments_stay_comments() {
        for text in ["a */ b", "a \\", "a\nb", "a ??/", "/* a", "*\u{0}/", "a\r", "**//"] {
            let safe = comment(text);
            assert!(!safe.contains("*/") && !safe.contains('\\'), "{text:?} became {safe:?}");
            assert!(!safe.contains('\n') && !safe.contains("??/"), "{text:?} became {safe:?}");
        }
    }
}
