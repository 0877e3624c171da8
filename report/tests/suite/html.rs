//! The HTML report: valid, whole in itself, small enough, and text stays text.

pub mod fixture;
mod validity;

use base64::Engine;
use fixture::{MadeUp, figure, study};
use model::findings::{Decided, HeldEqual, PairFindings, RaceFindings};
use model::heat::StartOutcome;
use model::import::{Imported, Source};
use model::run::{ContainerImage, Raced};
use model::{Import, Metric};
use sha2::{Digest, Sha256};
use validity::check;

/// Names that want to be more than names.
const MARKUP: &str = "<img src=x onerror=alert(1)></script></style><!--\"'&amp; & <b>";

/// As long as that and nothing but text.
const PLAIN: &str = "-img src=x onerror=alert-1---/script---style-----'-amp- - -b-";

#[test]
fn a_small_study() {
    let page = study(4, 6, 1, "").page();
    check(&page);
    // Style and script are files of their own.
    let body = page.split_once("<body>").unwrap().1.split_once("<script>").unwrap().0.to_owned();
    // Charts have goldens of their own.
    let mut parts = body.split("<svg");
    let mut shown = parts.next().unwrap().to_owned();
    parts.for_each(|part| shown += &format!("<svg/>{}", part.split_once("</svg>").unwrap().1));
    insta::assert_snapshot!(shown.replace("><", ">\n<"));
}

#[test]
fn ten_contenders_in_two_cells_and_twelve_blocks_are_less_than_500_kb() {
    let page = study(10, 12, 2, "with a name that is not short").page();
    check(&page);
    println!("{} bytes", page.len());
    assert!(page.len() < 500_000, "{} bytes", page.len());
}

#[test]
fn names_with_markup_are_shown_as_text() {
    let (marked, plain) = (check(&study(4, 6, 2, MARKUP).page()), check(&study(4, 6, 2, PLAIN).page()));
    let shape = |all: &[validity::Element]| {
        let kept = all.iter().filter(|e| !e.is_drawn);
        kept.map(|e| (e.name.clone(), e.attributes.keys().cloned().collect::<Vec<_>>())).collect::<Vec<_>>()
    };
    assert_eq!(shape(&marked), shape(&plain));
    let body = marked.iter().find(|e| e.name == "body").unwrap();
    let plain = plain.iter().find(|e| e.name == "body").unwrap();
    let (shown, expected) = (body.text.matches(MARKUP).count(), plain.text.matches(PLAIN).count());
    assert!(shown > 100 && shown + 20 > expected, "{shown} of {expected}");
    assert!(marked.iter().any(|e| e.name == "title" && e.text.contains(MARKUP)));
}

#[test]
fn the_policy_allows_what_is_in_the_page_and_nothing_else() {
    let all = check(&study(1, 1, 1, "").page());
    let hash = |name: &str| {
        let text = &all.iter().find(|e| e.name == name).unwrap().text;
        base64::prelude::BASE64_STANDARD.encode(Sha256::digest(text))
    };
    let policy = all.iter().find(|e| e.get("http-equiv") == Some("Content-Security-Policy")).unwrap();
    let policy = policy.get("content").unwrap();
    assert!(policy.contains(&format!("script-src 'sha256-{}'", hash("script"))), "{policy}");
    assert!(policy.contains(&format!("style-src 'sha256-{}'", hash("style"))), "{policy}");
    assert!(policy.starts_with("default-src 'none'") && !policy.contains("unsafe"), "{policy}");
}

/// WCAG 2.2, 1.4.3: text of any size.
#[test]
fn text_stands_out_from_its_ground_in_light_and_dark() {
    let style = include_str!("../../src/html/style.css");
    let (light, rest) = style.split_once("@media (prefers-color-scheme: dark)").unwrap();
    for theme in [light, rest.split_once("\n}").unwrap().0] {
        for (ink, ground) in
            ["ink", "faint", "accent", "warn"].iter().flat_map(|i| [(i, "paper"), (i, "wash")])
        {
            let [a, b] = [luminance(theme, ink), luminance(theme, ground)];
            let contrast = (a.max(b) + 0.05) / (a.min(b) + 0.05);
            assert!(contrast >= 4.5, "{ink} on {ground}: {contrast:.2} in {theme}");
        }
    }
}

