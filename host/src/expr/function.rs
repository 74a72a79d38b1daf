//! The functions and constants that the language knows by itself.

/// Names with the fewest and the most arguments they take (`usize::MAX` for any number).
///
/// `Piecewise`, `Sum` and `Product` take tuples.
const KNOWN: &[(&str, usize, usize)] = &[
    ("Abs", 1, 1),
    ("And", 1, usize::MAX),
    ("Eq", 2, 2),
    ("Ge", 2, 2),
    ("Gt", 2, 2),
    ("Heaviside", 1, 2),
    ("Le", 2, 2),
    ("Lt", 2, 2),
    ("Max", 1, usize::MAX),
    ("Min", 1, usize::MAX),
    ("Mod", 2, 2),
    ("Ne", 2, 2),
    ("Not", 1, 1),
    ("Or", 1, usize::MAX),
    ("Piecewise", 1, usize::MAX),
    ("Pow", 2, 2),
    ("Product", 2, 2),
    ("Sum", 2, 2),
    ("abs", 1, 1),
    ("acos", 1, 1),
    ("asin", 1, 1),
    ("atan", 1, 1),
    ("atan2", 2, 2),
    ("ceil", 1, 1),
    ("ceiling", 1, 1),
    ("cos", 1, 1),
    ("cosh", 1, 1),
    ("erf", 1, 1),
    ("erfc", 1, 1),
    ("exp", 1, 1),
    ("expm1", 1, 1),
    ("floor", 1, 1),
    ("ln", 1, 1),
    ("log", 1, 2),
    ("log10", 1, 1),
    ("log1p", 1, 1),
    ("log2", 1, 1),
    ("max", 1, usize::MAX),
    ("mean", 1, 1),
    ("min", 1, usize::MAX),
    ("mode_dot", 2, 2),
    ("mode_sum", 1, 1),
    ("pow", 2, 2),
    ("prod", 1, 1),
    ("sign", 1, 1),
    ("sin", 1, 1),
    ("sinh", 1, 1),
    ("sqrt", 1, 1),
    ("sum", 1, 1),
    ("tan", 1, 1),
    ("tanh", 1, 1),
];

/// The fewest and the most arguments of a known function; none where the name is not known.
pub fn arity(name: &str) -> Option<(usize, usize)> {
    KNOWN.binary_search_by_key(&name, |k| k.0).ok().map(|at| (KNOWN[at].1, KNOWN[at].2))
}

/// The names of all known functions, sorted.
pub fn names() -> impl Iterator<Item = &'static str> {
    KNOWN.iter().map(|k| k.0)
}

/// The value of a constant: `pi`, `E` (Euler's number) or `oo` (infinity).
pub fn constant(name: &str) -> Option<f64> {
    match name {
        "pi" => Some(std::f64::consts::PI),
        "E" => Some(std::f64::consts::E),
        "oo" => Some(f64::INFINITY),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sorted_for_the_search() {
        assert!(names().is_sorted());
        assert_eq!(arity("atan2"), Some((2, 2)));
        assert_eq!(arity("atan3"), None);
    }
}
