//! Replacing slots in PTX by instructions.

use std::{error, fmt};

/// The type of a slot's operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    /// A float of 32 bits.
    F32,
    /// A float of 64 bits.
    F64,
    /// An unsigned integer of 32 bits.
    U32,
    /// A signed integer of 32 bits.
    S32,
    /// An unsigned integer of 64 bits, or an address.
    U64,
}

impl Type {
    fn parse(name: &str) -> Option<Self> {
        match name {
            "f32" => Some(Self::F32),
            "f64" => Some(Self::F64),
            "u32" => Some(Self::U32),
            "s32" => Some(Self::S32),
            "u64" => Some(Self::U64),
            _ => None,
        }
    }
}

/// An operand of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Register<'a> {
    /// The register, `%r5`.
    pub name: &'a str,
    /// What it holds.
    pub ty: Type,
}

/// A call of a slot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call<'a> {
    /// The slot's name: that of the function declared with `slot!`.
    pub name: &'a str,
    /// The registers to write. None of them is an input.
    pub outputs: Vec<Register<'a>>,
    /// The registers to read, which must keep their values.
    pub inputs: Vec<Register<'a>>,
    /// The line of the text, counted from 1.
    pub line: usize,
}

/// Why slots could not be filled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SlotError<E> {
    /// A line that begins like a call of a slot is none.
    Malformed {
        /// The line, counted from 1.
        line: usize,
        /// What it says.
        text: String,
    },
    /// The function that writes instructions refused.
    Body(E),
}

impl<E: fmt::Display> fmt::Display for SlotError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Malformed { line, text } => {
                write!(f, "line {line} of the PTX is not a call of a slot: {text}")
            }
            Self::Body(error) => error.fmt(f),
        }
    }
}

impl<E: error::Error + 'static> error::Error for SlotError<E> {
    fn source(&self) -> Option<&(dyn error::Error + 'static)> {
        match self {
            Self::Malformed { .. } => None,
            Self::Body(error) => Some(error),
        }
    }
}

/// Replaces every call of a slot by what `body` writes for it, in a scope of its own: registers
/// and labels declared in it may have the same names in every call.
///
/// # Errors
/// When a call cannot be read, and when `body` fails.
pub fn fill<E>(
    ptx: &str,
    mut body: impl FnMut(&Call<'_>) -> Result<String, E>,
) -> Result<String, SlotError<E>> {
    let mut filled = String::with_capacity(ptx.len() * 2);
    for (index, line) in ptx.lines().enumerate() {
        match line.trim_start().strip_prefix("SLOT ") {
            None => filled.push_str(line),
            Some(call) => {
                let line = index + 1;
                let malformed = || SlotError::Malformed { line, text: call.to_owned() };
                let call = parse(call, line).ok_or_else(malformed)?;
                filled.push_str("\t{\n");
                filled.push_str(body(&call).map_err(SlotError::Body)?.trim_end());
                filled.push_str("\n\t}");
            }
        }
        filled.push('\n');
    }
    Ok(filled)
}

/// Reads `name (outputs), (inputs);`.
fn parse(text: &str, line: usize) -> Option<Call<'_>> {
    let (name, operands) = text.trim_end().split_once(' ')?;
    let operands = operands.strip_prefix('(')?.strip_suffix(");")?;
    let (outputs, inputs) = operands.split_once("), (")?;
    Some(Call { name, outputs: registers(outputs)?, inputs: registers(inputs)?, line })
}

fn registers(list: &str) -> Option<Vec<Register<'_>>> {
    if list.is_empty() {
        return Some(Vec::new());
    }
    list.split(", ")
        .map(|operand| {
            let (name, ty) = operand.rsplit_once(':')?;
            Some(Register { name, ty: Type::parse(ty)? })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::convert::Infallible;

    #[test]
    fn a_call_is_read_and_replaced_in_a_scope() {
        let ptx = "mov.u32 %r1, 0;\n\tSLOT drift (%r5:f32, %rd6:f64), (%r1:u32, %rd2:u64);\nret;\n";
        let mut seen = Vec::new();
        let filled = fill(ptx, |call| {
            seen.push((call.name.to_owned(), call.line));
            let names = |list: &[Register<'_>]| {
                list.iter().map(|r| format!("{}={:?}", r.name, r.ty)).collect::<Vec<_>>().join(" ")
            };
            Ok::<_, Infallible>(format!("{} <- {}", names(&call.outputs), names(&call.inputs)))
        });
        assert_eq!(seen, [("drift".to_owned(), 2)]);
        assert_eq!(
            filled.unwrap(),
            "mov.u32 %r1, 0;\n\t{\n%r5=F32 %rd6=F64 <- %r1=U32 %rd2=U64\n\t}\nret;\n"
        );
    }

    #[test]
    fn a_slot_without_inputs_is_a_constant() {
        let call = parse("unit (%r1:f32), ();", 1).unwrap();
        assert_eq!((call.outputs.len(), call.inputs.len()), (1, 0));
    }

    #[test]
    fn a_slot_that_writes_memory_may_have_no_outputs() {
        let call = parse("store (), (%r1:f32, %rd1:u64);", 1).unwrap();
        assert_eq!((call.outputs.len(), call.inputs.len()), (0, 2));
    }

    #[test]
    fn what_cannot_be_read_is_refused() {
        for text in ["drift (%r5:f32)", "drift (%r5:f16), (%r1:f32);", "drift (%r5), (%r1:f32);"] {
            let result = fill(&format!("SLOT {text}"), |_| Ok::<_, Infallible>(String::new()));
            assert_eq!(result, Err(SlotError::Malformed { line: 1, text: text.to_owned() }));
        }
    }

    #[test]
    fn a_refusal_of_the_body_is_passed_on() {
        let result = fill("SLOT drift (%r5:f32), ();", |call| Err(call.name.len()));
        assert_eq!(result, Err(SlotError::Body(5)));
    }
}
