//! A tree has every sample once, whatever is left out of it, and comes back from JSON as it was.

use super::*;
use crate::cost::Work;
use crate::example;
use proptest::prelude::*;

fn profile(text: &str) -> Profile {
    example::folded(text)
}

/// Each call as `depth name own total before`.
fn shown(tree: &CallTree) -> Vec<String> {
    let line = |call: &Call| {
        let Call { frame, depth, own_samples, total_samples, samples_before } = call;
        format!("{depth} {frame} {own_samples} {total_samples} {samples_before}")
    };
    tree.calls().iter().map(line).collect()
}

#[test]
fn calls_stand_below_their_callers_beside_each_other() {
    let profile = profile("main;b;x 3\nmain;a 4\nmain;b 2\nmain 1\nthread;b 10\n");
    let tree = CallTree::of(&profile, 0.0);
    assert_eq!(
        shown(&tree),
        [
            "0 all 0 20 0",
            "1 main 1 10 0",
            "2 a 4 4 0",
            "2 b 2 5 4",
            "3 x 3 3 4",
            "1 thread 0 10 10",
            "2 b 10 10 10"
        ]
    );
    assert_eq!(tree.samples(), 20);
}

#[test]
fn what_is_too_small_counts_for_its_caller() {
    let profile = profile("main;a;deep;deeper 4\nmain;a;tiny 1\nmain;b 94\nrare;c 1\n");
    assert_eq!(
        shown(&CallTree::of(&profile, 0.045)),
        ["0 all 1 100 0", "1 main 0 99 0", "2 a 5 5 0", "2 b 94 94 5"],
        "of a, everything that it called is below 4.5 %; of all, rare is"
    );
    assert_eq!(shown(&CallTree::of(&profile, 2.0)), ["0 all 100 100 0"], "nothing has more than everything");
    let exactly = CallTree::of(&profile, 0.04);
    assert_eq!(exactly.calls()[4].frame, "deeper", "4 % is not less than 4 %: {exactly:?}");
}

#[test]
fn a_profile_without_samples_is_one_empty_call() {
    for text in ["", "main;a 0\n"] {
        let tree = CallTree::of(&profile(text), 0.001);
        assert_eq!((shown(&tree), tree.samples()), (vec!["0 all 0 0 0".to_owned()], 0));
    }
}

#[test]
fn a_function_that_calls_itself_is_counted_once_in_a_search() {
    let tree = CallTree::of(&profile("main;walk;walk;walk 5\nmain;other;walk 2\nmain;other 3\n"), 0.0);
    assert_eq!(tree.samples_in(|name| name == "walk"), 7);
    assert_eq!(tree.samples_in(|name| name == "other"), 5);
    assert_eq!(tree.samples_in(|name| name != "all"), 10);
    assert_eq!(tree.samples_in(|_| false), 0);
}

#[test]
fn json_has_each_name_once_and_what_is_no_tree_is_refused() {
    let tree = CallTree::of(&profile("main;a 4\nmain;b;a 2\n"), 0.0);
    let json = serde_json::to_string(&tree).unwrap();
    assert_eq!(json, r#"{"names":["all","main","a","b"],"calls":[[0,0,0],[1,1,0],[2,2,4],[2,3,0],[3,2,2]]}"#);
    assert_eq!(serde_json::from_str::<CallTree>(&json).unwrap(), tree);
    for hostile in [
        r#"{"names":[],"calls":[]}"#,
        r#"{"names":["all"],"calls":[[1,0,1]]}"#,
        r#"{"names":["all"],"calls":[[0,0,1],[0,0,1]]}"#,
        r#"{"names":["all"],"calls":[[0,0,1],[2,0,1]]}"#,
        r#"{"names":["all"],"calls":[[0,1,1]]}"#,
        r#"{"names":["all"],"calls":[[0,0,18446744073709551615],[1,0,1]]}"#,
        r#"{"names":["all"],"calls":[[0,0,-1]]}"#,
    ] {
        assert!(serde_json::from_str::<CallTree>(hostile).is_err(), "{hostile}");
    }
}

#[test]
fn a_change_is_that_of_the_call_itself_per_answer() {
    let (a, b) = (
        profile("# period_ns=1000\nmain;a;x 30\nmain;a 10\nmain;gone 5\n"),
        profile("# period_ns=1000\nmain;a;x 50\nmain;new 8\n"),
    );
    let side = |profile, answers| Side { name: "", profile, work: Work { answers, cpu_ns: None } };
    let tree = CallTree::of(&b, 0.0);
    let names: Vec<&str> = tree.calls().iter().map(|call| call.frame.as_str()).collect();
    assert_eq!(names, ["all", "main", "a", "x", "new"]);
    let changes_ns = tree.changes_ns(&side(&a, 10), &side(&b, 10)).unwrap();
    assert_eq!(changes_ns, [0.0, 0.0, -1_000.0, 2_000.0, 800.0]);
    assert_eq!(tree.changes_ns(&side(&a, 0), &side(&b, 10)), None);
    // What is left out of a tree is no time of its caller.
    let small = CallTree::of(&b, 0.2);
    assert_eq!(small.changes_ns(&side(&a, 10), &side(&b, 10)).unwrap(), [0.0, 0.0, -1_000.0, 2_000.0]);
}

proptest! {
    #[test]
    fn no_sample_is_lost_or_counted_twice(
        stacks in proptest::collection::btree_map(proptest::collection::vec("[abc]", 1..6), 0_u64..50, 0..30),
        least_share in 0.0..0.5_f64,
    ) {
        let profile = Profile { samples: stacks.values().sum(), stacks, ..Profile::default() };
        let tree = CallTree::of(&profile, least_share);
        prop_assert_eq!(tree.samples(), profile.samples);
        prop_assert_eq!(tree.calls().iter().map(|call| call.own_samples).sum::<u64>(), profile.samples);
        for call in &tree.calls()[1..] {
            prop_assert!(call.total_samples as f64 >= least_share * profile.samples as f64);
            prop_assert!(call.samples_before + call.total_samples <= profile.samples);
        }
        let json = serde_json::to_string(&tree).unwrap();
        prop_assert_eq!(serde_json::from_str::<CallTree>(&json).unwrap(), tree);
    }
}
