//! What reports say of a run in heats.

use crate::made_up::{contender, findings};
use judge::example::in_heats as example;
use model::background::Background;
use model::contender::Class;
use model::findings::{
    CellInHeats, ClassFloor, ContenderFindings, ContenderInHeats, Decided, Figure, Front, PairFindings,
    Pairs, StartFigure, Unranked,
};
use model::heat::{InCell, StartOutcome};
use model::metric::Percentile;
use model::study::{Handshake, Transport};
use model::{Findings, Heat, Measured, Measurement, Metric, Start, Tally, Usage, Verdict};
use report::figures::ShareBound;
use report::{TextStyle, answer};

/// A contender with its range of ranks, in six starts.
fn ranked(name: &str, title: &str, rate: f64, ranks: (usize, usize), letters: &str) -> ContenderFindings {
    let in_heats = ContenderInHeats {
        class: Some(Class::Native),
        starts: 6,
        not_settled: 0,
        settling_known: 6,
        warmup_s: Some(0.4),
        disturbed_share: Some(0.12),
        letters: Some(letters.to_owned()),
        ..ContenderInHeats::default()
    };
    ContenderFindings { in_heats, ..contender(name, title, rate, 100_000.0, (ranks.0, ranks.0, ranks.1)) }
}

/// One that has no rank, and why.
fn unranked(of: ContenderFindings, why: Unranked) -> ContenderFindings {
    let in_heats = ContenderInHeats { letters: None, unranked: Some(why), ..of.in_heats };
    ContenderFindings { tier: None, rank_low: None, rank_high: None, in_heats, ..of }
}

/// Five contenders and the reference: one leads, two show no significant difference, one has not settled, one fails.
fn in_heats() -> Findings {
    let mut f = findings();
    (f.page, f.unequal, f.source) = (None, Vec::new(), None);
    "every comparison between neighbouring ranks is decided or equal, after 6 rounds"
        .clone_into(&mut f.ended);
    let mut jit = unranked(ranked("spring", "Spring Boot", 48_000.0, (0, 0), ""), Unranked::NotSettled);
    let own = &mut jit.in_heats;
    (own.class, own.not_settled, own.warmup_s) = (Some(Class::Jit), 4, Some(120.0));
    let mut frail = unranked(ranked("frail", "Frail", 20_000.0, (0, 0), ""), Unranked::Failed);
    (frail.trials, frail.failed) = (3, 2);
    frail.in_heats.starts = 3;
    frail.notes = vec!["failed: it ended (exit status: 1) (2 of 5 starts)".to_owned()];
    let mut go = ranked("go", "Go", 70_500.0, (3, 4), "c");
    let own = &mut go.in_heats;
    (own.stalls, own.stall_share, own.never_quiet) = (5, Some(0.078), 2);
    go.server_idle_share = Some(0.12);
    let mut reference = ranked("reference", "drome serve", 100_000.0, (1, 1), "a");
    reference.bound = Some("both".to_owned());
    let cell = &mut f.cells[0];
    cell.contenders = vec![
        reference,
        ranked("nginx", "nginx", 81_000.0, (2, 2), "b"),
        ranked("h2o", "H2O", 71_000.0, (3, 4), "c"),
        go,
        jit,
        frail,
    ];
    let start = |contender: &str, round, figure| StartFigure {
        copy: 0,
        contender: contender.to_owned(),
        round,
        heat: 1,
        figure,
    };
    cell.in_heats = CellInHeats {
        machines: None,
        background: Vec::new(),
        rounds: 6,
        heats: 12,
        never_quiet: 3,
        shares_differ: 0,
        noise_floors: vec![
            ClassFloor { class: Class::Native, noise_floor: 0.021 },
            ClassFloor { class: Class::Jit, noise_floor: 0.09 },
        ],
        pairs: Pairs { decided: 5, equal: 0, open: 1 },
        front: Some(Front {
            leaders: vec!["nginx".to_owned()],
            next: Some("h2o".to_owned()),
            ratio: Some(Figure { median: 81.0 / 71.0, low: Some(1.11), high: Some(1.17) }),
        }),
        starts: vec![start("hub", 0, 30_000.25), start("nginx", 0, 81_000.5), start("nginx", 1, 80_900.0)],
    };
    f
}

#[test]
fn a_cell_opens_with_its_answer_and_rows_carry_their_doubts() {
    insta::assert_snapshot!(
        "heats_in_the_terminal",
        report::run::document(&in_heats()).terminal(&TextStyle::default())
    );
    insta::assert_snapshot!("heats_in_markdown", report::run::document(&in_heats()).markdown());
}

