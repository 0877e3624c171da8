//! What is told in every format, as one program.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod chart_goldens;
mod charts;
mod ci;
mod cpu_time;
mod foreign;
mod formats;
mod gate;
mod gate_verdict;
mod goldens;
mod history;
mod html;
mod in_heats;
mod made_up;
mod open_metrics;
mod pages;
mod series;
mod sweep;
mod verdict;
