//! The pages, one file each, with the pieces that they share: the frame, the findings of a cell, intervals, chips,
//! addresses, error pages, and the style and script.

pub mod assets;
pub mod cells;
pub mod compare;
pub mod contenders;
#[cfg(test)]
mod example;
pub mod failure;
pub mod frame;
pub mod import;
pub mod intervals;
pub mod live;
pub mod piece;
pub mod run;
pub mod runs;
pub mod studies;
pub mod url;
