//! The operands of a call of a slot, by what they mean.

use super::fill::FillError;
use cuda_std::slot::{Call, Register, Type};

/// Where columns start: values of one lane, a stride apart.
#[derive(Clone, Copy, Debug)]
pub(super) struct Columns<'c> {
    /// The register with the address of the first.
    pub(super) base: &'c str,
    /// Values from one to the next.
    pub(super) stride: u32,
    /// In shared memory: the address has 32 bits.
    pub(super) shared: bool,
}

/// The states of a node.
#[derive(Clone, Debug)]
pub(super) enum States<'c> {
    /// One register each.
    Registers(Vec<&'c str>),
    /// Columns from this address on.
    Memory(&'c str),
}

/// Reads the operands of a call one by one.
pub(super) struct Operands<'c> {
    inputs: std::slice::Iter<'c, Register<'c>>,
    slot: &'c str,
}

impl<'c> Operands<'c> {
    pub(super) fn new(call: &'c Call<'c>) -> Self {
        Self { inputs: call.inputs.iter(), slot: call.name }
    }

    /// The next operand, which has to be of this type.
    pub(super) fn next(&mut self, ty: Type) -> Result<&'c str, FillError> {
        match self.inputs.next() {
            Some(register) if register.ty == ty => Ok(register.name),
            _ => Err(FillError::Operands { slot: self.slot.to_owned() }),
        }
    }

    /// The next operand, an address.
    pub(super) fn address(&mut self) -> Result<&'c str, FillError> {
        self.next(Type::U64)
    }

    /// The next operand, the address of columns: in global memory they are `nodes` values apart, in
    /// shared memory `stride`.
    pub(super) fn columns(&mut self, nodes: u32, stride: u32) -> Result<Columns<'c>, FillError> {
        let shared = matches!(self.inputs.as_slice().first(), Some(r) if r.ty == Type::U32);
        if shared {
            return Ok(Columns { base: self.next(Type::U32)?, stride, shared });
        }
        Ok(Columns { base: self.address()?, stride: nodes, shared })
    }

    /// The states that come first: an address, or all floats but the last `others`.
    pub(super) fn states(
        &mut self,
        memory: bool,
        float: Type,
        others: usize,
    ) -> Result<States<'c>, FillError> {
        if memory {
            return Ok(States::Memory(self.address()?));
        }
        let floats = self.inputs.as_slice().iter().take_while(|r| r.ty == float).count();
        let count = floats.checked_sub(others).filter(|count| *count > 0);
        let count = count.ok_or_else(|| FillError::Operands { slot: self.slot.to_owned() })?;
        let names = self.inputs.by_ref().take(count).map(|register| register.name);
        Ok(States::Registers(names.collect()))
    }
}
