//! Engines and exporters: what runs or prints a verified program.

pub mod cpu;
