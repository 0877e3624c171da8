//! The machines that drove one load together, for people.

use crate::document::Document;
use crate::table::Table;
use crate::units;
use model::machines::{Clock, Machines};

/// A table of the machines, and how closely together they started.
pub fn document(machines: &Machines) -> Document {
    let time = |ns: Option<u64>| Some(units::duration(ns? as f64));
    Document::default()
        .table(
            Table::of(&machines.each)
                .text("machine", |m| m.name.clone())
                .number("connections", |m| units::count(m.connections as u64))
                .figure("offered/s", |m| m.rate_per_s.map(units::rate))
                .figure("responses", |m| Some(units::count(m.counted?.completed)))
                .figure("p50", |m| time(m.counted?.latency_p50_ns))
                .figure("p99", |m| time(m.counted?.latency_p99_ns))
                .figure("lag p99", |m| time(m.counted?.schedule_lag_p99_ns))
                .figure("busiest", |m| m.counted?.busiest_thread_use.map(units::percent))
                .figure("started", |m| m.start_late_ns.map(|ns| units::signed(ns as f64)))
                .figure("clock", |m| m.clock.map(clock))
                .table(),
        )
        .sentence(start(machines))
}

/// How far the clock can be off: its offset itself means nothing, since each machine counts from its own boot.
fn clock(clock: Clock) -> String {
    format!("± {}", units::duration(clock.bound_ns as f64))
}

fn start(machines: &Machines) -> String {
    match (machines.skew_ns, machines.skew_bound_ns) {
        (Some(skew), Some(bound)) => format!(
            "all started within {} (± {}, as their clocks tell)",
            units::duration(skew as f64),
            units::duration(bound as f64)
        ),
        _ => "not all of them started".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::TextStyle;
    use model::machines::{Counted, Machine};

    #[test]
    fn each_machine_has_its_row_and_what_is_unknown_a_dash() {
        let clock = Clock { offset_ns: 5, bound_ns: 120_000, round_trip_ns: 240_000 };
        let counted = Counted { completed: 12_345, latency_p99_ns: Some(1_500_000), ..Counted::default() };
        let a = Machine {
            name: "ssh a".to_owned(),
            connections: 32,
            clock: Some(clock),
            start_late_ns: Some(-2_000_000),
            counted: Some(counted),
            ..Machine::default()
        };
        let b = Machine { name: "ssh b".to_owned(), connections: 31, ..Machine::default() };
        let mut machines = Machines { each: vec![a, b], ..Machines::default() };
        let told = document(&machines).terminal(&TextStyle::default());
        for words in ["ssh a", "12,345", "1.50 ms", "−2.00 ms", "± 120 µs", "not all of them started"] {
            assert!(told.contains(words), "no «{words}» in:\n{told}");
        }
        assert!(told.lines().any(|line| line.contains("ssh b") && line.contains(units::UNKNOWN)), "{told}");
        (machines.skew_ns, machines.skew_bound_ns) = (Some(300_000), Some(240_000));
        assert!(document(&machines).terminal(&TextStyle::default()).contains("within 300 µs (± 240 µs"));
    }
}