/// Of a colour that a theme names.
fn luminance(theme: &str, name: &str) -> f64 {
    let (_, after) = theme.split_once(&format!("--{name}: #")).unwrap();
    let linear = [0, 2, 4].map(|at| {
        let share = f64::from(u8::from_str_radix(&after[at..at + 2], 16).unwrap()) / 255.0;
        if share <= 0.04045 { share / 12.92 } else { ((share + 0.055) / 1.055).powf(2.4) }
    });
    0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
}

#[test]
fn a_run_without_a_trial_and_one_without_cells() {
    let mut empty = study(2, 0, 1, "");
    for c in &mut empty.findings.cells[0].contenders {
        unmeasure(c);
        c.failed = 0;
    }
    empty.findings.cells[0].noise_floor = None;
    let page = empty.page();
    check(&page);
    assert!(page.contains("No start has finished yet."));
    empty.findings.cells.clear();
    empty.findings.entrants.clear();
    empty.findings.missing.clear();
    check(&empty.page());
}

fn unmeasure(c: &mut model::findings::ContenderFindings) {
    (c.trials, c.void, c.notes) = (0, 0, Vec::new());
    (c.rate_per_s, c.metric, c.server_cpu_ns_per_request, c.of_reference) = (None, None, None, None);
    (c.metric_of_reference, c.latency_ns_p50, c.latency_ns_p99, c.wire_bytes_per_answer) =
        (None, None, None, None);
    (c.rss_max_bytes, c.tier, c.rank_low, c.rank_high, c.bound) = (None, None, None, None, None);
    c.rate_per_s_by_round = Vec::new();
}

#[test]
fn a_run_in_which_no_trial_was_sound() {
    let mut none = study(2, 6, 1, "");
    for start in &mut none.measured.starts {
        start.cells.clear();
        start.outcome = StartOutcome::Failed("it did not start\n    its log".to_owned());
    }
    for c in &mut none.findings.cells[0].contenders {
        unmeasure(c);
        c.failed = 6;
    }
    none.findings.cells[0].noise_floor = None;
    let page = none.page();
    let all = check(&page);
    assert!(page.contains("No contender has a rank"));
    assert!(page.contains("18 of 18 starts were void or failed."));
    // Every trial, and every contender in the ranking.
    let failed = none.measured.starts_in_cells().len() + none.findings.cells[0].contenders.len();
    assert_eq!(all.iter().filter(|e| e.get("class") == Some("bad")).count(), failed);
}

#[test]
fn one_trial_has_no_interval_and_no_rank() {
    let mut one = study(1, 1, 1, "");
    for c in &mut one.findings.cells[0].contenders {
        c.rate_per_s = c.rate_per_s.map(|f| model::findings::Figure { low: None, high: None, ..f });
        (c.tier, c.rank_low, c.rank_high) = (None, None, None);
    }
    one.findings.cells[0].noise_floor = None;
    let page = one.page();
    check(&page);
    assert!(page.contains("No contender has a rank: server-1"), "{page}");
}

#[test]
fn nothing_and_what_is_no_number_are_not_mistaken_for_figures() {
    for value in [0.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let mut odd = study(3, 6, 1, "");
        for c in &mut odd.findings.cells[0].contenders {
            (c.rate_per_s, c.metric) = (figure(value, 0.0), figure(value, 0.0));
            (c.of_reference, c.server_cpu_ns_per_request) = (figure(value, 0.0), figure(value, 0.0));
            (c.latency_ns_p99, c.wire_bytes_per_answer, c.published) =
                (figure(value, 0.0), Some(value), Some(value));
            c.rate_per_s_by_round.fill(Some(value));
        }
        odd.findings.cells[0].noise_floor = Some(value);
        odd.findings.conditions.load_average_max = Some(value);
        odd.findings.elapsed_s = 0.0;
        check(&odd.page());
    }
}

#[test]
fn a_race_says_who_is_faster_and_how_to_run_it_again() {
    let page = race().page();
    check(&page);
    assert!(page.contains("B is 1.25× A, 95 % 1.24–1.26"));
    let command = "drome race './a {port}' './b --name '\\''x'\\'' {port}' --alone --seed 7";
    let escaped = command.replace('"', "&quot;");
    assert!(page.contains(&escaped));
}

