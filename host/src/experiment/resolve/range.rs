//! Ranges and lists to the values of an axis.

use super::read::{Context, Named, number};
use crate::diagnostic::Code;

/// The values of an axis, decoded.
pub(super) fn values(cx: &mut Context<'_>, axis: Named<'_>) -> Option<Vec<f64>> {
    let what = format!("the sweep axis `{}`", axis.name);
    let node = axis.node;
    let explicit = if node.is_sequence() {
        Some(node)
    } else {
        node.get("explored_values").or_else(|| node.at(&["domain", "explored_values"]))
    };
    let values = match explicit {
        Some(list) => {
            let items = if list.is_sequence() { list.items() } else { std::slice::from_ref(list) };
            items.iter().map(|n| cx.number(n, &what)).collect::<Option<Vec<f64>>>()?
        }
        None => range(cx, axis, &what)?,
    };
    match node.get("transform").and_then(|n| Some((n, cx.text(n, "`transform`")?))) {
        None | Some((_, "none" | "identity")) => Some(values),
        Some((_, "log10")) => Some(values.into_iter().map(|v| 10f64.powf(v)).collect()),
        Some((_, "log" | "ln")) => Some(values.into_iter().map(f64::exp).collect()),
        Some((at, other)) => {
            let message = format!("{what} has the transform `{other}`; none and log10 are known");
            cx.error(Code::NotSupported, message, &at.location);
            None
        }
    }
}

fn range(cx: &mut Context<'_>, axis: Named<'_>, what: &str) -> Option<Vec<f64>> {
    let Some(domain) = axis.node.get("domain") else {
        let message = format!("{what} has neither `domain` nor `explored_values`");
        cx.error(Code::MissingKey, message, axis.location);
        return None;
    };
    let mut bound = |key: &str| match domain.get(key) {
        Some(node) => cx.finite(node, &format!("`{key}` of {what}")),
        None => {
            cx.error(Code::MissingKey, format!("{what} has no `{key}`"), &domain.location);
            None
        }
    };
    let (lo, hi) = (bound("lo"), bound("hi"));
    let (lo, hi) = (lo?, hi?);
    let log = cx.flag_or(domain, "log_scale", false);
    if log && !(lo > 0.0 && hi > 0.0) {
        let message = format!("{what} is logarithmic and reaches {}", lo.min(hi));
        cx.error(Code::BadValue, message, &domain.location);
        return None;
    }
    if let Some(n) = domain.get("n") {
        let n = cx.whole(n, &format!("`n` of {what}"))?;
        if n > MOST_VALUES {
            let message = format!("{what} has {n} values: more than {MOST_VALUES}");
            cx.error(Code::TooLarge, message, &domain.location);
            return None;
        }
        return Some(if log {
            log_space(lo, hi, n as usize)
        } else {
            lin_space(lo, hi, n as usize)
        });
    }
    let Some(step) = domain.get("step") else {
        let message = format!("{what} has neither `n` nor `step`");
        cx.error(Code::MissingKey, message, &domain.location);
        return None;
    };
    let step = number(step).filter(|s| s.is_finite() && *s != 0.0 && (hi - lo) / s >= 0.0);
    let Some(step) = step.filter(|_| !log) else {
        let message = format!("the `step` of {what} doesn't lead from {lo} to {hi}");
        cx.error(Code::BadValue, message, &domain.location);
        return None;
    };
    // A last value that misses `hi` by rounding only is still one.
    let count = ((hi - lo) / step * (1.0 + 1e-12) + 1e-9).floor();
    if count >= MOST_VALUES as f64 {
        let message = format!("{what} has {count} values: more than {MOST_VALUES}");
        cx.error(Code::TooLarge, message, &domain.location);
        return None;
    }
    Some((0..=count as u64).map(|k| lo + k as f64 * step).collect())
}

/// Most values on one axis; a point's results would have to be a byte to fit more.
const MOST_VALUES: u64 = 100_000_000;

/// `n` values from `lo` to `hi`, both included; `lo` alone for 1.
pub(crate) fn lin_space(lo: f64, hi: f64, n: usize) -> Vec<f64> {
    let last = n.saturating_sub(1);
    (0..n)
        .map(
            |k| {
                if k == last && k > 0 {
                    hi
                } else {
                    lo + (hi - lo) * (k as f64 / last.max(1) as f64)
                }
            },
        )
        .collect()
}

/// `n` values from `lo` to `hi`, both included, in equal ratios.
pub(crate) fn log_space(lo: f64, hi: f64, n: usize) -> Vec<f64> {
    let mut values: Vec<f64> = lin_space(lo.ln(), hi.ln(), n).into_iter().map(f64::exp).collect();
    // The ends are exact.
    if let [first, .., last] = &mut values[..] {
        (*first, *last) = (lo, hi);
    } else if let [only] = &mut values[..] {
        *only = lo;
    }
    values
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spaces_include_both_ends() {
        assert_eq!(lin_space(0.0, 1.0, 5), [0.0, 0.25, 0.5, 0.75, 1.0]);
        assert_eq!(lin_space(2.0, 3.0, 1), [2.0]);
        assert_eq!(lin_space(2.0, 3.0, 0), [] as [f64; 0]);
        let log = log_space(0.01, 100.0, 5);
        assert_eq!((log[0], log[4]), (0.01, 100.0));
        assert!((log[2] - 1.0).abs() < 1e-12);
    }
}
