//! Tests of differences: what is known by construction must be found.

use super::*;
use crate::example;

fn profile(text: &str) -> Profile {
    example::folded(&format!("# period_ns=1000000\n{text}"))
}

/// The difference of two profiles of this work, with these names.
fn of(names: [&str; 2], profiles: [&str; 2], work: [Work; 2]) -> Option<Difference> {
    let [a, b] = profiles.map(profile);
    let side = |nth: usize, profile| Side { name: names[nth], profile, work: work[nth] };
    Difference::between(&side(0, &a), &side(1, &b))
}

/// With 10,000 answers a sample of 1 ms is 100 ns per answer.
fn between(a: &str, b: &str) -> Difference {
    of(["A", "B"], [a, b], [Work { answers: 10_000, cpu_ns: None }; 2]).unwrap()
}

const A: &str = "main;handle;to_vec;format 100\nmain;handle;write 1000\nmain;accept 200\n";

#[test]
fn a_profile_does_not_differ_from_itself() {
    let same = between(A, A);
    assert_eq!(same.overall.difference_ns, 0.0);
    assert!(same.by_self.iter().chain(&same.by_total).all(|row| !row.change.is_significant()));
    assert_eq!(same.explanation(), None);
    // 1,300 samples each: 3 × √2,600 × 100 ns.
    assert_eq!(
        same.sentence(),
        "A and B spend the same CPU time per answer, within the error of sampling (±15.3 µs)."
    );
}

/// As [`between`], where the CPU time of 10,000 answers is known by clocks, in milliseconds; `None`: it is not.
fn by_clocks((a, a_ms): (&str, Option<u64>), (b, b_ms): (&str, Option<u64>)) -> Difference {
    let work = |ms: Option<u64>| Work { answers: 10_000, cpu_ns: ms.map(|ms| ms * 1_000_000) };
    of(["A", "B"], [a, b], [a_ms, b_ms].map(work)).unwrap()
}

#[test]
fn totals_that_clocks_tell_have_no_error_of_sampling_and_shares_are_multinomial() {
    // 1,300 samples would hide a difference of 5 %: 3 × √2,600 of 1,300 are 12 %.
    let found = by_clocks((A, Some(1_300)), (A, Some(1_365)));
    assert_eq!(found.overall.standard_error_ns, 0.0);
    assert!(found.sentence().starts_with("B spends 6.5 µs more CPU time per answer than A"), "{found:?}");
    let less = by_clocks((A, Some(1_365)), (A, Some(1_300))).sentence();
    assert!(less.starts_with("B spends 6.5 µs less CPU time per answer than A"), "{less}");
    // `write` has 1,000 of 1,300 samples of 100 and of 105 ns.
    let write = found.by_self.iter().find(|row| row.frame == "write").unwrap().change.standard_error_ns;
    let expected = (1_000.0 * (300.0 / 1_300.0_f64)).sqrt() * 100_f64.hypot(105.0);
    assert!((write - expected).abs() < 1e-6, "{write} {expected}");
    // `main` is in every sample: its time is the whole.
    let main = found.by_total.iter().find(|row| row.frame == "main").unwrap().change;
    assert_eq!((main.standard_error_ns, main.difference_ns.round()), (0.0, 6_500.0));
}

#[test]
fn a_side_without_clocks_keeps_the_error_of_its_samples() {
    for (a, b) in [(Some(1_300), None), (None, Some(1_300)), (None, None)] {
        let error = by_clocks((A, a), (A, b)).overall.standard_error_ns;
        let sides = [a, b].iter().filter(|ms| ms.is_none()).count() as f64;
        assert!((error - (1_300.0 * sides).sqrt() * 100.0).abs() < 1e-6, "{a:?} {b:?}: {error}");
    }
}

#[test]
fn exact_times_that_differ_as_two_starts_do_are_called_the_same_with_the_difference() {
    let same = |b_ms| by_clocks((A, Some(1_300)), (A, Some(b_ms))).sentence();
    assert_eq!(
        same(1_304),
        "A and B spend the same CPU time per answer, to within 1 % (B spends 400 ns more)."
    );
    assert!(same(1_296).ends_with("(B spends 400 ns less)."), "{}", same(1_296));
    assert!(same(1_320).starts_with("B spends 2.0 µs more"), "{}", same(1_320));
}

