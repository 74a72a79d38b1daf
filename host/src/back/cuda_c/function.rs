//! A section of a program as a device function.
//!
//! Values that are read once are written where they are read; the others, and those that would make a
//! long line, become constants `v0`, `v1` and so on. The order of operations is that of the section.

use super::literal;
use crate::experiment::Precision;
use crate::ir::{
    BinaryOp, CompareOp, Function1, Function2, Input, Inst, LogicOp, Section, Type, UnaryOp, Value,
};
use std::collections::BTreeSet;
use std::fmt::Write;

/// Where the kernel keeps a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// One value a work item: column `.0` of `parameters`.
    Item(usize),
    /// One value a node: row `.0` of `node_parameters`.
    Node(usize),
}

/// What the names of a program are in the source.
#[derive(Clone, Debug)]
pub(super) struct Names {
    pub(super) precision: Precision,
    pub(super) states: Vec<String>,
    pub(super) sources: Vec<String>,
    pub(super) parameters: Vec<String>,
    pub(super) places: Vec<Place>,
    pub(super) couplings: Vec<String>,
    /// States that edges read, in the order of the history's last channels.
    pub(super) edge_states: Vec<u32>,
    /// Channels of `emit`, which come before those.
    pub(super) channels: usize,
}

/// What a function takes, in the order of its arguments.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Reads {
    pub(super) time: bool,
    pub(super) states: bool,
    pub(super) source: bool,
    gathered: bool,
    couplings: bool,
    pub(super) item: bool,
    pub(super) node: bool,
}

/// A section as text.
#[derive(Clone, Debug)]
pub(super) struct Function {
    pub(super) name: String,
    pub(super) reads: Reads,
    /// The definition.
    pub(super) text: String,
    /// Helpers that it calls.
    pub(super) helpers: BTreeSet<Helper>,
}

/// What the functions of a section may call beside CUDA's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Helper {
    /// The smaller; NaN if either is.
    Lesser,
    /// The larger; NaN if either is.
    Greater,
    /// −1, 0, 1 or NaN.
    Sign,
    /// Remainder with the divisor's sign.
    FloorMod,
}

/// Whether a function returns its one result or writes several.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Out<'a> {
    /// The value of an edge.
    Returned,
    /// Written to an array of this name, with a remark for each.
    Written(&'a str, &'a [String]),
}

impl Function {
    pub(super) fn new(
        name: &str,
        about: &str,
        section: &Section,
        names: &Names,
        out: Out<'_>,
    ) -> Self {
        let mut writer = Writer::new(section, names);
        writer.inputs();
        writer.values();
        let mut text = String::new();
        let reads = writer.reads;
        let mut arguments = reads.list(true);
        let kind = match out {
            Out::Returned => "real",
            Out::Written(array, _) => {
                arguments.push(format!("real *{array}"));
                "void"
            }
        };
        let _ = write!(
            text,
            "/* {about} */\nstatic __device__ __forceinline__ {kind} {name}({})\n{{\n",
            arguments.join(", ")
        );
        text += &writer.text;
        match out {
            Out::Returned => {
                let value = section.results.first().map_or_else(String::new, |v| writer.whole(*v));
                let _ = writeln!(text, "    return {value};");
            }
            Out::Written(array, remarks) => {
                for (at, value) in section.results.iter().enumerate() {
                    let remark = remarks.get(at).map(String::as_str).unwrap_or_default();
                    let value = writer.whole(*value);
                    let _ = writeln!(text, "    {array}[{at}] = {value}; /* {remark} */");
                }
            }
        }
        text += "}\n\n";
        Self { name: name.to_owned(), reads, text, helpers: writer.helpers }
    }

    /// A call with the kernel's variables of those names; `x` and `t` may have others.
    pub(super) fn call(&self, t: &str, x: &str, out: Option<&str>) -> String {
        let mut arguments = self.reads.list(false);
        for argument in &mut arguments {
            match argument.as_str() {
                "t" => *argument = t.to_owned(),
                "x" => *argument = x.to_owned(),
                _ => {}
            }
        }
        arguments.extend(out.map(str::to_owned));
        format!("{}({})", self.name, arguments.join(", "))
    }
}

