//! A tape as PTX text.
//!
//! Words of the tape are untyped registers (`.b32` or `.b64`), truth values are predicates. All names
//! start with `%s_`, which the compiler of the kernels does not use. Arithmetic says `.rn`, which
//! forbids contraction, and never `.ftz`.

use super::tape::{
    CompareBits, CompareFloat, Float1, Float2, Integer, Item, Logic, Operand, Operation, Shift,
    Step,
};
use crate::experiment::Precision;
use std::collections::BTreeMap;
use std::fmt::Write;

/// How far a place is from an address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Offset {
    /// Bytes that are known.
    Bytes(u64),
    /// A register of 64 bits, so many times.
    Stride(String, u32),
}

/// Which memory a place is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Space {
    /// The device's, that the block writes too.
    Global,
    /// The device's, where nobody writes during the launch.
    Constant,
    /// The block's.
    Shared,
}

/// A place in memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Place {
    /// The register with the address.
    pub(super) base: String,
    /// What is added to it.
    pub(super) offset: Offset,
    /// Which memory it is in.
    pub(super) space: Space,
}

/// Where an input is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Source {
    /// In a register of the kernel.
    Register(String),
    /// In memory.
    Memory(Place),
}

/// Where a result goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Target {
    /// To a register of the kernel.
    Register(String),
    /// To memory.
    Memory(Place),
}

/// The widest offset that an instruction can hold.
const WIDEST_IMMEDIATE: u64 = i32::MAX as u64;

/// Prints the body of a slot: items, then results.
pub(super) fn print(
    precision: Precision,
    sources: &[Source],
    items: &[Item],
    results: &[(Target, Operand)],
) -> String {
    let mut printer = Printer {
        width: match precision {
            Precision::F32 => 32,
            Precision::F64 => 64,
        },
        sources,
        names: BTreeMap::new(),
        addresses: BTreeMap::new(),
        words: 0,
        truths: 0,
        places: 0,
        labels: 0,
        text: String::new(),
    };
    printer.items(items);
    for (target, operand) in results {
        let operand = printer.word(*operand);
        let width = printer.width;
        match target {
            Target::Register(name) => printer.line(format_args!("mov.b{width} {name}, {operand};")),
            Target::Memory(place) => {
                let address = printer.address(place);
                let space = if place.space == Space::Shared { "shared" } else { "global" };
                printer.line(format_args!("st.{space}.b{width} [{address}], {operand};"));
            }
        }
    }
    printer.finish()
}

/// The register of a value.
#[derive(Clone, Debug)]
struct Name(String);

struct Printer<'a> {
    width: u32,
    sources: &'a [Source],
    names: BTreeMap<u32, Name>,
    /// Registers with addresses in global memory, by the kernel's register.
    addresses: BTreeMap<String, String>,
    words: u32,
    truths: u32,
    places: u32,
    labels: u32,
    text: String,
}