#[test]
fn rows_have_times_per_answer_and_the_error_of_counting() {
    let more = between(A, &A.replace("format 100", "format 400"));
    let row = &more.by_self[0];
    assert_eq!(row.frame, "format");
    let change = row.change;
    assert_eq!(
        (change.a_ns_per_answer, change.b_ns_per_answer, change.difference_ns),
        (10_000.0, 40_000.0, 30_000.0)
    );
    assert!((change.standard_error_ns - 500_f64.sqrt() * 100.0).abs() < 1e-6, "{change:?}");
    let sizes: Vec<f64> = more.by_total.iter().map(|row| row.change.difference_ns.abs()).collect();
    assert!(sizes.is_sorted_by(|a, b| a >= b), "{sizes:?}");
}

#[test]
fn the_innermost_function_that_explains_half_is_named() {
    // to_vec and all that it calls: 400 samples more, spread over three callees, none of which is half of it.
    let b = "main;handle;to_vec;format 250\nmain;handle;to_vec;escape 150\nmain;handle;to_vec;grow 100\n\
             main;handle;write 1000\nmain;accept 200\n";
    let more = between(A, b);
    assert_eq!(more.overall.difference_ns, 40_000.0);
    assert_eq!(more.explanation().unwrap().frame, "to_vec");
    assert_eq!(more.sentence(), "B spends 40.0 µs more CPU time per answer than A, 40.0 µs of it in to_vec.");
    // The other way round it is the same function.
    let less = of(["old", "new"], [b, A], [Work { answers: 10_000, cpu_ns: None }; 2]);
    assert_eq!(
        less.unwrap().sentence(),
        "new spends 40.0 µs less CPU time per answer than old, 40.0 µs of it in to_vec."
    );
}

#[test]
fn of_callers_with_the_same_time_the_deepest_is_named() {
    // `wrapper` and `to_vec` have the same time, as a caller and its only callee do.
    let (a, b) = ("main;x 900\n", "main;x 900\nmain;wrapper;to_vec 300\n");
    assert_eq!(between(a, b).explanation().unwrap().frame, "to_vec");
}

#[test]
fn what_surrounds_everything_explains_nothing() {
    let lines = |count: u64| (0..20).map(|n| format!("main;run;f{n:02} {count}\n")).collect::<String>();
    let more = between(&lines(100), &lines(200));
    assert_eq!(more.explanation(), None, "every function has a twentieth of it");
    let sentence = more.sentence();
    assert!(
        sentence.starts_with("B spends 200.0 µs more CPU time per answer than A, in many functions;"),
        "{sentence}"
    );
    assert!(sentence.ends_with("the largest part is 10.0 µs in f00."), "{sentence}");
}

#[test]
fn a_part_that_is_larger_than_the_whole_is_told_with_the_rest() {
    let b = "main;handle;to_vec;format 700\nmain;handle;write 800\nmain;accept 200\n";
    assert_eq!(
        between(A, b).sentence(),
        "B spends 40.0 µs more CPU time per answer than A: 60.0 µs more in format, 20.0 µs less elsewhere."
    );
}

#[test]
fn what_b_spends_more_on_and_what_it_spends_less_on_are_apart() {
    let other = between(A, "main;handle;write 400\nmain;accept 205\nmain;new 900\nmain;log 300\n");
    let names = |rows: Vec<&Row>| rows.iter().map(|row| row.frame.clone()).collect::<Vec<_>>();
    assert_eq!(names(other.more().collect()), ["new", "log"], "accept differs by less than the error");
    assert_eq!(names(other.less().collect()), ["write", "format"]);
    let same = between(A, A);
    assert_eq!((same.more().count(), same.less().count()), (0, 0));
}

#[test]
fn a_small_difference_in_many_functions_is_no_explanation() {
    let lines = |count: u64| (0..200).map(|n| format!("main;f{n:03} {count}\n")).collect::<String>();
    let more = between(&lines(10), &lines(13));
    assert!(more.overall.is_significant());
    assert!(more.by_self.iter().all(|row| !row.change.is_significant()));
    assert_eq!(more.sentence(), "B spends 60.0 µs more CPU time per answer than A, in many functions.");
}

#[test]
fn different_numbers_of_answers_are_made_comparable() {
    let of_answers =
        |answers: [u64; 2]| of(["A", "B"], [A; 2], answers.map(|answers| Work { answers, cpu_ns: None }));
    let overall = of_answers([10_000, 20_000]).unwrap().overall;
    assert_eq!((overall.a_ns_per_answer, overall.b_ns_per_answer), (130_000.0, 65_000.0));
    assert_eq!(of_answers([0, 1]), None);
}