impl Reads {
    /// Arguments: with their types, or as names for a call.
    fn list(self, typed: bool) -> Vec<String> {
        let all = [
            (self.time, "const real ", "t"),
            (self.states, "const real *", "x"),
            (self.source, "const real *", "source"),
            (self.gathered, "const real *", "g"),
            (self.couplings, "const real *", "c"),
            (self.item, "const real *", "p"),
            (self.node, "const real *", "q"),
            (self.node || self.source, "const int ", "n_node"),
        ];
        let wanted = all.into_iter().filter(|(read, ..)| *read);
        wanted.map(|(_, ty, name)| format!("{}{name}", if typed { ty } else { "" })).collect()
    }
}

/// How tightly an expression holds together, tightest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Tightness {
    Atom,
    Unary,
    Product,
    Sum,
    Comparison,
    Loose,
}

#[derive(Clone, Debug)]
struct Text {
    text: String,
    tightness: Tightness,
}

/// Longer expressions get a name.
const LINE: usize = 72;

struct Writer<'a> {
    section: &'a Section,
    names: &'a Names,
    uses: Vec<u32>,
    texts: Vec<Text>,
    temporaries: u32,
    text: String,
    reads: Reads,
    helpers: BTreeSet<Helper>,
}

impl<'a> Writer<'a> {
    fn new(section: &'a Section, names: &'a Names) -> Self {
        let mut uses = vec![0; section.insts.len()];
        for value in &section.results {
            uses[value.0 as usize] += 1;
        }
        // Operands come first, so that one pass backwards finds all that is needed.
        for (at, inst) in section.insts.iter().enumerate().rev() {
            if uses[at] > 0 {
                for operand in inst.operands() {
                    uses[operand.0 as usize] += 1;
                }
            }
        }
        Self {
            section,
            names,
            uses,
            texts: Vec::with_capacity(section.insts.len()),
            temporaries: 0,
            text: String::new(),
            reads: Reads::default(),
            helpers: BTreeSet::new(),
        }
    }

    /// Constants for all that is read from outside.
    fn inputs(&mut self) {
        let mut lines = BTreeSet::new();
        for (at, inst) in self.section.insts.iter().enumerate() {
            if let (Inst::Input(input), true) = (inst, self.uses[at] > 0)
                && let Some(line) = self.input_line(*input)
            {
                lines.insert(line);
            }
        }
        for (_, _, line) in lines {
            let _ = writeln!(self.text, "    {line}");
        }
    }

    /// Sorted by kind and number.
    fn input_line(&mut self, input: Input) -> Option<(u8, u32, String)> {
        let names = self.names;
        let name = self.input_name(input);
        let declare = |what: String| format!("const real {name} = {what};");
        Some(match input {
            Input::Time => {
                self.reads.time = true;
                return None;
            }
            Input::State(s) => {
                self.reads.states = true;
                (0, s, declare(format!("x[{s}]")))
            }
            Input::SourceState(s) => {
                self.reads.source = true;
                let at = names.edge_states.iter().position(|state| *state == s).unwrap_or(0);
                (1, s, declare(format!("source[{} * n_node]", names.channels + at)))
            }
            Input::Gathered(_) => {
                self.reads.gathered = true;
                return None;
            }
            Input::Coupling(c) => {
                self.reads.couplings = true;
                (2, c, declare(format!("c[{c}]")))
            }
            Input::Parameter(p) => match names.places[p as usize] {
                Place::Item(at) => {
                    self.reads.item = true;
                    (3, p, declare(format!("p[{at}]")))
                }
                Place::Node(at) => {
                    self.reads.node = true;
                    (3, p, declare(format!("q[{at} * n_node]")))
                }
            },
            // Refused before anything is written.
            Input::Signal(_) => return None,
        })
    }

