//! `slot!`.

use crate::compile_error::CompileError;
use crate::signature::{Signature, source, span_of_next, split_at_commas, take_punct};
use proc_macro::{Delimiter, Group, Span, TokenStream, TokenTree};

/// What one register holds.
#[derive(Clone, Copy)]
struct Scalar {
    /// The name PTX has for the type.
    ptx: &'static str,
    /// The register class of `asm!`.
    class: &'static str,
}

const F32: Scalar = Scalar { ptx: "f32", class: "reg32" };
const F64: Scalar = Scalar { ptx: "f64", class: "reg64" };
const U32: Scalar = Scalar { ptx: "u32", class: "reg32" };
const S32: Scalar = Scalar { ptx: "s32", class: "reg32" };
const U64: Scalar = Scalar { ptx: "u64", class: "reg64" };

/// A type a slot can take or give: one scalar, or an array of them in as many registers.
struct Operand {
    scalar: Scalar,
    /// `None` for a plain scalar.
    length: Option<usize>,
}

impl Operand {
    fn registers(&self) -> usize {
        self.length.unwrap_or(1)
    }
}

/// What a slot's instructions do with memory that is written during the launch.
#[derive(Clone, Copy, PartialEq)]
enum Memory {
    /// Nothing: a pure function of its operands.
    Untouched,
    /// `#[memory(read)]`: read it. Calls keep their place among writes.
    Read,
    /// `#[memory(write)]`: read and write it. Every call stays where it is.
    Written,
}

impl Memory {
    fn options(self) -> &'static str {
        match self {
            Self::Untouched => "pure, nomem, nostack",
            Self::Read => "pure, readonly, nostack",
            Self::Written => "nostack",
        }
    }
}

/// Takes `#[memory(…)]` out of a slot's attributes.
fn take_memory(attributes: TokenStream) -> Result<(Memory, TokenStream), CompileError> {
    let (mut memory, mut others) = (Memory::Untouched, TokenStream::new());
    let mut tokens = attributes.into_iter();
    while let (Some(hash), Some(attribute)) = (tokens.next(), tokens.next()) {
        let TokenTree::Group(group) = &attribute else { continue };
        let mut inside = group.stream().into_iter();
        let named =
            matches!(inside.next(), Some(TokenTree::Ident(name)) if name.to_string() == "memory");
        if !named {
            others.extend([hash, attribute]);
            continue;
        }
        memory = match inside.next().map(|access| access.to_string()).as_deref() {
            Some("(read)") => Memory::Read,
            Some("(write)") => Memory::Written,
            _ => {
                let message = "write `#[memory(read)]` or `#[memory(write)]`";
                return Err(CompileError::new(group.span(), message));
            }
        };
    }
    Ok((memory, others))
}

/// Writes one function for each declaration.
pub(crate) fn expand(declarations: TokenStream) -> Result<TokenStream, CompileError> {
    let mut tokens = declarations.into_iter().peekable();
    let mut functions = TokenStream::new();
    while tokens.peek().is_some() {
        let signature = Signature::parse(&mut tokens)?;
        if take_punct(&mut tokens, ';').is_none() {
            let message = "a slot has no body: end its declaration with `;`";
            return Err(CompileError::new(span_of_next(&mut tokens), message));
        }
        functions.extend(function(signature)?);
    }
    Ok(functions)
}

fn function(signature: Signature) -> Result<TokenStream, CompileError> {
    let name = signature.name.to_string();
    let (memory, attributes) = take_memory(signature.attributes)?;
    if signature.output.is_none() && memory != Memory::Written {
        let message = "a slot that does not write memory must return something";
        return Err(CompileError::new(signature.output_span, message));
    }
    if memory != Memory::Untouched && !signature.is_unsafe {
        let message = "a slot that touches memory through a pointer must be an `unsafe fn`";
        return Err(CompileError::new(signature.name.span(), message));
    }
    let outputs = match &signature.output {
        Some(output) => outputs(output.clone(), signature.output_span)?,
        None => Vec::new(),
    };
    let mut inputs = Vec::new();
    // The parameters get names of our own, so that theirs may come from any macro's scope.
    let mut body = TokenStream::new();
    for (index, parameter) in signature.parameters.into_iter().enumerate() {
        let operand = operand(parameter.ty, parameter.name.span())?;
        body.extend(source(&format!("let p{index} =")));
        body.extend([TokenTree::from(parameter.name)]);
        body.extend(source(";"));
        let scalar = operand.scalar;
        inputs.extend(match operand.length {
            None => vec![(format!("p{index}"), scalar)],
            Some(length) => (0..length).map(|at| (format!("p{index}[{at}]"), scalar)).collect(),
        });
    }
    body.extend(source("#[cfg(target_arch = \"nvptx64\")]"));
    body.extend([block(&on_gpu(&name, &inputs, &outputs, memory))]);
    body.extend(source("#[cfg(not(target_arch = \"nvptx64\"))]"));
    body.extend([block(&natively(&name, &inputs, &outputs))]);

    let mut function = attributes;
    function.extend(source("#[inline(always)]"));
    function.extend(signature.visibility);
    if signature.is_unsafe {
        function.extend(source("unsafe"));
    }
    function.extend(source("fn"));
    function.extend([TokenTree::from(signature.name), signature.parameter_list.into()]);
    if let Some(output) = signature.output {
        function.extend(source("->"));
        function.extend(output);
    }
    function.extend([TokenTree::from(Group::new(Delimiter::Brace, body))]);
    Ok(function)
}

