//! The terms of drome as plain data: what a study asks, what a measurement counted, what the findings say. A newcomer reads
//! this crate first. Besides, it has the rules that several crates share: which data is valid, what a gate decides, how notes are joined,
//! what a URL says. Only [`Target::resolve`] asks the system.

pub mod background;
pub mod characters;
mod checked;
pub mod comparison;
pub mod contender;
mod design;
pub mod environment;
pub mod errors;
pub mod exchange;
pub mod findings;
pub mod fleet;
pub mod forecast;
pub mod gate;
pub mod gate_verdict;
pub mod heat;
mod hex;
pub mod history;
pub mod import;
pub mod inspection;
pub mod interval;
pub mod machines;
pub mod measured;
pub mod measurement;
pub mod metric;
pub mod network;
pub mod notes;
pub mod origin;
pub mod page;
pub mod page_figures;
pub mod plan;
mod printed;
pub mod rate;
pub mod reading;
pub mod run;
pub mod slice_tally;
pub mod study;
pub mod sweep;
pub mod tally;
pub mod target;
pub mod units;
pub mod url;
pub mod usage;
pub mod verdict;
mod workers;
pub mod workload;

pub use checked::bytes as base64;
pub use comparison::Comparison;
pub use contender::Contender;
pub use environment::{Conditions, Environment, ServersOn};
pub use errors::Errors;
pub use exchange::{End, Exchange, Loss};
pub use findings::Findings;
pub use fleet::{Fleet, HeatMachine};
pub use forecast::Forecast;
pub use gate::Gate;
pub use gate_verdict::GateVerdict;
pub use heat::{Heat, Slice, Start};
pub use hex::hex;
pub use history::History;
pub use import::Import;
pub use interval::Interval;
pub use machines::{Machine, Machines};
pub use measured::{Measured, StartInCell};
pub use measurement::Measurement;
pub use metric::Metric;
pub use network::Network;
pub use origin::Origin;
pub use plan::{
    Arrivals, Ask, Connecting, Expect, Gaps, IoChoice, Load, OneOf, Order, Plan, Protocol, Resumption, Think,
    TlsChoice, TlsVersion, Until, Verify,
};
pub use printed::Printed;
pub use rate::Rate;
pub use reading::Reading;
pub use run::Run;
pub use slice_tally::{SliceTally, Uncounted};
pub use study::{Cell, Design, Study};
pub use sweep::{Promise, Sweep, SweepTrial};
pub use tally::{Agreed, Beat, Tally};
pub use target::{Address, Asking, Target};
pub use usage::Usage;
pub use verdict::{Bound, Verdict};
pub use workload::Workload;
