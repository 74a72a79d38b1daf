//! What a finished module must be, as far as text tells.

/// What is wrong with a module: a fault of the program.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CheckError {
    /// It does not hold exactly one kernel.
    #[error("the module has {0} kernels, not one")]
    Kernels(usize),
    /// A slot was left.
    #[error("line {line}: a slot was not filled")]
    Slot {
        /// Counted from 1.
        line: usize,
    },
    /// Something lives in local memory, which is slow.
    #[error("line {line}: the kernel uses local memory")]
    Local {
        /// Counted from 1.
        line: usize,
    },
    /// An operation that does not round as the contract says.
    #[error("line {line}: `{text}` does not round as it should")]
    Rounding {
        /// Counted from 1.
        line: usize,
        /// The instruction.
        text: String,
    },
}

/// Approximations that cuRAND's normals are made with (`kernels_gpu::curand`). They stand in every kernel,
/// behind a bit of `features`; no slot has them.
const CURAND: [&str; 2] = ["sin.approx.f32", "cos.approx.f32"];

/// Checks a module that is ready to be loaded.
///
/// # Errors
/// The first thing that is wrong.
pub fn check(module: &str) -> Result<(), CheckError> {
    let kernels = module.matches(".entry ").count();
    if kernels != 1 {
        return Err(CheckError::Kernels(kernels));
    }
    for (index, line) in module.lines().enumerate() {
        let (line, code) = (index + 1, line.trim());
        if code.starts_with("SLOT ") {
            return Err(CheckError::Slot { line });
        }
        if code.starts_with(".local") {
            return Err(CheckError::Local { line });
        }
        let opcode = code.split_whitespace().next().unwrap_or_default();
        let inexact = ["add.f", "sub.f", "mul.f", "mad.f", "div.f", "sqrt.f"];
        let approximate = opcode.contains(".approx") && !CURAND.contains(&opcode);
        let flushes = opcode.contains(".ftz") || approximate;
        if flushes || inexact.iter().any(|prefix| opcode.starts_with(prefix)) {
            return Err(CheckError::Rounding { line, text: code.to_owned() });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn approximations_are_those_of_curand() {
        let module = |code: &str| format!(".entry kernel()\n{{\n\t{code} %r1, %r2;\n}}\n");
        for code in ["sin.approx.f32", "cos.approx.f32", "mul.rn.f32", "sqrt.rn.f64"] {
            assert_eq!(check(&module(code)), Ok(()), "{code}");
        }
        for code in ["sin.approx.ftz.f32", "sqrt.approx.f32", "ex2.approx.f32", "mul.f32"] {
            assert!(matches!(check(&module(code)), Err(CheckError::Rounding { line: 3, .. })));
        }
    }
}
