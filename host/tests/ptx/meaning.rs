//! The text of a slot, run by an interpreter of PTX, against the section, run by the interpreter of
//! sections.

use crate::interpreter::Machine;
use cuda_std::slot::{Call, Register, Type};
use host::back::cpu::interp::{Real, run_section};
use host::back::gpu::DeviceJob;
use host::back::ptx::Filler;
use host::back::{Initial, Job, ParameterTable, Record, Speed};
use host::experiment::{Method, Normals, Precision};
use host::ir::{
    BinaryOp, Bound, CompareOp, Function1, Function2, Input, Inst, LogicOp, Program, Section,
    UnaryOp, Value,
};
use kernels_gpu::lane::Lane;
use libtest_mimic::{Failed, Trial};

const UNARY: [UnaryOp; 7] = [
    UnaryOp::Neg,
    UnaryOp::Abs,
    UnaryOp::Sqrt,
    UnaryOp::Floor,
    UnaryOp::Ceil,
    UnaryOp::Trunc,
    UnaryOp::Sign,
];
const BINARY: [BinaryOp; 7] = [
    BinaryOp::Add,
    BinaryOp::Sub,
    BinaryOp::Mul,
    BinaryOp::Div,
    BinaryOp::Min,
    BinaryOp::Max,
    BinaryOp::Rem,
];
const COMPARE: [CompareOp; 6] =
    [CompareOp::Lt, CompareOp::Le, CompareOp::Gt, CompareOp::Ge, CompareOp::Eq, CompareOp::Ne];
const FUNCTION1: [Function1; 17] = [
    Function1::Exp,
    Function1::Expm1,
    Function1::Ln,
    Function1::Ln1p,
    Function1::Log2,
    Function1::Log10,
    Function1::Sin,
    Function1::Cos,
    Function1::Tan,
    Function1::Sinh,
    Function1::Cosh,
    Function1::Tanh,
    Function1::Asin,
    Function1::Acos,
    Function1::Atan,
    Function1::Erf,
    Function1::Erfc,
];

pub(crate) fn trials() -> Vec<Trial> {
    let mut trials = Vec::new();
    for (name, section) in sections() {
        for precision in [Precision::F32, Precision::F64] {
            let section = section.clone();
            trials.push(Trial::test(format!("{name}_{precision:?}_means_the_same"), move || {
                match precision {
                    Precision::F32 => compare::<f32>(&section, precision),
                    Precision::F64 => compare::<f64>(&section, precision),
                }
            }));
        }
    }
    trials
}

/// One section for each instruction, of two states.
fn sections() -> Vec<(String, Section)> {
    let mut sections = Vec::new();
    let mut add = |name: String, after: &[Inst]| {
        let mut insts = vec![Inst::Input(Input::State(0)), Inst::Input(Input::State(1))];
        insts.extend(after);
        let last = Value(insts.len() as u32 - 1);
        // The other result reads a state behind all that may have been branched around.
        sections.push((name, Section { insts, results: vec![last, Value(1)] }));
    };
    let (x, y) = (Value(0), Value(1));
    for op in UNARY {
        add(format!("{op:?}"), &[Inst::Unary(op, x)]);
    }
    for op in BINARY {
        add(format!("{op:?}"), &[Inst::Binary(op, x, y)]);
    }
    for op in COMPARE {
        add(format!("{op:?}"), &[Inst::Compare(op, x, y), Inst::Select(Value(2), x, y)]);
    }
    for function in FUNCTION1 {
        add(format!("{function:?}"), &[Inst::Call1(function, x)]);
    }
    for function in [Function2::Pow, Function2::Atan2] {
        add(format!("{function:?}"), &[Inst::Call2(function, x, y)]);
    }
    add("MulAdd".to_owned(), &[Inst::MulAdd(x, y, y)]);
    let (less, equal) = (Inst::Compare(CompareOp::Lt, x, y), Inst::Compare(CompareOp::Eq, x, y));
    for op in [LogicOp::And, LogicOp::Or] {
        let both = Inst::Logic(op, Value(2), Value(4));
        let insts = [less, equal, Inst::Not(Value(3)), both, Inst::Select(Value(5), y, x)];
        add(format!("{op:?}"), &insts);
    }
    // Constants are folded.
    let folded = [
        Inst::Const(1e7),
        Inst::Call1(Function1::Sin, Value(2)),
        Inst::Bool(true),
        Inst::Select(Value(4), Value(3), x),
        Inst::Binary(BinaryOp::Mul, Value(5), x),
    ];
    add("folding".to_owned(), &folded);
    sections
}