/// One statement of inline assembly. The operands' types stand behind their registers, because
/// PTX registers have none that tells an `f32` from a `u32`.
fn on_gpu(name: &str, inputs: &[(String, Scalar)], outputs: &[Operand], memory: Memory) -> String {
    let scalars: Vec<Scalar> = outputs
        .iter()
        .flat_map(|operand| std::iter::repeat_n(operand.scalar, operand.registers()))
        .collect();
    let declarations: String = (0..scalars.len()).map(|at| format!("let o{at}; ")).collect();
    let register = |letter: &'static str| {
        move |(at, scalar): (usize, &Scalar)| format!("{{{letter}{at}}}:{}", scalar.ptx)
    };
    let results: Vec<String> = scalars.iter().enumerate().map(register("o")).collect();
    let arguments: Vec<String> =
        inputs.iter().map(|(_, scalar)| scalar).enumerate().map(register("i")).collect();
    let out: String = (scalars.iter().enumerate())
        .map(|(at, scalar)| format!("o{at} = out({}) o{at}, ", scalar.class))
        .collect();
    let r#in: String = (inputs.iter().enumerate())
        .map(|(at, (place, scalar))| format!("i{at} = in({}) {place}, ", scalar.class))
        .collect();
    format!(
        "{declarations} unsafe {{ ::core::arch::asm!(\"SLOT {name} ({}), ({});\", {out} {in} \
         options({})) }}; {}",
        results.join(", "),
        arguments.join(", "),
        memory.options(),
        gather(outputs, |index| format!("o{index}")),
    )
}

/// A call of whatever the emulation was told to put into the slot.
fn natively(name: &str, inputs: &[(String, Scalar)], outputs: &[Operand]) -> String {
    let arguments: Vec<String> = inputs
        .iter()
        .map(|(place, _)| format!("::cuda_std::slot::Bits::to_bits({place})"))
        .collect();
    let count: usize = outputs.iter().map(Operand::registers).sum();
    format!(
        "let {}outputs: [u64; {count}] = ::cuda_std::emulate::call_slot(\"{name}\", &[{}]); {}",
        if count == 0 { "_" } else { "" },
        arguments.join(", "),
        gather(outputs, |index| format!("::cuda_std::slot::Bits::from_bits(outputs[{index}])")),
    )
}

/// The function's result, put together from its scalars.
fn gather(outputs: &[Operand], scalar: impl Fn(usize) -> String) -> String {
    let mut first = 0;
    let mut parts = Vec::new();
    for operand in outputs {
        let scalars: Vec<String> = (first..first + operand.registers()).map(&scalar).collect();
        first += operand.registers();
        let list = scalars.join(", ");
        parts.push(if operand.length.is_some() { format!("[{list}]") } else { list });
    }
    let list = parts.join(", ");
    if parts.len() < 2 { list } else { format!("({list})") }
}

/// The operands of a return type: one, or a tuple of them.
fn outputs(ty: TokenStream, span: Span) -> Result<Vec<Operand>, CompileError> {
    let tokens = without_invisible_groups(ty);
    if let [TokenTree::Group(tuple)] = tokens.as_slice()
        && tuple.delimiter() == Delimiter::Parenthesis
    {
        let parts = split_at_commas(tuple.stream());
        if parts.len() < 2 {
            return Err(CompileError::new(span, "a tuple here has two members or more"));
        }
        return parts.into_iter().map(|part| operand(part, span)).collect();
    }
    Ok(vec![operand(tokens.into_iter().collect(), span)?])
}

fn operand(ty: TokenStream, span: Span) -> Result<Operand, CompileError> {
    let wrong = || {
        let message = "a slot's operands are f32, f64, u32, i32, u64, raw pointers, and arrays of \
                       those whose length is a literal";
        CompileError::new(span, message)
    };
    let tokens = without_invisible_groups(ty);
    if let [TokenTree::Group(array)] = tokens.as_slice()
        && array.delimiter() == Delimiter::Bracket
    {
        let content = without_invisible_groups(array.stream());
        let [element @ .., TokenTree::Punct(semicolon), TokenTree::Literal(length)] =
            content.as_slice()
        else {
            return Err(wrong());
        };
        let length = length.to_string().trim_end_matches("usize").parse().map_err(|_| wrong())?;
        if semicolon.as_char() != ';' || length == 0 {
            return Err(wrong());
        }
        let scalar = scalar(element).ok_or_else(wrong)?;
        return Ok(Operand { scalar, length: Some(length) });
    }
    let scalar = scalar(&tokens).ok_or_else(wrong)?;
    Ok(Operand { scalar, length: None })
}

fn scalar(tokens: &[TokenTree]) -> Option<Scalar> {
    match tokens {
        [TokenTree::Ident(name)] => match name.to_string().as_str() {
            "f32" => Some(F32),
            "f64" => Some(F64),
            "u32" => Some(U32),
            "i32" => Some(S32),
            "u64" => Some(U64),
            _ => None,
        },
        [TokenTree::Punct(star), TokenTree::Ident(_), ..] if star.as_char() == '*' => Some(U64),
        _ => None,
    }
}

/// Opens the groups that `macro_rules!` wraps around what it substitutes.
fn without_invisible_groups(tokens: TokenStream) -> Vec<TokenTree> {
    let mut flat = Vec::new();
    for token in tokens {
        match token {
            TokenTree::Group(group) if group.delimiter() == Delimiter::None => {
                flat.extend(without_invisible_groups(group.stream()));
            }
            other => flat.push(other),
        }
    }
    flat
}

fn block(text: &str) -> TokenTree {
    Group::new(Delimiter::Brace, source(text)).into()
}
