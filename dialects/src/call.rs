//! A command line as it was given, not yet parsed.

/// A tool called with arguments.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Call {
    /// The name under which the program was called, as the tool would print it.
    pub program: String,
    /// The arguments.
    pub args: Vec<String>,
    /// The limit on the number of open descriptors. No tool opens more connections than that.
    pub descriptors: usize,
}

impl Call {
    /// A call with these arguments.
    pub fn new(program: &str, args: &[&str]) -> Self {
        let args = args.iter().map(|&arg| arg.to_owned()).collect();
        Self { program: program.to_owned(), args, descriptors: 1024 }
    }
}
