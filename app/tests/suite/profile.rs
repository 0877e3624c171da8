//! `drome load --profile` and `drome race --profile`: where servers spend their CPU time. Where the kernel lets nobody look, they say the
//! remedy, and the measurement is as good as without. `drome run --profile` is in `profile_run.rs`.

use crate::common::{DROME, Finished, Home, assert_as_schema, run, serve};
use serde_json::Value;
use std::net::SocketAddr;
use std::path::Path;

/// The load of a race that is soon decided.
const RACE_LOAD: [&str; 8] = ["-c", "1", "--warmup", "50ms", "--duration", "100ms", "--seed", "1"];

fn load(home: &Home, address: SocketAddr, file: &Path, more: &[&str]) -> Finished {
    let url = format!("http://{address}/hello");
    let file = file.display().to_string();
    let args = ["load", &url, "-c", "8", "-d", "700ms", "--profile", &file];
    run(home.drome(&args).args(more))
}

/// Whether the kernel let drome profile the server. If not, that is what it must say, with the remedy.
pub fn is_allowed(finished: &Finished, file: &Path) -> bool {
    finished.assert_out(0, &["requests"]);
    if !finished.err.contains("no profile:") {
        return true;
    }
    assert!(finished.err.contains("sysctl kernel.perf_event_paranoid=1"), "{}", finished.err);
    assert!(finished.err.contains("CAP_PERFMON"), "{}", finished.err);
    assert!(!file.exists());
    false
}

#[test]
fn a_server_under_load_has_a_flame_graph() {
    let (home, server) = (Home::new(), serve(&[]));
    let file = home.path().join("server.svg");
    let finished = load(&home, server.address, &file, &[]);
    if is_allowed(&finished, &file) {
        let svg = std::fs::read_to_string(&file).unwrap();
        assert!(svg.contains("<svg ") && svg.contains("aria-label=\"all, 100.0 % of CPU time, "), "{svg}");
        assert!(svg.contains(&format!("CPU time of process {} under load", server.child.id())), "{svg}");
        assert!(finished.err.contains(" samples; most CPU time in "), "{}", finished.err);
    }
}

#[test]
fn the_data_say_how_much_was_sampled_and_what_the_server_did() {
    let (home, server) = (Home::new(), serve(&[]));
    let file = home.path().join("server.json");
    let pid = server.child.id().to_string();
    let finished = load(&home, server.address, &file, &["--pid", &pid, "--warmup", "200ms"]);
    if !is_allowed(&finished, &file) {
        return;
    }
    let json: Value = serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
    let n = |pointer: &str| {
        json.pointer(pointer).and_then(Value::as_u64).unwrap_or_else(|| panic!("{pointer} in {json}"))
    };
    assert_eq!(n("/schema"), 1);
    assert!(n("/work/answers") > 0 && n("/profile/samples") > 0, "{json}");
    let stacks = json.pointer("/profile/stacks").and_then(Value::as_object).unwrap();
    let total: u64 = stacks.values().filter_map(Value::as_u64).sum();
    assert_eq!(total, n("/profile/samples"));
    let is_counted = |name: &str| json["counters"].as_object().unwrap().contains_key(name);
    assert!(["instructions", "context_switches", "system_calls"].into_iter().all(is_counted), "{json}");
    assert_as_schema(&home, "profile", &json);
}

#[test]
fn the_text_form_is_for_other_tools() {
    let (home, server) = (Home::new(), serve(&[]));
    let file = home.path().join("server.folded");
    let finished = load(&home, server.address, &file, &["--quiet"]);
    if !is_allowed(&finished, &file) {
        return;
    }
    let text = std::fs::read_to_string(&file).unwrap();
    assert!(text.starts_with("# drome profile 1\n"), "{text}");
    let stacks: Vec<&str> = text.lines().filter(|line| !line.starts_with('#')).collect();
    assert!(!stacks.is_empty());
    for line in stacks {
        let (names, count) = line.rsplit_once(' ').unwrap();
        assert!(!names.is_empty() && count.parse::<u64>().unwrap() > 0, "{line}");
    }
}

#[test]
fn what_can_not_be_profiled_is_told_before_anything_is_measured() {
    let (home, server) = (Home::new(), serve(&[]));
    let refused = |file: &str, more: &[&str], why: &str| {
        let finished = load(&home, server.address, &home.path().join(file), more);
        assert_eq!(finished.code, 2, "{}", finished.err);
        assert!(finished.err.contains(why) && finished.out.is_empty(), "{}", finished.err);
    };
    refused("a.txt", &[], "name a file that ends in .svg, .folded or .json");
    refused("no/such/folder/a.svg", &[], "--profile ");
    refused("a.svg", &["--pid", "2147483647"], "there is no such process");
    refused("a.svg", &["--pid", "0"], "--pid");
}

/// The time in the first sentence that says how much more B spends, in nanoseconds.
fn spent_more_ns(text: &str) -> f64 {
    let (_, after) = text.split_once("B spends ").unwrap_or_else(|| panic!("no sentence in {text}"));
    let mut words = after.split_whitespace();
    let (number, unit, how) = (words.next().unwrap(), words.next().unwrap(), words.next().unwrap());
    assert_eq!(how, "more", "{text}");
    let unit_ns = match unit {
        "ns" => 1.0,
        "ms" => 1e6,
        // "us" where the locale has only ASCII.
        _ => 1e3,
    };
    number.parse::<f64>().unwrap() * unit_ns
}

/// The share of samples whose stack has these frames.
fn share_of(folded: &str, frames: &str) -> f64 {
    let count = |line: &str| line.rsplit_once(' ').unwrap().1.parse::<f64>().unwrap();
    let stacks = || folded.lines().filter(|line| !line.starts_with('#'));
    let with_frames: f64 = stacks().filter(|line| line.contains(frames)).map(count).sum();
    with_frames / stacks().map(count).sum::<f64>()
}

