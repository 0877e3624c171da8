//! The pages, one file each, with the pieces that they share: the frame, the findings of a cell, addresses,
//! error pages, profiles, and the style and scripts.

pub mod assets;
pub mod cells;
pub mod compare;
pub mod contenders;
pub mod error_page;
#[cfg(test)]
mod example;
pub mod flame;
pub mod frame;
pub mod import;
pub mod live;
pub mod piece;
pub mod profiles;
pub mod run;
pub mod runs;
pub mod studies;
pub mod url;

use super::state::AppState;
use axum::extract::{Query, State};
use std::sync::Arc;

/// The state, as a page gets it.
pub type App = State<Arc<AppState>>;

/// The query of an address: keys and values.
pub type Asked = Query<Vec<(String, String)>>;
