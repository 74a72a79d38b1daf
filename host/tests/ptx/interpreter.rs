//! Runs the body of a slot on the CPU, instruction by instruction as the PTX manual describes them, to
//! see that the text means what the section means.

use std::collections::HashMap;

/// Registers and memory of one thread. Words of 32 bits are in the low half.
#[derive(Default)]
pub(crate) struct Machine {
    /// Values of registers, predicates as 0 and 1.
    pub(crate) registers: HashMap<String, u64>,
    /// Words in memory by address, as wide as the instruction that moves them.
    pub(crate) memory: HashMap<u64, u64>,
}

impl Machine {
    /// Runs straight through, but for branches to labels further on.
    pub(crate) fn run(&mut self, body: &str) -> Result<(), String> {
        let mut skip_to: Option<String> = None;
        for line in body.lines() {
            let line = line.trim();
            if let Some(label) = line.strip_suffix(':') {
                if skip_to.as_deref() == Some(label) {
                    skip_to = None;
                }
                continue;
            }
            if skip_to.is_some() || line.is_empty() || matches!(line, "{" | "}") {
                continue;
            }
            let code = line.strip_suffix(';').ok_or_else(|| format!("no semicolon: {line}"))?;
            if code.starts_with(".reg") {
                continue;
            }
            if let Some(guarded) = code.strip_prefix('@') {
                let (guard, rest) = guarded.split_once(' ').ok_or(line)?;
                let (name, wanted) = match guard.strip_prefix('!') {
                    Some(name) => (name, 0),
                    None => (guard, 1),
                };
                let label = rest.strip_prefix("bra ").ok_or(line)?;
                if self.get(name)? == wanted {
                    skip_to = Some(label.to_owned());
                }
                continue;
            }
            self.step(code).map_err(|error| format!("{line}: {error}"))?;
        }
        skip_to.map_or(Ok(()), |label| Err(format!("no label {label}")))
    }

    fn get(&self, name: &str) -> Result<u64, String> {
        self.registers.get(name).copied().ok_or_else(|| format!("{name} was never written"))
    }

    fn value(&self, operand: &str) -> Result<u64, String> {
        let hex = |digits| u64::from_str_radix(digits, 16).map_err(|e| e.to_string());
        if operand.starts_with('%') {
            self.get(operand)
        } else if let Some(digits) = operand.strip_prefix("0f").or(operand.strip_prefix("0d")) {
            hex(digits)
        } else {
            operand.parse::<i128>().map(|v| v as u64).map_err(|e| e.to_string())
        }
    }

    fn address(&self, operand: &str) -> Result<u64, String> {
        let inside = operand.strip_prefix('[').and_then(|o| o.strip_suffix(']')).ok_or(operand)?;
        match inside.split_once('+') {
            Some((base, offset)) => Ok(self.get(base)? + self.value(offset)?),
            None => self.get(inside),
        }
    }

    fn step(&mut self, code: &str) -> Result<(), String> {
        let (opcode, operands) = code.split_once(' ').ok_or("no operands")?;
        let operands: Vec<&str> = operands.split(',').map(str::trim).collect();
        let (mnemonic, ty) = opcode.rsplit_once('.').ok_or("no type")?;
        let wide = ty.ends_with("64");
        if mnemonic == "st.global" {
            let (address, value) = (self.address(operands[0])?, self.value(operands[1])?);
            self.memory.insert(address, value);
            return Ok(());
        }
        let result = if mnemonic.starts_with("ld.global") {
            let address = self.address(operands[1])?;
            *self.memory.get(&address).ok_or("nothing in memory")?
        } else {
            let mut values = [0; 3];
            for (value, operand) in values.iter_mut().zip(&operands[1..]) {
                *value = self.value(operand)?;
            }
            if wide { of_64(opcode, values) } else { of_32(opcode, values) }
                .ok_or("unknown instruction")?
        };
        self.registers.insert(operands[0].to_owned(), result);
        Ok(())
    }
}