#[test]
fn a_row_says_that_connections_were_starved() {
    let mut f = in_heats();
    let text = |f: &Findings| report::run::document(f).terminal(&TextStyle::default());
    assert!(!text(&f).contains("starved"));
    f.cells[0].contenders[2].notes =
        vec!["void: 1 of 4 connections were never answered, although some were asked".to_owned()];
    let row = text(&f)
        .lines()
        .find(|line| line.contains("starved: 1 of 4 connections were never answered"))
        .map(str::to_owned);
    assert!(row.is_some_and(|row| row.contains("H2O")));
}

#[test]
fn what_is_not_known_is_not_answered() {
    let sentences = |f: &Findings| answer::of(f, &f.cells[0]);
    let mut f = in_heats();
    let front = f.cells[0].in_heats.front.as_mut().unwrap();
    (front.leaders, front.next) = (vec!["nginx".to_owned(), "h2o".to_owned()], Some("go".to_owned()));
    let tied = "Among those with a rank, no significant difference between nginx and H2O: either of them may be the fastest";
    let bound = "nginx reaches at most 0.810 of the reference, which the load generator limited";
    assert_eq!(sentences(&f)[0], format!("{tied}; {bound}."));
    let front = f.cells[0].in_heats.front.as_mut().unwrap();
    (front.leaders, front.next, front.ratio) = (vec!["nginx".to_owned()], None, None);
    assert!(
        sentences(&f)[0].starts_with("nginx is the only contender with a rank"),
        "one alone leads nobody"
    );
    f.cells[0].in_heats.front = None;
    assert_eq!(sentences(&f)[0], "No contender has a rank: nginx has the best figure.");
    f.quick = true;
    assert_eq!(sentences(&f)[0], "A first look gives no ranks: nginx has the best figure.");
    f.cells[0].contenders.iter_mut().for_each(|c| (c.trials, c.failed) = (0, 0));
    assert_eq!(sentences(&f), ["No start has finished yet."]);
}

#[test]
fn many_groups_without_a_difference_are_counted_instead_of_listed() {
    let mut f = in_heats();
    let cell = &mut f.cells[0];
    let like = cell.contenders.iter().find(|c| c.name == "h2o").unwrap().clone();
    let front = cell.in_heats.front.as_mut().unwrap();
    (front.leaders, front.next, front.ratio) = (vec!["nginx".to_owned(), "go".to_owned()], None, None);
    cell.contenders.retain(|c| c.tier.is_none() || ["nginx", "go"].contains(&c.name.as_str()));
    let with_groups = |groups: usize| {
        let mut f = f.clone();
        f.cells[0].contenders.extend((0..groups * 2).map(|i| {
            let (name, title) = (format!("c{i}"), format!("C{i}"));
            model::findings::ContenderFindings { name, title, tier: Some(10 + i / 2), ..like.clone() }
        }));
        // With so many contenders there are no letters.
        f.cells[0].contenders.iter_mut().for_each(|c| c.in_heats.letters = None);
        answer::of(&f, &f.cells[0])[1].clone()
    };
    let two = "No significant difference, among others, between C0 and C1; between C2 and C3.";
    assert!(with_groups(2).starts_with(two), "{}", with_groups(2));
    assert!(with_groups(5).starts_with("5 more groups show no significant difference within them: "));
}

#[test]
fn the_map_of_ratios_shows_no_more_than_the_tables() {
    let mut f = in_heats();
    f.cells.truncate(1);
    f.cells.push(f.cells[0].clone());
    "json".clone_into(&mut f.cells[1].title);
    f.cells[1].contenders[1].bound = Some("client".to_owned());
    f.cells[1].contenders[0].bound = Some("server".to_owned());
    let map = report::chart::heat_map::of_findings(&f).remove(0);
    let nginx = map.rows.iter().position(|row| row == "nginx").unwrap();
    assert_eq!(map.columns, ["keep-alive", "json"]);
    let bounds: Vec<_> = map.ratios[nginx].iter().map(|ratio| ratio.unwrap().bound).collect();
    assert_eq!(
        bounds,
        [ShareBound::AtMost, ShareBound::AtLeast],
        "the reference was held back in one, nginx in the other"
    );
    assert!(map.svg().contains(">≤ 0.") && map.svg().contains(">≥ 0."), "{}", map.svg());
    assert!(
        map.caption.finding.contains("at most 0.") && map.svg().contains(" · ≤: at most · ≥: at least"),
        "{}",
        map.caption.finding
    );
    f.cells[0].contenders[1].bound = Some("client".to_owned());
    let map = report::chart::heat_map::of_findings(&f).remove(0);
    assert!(map.ratios[nginx][0].is_none(), "a ratio of two lower bounds says nothing");
}