    fn input_name(&self, input: Input) -> String {
        let names = self.names;
        match input {
            Input::Time => "t".to_owned(),
            Input::State(s) => names.states[s as usize].clone(),
            Input::SourceState(s) => names.sources[s as usize].clone(),
            Input::Gathered(r) => format!("g[{r}]"),
            Input::Coupling(c) => names.couplings[c as usize].clone(),
            Input::Parameter(p) => names.parameters[p as usize].clone(),
            Input::Signal(_) => literal::real(0.0, names.precision),
        }
    }

    fn values(&mut self) {
        for (at, inst) in self.section.insts.iter().enumerate() {
            let mut text = if self.uses[at] > 0 {
                self.expression(inst)
            } else {
                Text { text: String::new(), tightness: Tightness::Atom }
            };
            let simple = matches!(inst, Inst::Const(_) | Inst::Bool(_) | Inst::Input(_));
            if !simple && (self.uses[at] > 1 || text.text.len() > LINE) {
                let ty = match inst.result_type() {
                    Type::Real => "real",
                    Type::Bool => "bool",
                };
                let name = format!("v{}", self.temporaries);
                self.temporaries += 1;
                let _ = writeln!(self.text, "    const {ty} {name} = {};", text.text);
                text = Text { text: name, tightness: Tightness::Atom };
            }
            self.texts.push(text);
        }
    }

    /// A value that stands alone.
    fn whole(&self, value: Value) -> String {
        self.texts[value.0 as usize].text.clone()
    }

    /// A value as an operand: in parentheses if it holds together less tightly than `limit`.
    fn operand(&self, value: Value, limit: Tightness) -> String {
        let text = &self.texts[value.0 as usize];
        if text.tightness > limit { format!("({})", text.text) } else { text.text.clone() }
    }

    fn expression(&mut self, inst: &Inst) -> Text {
        use Tightness::{Atom, Comparison, Loose, Product, Sum, Unary};
        let (text, tightness) = match *inst {
            Inst::Const(value) => (literal::real(value, self.names.precision), Atom),
            Inst::Bool(value) => (value.to_string(), Atom),
            Inst::Input(input) => (self.input_name(input), Atom),
            Inst::Unary(op, x) => match op {
                // `--x` would be a decrement.
                UnaryOp::Neg => (format!("-{}", self.operand(x, Atom)), Unary),
                UnaryOp::Sign => (self.helper(Helper::Sign, &[x]), Atom),
                UnaryOp::Abs => (self.cuda("fabs", &[x]), Atom),
                UnaryOp::Sqrt => (self.cuda("sqrt", &[x]), Atom),
                UnaryOp::Floor => (self.cuda("floor", &[x]), Atom),
                UnaryOp::Ceil => (self.cuda("ceil", &[x]), Atom),
                UnaryOp::Trunc => (self.cuda("trunc", &[x]), Atom),
            },
            Inst::Binary(op, x, y) => match op {
                // Sums and products of reals are not associative: the right operand keeps its own.
                BinaryOp::Add => (self.infix(x, Sum, "+", y, Product), Sum),
                BinaryOp::Sub => (self.infix(x, Sum, "-", y, Product), Sum),
                BinaryOp::Mul => (self.infix(x, Product, "*", y, Unary), Product),
                BinaryOp::Div => (self.infix(x, Product, "/", y, Unary), Product),
                BinaryOp::Min => (self.helper(Helper::Lesser, &[x, y]), Atom),
                BinaryOp::Max => (self.helper(Helper::Greater, &[x, y]), Atom),
                BinaryOp::Rem => (self.helper(Helper::FloorMod, &[x, y]), Atom),
            },
            Inst::MulAdd(x, y, z) => (self.cuda("fma", &[x, y, z]), Atom),
            Inst::Compare(op, x, y) => {
                let sign = match op {
                    CompareOp::Lt => "<",
                    CompareOp::Le => "<=",
                    CompareOp::Gt => ">",
                    CompareOp::Ge => ">=",
                    CompareOp::Eq => "==",
                    CompareOp::Ne => "!=",
                };
                (self.infix(x, Sum, sign, y, Sum), Comparison)
            }
            Inst::Logic(LogicOp::And, x, y) => {
                (self.infix(x, Comparison, "&&", y, Comparison), Loose)
            }
            Inst::Logic(LogicOp::Or, x, y) => {
                (self.infix(x, Comparison, "||", y, Comparison), Loose)
            }
            Inst::Not(x) => (format!("!{}", self.operand(x, Atom)), Unary),
            Inst::Select(c, x, y) => {
                let condition = self.operand(c, Comparison);
                let (yes, no) = (self.operand(x, Sum), self.operand(y, Sum));
                (format!("{condition} ? {yes} : {no}"), Loose)
            }
            Inst::Call1(function, x) => (self.cuda(function1(function), &[x]), Atom),
            Inst::Call2(Function2::Pow, x, y) => (self.cuda("pow", &[x, y]), Atom),
            Inst::Call2(Function2::Atan2, x, y) => (self.cuda("atan2", &[x, y]), Atom),
        };
        Text { text, tightness }
    }

