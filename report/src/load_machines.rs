//! The machines that drove one load together, for people.

use crate::table::{Side, Table};
use crate::units;
use model::machines::{Clock, Machine, Machines};
use std::fmt::Write;

/// A table of the machines, and how closely together they started.
pub fn text(machines: &Machines) -> String {
    let titles =
        ["connections", "offered/s", "responses", "p50", "p99", "lag p99", "busiest", "started", "clock"];
    let head: Vec<(&'static str, Side)> =
        std::iter::once(("machine", Side::Left)).chain(titles.map(|title| (title, Side::Right))).collect();
    let mut table = Table::new(&head);
    machines.each.iter().for_each(|machine| table.row(row(machine)));
    let mut out = table.plain();
    let _ = writeln!(out, "{}", start(machines));
    out
}

fn row(machine: &Machine) -> Vec<String> {
    let counted = machine.counted;
    let time = |ns: Option<u64>| units::known(ns, |ns| units::duration(ns as f64));
    vec![
        machine.name.clone(),
        units::count(machine.connections as u64),
        units::known(machine.rate_per_s, units::rate),
        units::known(counted.map(|counted| counted.completed), units::count),
        time(counted.and_then(|counted| counted.latency_p50_ns)),
        time(counted.and_then(|counted| counted.latency_p99_ns)),
        time(counted.and_then(|counted| counted.schedule_lag_p99_ns)),
        units::known(counted.and_then(|counted| counted.busiest_thread_use), units::percent),
        units::known(machine.start_late_ns, signed),
        units::known(machine.clock, clock),
    ]
}

/// How far the clock can be off: its offset itself means nothing, since each machine counts from its own boot.
fn clock(clock: Clock) -> String {
    format!("± {}", units::duration(clock.bound_ns as f64))
}

fn signed(ns: i64) -> String {
    let sign = if ns < 0 { "−" } else { "+" };
    format!("{sign}{}", units::duration(ns.unsigned_abs() as f64))
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
    use model::machines::Counted;

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
        let told = text(&machines);
        for words in ["ssh a", "12,345", "1.50 ms", "−2.00 ms", "± 120 µs", "not all of them started"] {
            assert!(told.contains(words), "no «{words}» in:\n{told}");
        }
        assert!(told.lines().any(|line| line.contains("ssh b") && line.contains(units::UNKNOWN)), "{told}");
        (machines.skew_ns, machines.skew_bound_ns) = (Some(300_000), Some(240_000));
        assert!(text(&machines).contains("within 300 µs (± 240 µs"));
    }
}
