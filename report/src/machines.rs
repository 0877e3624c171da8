//! The machines of a fleet in words: how fast each is, and which of them compare contenders differently.

use crate::units::{self, listed};
use model::findings::{CellFindings, MachineFindings, MachinesCompared};

/// For which machines the ranking of a cell holds, if several machines measured it; `None` if one machine did, or if it holds for all
/// of them.
pub(crate) fn caveat(cell: &CellFindings) -> Option<String> {
    let compared = cell.in_heats.machines.as_ref()?;
    let names =
        |all: &[&MachineFindings]| listed(&all.iter().map(|m| m.machine.as_str()).collect::<Vec<_>>());
    let differs: Vec<&MachineFindings> =
        compared.machines.iter().filter(|m| m.differs == Some(true)).collect();
    match compared.differ {
        Some(true) => Some(format!(
            "the ranking is a mean over machines on which contenders compare differently ({}): a machine by itself may rank them otherwise",
            names(&differs)
        )),
        None => Some(
            "whether the ranking holds for each machine is unknown: there are too few heats to tell"
                .to_owned(),
        ),
        Some(false) => None,
    }
}

/// One line for all machines, then one for each that differs.
pub(crate) fn notes(cell: &CellFindings) -> Vec<String> {
    let Some(compared) = &cell.in_heats.machines else { return Vec::new() };
    let differing = compared.machines.iter().filter(|machine| machine.differs == Some(true));
    let differing = differing.filter_map(|machine| Some(deviation(cell, machine, machine.ratio?)));
    [all(compared)].into_iter().chain(differing).collect()
}

fn all(compared: &MachinesCompared) -> String {
    let one = |m: &MachineFindings| {
        format!(
            "{} ({}, {} × the mean speed)",
            m.machine,
            units::several(m.heats, "heat"),
            units::ratio(m.speed)
        )
    };
    let each: Vec<String> = compared.machines.iter().map(one).collect();
    let verdict = match compared.differ {
        Some(true) => "the ratios between contenders differ on some of them",
        Some(false) => "no significant difference in how contenders compare on them",
        None => "too few heats to tell whether contenders compare differently on them",
    };
    format!(
        "measured on {}: {}; {verdict}",
        units::several(compared.machines.len(), "machine"),
        each.join(", ")
    )
}

fn deviation(cell: &CellFindings, machine: &MachineFindings, ratio: f64) -> String {
    let name = machine.contender.as_deref().unwrap_or_default();
    let title = cell.contender(name).map_or(name, |c| c.title.as_str());
    format!(
        "{}: contenders compare differently there, most of all {title}: {} times its figure over all machines",
        machine.machine,
        units::ratio(ratio)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::findings::CellInHeats;

    fn cell(differ: Option<bool>) -> CellFindings {
        let machine = |machine: &str, differs: Option<bool>| MachineFindings {
            machine: machine.to_owned(),
            heats: 6,
            speed: 1.1,
            differs,
            contender: Some("hub".to_owned()),
            ratio: Some(0.94),
            ..MachineFindings::default()
        };
        let machines = vec![machine("a", differ), machine("b", differ.map(|_| false))];
        let compared = MachinesCompared { differ, machines };
        CellFindings {
            title: "keep-alive".to_owned(),
            workload: "hello".to_owned(),
            load: model::Load::Closed { connections: 1, per_connection: None },
            transport: model::study::Transport::default(),
            metric: model::Metric::Rate,
            rounds: 4,
            noise_floor: None,
            in_heats: CellInHeats { machines: Some(compared), ..CellInHeats::default() },
            contenders: Vec::new(),
        }
    }

    #[test]
    fn a_machine_that_differs_limits_the_ranking_and_is_named() {
        let differ = cell(Some(true));
        assert!(caveat(&differ).unwrap().contains("contenders compare differently (a): a machine by itself"));
        let notes = notes(&differ);
        assert_eq!(notes.len(), 2, "{notes:?}");
        assert!(notes[0].starts_with("measured on 2 machines: a (6 heats, 1.1"), "{notes:?}");
        assert!(
            notes[1].starts_with("a: contenders compare differently there, most of all hub: 0.94"),
            "{notes:?}"
        );
        assert_eq!((caveat(&cell(Some(false))), super::notes(&cell(Some(false))).len()), (None, 1));
        assert!(caveat(&cell(None)).unwrap().contains("too few heats to tell"));
    }
}
