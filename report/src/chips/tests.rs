//! Tests that each state has a chip that names and explains it.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use super::*;
use model::findings::{CellInHeats, ContenderInHeats};
use serde_json::{from_value, json};

/// A contender of which nothing is known but that six starts were measured.
fn contender(name: &str) -> ContenderFindings {
    let known = json!({
        "name": name, "title": name, "trials": 6, "void": 0, "failed": 0, "errors": 0, "notes": [],
        "in_heats": ContenderInHeats::default()
    });
    from_value(known).unwrap()
}

/// A cell of closed load.
fn cell(title: &str, contenders: &[ContenderFindings]) -> CellFindings {
    let load = json!({"closed": {"connections": 4}});
    from_value(json!({
        "title": title, "workload": "hello", "load": load, "blocks": 6, "contenders": contenders,
        "in_heats": CellInHeats::default()
    }))
    .unwrap()
}

/// The chips of a contender beside one with a rank.
fn texts(c: ContenderFindings) -> Vec<String> {
    let ranked = ContenderFindings { rank_low: Some(1), rank_high: Some(1), ..contender("ranked") };
    let cell = cell("keep-alive", &[ranked, c]);
    let chips = of(&cell, &cell.contenders[1]);
    assert!(chips.iter().all(|chip| chip.title.len() > chip.text.len()), "{chips:?}");
    chips.into_iter().map(|chip| chip.text).collect()
}

/// A contender with a rank of its own.
fn sound() -> ContenderFindings {
    ContenderFindings { rank_low: Some(2), rank_high: Some(2), ..contender("sound") }
}

#[test]
fn a_sound_contender_has_none_and_every_state_has_its_own() {
    assert!(texts(sound()).is_empty());
    let notes = vec!["void: 1 of 4 connections were never answered, although some were asked".to_owned()];
    assert_eq!(texts(ContenderFindings { void: 1, notes, ..sound() }), ["1 void", "starved"]);
    assert_eq!(texts(ContenderFindings { failed: 2, ..sound() }), ["2 failed"]);
    assert_eq!(texts(ContenderFindings { fell_behind: 1, ..sound() }), ["fell behind"]);
    let (one, two) = (Some(1), Some(2));
    assert_eq!(texts(ContenderFindings { rank_low: one, rank_high: two, ..sound() }), ["tied"]);
    assert!(
        texts(ContenderFindings { rank_low: one, ..contender(REFERENCE) }).is_empty(),
        "it is no contender"
    );
    assert_eq!(texts(contender("new")), ["unranked"]);
    let bound = |bound: &str| texts(ContenderFindings { bound: Some(bound.to_owned()), ..sound() });
    for by in ["client", "both"] {
        assert_eq!(bound(by), ["limited by the load generator"]);
    }
    assert!(bound("server").is_empty());
}

#[test]
fn in_heats_the_reason_for_no_rank_is_told() {
    let of = |unranked, not_settled| {
        let own = json!({
            "class": null, "starts": 6, "not_settled": not_settled, "settling_known": 6, "warmup_s": null,
            "disturbed_share": null, "stalls": 0, "stall_share": null, "never_quiet": 0,
            "elsewhere_share": null, "letters": null, "unranked": unranked, "of_hub": null
        });
        let in_heats = from_value(own).unwrap();
        texts(ContenderFindings { in_heats, ..contender("jit") })
    };
    assert_eq!(of("not_settled", 3), ["not settled", "unranked"]);
    assert_eq!(of("failed", 0), ["unranked"]);
    assert!(of("first_look", 0).is_empty(), "its page says so once");
}

#[test]
fn a_chip_has_text_and_a_title_and_both_are_escaped() {
    let notes = vec!["failed: <b> ended\nand more".to_owned()];
    let c = ContenderFindings { failed: 1, notes, ..sound() };
    let drawn = draw(&of(&cell("keep-alive", &[]), &c)).into_string();
    let expected =
        " <span class=\"chip bad\" title=\"1 of 7 starts failed: &lt;b&gt; ended\">1 failed</span>";
    assert_eq!(drawn, expected);
}
