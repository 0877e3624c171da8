//! What a script of wrk prints and does, while it runs.

/// What a script prints and does.
#[derive(Debug, Default)]
pub struct Heard {
    pub out: String,
    pub err: String,
    /// What the script used that drome refuses: its name in the list, and how it was used.
    pub refused: Option<(String, String)>,
    /// The exit code with which the script ends the tool.
    pub exit: Option<u8>,
    /// The clock that the script read.
    pub clock: Option<String>,
    /// What the script did to the world.
    pub act: Option<String>,
    /// Whether the script drew random numbers.
    pub is_random: bool,
    /// Whether `request()` or `delay()` runs.
    pub is_asking: bool,
    /// Why the last address did not accept a connection.
    pub connect: Option<String>,
}
