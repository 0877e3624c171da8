//! A run that is made up, for stores in which the truth is known.

use model::observation::Entrant;
use model::*;
use std::collections::BTreeMap;
use std::time::Duration;

/// A run of the study `example` in cells of these titles and connections; the reference is no contender of a study.
pub fn example(entrants: BTreeMap<String, Entrant>, cells: &[(&str, usize)], blocks: [usize; 2]) -> Run {
    let cell = |(title, connections): &(&str, usize)| Cell {
        title: (*title).to_owned(),
        workload: "hello".to_owned(),
        load: Load::Closed { connections: *connections, per_connection: None },
    };
    let contenders = entrants.keys().filter(|name| *name != study::REFERENCE).cloned().collect();
    Run {
        id: "20260101-000000-0000".to_owned(),
        name: "example".to_owned(),
        study: Study {
            title: "An example".to_owned(),
            source: None,
            tracks: study::default_track(),
            contenders,
            cells: cells.iter().map(cell).collect(),
            design: Design {
                blocks,
                warmup: Duration::ZERO,
                measure: Duration::from_secs(1),
                decide: false,
                margin: None,
                metric: Metric::Rate,
                precision: 0.03,
                budget: Duration::from_mins(10),
                heats: None,
            },
            server_on: None,
            published: None,
            as_published: Vec::new(),
            unequal: Vec::new(),
        },
        seed: 7,
        started_at: "2026-01-01T00:00:00Z".to_owned(),
        workloads: BTreeMap::new(),
        quick: false,
        environment: Environment { drome: "0.1.0".to_owned(), cores: 2, ..Environment::default() },
        contenders: entrants,
        copies: 1,
        race: None,
        allow_busy: None,
        command: Vec::new(),
        fleet: None,
    }
}
