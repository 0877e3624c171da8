//! `drome race --fail-if-slower`: the exit code is the judgement.

use crate::common::{DROME, Finished, Home, assert_as_schema, contender, run};
use serde_json::Value;

/// Answers come after a moment, so that the race leaves the cores to other tests.
fn fast() -> String {
    format!("{DROME} serve --port {{port}} --fault delay=1ms")
}

/// Slower by so much that every machine sees it.
fn slow() -> String {
    format!("{DROME} serve --port {{port}} --fault delay=25ms")
}

fn race(home: &Home, commands: &[&str], args: &[&str]) -> Finished {
    let load =
        ["--url", "http://127.0.0.1:{port}/hello", "-c", "1", "--warmup", "50ms", "--duration", "100ms"];
    run(home.drome(&["race"]).args(commands).args(load).args(["--seed", "1"]).args(args))
}

/// A race in which the second command is slower, with a label that looks like markup and is shown as text.
#[test]
fn who_is_slower_by_more_than_the_margin_fails_and_the_verdict_and_the_report_say_so() {
    let home = Home::new();
    let (fast, slow) = (fast(), slow());
    let file = home.path().join("verdict.json").display().to_string();
    let names = ["--name", "old", "--name", "@everyone | </details>"];
    let gate = ["--fail-if-slower", "2%", "--budget", "3min", "--verdict", &file];
    let failed = race(&home, &[&fast, &slow], &[&gate[..], &names].concat());
    failed.assert_err(3, &["is more than 2 % slower: ", "precise enough to show a slowdown of"]);
    let decided = "every comparison with the first is decided at the margin of 2 %";
    failed.assert_out(3, &[decided, "A, old: ", "B, @everyone | </details>: "]);
    let verdict: Value = serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
    assert_as_schema(&home, "verdict", &verdict);
    let change = &verdict["changes"][0];
    assert!(verdict["outcome"] == "slower" && change["judged"] == "slower", "{verdict}");
    assert!(verdict["against"] == "old" && change["title"] == "@everyone | </details>", "{verdict}");
    assert!(change["slowdown"].as_f64().unwrap() > 0.5 && change["metric"] == "rate", "{verdict}");
    assert!(verdict["rounds"].as_u64() >= Some(2) && verdict["elapsed_s"].as_f64() > Some(0.0), "{verdict}");
    assert!(
        verdict["machine"]["cores"].as_u64() > Some(0) && verdict.get("revisions").is_none(),
        "{verdict}"
    );
    let comment = run(&mut home.drome(&["report", &file, "--marker", "nightly-2"]));
    let head =
        "<!-- drome: nightly-2 -->\n\n**`@everyone ¦ </details>` is more than 2 % slower than `old`.**\n";
    assert!(comment.code == 0 && comment.out.starts_with(head), "{}{}", comment.out, comment.err);
    let json = home.findings();
    assert_eq!(json["title"], "old against @everyone | </details>");
    assert_eq!(json["entrants"]["B"]["title"], "@everyone | </details>");
    assert_eq!(json["entrants"]["B"]["command"][2], slow.as_str());
    let listed = run(&mut home.drome(&["list", "runs"])).out;
    assert!(listed.contains("  race: old against @everyone | </details>  "), "{listed}");
}

#[test]
fn who_is_faster_passes_and_a_known_difference_has_its_direction() {
    let home = Home::new();
    let passed = race(&home, &[&slow(), &fast()], &["--fail-if-slower", "2%", "--budget", "3min"]);
    passed.assert_err(0, &["is not more than 2 % slower"]);
    passed.assert_out(
        0,
        &["B is ", "× A, 95 %", "A, drome --fault delay=25ms: ", "B, drome --fault delay=1ms: "],
    );
    let json = home.findings();
    let b = contender(&json["cells"][0], "B");
    // An answer of the slow one takes at least 25 ms, and one of the fast one takes a fraction of that on any
    // machine.
    assert!(b["time_ns_more"]["median"].as_f64().unwrap() < -15_000_000.0, "{b}");
    let rounds = json["race"]["blocks"].as_u64().unwrap();
    assert_eq!(b["trials"], 2 * rounds, "both are started twice in every round");
    assert!(json["noise_floor"].as_f64().unwrap() > 0.0);
}