/// The instructions of one width.
macro_rules! instructions {
    ($name:ident: $float:ident, $bits:ident, $signed:ident, $double:ident, $f:literal, $b:literal, $u:literal, $s:literal) => {
        fn $name(opcode: &str, values: [u64; 3]) -> Option<u64> {
            let [a, b, c] = values.map(|v| $float::from_bits(v as $bits));
            let [i, j, _] = values.map(|v| v as $bits);
            let (p, q) = (i as $signed, j as $signed);
            // A shift by the width or more gives 0.
            let count = values[1] as u32;
            let float = |x: $float| u64::from(x.to_bits());
            let bits = |x: $bits| u64::from(x);
            if opcode == "cvt.u32.u64" {
                return Some(values[0] & 0xffff_ffff);
            }
            let rest = |suffix| opcode.strip_suffix(suffix);
            if let Some(mnemonic) = rest(concat!(".", $f, ".", $f)) {
                return Some(float(match mnemonic {
                    "cvt.rmi" => a.floor(),
                    "cvt.rpi" => a.ceil(),
                    "cvt.rzi" => a.trunc(),
                    _ => return None,
                }));
            }
            if let Some(mnemonic) = rest(concat!(".", $f)) {
                return Some(match mnemonic {
                    "add.rn" => float(a + b),
                    "sub.rn" => float(a - b),
                    "mul.rn" => float(a * b),
                    "div.rn" => float(a / b),
                    "fma.rn" => float(a.mul_add(b, c)),
                    "sqrt.rn" => float(a.sqrt()),
                    "neg" => float(-a),
                    "abs" => float(a.abs()),
                    "setp.eq" => u64::from(a == b),
                    "setp.neu" => u64::from(a != b),
                    "setp.lt" => u64::from(a < b),
                    "setp.le" => u64::from(a <= b),
                    _ => return None,
                });
            }
            if let Some(mnemonic) = rest(concat!(".", $u)) {
                return Some(match mnemonic {
                    "add" => bits(i.wrapping_add(j)),
                    "sub" => bits(i.wrapping_sub(j)),
                    "mul.lo" => bits(i.wrapping_mul(j)),
                    "mul.hi" => bits(((i as $double * j as $double) >> $bits::BITS) as $bits),
                    "shr" => bits(i.checked_shr(count).unwrap_or(0)),
                    "setp.eq" => u64::from(i == j),
                    "setp.ne" => u64::from(i != j),
                    "setp.lt" => u64::from(i < j),
                    "mov" => bits(i),
                    "cvta.to.global" => bits(i),
                    concat!("cvt.rn.", $f) => float(i as $float),
                    _ => return None,
                });
            }
            if let Some(mnemonic) = rest(concat!(".", $s)) {
                return Some(match mnemonic {
                    "shr" => bits((p >> count.min($bits::BITS - 1)) as $bits),
                    "setp.lt" => u64::from(p < q),
                    "add" => bits(i.wrapping_add(j)),
                    "mad.lo" => bits(i.wrapping_mul(j).wrapping_add(values[2] as $bits)),
                    concat!("cvt.rn.", $f) => float(p as $float),
                    _ => return None,
                });
            }
            if let Some(mnemonic) = rest(concat!(".", $b)) {
                return Some(match mnemonic {
                    "mov" => bits(i),
                    "and" => bits(i & j),
                    "or" => bits(i | j),
                    "xor" => bits(i ^ j),
                    "not" => bits(!i),
                    "shl" => bits(i.checked_shl(count).unwrap_or(0)),
                    "selp" => {
                        if values[2] == 1 {
                            bits(i)
                        } else {
                            bits(j)
                        }
                    }
                    _ => return None,
                });
            }
            Some(match opcode {
                "and.pred" => values[0] & values[1],
                "or.pred" => values[0] | values[1],
                "not.pred" => values[0] ^ 1,
                _ => return None,
            })
        }
    };
}

instructions! { of_32: f32, u32, i32, u64, "f32", "b32", "u32", "s32" }
instructions! { of_64: f64, u64, i64, u128, "f64", "b64", "u64", "s64" }