/// Checks what the verdict of a race says of its profiles, and that a comment and what was printed say the same.
fn assert_in_verdict(home: &Home, path: &str, verdict: &Value, printed: &str) {
    let comment = run(&mut home.drome(&["report", path]));
    assert_eq!(comment.code, 0, "{}", comment.err);
    let summary = "<details><summary>Where the CPU time goes</summary>\n";
    assert!(comment.out.contains(summary), "{}", comment.out);
    let profile = &verdict["profile"];
    if printed.contains("no profile:") {
        let why = profile["why_not"].as_str().unwrap();
        assert!(why.contains("sysctl kernel.perf_event_paranoid=1"), "{profile}");
        assert!(profile["servers"].as_array().unwrap().is_empty(), "{profile}");
        return;
    }
    let servers = profile["servers"].as_array().unwrap();
    assert!(servers.len() == 2 && servers[0]["difference"].is_null(), "{profile}");
    for server in servers {
        assert!(server["samples"].as_u64() > Some(0) && server["why_not"].is_null(), "{profile}");
        let functions = server["functions"].as_array().unwrap();
        assert!((1..=5).contains(&functions.len()), "{profile}");
    }
    let difference = &servers[1]["difference"];
    assert!(difference["ns_per_answer"].as_f64() > Some(20_000.0), "{profile}");
    let more = difference["more"].as_array().unwrap();
    assert!((1..=5).contains(&more.len()), "{profile}");
    for function in more {
        assert!(function["ns_per_answer"].as_f64() > Some(0.0), "{profile}");
        let name = function["name"].as_str().unwrap();
        let end: String = name.chars().skip(name.chars().count().saturating_sub(40)).collect();
        assert!(printed.contains(&end) && comment.out.contains(&end), "{name}: {printed}{}", comment.out);
    }
}

#[test]
fn a_race_says_what_the_slower_server_spends_its_time_on() {
    let home = Home::new();
    let fast = format!("{DROME} serve --port {{port}}");
    let slow = format!("{fast} --spin 200us");
    let (folder, verdict) = (home.path().join("new/why"), home.path().join("verdict.json"));
    let (folder_path, verdict_path) = (folder.display().to_string(), verdict.display().to_string());
    let asked = ["--url", "http://127.0.0.1:{port}/hello", "--profile", &folder_path];
    let gate = ["--fail-if-slower", "2%", "--budget", "3min", "--verdict", &verdict_path];
    let race = run(home.drome(&["race", &fast, &slow]).args(RACE_LOAD).args(asked).args(gate));
    assert_eq!(race.code, 3, "as without: {}{}", race.out, race.err);
    let json: Value = serde_json::from_str(&std::fs::read_to_string(&verdict).unwrap()).unwrap();
    assert_as_schema(&home, "verdict", &json);
    assert_in_verdict(&home, &verdict_path, &json, &race.err);
    let files = ["A.svg", "B.svg", "B-against-A.svg", "A.folded", "B.folded"].map(|file| folder.join(file));
    home.assert_clean();
    if race.err.contains("no profile:") {
        assert!(race.err.contains("sysctl kernel.perf_event_paranoid=1"), "{}", race.err);
        assert_eq!(race.err.matches("no profile").count(), 1, "once: {}", race.err);
        assert!(files.iter().all(|file| !file.exists()));
        return;
    }
    let [.., folded_a, folded_b] = files.each_ref().map(|file| std::fs::read_to_string(file).unwrap());
    for letter in ["A", "B"] {
        let json = std::fs::read_to_string(folder.join(format!("{letter}.json"))).unwrap();
        assert_as_schema(&home, "profile", &serde_json::from_str(&json).unwrap());
    }
    assert!(race.err.contains("profile: loads each server once more"), "{}", race.err);
    assert!(
        race.err.contains("profile 1 of 2: A\n") && race.err.contains("profile 2 of 2: B\n"),
        "{}",
        race.err
    );
    for svg in &files[..3] {
        let svg = std::fs::read_to_string(svg).unwrap();
        assert!(svg.contains("<svg ") && svg.contains("</svg>"), "{svg}");
    }
    // The truth is 200 µs. A busy machine takes time from the spin, which lasts by the clock, and adds some in the kernel's locks.
    let more_ns = spent_more_ns(&race.err);
    assert!(more_ns > 20_000.0, "{more_ns}: {}", race.err);
    assert!(race.err.contains("function: its own CPU time per answer"), "{}", race.err);
    // The spin asks for the time again and again.
    let [of_a, of_b] = [&folded_a, &folded_b].map(|folded| share_of(folded, ";now_ns;"));
    assert!(of_b > 0.2 && of_b > 4.0 * of_a, "{of_a} of A, {of_b} of B: {folded_b}");
    // Nothing of it counts in the race.
    let stored = home.findings();
    let rounds = stored["race"]["blocks"].as_u64().unwrap();
    for row in stored["cells"][0]["contenders"].as_array().unwrap() {
        assert!(row["trials"].as_u64().unwrap() <= 2 * rounds, "two starts in every round: {row}");
    }
    // The local page has the profiles from the store.
    let (store, id) = (store::Store::open(&home.store()).unwrap(), stored["run"].as_str().unwrap());
    let kept = store.profiles(id).unwrap();
    let letters: Vec<&str> = kept.iter().map(|(letter, _)| letter.as_str()).collect();
    assert_eq!(letters, ["A", "B"]);
    assert!(kept[1].1.contains("\"sentence\":\"B spends "), "{}", kept[1].1);
    assert!(store.profile(id, "B").unwrap().unwrap().tree.contains("now_ns"), "what the spin calls");
}
