//! Load from several machines: the side that divides a plan, starts all machines at one instant and adds up what they
//! counted ([`Drive`]), and the side that carries out its part ([`Loads`], in `drome agent`).

mod divide;
mod drive;
mod loads;
#[doc(hidden)]
pub mod messages;
mod skew;
mod sum;
#[cfg(test)]
mod tests;

pub use divide::{DivideError, divide};
pub use drive::{Drive, DriveError, Driven};
pub use loads::Loads;
#[doc(hidden)]
pub use loads::check;
pub use sum::verdict as judged;