impl Printer<'_> {
    fn line(&mut self, line: std::fmt::Arguments<'_>) {
        // Writing to a string cannot fail.
        let _ = writeln!(self.text, "\t{line}");
    }

    /// Declarations and address conversions come first: they hold in branches too.
    fn finish(self) -> String {
        let mut text = String::new();
        let mut declare = |ty: &str, name: &str, count: u32| {
            if count > 0 {
                let _ = writeln!(text, "\t.reg .{ty} %s_{name}<{count}>;");
            }
        };
        declare(if self.width == 32 { "b32" } else { "b64" }, "v", self.words);
        declare("pred", "p", self.truths);
        declare("b64", "a", self.places);
        if self.width == 64 && self.text.contains("%s_c") {
            declare("b32", "c", 1);
        }
        for (generic, global) in &self.addresses {
            let _ = writeln!(text, "\tcvta.to.global.u64 {global}, {generic};");
        }
        text + &self.text
    }

    fn items(&mut self, items: &[Item]) {
        for item in items {
            match item {
                Item::Step { value, step } => self.step(*value, step),
                Item::Branch { value, mask, fast, body, slow } => {
                    self.branch(*value, *mask, *fast, body, *slow);
                }
            }
        }
    }

    fn branch(&mut self, value: u32, mask: Operand, fast: Operand, body: &[Item], slow: Operand) {
        let (width, mask, fast) = (self.width, self.truth(mask), self.word(fast));
        let label = self.labels;
        self.labels += 1;
        let name = self.new_word(value);
        self.line(format_args!("mov.b{width} {name}, {fast};"));
        self.line(format_args!("@!{mask} bra $S_usual{label};"));
        self.items(body);
        let slow = self.word(slow);
        self.line(format_args!("mov.b{width} {name}, {slow};"));
        let _ = writeln!(self.text, "$S_usual{label}:");
    }

    fn new_word(&mut self, value: u32) -> String {
        let name = format!("%s_v{}", self.words);
        self.words += 1;
        self.names.insert(value, Name(name.clone()));
        name
    }

    fn new_truth(&mut self, value: u32) -> String {
        let name = format!("%s_p{}", self.truths);
        self.truths += 1;
        self.names.insert(value, Name(name.clone()));
        name
    }

    fn new_place(&mut self) -> String {
        self.places += 1;
        format!("%s_a{}", self.places - 1)
    }

    fn name(&self, value: u32) -> String {
        self.names.get(&value).map_or_else(String::new, |name| name.0.clone())
    }

    /// A word as bits.
    fn word(&self, operand: Operand) -> String {
        match operand {
            Operand::Value(value) => self.name(value),
            // A signed literal: PTX has no unsigned one of 64 bits without a suffix.
            Operand::Constant(word) if self.width == 64 => (word as i64).to_string(),
            Operand::Constant(word) => word.to_string(),
        }
    }

    /// A word as a float.
    fn float(&self, operand: Operand) -> String {
        match operand {
            Operand::Value(value) => self.name(value),
            Operand::Constant(word) if self.width == 64 => format!("0d{word:016X}"),
            Operand::Constant(word) => format!("0f{word:08X}"),
        }
    }

    /// A truth value, which has to be in a register.
    fn truth(&mut self, operand: Operand) -> String {
        match operand {
            Operand::Value(value) => self.name(value),
            Operand::Constant(truth) => {
                let name = format!("%s_p{}", self.truths);
                self.truths += 1;
                self.line(format_args!("setp.eq.u32 {name}, {truth}, 1;"));
                name
            }
        }
    }

    /// What stands in the brackets of a load or store.
    fn address(&mut self, place: &Place) -> String {
        if let (Space::Shared, Offset::Bytes(bytes)) = (place.space, &place.offset) {
            return format!("{}+{bytes}", place.base);
        }
        let base = match self.addresses.get(&place.base) {
            Some(name) => name.clone(),
            None => {
                let name = self.new_place();
                self.addresses.insert(place.base.clone(), name.clone());
                name
            }
        };
        match &place.offset {
            Offset::Bytes(0) | Offset::Stride(_, 0) => base,
            Offset::Bytes(bytes) if *bytes <= WIDEST_IMMEDIATE => format!("{base}+{bytes}"),
            Offset::Bytes(bytes) => {
                let name = self.new_place();
                self.line(format_args!("add.s64 {name}, {base}, {bytes};"));
                name
            }
            Offset::Stride(stride, times) => {
                let name = self.new_place();
                self.line(format_args!("mad.lo.s64 {name}, {stride}, {times}, {base};"));
                name
            }
        }
    }

    fn step(&mut self, value: u32, step: &Step) {
        let width = self.width;
        let [a, b, c] = step.operands;
        if let Operation::Input(place) = step.operation {
            let sources = self.sources;
            match &sources[place as usize] {
                Source::Register(name) => {
                    self.names.insert(value, Name(name.clone()));
                }
                Source::Memory(place) => {
                    let address = self.address(place);
                    let space = match place.space {
                        Space::Global => "global",
                        Space::Constant => "global.nc",
                        Space::Shared => "shared",
                    };
                    let name = self.new_word(value);
                    self.line(format_args!("ld.{space}.b{width} {name}, [{address}];"));
                }
            }
            return;
        }
        if step.operation.is_truth() {
            return self.truth_step(value, step);
        }
        let instruction = match step.operation {
            Operation::Float1(kind) => {
                let name = float1(kind, width);
                match kind {
                    Float1::FromUnsigned | Float1::FromSigned => {
                        format!("{name} @, {}", self.word(a))
                    }
                    _ => format!("{name} @, {}", self.float(a)),
                }
            }
            Operation::Float2(kind) => {
                let name = match kind {
                    Float2::Add => "add",
                    Float2::Sub => "sub",
                    Float2::Mul => "mul",
                    Float2::Div => "div",
                };
                format!("{name}.rn.f{width} @, {}, {}", self.float(a), self.float(b))
            }
            Operation::MulAdd => {
                let (a, b, c) = (self.float(a), self.float(b), self.float(c));
                format!("fma.rn.f{width} @, {a}, {b}, {c}")
            }
            Operation::Integer(Integer::Not) => format!("not.b{width} @, {}", self.word(a)),
            Operation::Integer(kind) => {
                let b = match kind {
                    Integer::Shl | Integer::Shr => self.shift_count(b),
                    _ => self.word(b),
                };
                format!("{} @, {}, {b}", integer(kind, width), self.word(a))
            }
            Operation::Shift(kind, count) => {
                let name = match kind {
                    Shift::Left => format!("shl.b{width}"),
                    Shift::Right => format!("shr.u{width}"),
                    Shift::RightSigned => format!("shr.s{width}"),
                };
                format!("{name} @, {}, {count}", self.word(a))
            }
            Operation::Select => {
                let mask = self.truth(a);
                format!("selp.b{width} @, {}, {}, {mask}", self.word(b), self.word(c))
            }
            // Handled above.
            Operation::Input(_)
            | Operation::CompareFloat(_)
            | Operation::CompareBits(_)
            | Operation::Logic(_) => return,
        };
        let name = self.new_word(value);
        self.line(format_args!("{};", instruction.replacen('@', &name, 1)));
    }

    fn truth_step(&mut self, value: u32, step: &Step) {
        let width = self.width;
        let [a, b, _] = step.operands;
        let instruction = match step.operation {
            Operation::CompareFloat(kind) => {
                let name = match kind {
                    CompareFloat::Eq => "eq",
                    // True if either is NaN.
                    CompareFloat::Ne => "neu",
                    CompareFloat::Lt => "lt",
                    CompareFloat::Le => "le",
                };
                format!("setp.{name}.f{width} @, {}, {}", self.float(a), self.float(b))
            }
            Operation::CompareBits(kind) => {
                let name = match kind {
                    CompareBits::Eq => "eq.u",
                    CompareBits::Lt => "lt.u",
                    CompareBits::SignedLt => "lt.s",
                };
                format!("setp.{name}{width} @, {}, {}", self.word(a), self.word(b))
            }
            Operation::Logic(Logic::Not) => format!("not.pred @, {}", self.truth(a)),
            Operation::Logic(kind) => {
                let name = if kind == Logic::And { "and" } else { "or" };
                let (a, b) = (self.truth(a), self.truth(b));
                format!("{name}.pred @, {a}, {b}")
            }
            _ => return,
        };
        let name = self.new_truth(value);
        self.line(format_args!("{};", instruction.replacen('@', &name, 1)));
    }

    /// Counts of shifts are 32 bits wide.
    fn shift_count(&mut self, count: Operand) -> String {
        let name = self.word(count);
        if self.width == 32 || matches!(count, Operand::Constant(_)) {
            return name;
        }
        self.line(format_args!("cvt.u32.u64 %s_c0, {name};"));
        "%s_c0".to_owned()
    }
}

