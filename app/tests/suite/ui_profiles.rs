//! The page of a race with profiles, and its flame graphs, over plain HTTP and so without scripts.

use crate::common::raced::{self, HOSTILE, RUN};
use crate::common::{assert_has, ui};
use store::ProfileRow;
use store::Store;

#[test]
fn the_page_of_a_race_shows_who_is_faster_and_where_the_cpu_time_goes() {
    let ui = ui::open(raced::home(), &[]);
    let page = ui.get(&format!("/runs/{RUN}"));
    let text = page.text();
    assert_eq!(page.status, 200, "{text}");
    assert_has(
        &text,
        &[
            "<b>A, old</b> <code>./old --port {port}</code>",
            "<b>B, new &lt;b&gt;</b>",
            "id=\"verdict\"",
            "<th scope=\"row\">A: old ",
            "same for all: a body of 12 bytes",
            "A is certainly better",
            "Where the CPU time goes",
            // 400 samples more, of 100 ns each.
            "B spends 40.0 µs more CPU time per answer than A, 40.0 µs of it in to_vec::&lt;script&gt;",
            "<code>write_[k]</code></th><td class=\"n\" data-label=\"Per answer\">30.0 µs</td><td class=\"n\" data-label=\"Share\">75.0 %</td>",
        ],
    );
    for name in ["A", "B"] {
        assert!(text.contains(&format!("href=\"/runs/{RUN}/flame/{name}\"")), "{text}");
    }
    assert!(!text.contains("<script>alert") && !text.contains("style="), "{text}");
    let chart = ui.get(&format!("/runs/{RUN}/chart"));
    assert!(chart.status == 200 && chart.text().contains("A: old"), "{}", chart.text());
    for part in ["report", "markdown", "json", "csv"] {
        assert_eq!(ui.get(&format!("/runs/{RUN}/{part}")).status, 200, "{part}");
    }
}

#[test]
fn a_flame_graph_is_zoomed_and_searched_by_links_and_a_form() {
    let ui = ui::open(raced::home(), &[]);
    let get = |query: &str| {
        let page = ui.get(&format!("/runs/{RUN}/flame/B{query}"));
        assert_eq!(page.status, 200, "{}", page.text());
        let policy = page.field("content-security-policy").unwrap();
        assert!(policy.contains("script-src 'self'; style-src 'self'"), "{policy}");
        let text = page.text();
        assert!(
            !text.contains("<script>alert") && !text.contains("style=") && !text.contains("onclick"),
            "{text}"
        );
        text
    };
    let whole = get("");
    assert_eq!(whole.matches("role=\"treeitem\"").count(), 6, "all, main, serve and three in it: {whole}");
    assert_eq!(whole.matches(" hidden").count(), 0, "{whole}");
    assert_has(
        &whole,
        &[
            "<h1>CPU time of B, new &lt;b&gt;</h1>",
            "all of it is 80.0 µs per answer",
            "aria-label=\"parse, 12.5 % of CPU time, 10.0 µs per answer\"",
            "Calls with less than 0.1 % of the CPU time are left out.",
            "<script src=\"/assets/flame.js\" defer></script>",
        ],
    );
    assert!(whole.contains(&format!("href=\"/runs/{RUN}/flame/A\"")), "the other one: {whole}");
    assert!(whole.contains("href=\"?frame=3\"") && whole.contains(">to_vec::&lt;script&gt;alert"), "{whole}");

    // The calls in order: all, main, serve, parse, to_vec, write.
    let parse = get("?frame=3");
    assert_eq!(parse.matches(" hidden").count(), 2, "the two beside it: {parse}");
    assert!(parse.contains("data-flame-here=\"\">parse, 12.5 % of CPU time, 10.0 µs per answer<"), "{parse}");
    assert!(parse.contains("name=\"frame\" value=\"3\""), "a search keeps the zoom: {parse}");
    let found = get("?frame=3&q=TO_VEC");
    assert!(found.contains("50.0 % of the CPU time is in functions that match “TO_VEC”"), "{found}");
    assert!(found.contains("class=\"frame user found\"") && found.contains("value=\"TO_VEC\""), "{found}");
    assert_eq!(found.matches("&amp;q=TO_VEC\"").count(), 6, "a zoom keeps the search: {found}");
    let none = get("?q=%3Cb%3E");
    assert!(none.contains("?frame=1&amp;q=%3Cb%3E\""), "{none}");
    assert!(none.contains("No function in this graph matches “&lt;b&gt;”."), "{none}");
    for foolish in ["?frame=-1", "?frame=99999999999999999999", "?frame=6", "?frame=&q=%00"] {
        assert_eq!(get(foolish).matches(" hidden").count(), 0, "{foolish}");
    }
    let script = ui.get("/assets/flame.js");
    assert!(script.status == 200 && script.field("content-type").unwrap().starts_with("text/javascript"));
}

#[test]
fn what_has_no_profile_and_what_can_not_be_read_are_pages_that_say_so() {
    let home = raced::home();
    let store = Store::open(&home.store()).unwrap();
    let good = store.profile(RUN, "A").unwrap().unwrap();
    assert!(store.profile(RUN, "B").unwrap().unwrap().tree.contains(HOSTILE));
    let row = |contender: &str, tree: &str| ProfileRow {
        contender: contender.to_owned(),
        tree: tree.to_owned(),
        ..good.clone()
    };
    let newer = ProfileRow { json: "{\"schema\": 99}".to_owned(), ..row("D", &good.tree) };
    let rows = [row("A", &good.tree), row("C", "{\"names\":[],\"calls\":[[0,7,1]]}"), newer];
    store.keep_profiles(RUN, &rows).unwrap();
    let ui = ui::open(home, &[]);
    let graph = |run: &str, contender: &str| ui.get(&format!("/runs/{run}/flame/{contender}"));
    assert_eq!(graph(RUN, "A").status, 200);
    for (run, contender) in [(RUN, "B"), ("none", "A"), (RUN, "%3Cb%3E"), (RUN, "..%2f..%2fA")] {
        let answer = graph(run, contender);
        assert!(answer.status == 404 && answer.text().contains("has no profile of"), "{}", answer.text());
        assert!(answer.text().contains("drome race --profile") && !answer.text().contains("<b>"));
    }
    for damaged in ["C", "D"] {
        let answer = graph(RUN, damaged);
        assert!(answer.status == 500 && answer.text().contains("can't be read"), "{}", answer.text());
    }
    let page = ui.get(&format!("/runs/{RUN}"));
    assert!(page.status == 200 && page.text().contains("The profile of D can't be read"), "{}", page.text());
    assert_eq!(ui.get(&format!("/runs/{RUN}/flame")).status, 404);
    assert_eq!(ui.post(&format!("/runs/{RUN}/flame/A"), "").status, 405, "it starts nothing");
}
