//! A command line as it was given, before any of it is understood.

/// A tool called with arguments.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Call {
    /// The name it was called by, as the tool itself would say it.
    pub program: String,
    /// What follows it.
    pub args: Vec<String>,
    /// Descriptors that connections may have: no tool opens more connections than that.
    pub descriptors: usize,
}

impl Call {
    /// With these arguments.
    pub fn new(program: &str, args: &[&str]) -> Self {
        let args = args.iter().map(|&arg| arg.to_owned()).collect();
        Self { program: program.to_owned(), args, descriptors: 1024 }
    }
}