#[test]
fn letters_name_every_pair_without_a_difference() {
    let mut f = in_heats();
    let cell = &mut f.cells[0];
    cell.contenders = [("A", "a"), ("B", "ab"), ("C", "bc"), ("D", "cd"), ("E", "d"), ("F", "e")]
        .map(|(name, letters)| ranked(name, name, 50_000.0, (1, 6), letters))
        .to_vec();
    let front = cell.in_heats.front.as_mut().unwrap();
    (front.leaders, front.next, front.ratio) = (vec!["A".to_owned(), "B".to_owned()], None, None);
    let sentences = answer::of(&f, &f.cells[0]);
    assert_eq!(sentences[1], "No significant difference between B and C; between C and D; between D and E.");
}

#[test]
fn the_noise_floor_of_a_ranking_is_that_of_who_stands_in_it() {
    let mut f = in_heats();
    f.cells[0].noise_floor = Some(0.09);
    let floor = |f: &Findings| report::chart::ranked::of_cell(f, &f.cells[0]).noise_floor;
    assert_eq!(floor(&f), Some(0.021), "the first whose rate is no floor is native");
    f.cells[0].contenders.retain(|c| c.name == "spring");
    assert_eq!(floor(&f), Some(0.09));
}

#[test]
fn a_ratio_to_a_reference_that_was_held_back_is_a_bound() {
    let f = in_heats();
    let sentences = answer::of(&f, &f.cells[0]).join(" ");
    let bound = "; it reaches at most 0.810 of the reference, which the load generator limited.";
    assert!(sentences.contains(bound), "{sentences}");
    let table = report::run::document(&f).terminal(&TextStyle::default());
    assert!(table.contains("≥ 100,000") && table.contains("≤ 0.810"), "{table}");
    let mut f = in_heats();
    f.cells[0].contenders[1].bound = Some("client".to_owned());
    let sentences = answer::of(&f, &f.cells[0]).join(" ");
    let both =
        "the load generator limited both nginx and the reference, so the distance between them is unknown";
    assert!(sentences.contains(both), "{sentences}");
    let sure = "nginx is the fastest: at least 1.11 times the rate of H2O, the next, and 1.14 as measured";
    assert!(sentences.contains(sure), "{sentences}");
}

#[test]
fn a_contender_of_a_study_that_is_called_like_the_first_of_a_race_is_no_base() {
    let mut f = in_heats();
    f.cells[0].contenders[0].bound = Some("server".to_owned());
    let nginx = &mut f.cells[0].contenders[1];
    (nginx.bound, nginx.in_heats.letters) = (Some("client".to_owned()), None);
    "A".clone_into(&mut nginx.name);
    let told = report::run::document(&f).terminal(&TextStyle::default());
    assert!(told.contains("≥ 81,000") && !told.contains("≤ 0."), "{told}");
}

#[test]
fn what_may_be_wrong_is_one_sentence_and_names_the_programs_that_disturbed() {
    let mut f = in_heats();
    let in_heats = &mut f.cells[0].in_heats;
    (in_heats.never_quiet, in_heats.shares_differ) = (2, 1);
    let ran = |(program, cpu_ns): (&str, u64)| Background { program: program.to_owned(), cpu_ns };
    in_heats.background = [("rustc", 90), ("cc1", 9), ("cron", 8)].map(ran).to_vec();
    let sentences = answer::of(&f, &f.cells[0]);
    assert!(sentences.len() <= 3, "{sentences:?}");
    let caution = sentences.last().unwrap();
    assert!(caution.starts_with("Caution: ") && !caution.contains(". "), "{caution}");
    for part in ["background load (mostly rustc and cc1) ran nearly all the time in 2 of", "others in 1 of"] {
        assert!(caution.contains(part), "{caution}");
    }
}

#[test]
fn more_than_a_few_names_are_counted() {
    let mut f = in_heats();
    let names: Vec<String> = (0..9).map(|i| format!("s{i}")).collect();
    let more = names.iter().map(|name| ranked(name, &name.to_uppercase(), 90_000.0, (1, 9), "a"));
    f.cells[0].contenders.extend(more);
    f.cells[0].in_heats.front = Some(Front { leaders: names, next: None, ratio: None });
    let sentences = answer::of(&f, &f.cells[0]);
    assert!(
        sentences[0].contains("no significant difference between S0, S1, S2, S3, S4 and 4 others: any"),
        "{}",
        sentences[0]
    );
}

