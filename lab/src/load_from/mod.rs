//! Load from several machines: the side that deals a plan, starts all at one instant and adds up what they counted ([`Drive`]), and
//! the side that does its part ([`Loads`], in `drome agent`).

mod deal;
mod drive;
mod loads;
pub(crate) mod messages;
mod skew;
mod sum;
#[cfg(test)]
mod tests;

pub use deal::{DealError, deal};
pub use drive::{Drive, DriveError, Driven};
pub use loads::Loads;
pub(crate) use loads::read_part;
pub use sum::verdict as judged;
