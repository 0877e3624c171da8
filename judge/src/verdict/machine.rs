//! Judges the conditions of a measurement: CPU time that the host took (steal), other programs, and epoll in place of `io_uring`.
//! Also notes trouble with stopping the server afterwards.

use super::policy::Weight;
use super::{Case, Reason};
use model::verdict::STOPPING;

/// If the host took more of the time of server's and load generator's CPUs than this, the machine was not the same any more. If other programs
/// used more, that is noted.
const MUCH_PPM: u64 = 100_000;

/// If other programs used more than this, the measurement is void.
const OTHERS_VOID_PPM: u64 = 2 * MUCH_PPM;

const HOST_REMEDY: &str = ": measure again when the host is quieter, or on a dedicated machine. `--allow-busy` counts such \
                           measurements; their figures are less certain";

const OTHERS_REMEDY: &str = ": `drome doctor` names them; stop them and measure again. `--allow-busy` counts such measurements; \
                             their figures are less certain";

pub fn judge(case: &Case<'_>) -> Vec<Reason> {
    let host = host(case);
    [host, others(case), fallback(case), stopping(case)].into_iter().flatten().collect()
}

fn host(case: &Case<'_>) -> Option<Reason> {
    let steal = case.usage?.steal_ppm.filter(|steal| *steal > MUCH_PPM)?;
    let words = format!("the host took {:.0} % of the measured CPUs' time", steal as f64 / 1e4);
    Some(weighed(case.policy.host, words, HOST_REMEDY))
}

/// Background load slows some servers more than others, so it can change the ranking.
fn others(case: &Case<'_>) -> Option<Reason> {
    let others = case.usage?.others_ppm.filter(|others| *others > MUCH_PPM)?;
    let percent = others as f64 / 1e4;
    let words = format!("other programs used {percent:.0} % of the time of the measured CPUs");
    let weight = if others > OTHERS_VOID_PPM { case.policy.other_load } else { Weight::Note };
    Some(weighed(weight, words, OTHERS_REMEDY))
}

/// Notes that epoll was used. Each request then costs the load generator more, so it is the bound earlier.
fn fallback(case: &Case<'_>) -> Option<Reason> {
    let why = case.tally.io_fallback.as_ref()?;
    Some(Reason::note(format!("the load generator used epoll, since io_uring can't be used here ({why})")))
}

/// Notes trouble with stopping the server. The measurement was over by then.
fn stopping(case: &Case<'_>) -> Option<Reason> {
    case.stopping.map(|trouble| Reason::note(format!("{STOPPING}{trouble}")))
}

fn weighed(weight: Weight, words: String, remedy: &str) -> Reason {
    match weight {
        Weight::Void => Reason::void(words + remedy),
        Weight::Note => Reason::note(words),
    }
}

#[cfg(test)]
mod tests {
    use crate::verdict::example::{closed, tally, usage};
    use crate::verdict::{Case, Policy, judge};
    use model::{Usage, Verdict};

    fn with(policy: Policy, usage: &Usage) -> Verdict {
        let (plan, tally) = (closed(), tally(0.1));
        judge(&Case { usage: Some(usage), ..Case::new(policy, &plan, &tally) })
    }

    #[test]
    fn other_programs_are_told_and_many_void_unless_they_are_allowed() {
        let with = |others_ppm, policy| with(policy, &Usage { others_ppm, ..usage(1.0) });
        let (strict, lenient) = (Policy::compared(false), Policy::compared(true));
        assert!(with(None, strict).reasons.is_empty() && with(Some(90_000), strict).reasons.is_empty());
        let some = with(Some(190_000), strict);
        assert!(
            some.valid && some.reasons[0].ends_with("used 19 % of the time of the measured CPUs"),
            "{some:?}"
        );
        let many = with(Some(210_000), strict);
        assert!(
            !many.valid && many.reasons[0].contains("21 % of the time of the measured CPUs: `"),
            "{many:?}"
        );
        for policy in [lenient, Policy::single(false), Policy::single(true)] {
            let told = with(Some(210_000), policy);
            assert!(
                told.valid && told.reasons[0].ends_with("21 % of the time of the measured CPUs"),
                "{told:?}"
            );
        }
    }

    #[test]
    fn a_host_that_takes_time_voids_unless_it_is_allowed() {
        let with = |steal_ppm, policy| with(policy, &Usage { steal_ppm, ..usage(1.0) });
        for policy in [Policy::compared(false), Policy::single(false)] {
            assert!(with(None, policy).reasons.is_empty() && with(Some(90_000), policy).reasons.is_empty());
            let much = with(Some(200_000), policy);
            assert!(
                !much.valid && much.reasons[0].contains("took 20 % of the measured CPUs' time: m"),
                "{much:?}"
            );
        }
        for policy in [Policy::compared(true), Policy::single(true)] {
            let told = with(Some(200_000), policy);
            assert!(told.valid && told.reasons[0].ends_with("20 % of the measured CPUs' time"), "{told:?}");
        }
    }

    /// L6: what it did once it was measured does not undo the measurement.
    #[test]
    fn a_server_that_is_hard_to_stop_is_told_and_keeps_its_figure() {
        let (plan, tally) = (closed(), tally(0.1));
        let case =
            Case { stopping: Some("it did not stop"), ..Case::new(Policy::compared(false), &plan, &tally) };
        let verdict = judge(&case);
        assert!(
            verdict.valid && verdict.reasons == ["after the measurement, it did not stop"],
            "{verdict:?}"
        );
    }
}
