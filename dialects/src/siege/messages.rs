//! The forms of siege's messages.

use crate::Printed;

/// An error, after which siege continues.
pub fn error(what: &str) -> String {
    format!("[\u{1b}[1;33merror\u{1b}[0m] {what}\n")
}

/// A warning.
pub fn alert(what: &str) -> String {
    format!("[\u{1b}[1;32malert\u{1b}[0m] {what}\n")
}

/// An error that ends siege.
pub fn fatal(what: &str) -> Printed {
    Printed::err(format!("[\u{1b}[1;31mfatal\u{1b}[0m] {what}\n")).exit(1)
}
