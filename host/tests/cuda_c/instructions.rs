//! What a kernel in PTX stores, as expressions of what it loads: two compilers agree to the bit where
//! these are the same.
//!
//! For the kernels of this suite only: straight code over one pair of words, with the branches that an
//! argument of the logarithm in `[2^-33, 1]` does not take.

use std::collections::{BTreeMap, HashMap};

/// The float expressions that an entry stores, by the offset in its array, in the words that it loads.
pub(crate) fn stored(ptx: &str, entry: &str) -> Result<BTreeMap<u32, String>, String> {
    let start = ptx.find(&format!(".entry {entry}(")).ok_or("no such entry")?;
    let body = ptx[start..].split_once("\n{").ok_or("no body")?.1;
    let body = body.split_once("\n}").ok_or("no end")?.0;
    let mut code = Code::default();
    let mut skip_to: Option<&str> = None;
    for line in body.lines().map(str::trim) {
        if let Some(label) = line.strip_suffix(':') {
            skip_to = skip_to.filter(|wanted| *wanted != label);
        } else if skip_to.is_none()
            && !line.is_empty()
            && !line.starts_with("//")
            && !line.starts_with(".reg")
        {
            let line = line.strip_suffix(';').ok_or_else(|| format!("no semicolon: {line}"))?;
            skip_to = code.step(line).map_err(|error| format!("{line}: {error}"))?;
        }
    }
    if code.stored.is_empty() { Err("nothing is stored".to_owned()) } else { Ok(code.stored) }
}

#[derive(Default)]
struct Code {
    registers: HashMap<String, String>,
    stored: BTreeMap<u32, String>,
}

impl Code {
    /// One instruction; gives the label to go to, if it is a branch that is taken.
    fn step<'l>(&mut self, line: &'l str) -> Result<Option<&'l str>, String> {
        if let Some(guarded) = line.strip_prefix('@') {
            let (predicate, branch) = guarded.split_once(char::is_whitespace).ok_or("a guard")?;
            let label = branch.trim().strip_prefix("bra").ok_or("no branch")?.trim();
            return Ok(truth(&self.value(predicate))?.then_some(label));
        }
        let Some((opcode, operands)) = line.split_once(char::is_whitespace) else {
            return if line == "ret" { Ok(None) } else { Err("unknown".to_owned()) };
        };
        let operands: Vec<&str> = operands.split(',').map(str::trim).collect();
        if opcode.starts_with("st.global") {
            self.stored.insert(offset(operands[0])?, self.value(operands[1]));
            return Ok(None);
        }
        let values: Vec<String> = operands[1..].iter().map(|o| self.value(o)).collect();
        let value = match opcode {
            _ if opcode.starts_with("ld.global") => format!("word{}", offset(operands[1])?),
            _ if opcode.starts_with("mov.") => values[0].clone(),
            _ if opcode.starts_with("selp.") => match truth(&values[2]) {
                Ok(true) => values[0].clone(),
                Ok(false) => values[1].clone(),
                Err(_) => expression(opcode, values),
            },
            _ => expression(opcode, values),
        };
        self.registers.insert(operands[0].to_owned(), value);
        Ok(None)
    }

    fn value(&self, operand: &str) -> String {
        self.registers.get(operand).cloned().unwrap_or_else(|| operand.to_owned())
    }
}

fn offset(address: &str) -> Result<u32, String> {
    let inside = address.trim_start_matches('[').trim_end_matches(']');
    inside.split_once('+').map_or(Ok(0), |(_, offset)| offset.parse()).map_err(|_| "offset".into())
}

/// With factors and terms in one order. What is rounded to nearest is the same with and without `.rn`,
/// as long as no product that may be contracted stands in a sum: see [`can_be_contracted`].
fn expression(opcode: &str, mut values: Vec<String>) -> String {
    let plain = match opcode {
        "mul.f32" => "mul.rn.f32",
        "add.f32" => "add.rn.f32",
        "sub.f32" => "sub.rn.f32",
        other => other,
    };
    if ["mul.", "add.", "fma.", "and.", "or.", "xor."].iter().any(|o| plain.starts_with(o)) {
        values[..2].sort();
    }
    format!("{plain}({})", values.join(", "))
}

/// Whether an assembler could fuse a product into a sum.
pub(crate) fn can_be_contracted(expression: &str) -> bool {
    ["add.rn.f32(", "sub.rn.f32("].iter().any(|sum| {
        expression.match_indices(sum).any(|(at, _)| {
            let terms = terms(&expression[at + sum.len()..]);
            terms.iter().any(|term| term.starts_with("mul.rn.f32("))
        })
    })
}

/// The operands of a call whose text goes on behind its end.
fn terms(text: &str) -> Vec<&str> {
    let (mut depth, mut from, mut terms) = (0, 0, Vec::new());
    for (at, c) in text.char_indices() {
        match c {
            '(' => depth += 1,
            ')' if depth == 0 => {
                terms.push(text[from..at].trim());
                break;
            }
            ')' => depth -= 1,
            ',' if depth == 0 => {
                terms.push(text[from..at].trim());
                from = at + 1;
            }
            _ => {}
        }
    }
    terms
}

/// Comparisons whose outcome is known: of the uniform number under the logarithm, in `[2^-33, 1]`, with
/// the smallest normal number, infinity and 0; of the thread's number with that of the pairs.
fn truth(comparison: &str) -> Result<bool, String> {
    let unknown = || format!("not known: {comparison}");
    let (opcode, rest) = comparison.split_once('(').ok_or_else(unknown)?;
    let operands = terms(rest);
    let uniform = [
        "fma.rn.f32(0f2F800000, cvt.rn.f32.u32(word0), 0f2F000000)",
        "add.rn.f32(0f2F000000, mul.rn.f32(0f2F800000, cvt.rn.f32.u32(word0)))",
    ]
    .contains(&operands[0]);
    match (opcode, operands[1]) {
        ("setp.lt.f32", "0f00800000") if uniform => Ok(false),
        ("setp.lt.u32" | "setp.lt.s32", "2139095040") if uniform => Ok(true),
        ("setp.gt.u32" | "setp.gt.s32", "2139095039") if uniform => Ok(false),
        ("setp.eq.f32", "0f00000000") if uniform => Ok(false),
        ("setp.le.u64", _) => Ok(false),
        _ => Err(unknown()),
    }
}
