//! What a plain scalar means.

use super::ScalarValue;

/// Types a plain scalar by YAML's rules, which `serde_yaml` knows.
pub(super) fn plain(text: &str) -> ScalarValue {
    if text.is_empty() {
        return ScalarValue::Null;
    }
    // Only these start anything but text, and nothing long is a number.
    if !text.starts_with(|c: char| c.is_ascii_digit() || "+-.~nNtTfF".contains(c))
        || text.len() > 64
    {
        return ScalarValue::Text;
    }
    match serde_yaml::from_str::<serde_yaml::Value>(text) {
        Ok(serde_yaml::Value::Null) => ScalarValue::Null,
        Ok(serde_yaml::Value::Bool(value)) => ScalarValue::Bool(value),
        Ok(serde_yaml::Value::Number(value)) => {
            value.as_f64().map_or(ScalarValue::Text, ScalarValue::Number)
        }
        _ => ScalarValue::Text,
    }
}

/// Types a scalar with a tag of YAML's core schema, by the tag's last part; `None` for a tag that
/// is not of the core schema or does not fit the text.
pub(super) fn tagged(text: &str, tag: &str) -> Option<ScalarValue> {
    match tag {
        "str" => Some(ScalarValue::Text),
        "null" => Some(ScalarValue::Null),
        "bool" => Some(plain(text)).filter(|v| matches!(v, ScalarValue::Bool(_))),
        "int" | "float" => Some(plain(text)).filter(|v| matches!(v, ScalarValue::Number(_))),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_scalars_are_typed() {
        assert_eq!(plain("1.5"), ScalarValue::Number(1.5));
        assert_eq!(plain("-3"), ScalarValue::Number(-3.0));
        assert_eq!(plain("1e-3"), ScalarValue::Number(1e-3));
        assert_eq!(plain(".inf"), ScalarValue::Number(f64::INFINITY));
        assert_eq!(plain("-.inf"), ScalarValue::Number(f64::NEG_INFINITY));
        assert_eq!(plain("true"), ScalarValue::Bool(true));
        assert_eq!(plain("~"), ScalarValue::Null);
        assert_eq!(plain("-V"), ScalarValue::Text);
        assert_eq!(plain("- x"), ScalarValue::Text);
        assert_eq!(plain("1 - x"), ScalarValue::Text);
        assert_eq!(plain("n"), ScalarValue::Text);
    }

    #[test]
    fn tags_decide() {
        assert_eq!(tagged("1", "str"), Some(ScalarValue::Text));
        assert_eq!(tagged("1", "float"), Some(ScalarValue::Number(1.0)));
        assert_eq!(tagged("x", "float"), None);
        assert_eq!(tagged("1", "python/name"), None);
    }
}
