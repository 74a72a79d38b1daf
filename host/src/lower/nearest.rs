//! The name that was probably meant.

/// The known name nearest to `name`, where one is near enough to be a slip: at most a third of its
/// letters inserted, left out, replaced or swapped with a neighbour. The first of equals.
pub(super) fn nearest<'n>(name: &str, known: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    let allowed = (name.chars().count() / 3).max(1);
    known
        .filter(|k| *k != name)
        .map(|k| (distance(name, k), k))
        .filter(|(d, _)| *d <= allowed)
        .min_by_key(|(d, _)| *d)
        .map(|(_, k)| k)
}

/// The optimal string alignment distance, ignoring case.
fn distance(a: &str, b: &str) -> usize {
    let a: Vec<char> = a.to_lowercase().chars().collect();
    let b: Vec<char> = b.to_lowercase().chars().collect();
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i; b.len() + 1];
        for j in 1..=b.len() {
            let replaced = last[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            row[j] = replaced.min(last[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                row[j] = row[j].min(before[j - 2] + 1);
            }
        }
        before = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_are_found_and_strangers_are_not() {
        let known = ["omega", "gamma", "tau_s"];
        assert_eq!(nearest("omgea", known.into_iter()), Some("omega"));
        assert_eq!(nearest("tau_S", known.into_iter()), Some("tau_s"));
        assert_eq!(nearest("voltage", known.into_iter()), None);
    }
}