#[test]
fn a_race_of_images_shows_them_and_how_to_run_them_again() {
    let mut race = race();
    let image = |tag: &str, digest: Option<&str>| ContainerImage {
        name: format!("localhost/app:{tag}"),
        id: format!("sha256:{}", "ab".repeat(32)),
        digest: digest.map(str::to_owned),
    };
    for (name, image) in [("A", image("old", Some("localhost/app@sha256:77"))), ("B", image("new", None))] {
        race.run.contenders.get_mut(name).unwrap().image = Some(image);
    }
    race.findings.entrants = race.run.contenders.clone();
    let words =
        ["race", "--image", "localhost/app:old", "--image=localhost/app:new", "--start", "/app {port}"];
    race.run.command = words.map(str::to_owned).to_vec();
    let page = race.page();
    check(&page);
    let command =
        "drome race --image localhost/app:old --image=localhost/app:new --start '/app {port}' --seed 7";
    assert!(page.contains(command));
    // Behind `--` are servers.
    race.run.command = ["race", "--json", "--", "./a", "./b"].map(str::to_owned).to_vec();
    assert!(race.page().contains("drome race --json --seed 7 -- ./a ./b<"), "{}", race.page());
    let id = format!("sha256:{}", "ab".repeat(32));
    for shown in ["localhost/app:old", "localhost/app@sha256:77", "localhost/app:new", id.as_str()] {
        assert!(page.contains(&format!("<code>{shown}</code>")), "{shown}");
    }
}

#[test]
fn what_was_imported_is_shown_and_is_text() {
    let mut reading = model::Reading::of("ab");
    (reading.title, reading.command) = (Some(MARKUP.to_owned()), Some(format!("ab -c 10 {MARKUP}")));
    reading.set("rate_per_s", 351.49);
    reading.set("latency_ns_mean", 0.0);
    let item =
        Imported { source: 0, reading, notes: vec![MARKUP.to_owned()], strange: vec![MARKUP.to_owned()] };
    let source = Source { name: MARKUP.to_owned(), title: None, bytes: 12, strange: Vec::new() };
    let mut import = Import {
        id: "20260101-000000-0000".to_owned(),
        title: MARKUP.to_owned(),
        imported_at: "2026-01-01T00:00:00Z".to_owned(),
        drome: "0.1.0".to_owned(),
        sources: vec![source],
        items: vec![item.clone(), item],
    };
    let all = check(&report::html::import_page(&import));
    assert!(all.iter().any(|e| e.name == "h1" && e.text == MARKUP));
    assert!(all.iter().any(|e| e.name == "td" && e.text.starts_with("351")));
    import.items.clear();
    check(&report::html::import_page(&import));
}

fn race() -> MadeUp {
    let mut race = study(2, 6, 1, "");
    let f = &mut race.findings;
    (f.page, f.cells[0].contenders) = (None, f.cells[0].contenders.split_off(1));
    f.unequal.clear();
    let commands = ["./a {port}", "./b --name 'x' {port}"];
    race.run.command = ["race", commands[0], commands[1], "--alone"].map(str::to_owned).to_vec();
    for (i, c) in f.cells[0].contenders.iter_mut().enumerate() {
        (c.name, c.title, c.published) = (["A", "B"][i].to_owned(), commands[i].to_owned(), None);
    }
    let ratio = figure(1.25, 0.008);
    let (contender, against, faster) = ("B".to_owned(), "A".to_owned(), Some("B".to_owned()));
    let decided = Some(Decided::Faster);
    f.race = Some(RaceFindings {
        metric: Metric::Rate,
        elapsed_s: 8.94,
        rounds: 6,
        decided,
        faster: faster.clone(),
        ratio,
        pairs: vec![PairFindings { contender, against, decided, faster, ratio, sure: ratio }],
        held_equal: HeldEqual {
            body_bytes: Some(14),
            connections: 10,
            server_cpus: vec![0],
            client_cpus: vec![1],
            warmup_s: 0.2,
            measure_s: 0.5,
            prepare: None,
        },
        running: false,
    });
    let entrant = |title: &str| model::run::Entrant { title: title.to_owned(), ..Default::default() };
    race.run.contenders =
        [("A", commands[0]), ("B", commands[1])].map(|(n, t)| (n.to_owned(), entrant(t))).into();
    race.findings.entrants = race.run.contenders.clone();
    race.run.study.cells[0].title.replace_range(.., "http://127.0.0.1:{port}/");
    race.run.race = Some(Raced { body_bytes: Some(14), ..Raced::default() });
    for start in &mut race.measured.starts {
        let letter = if start.contender == "server-1" { "A" } else { "B" };
        start.contender.replace_range(.., letter);
    }
    race
}
