//! How text for people looks: what the place where it will be read can show.

/// What a terminal can show; the default is a file: lines of any length, no colour, all of Unicode.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Look {
    /// Columns; none: lines are as long as they are.
    pub width: Option<usize>,
    /// Colours may be used.
    pub has_colour: bool,
    /// Only ASCII can be shown.
    pub is_ascii: bool,
}
