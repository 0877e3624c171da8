//! Measuring in heats: several live servers are loaded in turns.
//!
//! What acts: `run` goes from heat to heat, `members` starts and stops its servers, `cell` measures one cell of it after
//! `warm_up` has warmed them up, turn by turn (`active_cell`), and `stored_cell` decides what is stored.
//!
//! What decides is pure: [`judge::schedule`] says which heat is next, [`judge::turns`] how long turns are and which of them count,
//! `member_warm_up` when a server is warm.

mod active_cell;
mod cell;
mod member_warm_up;
mod members;
mod out_of_memory;
pub(crate) mod run;
mod stored_cell;
pub mod turns;
mod warm_up;
mod window_watch;
