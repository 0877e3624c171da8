//! Statistics of heats: from the slices of live servers to which is faster, and how certainly.
//!
//! How findings are computed: [`figures`] makes one figure per start from a heat's slices ([`settling`] says whether the start was warm, [`drifts`] whether a
//! contender's starts were),
//! [`Fit`] ties the starts of all heats together and is the only source of ratio, interval, relation, rank, letters and noise floor, and
//! [`changes`] compares two runs. The unit of replication is the fresh start; more slices only measure one start more precisely.

mod changes;
mod components;
mod contrast;
mod design;
mod drift;
mod fit;
mod least_squares;
mod letters;
mod machines;
mod movement;
mod noise_floor;
mod relation;
mod settled;
mod slices;
mod special;
mod variance;

pub use changes::{Change, Changes, InBoth, changes, shift};
pub use components::{HEAT_SHARE, RUN_VARIANCE};
pub use design::{Best, FitEntrant, FitRules, FitStart, LEVEL, looks};
pub use drift::{Drift, StartChange, drifts};
pub use fit::{Fit, Pair, Place};
pub use machines::{MachinesAsked, OfMachine, machines};
pub use relation::{MEANINGLESS, Relation, SAME};
pub use settled::{Sample, Settling, Warmth, relative_to_hub, settling, settling_by_either};
pub use slices::{MemberSlice, StartRate, shown_stall, start_rates};
