//! Stable codes, grouped by stage: E01xx YAML, E02xx equations, E03xx experiment, E04xx IR, E05xx running.

macro_rules! codes {
    ($($(#[doc = $doc:literal])* $name:ident = $text:literal),* $(,)?) => {
        /// A stable name for a kind of finding.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Code { $($(#[doc = $doc])* $name),* }

        impl Code {
            /// Every code, in order.
            pub const ALL: &[Code] = &[$(Code::$name),*];

            /// The code as printed, for example `E0102`.
            pub fn as_str(self) -> &'static str {
                match self { $(Code::$name => $text),* }
            }
        }
    };
}

codes! {
    /// The file can't be opened or read.
    Unreadable = "E0100",
    /// The text is not YAML.
    Syntax = "E0101",
    /// A key that the format doesn't have.
    UnknownKey = "E0102",
    /// A key that stands twice in one mapping.
    DuplicateKey = "E0103",
    /// A value of the wrong type.
    WrongType = "E0104",
    /// A key that must be there is not.
    MissingKey = "E0105",
    /// A value outside what it may be.
    BadValue = "E0106",
    /// An equation that can't be parsed.
    EquationSyntax = "E0201",
    /// A symbol that nothing defines.
    UnknownSymbol = "E0202",
    /// A symbol that two things define.
    DefinedTwice = "E0203",
    /// Derived variables that depend on each other in a circle.
    Cycle = "E0204",
    /// A function called with the wrong number of arguments.
    WrongArity = "E0205",
    /// A condition where a number is needed, or the other way round; mismatched array shapes.
    WrongKind = "E0206",
    /// A function or construct of the expression language that can't be compiled.
    Unsupported = "E0207",
    /// A connectome file that isn't there.
    ConnectomeMissing = "E0301",
    /// Weights, lengths and labels that don't fit together.
    ShapeMismatch = "E0302",
    /// A weight, length, speed or step that no brain has.
    BadNumber = "E0303",
    /// A sweep axis over something that doesn't exist.
    UnknownAxis = "E0304",
    /// Axes of a zip that differ in length.
    ZipLength = "E0305",
    /// Something the format allows and this program can't do.
    NotSupported = "E0306",
    /// Python code that can't be run here.
    PythonCallable = "E0307",
    /// Suspicious delays, units or values.
    Implausible = "E0308",
    /// A name that refers to nothing.
    UnknownName = "E0309",
    /// More points, memory or disk than there is.
    TooLarge = "E0310",
    /// The program text failed its own checks: a fault of this program.
    Internal = "E0401",
    /// The asked-for device is not usable.
    Device = "E0501",
    /// Results can't be written.
    Output = "E0502",
    /// A point left the finite numbers.
    NonFinite = "E0503",
}

impl std::fmt::Display for Code {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}