fn compare<T: Real + cuda_std::slot::Bits>(
    section: &Section,
    precision: Precision,
) -> Result<(), Failed> {
    let program = Program {
        states: vec!["x".to_owned(), "y".to_owned()],
        drift: section.clone(),
        bounds: vec![Bound::Free; 2],
        ..Program::default()
    };
    let job = job(&program, precision);
    let device_job = DeviceJob::new(&job, true)?;
    let float = if precision == Precision::F32 { Type::F32 } else { Type::F64 };
    let register = |name, ty| Register { name, ty };
    let call = Call {
        name: "drift",
        outputs: vec![register("%o0", float), register("%o1", float)],
        inputs: [
            vec![register("%x0", float), register("%x1", float), register("%t", float)],
            ["%point", "%node", "%coupling", "%signals"].map(|n| register(n, Type::U64)).to_vec(),
        ]
        .concat(),
        line: 0,
    };
    let body = Filler::new(&job, device_job.placements()).body(&call)?;
    let values = values();
    for (index, &x) in values.iter().enumerate() {
        for other in 0..5 {
            let y = values[(index * 7 + other * 13) % values.len()];
            let states = [T::from_f64(x), T::from_f64(y)];
            let mut machine = Machine::default();
            for (name, value) in ["%x0", "%x1"].into_iter().zip(states) {
                machine.registers.insert(name.to_owned(), cuda_std::slot::Bits::to_bits(value));
            }
            machine.run(&body)?;
            let mut expected = Vec::new();
            let read = |input| match input {
                Input::State(state) => states[state as usize],
                _ => unreachable!("states only"),
            };
            run_section(section, &read, &mut expected);
            for (name, expected) in ["%o0", "%o1"].into_iter().zip(expected) {
                let found = <T as cuda_std::slot::Bits>::from_bits(machine.registers[name]);
                let same =
                    cuda_std::slot::Bits::to_bits(found) == cuda_std::slot::Bits::to_bits(expected);
                let both_nan = Lane::ne(found, found) && Lane::ne(expected, expected);
                if !same && !both_nan {
                    let message = format!("of {states:?}: {found:?}, not {expected:?}\n{body}");
                    return Err(message.into());
                }
            }
        }
    }
    Ok(())
}

/// Numbers of all sizes, and those that are special.
fn values() -> Vec<f64> {
    let mut values = vec![0.0, -0.0, 1.0, -1.0, 0.5, f64::INFINITY, -f64::INFINITY, f64::NAN];
    values.extend([1e-310, -1e-310, 1e-40, 1e300, -1e300, 5.5e5, -2e9, 1e10, 1e15, 0.499_999_99]);
    let mut state = 11_u64;
    for _ in 0..400 {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let unit = (state >> 11) as f64 / (1_u64 << 53) as f64;
        values.push((unit - 0.5) * [4.0, 50.0, 1e6, 1e12][(state % 4) as usize]);
    }
    values
}

fn job(program: &Program, precision: Precision) -> Job<'_> {
    Job {
        program,
        method: Method::Euler,
        precision,
        dt: 1.0,
        dt_ms: 1.0,
        steps: 1,
        transient_steps: 0,
        nodes: 1,
        matrices: Vec::new(),
        parameters: ParameterTable::default(),
        speed: Speed::Uniform(1.0),
        initial: Initial::Shared(vec![0.0; 2]),
        signals: Vec::new(),
        seed: 0,
        normals: Normals::Portable,
        points: vec![0],
        record: Record::default(),
        noise_replay: None,
    }
}
