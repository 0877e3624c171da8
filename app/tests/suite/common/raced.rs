//! A race of two servers that is made up, with profiles, as `drome race --profile` stores it.

use crate::common::Home;
use crate::common::example::{MadeStart, example, keep_round, sound};
use ::profile::{CallTree, Difference, Report, Side, StoredProfile, Work};
use model::run::{Entrant, Raced};
use model::*;
use store::ProfileRow;
use store::Store;

/// The name of the run.
pub const RUN: &str = "20260101-000000-0000";

/// A function whose name is no markup.
pub const HOSTILE: &str = "to_vec::<script>alert(1)</script>";

/// The label of each contender, its command, its requests/s, and its samples of 1 ms.
const RACED: [(&str, &str, &str, f64, &str); 2] = [
    ("A", "old", "./old --port {port}", 50_000.0, "main;serve;parse 100\nmain;serve;write_[k] 300\n"),
    ("B", "new <b>", "./new --port {port}", 40_000.0, B),
];

const B: &str =
    "main;serve;parse 100\nmain;serve;to_vec::<script>alert(1)</script> 400\nmain;serve;write_[k] 300\n";

/// A home whose store has this race.
pub fn home() -> Home {
    let home = Home::new();
    let store = Store::open(&home.store()).unwrap();
    let entrant = |(name, title, command, ..): (&str, &str, &str, f64, &str)| {
        let command = ["sh", "-c", command].map(str::to_owned).to_vec();
        (name.to_owned(), Entrant { title: title.to_owned(), command, ..Entrant::default() })
    };
    let run = Run {
        name: "race".to_owned(),
        race: Some(Raced { body_bytes: Some(12), ..Raced::default() }),
        copies: 2,
        ..example(RACED.map(entrant).into(), &[("keep-alive", 10)], [6, 6])
    };
    assert_eq!(run.id, RUN);
    store.add_run(&run).unwrap();
    for round in 0..6 {
        let made = |at: usize, copy: usize| {
            let (name, _, _, rate, _) = RACED[at];
            let noise = 1.0 + 0.005 * stats::random::uniform(7, (round * 10 + at * 2 + copy) as u64);
            MadeStart { copy, ..MadeStart::measured(name, sound((rate * noise) as u64)) }
        };
        keep_round(&store, &run, round, &[made(0, 0), made(0, 1), made(1, 0), made(1, 1)]);
    }
    store.end_run(RUN, "A is certainly better").unwrap();
    store.keep_profiles(RUN, &profiles()).unwrap();
    home
}

/// The profiles: 10,000 answers each, so that a sample is 100 ns per answer.
fn profiles() -> Vec<ProfileRow> {
    let [a, b] = RACED.map(|(.., samples)| {
        let profile = ::profile::example::folded(&format!("# period_ns=1000000 has_kernel=true\n{samples}"));
        Report { work: Work { answers: 10_000, cpu_ns: None }, profile, ..Report::default() }
    });
    let [of_a, of_b] =
        [("A", &a), ("B", &b)].map(|(name, of)| Side { name, profile: &of.profile, work: of.work });
    let difference = Difference::between(&of_a, &of_b).unwrap();
    let stored = [
        ("A", StoredProfile::of("old", &a, None, 0.001), &a),
        ("B", StoredProfile::of("new <b>", &b, Some(&difference), 0.001), &b),
    ];
    let row = |(name, stored, report): (&str, StoredProfile, &Report)| ProfileRow {
        contender: name.to_owned(),
        json: serde_json::to_string(&stored).unwrap(),
        tree: serde_json::to_string(&CallTree::of(&report.profile, 0.001)).unwrap(),
    };
    stored.map(row).into()
}
