//! `drome load --profile`: where the server spends its CPU time. Where the kernel lets nobody look, it says the remedy, and the
//! measurement is as good as without.

use crate::common::{Finished, Home, run, serve};
use serde_json::Value;
use std::net::SocketAddr;
use std::path::Path;

fn load(home: &Home, address: SocketAddr, file: &Path, more: &[&str]) -> Finished {
    let url = format!("http://{address}/hello");
    let file = file.display().to_string();
    let args = ["load", &url, "-c", "8", "-d", "1500ms", "--profile", &file];
    run(home.drome(&args).args(more))
}

/// Whether the kernel let drome profile the server. If not, that is what it must say, with the remedy.
fn is_allowed(finished: &Finished, file: &Path) -> bool {
    assert_eq!(finished.code, 0, "{}", finished.err);
    assert!(finished.out.contains("requests"), "{}", finished.out);
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
        assert!(svg.contains("<svg ") && svg.contains("all ("), "{svg}");
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