#[test]
fn a_margin_that_the_race_can_not_see_is_not_passed() {
    let home = Home::new();
    let fast = fast();
    let gate = ["--fail-if-slower", "0.001%", "--rounds", "1"];
    // By chance, a race of equals finds a difference now and then.
    let is_open = || {
        let open = race(&home, &[&fast, &fast], &gate);
        let says = ["may be more than 0.001 % slower or not", "could not be judged"];
        open.code == 4 && says.iter().any(|words| open.err.contains(words))
    };
    assert!((0..5).any(|_| is_open()), "never open");
}

#[test]
fn what_is_no_judgement_stops_a_bisection() {
    let home = Home::new();
    let fast = fast();
    for commands in [[fast.as_str(), "sleep 1"], ["sh -c 'exit 1' {port}", fast.as_str()]] {
        let stopped = race(&home, &commands, &["--fail-if-slower", "2%", "--bisect"]);
        assert_eq!(stopped.code, 128, "{}", stopped.err);
        let failed = race(&home, &commands, &["--fail-if-slower", "2%"]);
        assert_eq!(failed.code, 2, "{}", failed.err);
    }
    let nowhere = ["--url", "http://127.0.0.1:{port}/none", "--ready", "10s"];
    let nowhere = [&nowhere[..], &["--fail-if-slower", "2%", "--bisect"]].concat();
    let stopped = race(&home, &[&fast, &fast], &nowhere);
    assert!(
        stopped.code == 128 && stopped.err.contains("status 404"),
        "the first does not do: {}",
        stopped.err
    );
    let alone = race(&home, &[&fast, &fast], &["--bisect"]);
    alone.assert_err(128, &["--fail-if-slower"]);
}

#[test]
fn a_later_command_that_does_not_start_or_answers_wrongly_is_no_failure_of_dromes() {
    let home = Home::new();
    let fast = fast();
    let other = "python3 -c 'import http.server as h
class H(h.BaseHTTPRequestHandler):
    def do_GET(self): self.send_response(403); self.end_headers()
    def log_message(self, *a): pass
h.HTTPServer((\"127.0.0.1\", {port}), H).serve_forever()'";
    for (later, why) in [("sh -c 'exit 7' {port}", "exit status: 7"), (other, "status 403")] {
        for (args, code) in [(&["--bisect"][..], 125), (&[], 4)] {
            let judged = race(&home, &[&fast, later], &[&["--fail-if-slower", "2%"], args].concat());
            judged.assert_err(code, &[why]);
        }
        let raced = race(&home, &[&fast, later], &[]);
        assert!(raced.code == 2 && raced.err.contains(why), "without a judgement: {}", raced.err);
    }
}

#[test]
fn a_profile_that_fails_does_not_replace_the_judgement() {
    let home = Home::new();
    let why = home.path().join("why").display().to_string();
    // Whoever starts it finds a file in the place of the folder, which was there before the race.
    let slow = format!("rm -rf {why}; touch {why}; exec {}", slow());
    let verdict = home.path().join("verdict.json").display().to_string();
    let profile = ["--profile", &why];
    let gate = ["--fail-if-slower", "2%", "--budget", "3min", "--verdict", &verdict];
    let judged = race(&home, &[&fast(), &slow], &[&gate[..], &profile].concat());
    assert_eq!(judged.code, 3, "{}{}", judged.out, judged.err);
    let verdict = std::fs::read_to_string(&verdict).unwrap();
    assert!(verdict.contains("\"outcome\": \"slower\""), "{verdict}");
    if judged.err.contains("no profile:") {
        // The kernel lets nobody look, so that there was nothing to write.
        return;
    }
    let told = "can't make the folder --profile";
    assert!(judged.err.contains(told), "{}", judged.err);
    std::fs::remove_file(&why).unwrap();
    let failed = race(&home, &[&fast(), &slow], &[&profile[..], &["--rounds", "1"]].concat());
    assert!(failed.code == 1 && failed.err.contains(told), "without a judgement: {}", failed.err);
}