#[test]
fn pairs_are_counted_beside_what_was_measured() {
    let words = |decided, equal, open| {
        let mut f = in_heats();
        f.cells[0].in_heats.pairs = Pairs { decided, equal, open };
        report::ranking::asked(&f.cells[0])
    };
    for ((decided, equal, open), expected) in [
        ((39, 0, 6), "; of 45 pairs: 39 decided, 6 inconclusive"),
        ((30, 9, 6), "; of 45 pairs: 30 decided, 9 within 2 % of each other, 6 inconclusive"),
        ((6, 0, 0), "; of 6 pairs: 6 decided"),
        ((0, 0, 1), " heats"),
    ] {
        assert!(words(decided, equal, open).ends_with(expected), "{}", words(decided, equal, open));
    }
}

#[test]
fn starts_are_the_rows_of_the_csv_and_of_the_page() {
    let (run, f) = (crate::html::fixture::study(1, 1, 1, "").run, in_heats());
    let tally = Tally { completed: 10, duration_ns: 1_000_000, ..Tally::default() };
    let measurement = Measurement {
        tally,
        usage: Some(Usage::default()),
        verdict: Verdict { valid: true, ..Verdict::default() },
    };
    let in_cell = InCell {
        warmup_ns: 1_250_000_000,
        settled: Some(false),
        disturbed: 3,
        measurement: Some(Box::new(measurement)),
        ..example::in_cell()
    };
    let hub = Start { cells: [(0, in_cell)].into(), ..example::start(0, 1, "hub", &[]) };
    let outcome = StartOutcome::Failed("it ended".to_owned());
    let h2o = Start { outcome, ..example::start(0, 1, "h2o", &[]) };
    let heats = vec![Heat { number: 1, ..example::heat(&["h2o"]) }];
    let measured = Measured { heats, starts: vec![hub, h2o], slices: Vec::new() };
    let told = report::RunReport { run: &run, measured: &measured, findings: &f };
    let csv = report::trials::records(&told).csv();
    let lines: Vec<&str> = csv.lines().collect();
    assert_eq!(lines.len(), 3, "{csv}");
    let field = |line: usize, name: &str| {
        let at = lines[0].split(',').position(|column| column == name).unwrap();
        lines[line].split(',').nth(at).unwrap()
    };
    let known = [
        ("contender", "hub"),
        ("title", "the hub of the heat"),
        ("track", ""),
        ("block", "1"),
        ("heat", "2"),
        ("outcome", "measured"),
        ("warmup_s", "1.250"),
        ("settled", "false"),
        ("turns", "20"),
        ("turns_disturbed", "3"),
        ("metric", "rate"),
        ("figure", "30000.250"),
    ];
    for (name, value) in known {
        assert_eq!(field(1, name), value, "{name}");
    }
    assert_eq!((field(2, "outcome"), field(2, "reasons"), field(2, "figure")), ("failed", "it ended", ""));
    let page = report::html::page(&told);
    // The name of a row is its contender, not its letters.
    assert!(page.contains(r#"<th scope="row">nginx"#), "{page}");
    for text in [
        "Every start",
        "nginx is the fastest: 1.14 times the rate of H2O",
        "not settled in 4 of 6 starts",
        "it ended",
    ] {
        assert!(page.contains(text), "{text}");
    }
    assert!(page.contains("Rounds") && page.contains("Load average before a heat"), "{page}");
    for word in ["trial<", " trial ", " trials", "Blocks", "a trial", "Every trial"] {
        assert!(!page.contains(word), "{word}: {page}");
    }
}

#[test]
fn starts_of_an_open_cell_are_drawn_by_the_percentile_that_ranks() {
    let mut f = in_heats();
    f.cells[0].metric = Metric::Latency(Percentile::P99);
    let of = |round, p99_us: u64| {
        let mut tally = Tally { completed: 2_000, duration_ns: 4_000_000_000, ..Tally::default() };
        tally.latency.record_n(p99_us * 1_000, 2_000);
        let verdict = Verdict { valid: true, ..Verdict::default() };
        let measurement = Some(Box::new(Measurement { tally, usage: None, verdict }));
        let in_cell = InCell { measurement, ..example::in_cell() };
        Start { cells: [(0, in_cell)].into(), ..example::start(round, 0, "nginx", &[]) }
    };
    let hub = Start { contender: "hub".to_owned(), ..of(0, 100) };
    let starts = vec![of(0, 200), hub, of(1, 200), of(2, 300), of(3, 190)];
    let heats = (0..4).map(|round| Heat { round, ..example::heat(&["nginx"]) }).collect();
    let measured = Measured { heats, starts, slices: Vec::new() };
    let chart = report::chart::trials::of_cell(&f.cells[0], 0, &measured.starts_in_cells());
    let order: Vec<usize> = chart.rows.iter().flat_map(|row| &row.trials).map(|trial| trial.nth).collect();
    assert_eq!(order, [0, 1, 2, 3], "the hub has no row");
    let finding = &chart.caption.finding;
    assert!(finding.ends_with("the farthest is nginx in round 3, 50.0 % higher."), "{finding}");
    let svg = chart.svg();
    for text in ["p99 latency, relative to the contender's own median", ">median<", ">200 µs<", ": 300 µs"]
    {
        assert!(svg.contains(text), "{text}: {svg}");
    }
}

#[test]
fn a_race_in_heats_is_told_in_rounds_and_starts() {
    let mut f = crate::made_up::race(100_000.0, 90_000.0, 0.01);
    f.cells[0].in_heats = CellInHeats { rounds: 6, heats: 6, ..CellInHeats::default() };
    f.ended = "every comparison is decided".to_owned();
    let report = report::run::document(&f).terminal(&TextStyle::default());
    assert!(report.contains("A is 1.111× B") && report.contains("after 6 rounds, 12 starts"), "{report}");
    assert!(!report.contains("trial") && !report.contains("block"), "{report}");
    // The load generator limited both: there is no noise floor, and nothing is sure.
    f.cells[0].noise_floor = None;
    f.cells[0].contenders.iter_mut().for_each(|c| c.bound = Some("client".to_owned()));
    let race = f.race.as_mut().unwrap();
    let open = |pair: &PairFindings| PairFindings { decided: None, faster: None, ..pair.clone() };
    race.pairs = race.pairs.iter().map(open).collect();
    (race.decided, race.faster) = (None::<Decided>, None);
    let report = report::run::document(&f).terminal(&TextStyle::default());
    assert!(report.contains("the load generator limited B"), "{report}");
    f.cells[0].contenders.iter_mut().for_each(|c| c.bound = Some("network".to_owned()));
    let report = report::run::document(&f).terminal(&TextStyle::default());
    assert!(
        report.contains("the network limited B") && !report.contains("load generator limited"),
        "{report}"
    );
}

#[test]
fn the_ranking_in_a_picture_tells_no_ratio_of_two_lower_bounds() {
    let mut f = crate::made_up::findings();
    let finding = |f: &Findings| {
        let charts = report::chart::ranked::of_cell(f, &f.cells[0]);
        charts.caption.finding
    };
    f.cells[0].contenders[1].bound = Some("client".to_owned());
    assert!(finding(&f).contains("(at most 0."), "{}", finding(&f));
    f.cells[0].contenders.iter_mut().for_each(|c| c.bound = Some("client".to_owned()));
    assert!(finding(&f).contains("; last is ") && !finding(&f).contains("of the first"), "{}", finding(&f));
}

#[test]
fn a_leader_beside_a_limited_reference_is_told_with_a_bound() {
    let mut f = crate::made_up::findings();
    let words = |f: &Findings| report::progress::leading(f, 0).unwrap();
    assert!(words(&f).starts_with("nginx leads with at most 0.658×"), "{}", words(&f));
    f.cells[0].contenders[1].bound = Some("client".to_owned());
    assert_eq!(
        words(&f),
        "nginx leads so far; the load generator limits both it and the reference, so their ratio is unknown"
    );
    f.cells[0].contenders[0].bound = Some("server".to_owned());
    assert!(words(&f).starts_with("nginx leads with at least 0.658×"), "{}", words(&f));
    f.cells[0].contenders[1].bound = Some("server".to_owned());
    assert!(words(&f).starts_with("nginx leads with 0.658×"), "{}", words(&f));
}

#[test]
fn what_each_protocol_costs_is_told_of_one_server_at_a_time() {
    let title = "What each protocol costs";
    let mut f = in_heats();
    assert!(!report::run::document(&f).markdown().contains(title));
    let mut second = f.cells[0].clone();
    second.transport = Transport { tls: Some(Handshake::Full), ..Transport::default() };
    second.contenders.retain(|c| c.name != "go");
    f.cells.push(second);
    let all = report::run::document(&f).markdown();
    let section = &all[all.find(title).unwrap()..];
    let of = |name: &str| section.split("\n### ").find(|part| part.starts_with(name)).map(str::to_owned);
    let nginx = of("nginx").unwrap();
    assert!(nginx.contains("| HTTP/1.1 |") && nginx.contains("| HTTP/1.1 over TLS |"), "{nginx}");
    assert_eq!(of("Go\n"), None, "it was asked in one way");
}