fn float1(kind: Float1, width: u32) -> String {
    let name = match kind {
        Float1::Neg => "neg",
        Float1::Abs => "abs",
        Float1::Sqrt => "sqrt.rn",
        Float1::Floor => return format!("cvt.rmi.f{width}.f{width}"),
        Float1::Ceil => return format!("cvt.rpi.f{width}.f{width}"),
        Float1::Trunc => return format!("cvt.rzi.f{width}.f{width}"),
        Float1::FromUnsigned => return format!("cvt.rn.f{width}.u{width}"),
        Float1::FromSigned => return format!("cvt.rn.f{width}.s{width}"),
    };
    format!("{name}.f{width}")
}

fn integer(kind: Integer, width: u32) -> String {
    match kind {
        Integer::Add => format!("add.u{width}"),
        Integer::Sub => format!("sub.u{width}"),
        Integer::Mul => format!("mul.lo.u{width}"),
        Integer::MulHigh => format!("mul.hi.u{width}"),
        Integer::And => format!("and.b{width}"),
        Integer::Or => format!("or.b{width}"),
        Integer::Xor => format!("xor.b{width}"),
        Integer::Not => format!("not.b{width}"),
        Integer::Shl => format!("shl.b{width}"),
        Integer::Shr => format!("shr.u{width}"),
    }
}
