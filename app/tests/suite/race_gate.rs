//! `drome race --fail-if-slower`: the exit code is the judgement.

use crate::common::{Finished, Home, run};

const DROME: &str = env!("CARGO_BIN_EXE_drome");

fn fast() -> String {
    format!("{DROME} serve --port {{port}}")
}

/// Slower by so much that every machine sees it.
fn slow() -> String {
    format!("{DROME} serve --port {{port}} --spin 20ms")
}

fn race(home: &Home, commands: &[&str], args: &[&str]) -> Finished {
    let load =
        ["--url", "http://127.0.0.1:{port}/hello", "-c", "1", "--warmup", "50ms", "--duration", "100ms"];
    run(home.drome(&["race"]).args(commands).args(load).args(["--seed", "1"]).args(args))
}

#[test]
fn who_is_slower_by_more_than_the_margin_fails_and_who_is_faster_passes() {
    let home = Home::new();
    let (fast, slow) = (fast(), slow());
    let gate = ["--fail-if-slower", "2%", "--budget", "3min"];
    let failed = race(&home, &[&fast, &slow], &gate);
    assert_eq!(failed.code, 3, "{}{}", failed.out, failed.err);
    assert!(failed.err.contains("is more than 2 % slower: "), "{}", failed.err);
    assert!(failed.err.contains("precise enough to show a slowdown of"), "{}", failed.err);
    assert!(
        failed.out.contains("every comparison with the first is decided at the margin of 2 %"),
        "{}",
        failed.out
    );
    let passed = race(&home, &[&slow, &fast], &gate);
    assert_eq!(passed.code, 0, "{}{}", passed.out, passed.err);
    assert!(passed.err.contains("is not more than 2 % slower"), "{}", passed.err);
    let bisected = race(&home, &[&fast, &slow], &[&gate[..], &["--bisect"]].concat());
    assert_eq!(bisected.code, 1, "{}{}", bisected.out, bisected.err);
}

#[test]
fn a_margin_that_the_race_can_not_see_is_not_passed() {
    let home = Home::new();
    let fast = fast();
    let gate = ["--fail-if-slower", "0.001%", "--rounds", "1"];
    // By chance, a race of equals finds a difference now and then.
    let is_open = |args: &[&str], code| {
        let open = race(&home, &[&fast, &fast], args);
        let says = ["may be more than 0.001 % slower or not", "could not be judged"];
        open.code == code && says.iter().any(|words| open.err.contains(words))
    };
    assert!((0..5).any(|_| is_open(&gate, 4)), "never open");
    let bisect = [&gate[..], &["--bisect"]].concat();
    assert!((0..5).any(|_| is_open(&bisect, 125)), "never skipped");
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
    assert!(alone.code == 128 && alone.err.contains("--fail-if-slower"), "{}", alone.err);
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
            assert!(judged.code == code && judged.err.contains(why), "{}: {}", judged.code, judged.err);
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
    let failed = race(&home, &[&fast(), &slow], &profile);
    assert!(failed.code == 1 && failed.err.contains(told), "without a judgement: {}", failed.err);
}