    fn infix(&self, x: Value, left: Tightness, sign: &str, y: Value, right: Tightness) -> String {
        format!("{} {sign} {}", self.operand(x, left), self.operand(y, right))
    }

    fn arguments(&self, values: &[Value]) -> String {
        values.iter().map(|v| self.whole(*v)).collect::<Vec<_>>().join(", ")
    }

    /// A call of CUDA's function in the precision of the run.
    fn cuda(&self, name: &str, values: &[Value]) -> String {
        let suffix = suffix(self.names.precision);
        format!("{name}{suffix}({})", self.arguments(values))
    }

    fn helper(&mut self, helper: Helper, values: &[Value]) -> String {
        self.helpers.insert(helper);
        format!("{}({})", helper.name(), self.arguments(values))
    }
}

/// What C puts behind the names of its functions.
pub(super) fn suffix(precision: Precision) -> &'static str {
    match precision {
        Precision::F32 => "f",
        Precision::F64 => "",
    }
}

fn function1(function: Function1) -> &'static str {
    match function {
        Function1::Exp => "exp",
        Function1::Expm1 => "expm1",
        Function1::Ln => "log",
        Function1::Ln1p => "log1p",
        Function1::Log2 => "log2",
        Function1::Log10 => "log10",
        Function1::Sin => "sin",
        Function1::Cos => "cos",
        Function1::Tan => "tan",
        Function1::Sinh => "sinh",
        Function1::Cosh => "cosh",
        Function1::Tanh => "tanh",
        Function1::Asin => "asin",
        Function1::Acos => "acos",
        Function1::Atan => "atan",
        Function1::Erf => "erf",
        Function1::Erfc => "erfc",
    }
}

impl Helper {
    fn name(self) -> &'static str {
        match self {
            Self::Lesser => "lesser",
            Self::Greater => "greater",
            Self::Sign => "sign_of",
            Self::FloorMod => "floor_mod",
        }
    }

    /// Its definition.
    pub(super) fn text(self, precision: Precision) -> String {
        let f = suffix(precision);
        let zero = literal::real(0.0, precision);
        let one = literal::real(1.0, precision);
        match self {
            Self::Lesser => "\
/* The smaller of two numbers; NaN if either is. */
static __device__ __forceinline__ real lesser(const real a, const real b)
{
    return a < b || a != a ? a : b;
}

"
            .to_owned(),
            Self::Greater => "\
/* The larger of two numbers; NaN if either is. */
static __device__ __forceinline__ real greater(const real a, const real b)
{
    return a > b || a != a ? a : b;
}

"
            .to_owned(),
            Self::Sign => format!(
                "\
/* -1, 0 or 1 with the sign of a; NaN stays. */
static __device__ __forceinline__ real sign_of(const real a)
{{
    return a > {zero} ? {one} : a < {zero} ? -{one} : a;
}}

"
            ),
            Self::FloorMod => format!(
                "\
/* a - b floor(a/b): the remainder that has the sign of b. */
static __device__ __forceinline__ real floor_mod(const real a, const real b)
{{
    const real r = fmod{f}(a, b);
    if (r == {zero})
        return copysign{f}(r, b);
    return (r < {zero}) != (b < {zero}) ? r + b : r;
}}

"
            ),
        }
    }
}
