//! Code that is compiled at run time: Node.js, with its own perf map and without one.

use crate::programs::{Program, profiled, shown};
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

/// One function, so that nothing can be inlined into another one; it ends by itself, should the test be killed.
const SCRIPT: &str = "function hotFunctionOfThisTest(until) {
                          let sum = 0;
                          for (let i = 0; ; i++) {
                              sum = (sum + i % 7) | 0;
                              if (i % 1000000 === 0 && Date.now() > until) return sum;
                          }
                      }
                      hotFunctionOfThisTest(Date.now() + 300000);";

/// The perf map, which is removed at the end of the test.
struct PerfMap(PathBuf);

impl Drop for PerfMap {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

#[test]
fn functions_of_javascript_have_names() {
    let mut node = Command::new("node");
    node.args(["--perf-basic-prof", "--interpreted-frames-native-stack", "-e", SCRIPT]);
    let program = Program::start(node, tempfile::tempdir().unwrap());
    let _map = PerfMap(PathBuf::from(format!("/tmp/perf-{}.map", program.pid())));
    let Some(profile) = profiled(&program, Duration::from_secs(2)) else { return };
    let is_it = |frame: &&String| frame.contains("hotFunctionOfThisTest");
    let with_name = profile
        .stacks
        .iter()
        .filter(|(stack, _)| stack.iter().any(|frame| is_it(&frame)))
        .map(|(_, count)| count);
    let share = with_name.sum::<u64>() as f64 / profile.samples.max(1) as f64;
    assert!(share > 0.3, "{share}: {}", shown(&profile));
    assert_eq!(profile.hints(), Vec::<String>::new(), "{:?}", profile.unnamed);
}

#[test]
fn javascript_without_names_is_told_with_the_remedy() {
    let mut node = Command::new("node");
    node.args(["-e", SCRIPT]);
    let program = Program::start(node, tempfile::tempdir().unwrap());
    let Some(profile) = profiled(&program, Duration::from_secs(2)) else { return };
    let hints = profile.hints();
    assert_eq!(hints.len(), 1, "{:?}: {}", profile.unnamed, shown(&profile));
    assert!(
        hints[0].contains("of node without names") && hints[0].contains("--perf-basic-prof"),
        "{hints:?}"
    );
}
