//! The conditions of the machine during a run, and the programs that ran.

use model::environment::ConditionsRange;
use model::heat::Start;

/// The worst of each condition over all heats; `None` where no measurement has it. What other programs used is taken from each cell of each start.
pub(super) fn of_heats(starts: &[Start]) -> ConditionsRange {
    let all = || starts.iter().filter_map(|start| start.conditions.as_ref());
    let measured = starts.iter().flat_map(|s| s.cells.values()).filter_map(|c| c.measurement.as_ref());
    let hz = || all().flat_map(|c| [c.server_hz.before, c.server_hz.after]).flatten();
    let known = || all().filter_map(|c| c.throttled.as_ref());
    // How often a processor was throttled differs from heat to heat, so only the cause is kept.
    let kind = |why: &String| why.split(',').next().unwrap_or_default().to_owned();
    let mut throttled: Vec<String> = known().flatten().map(kind).collect();
    throttled.sort();
    throttled.dedup();
    ConditionsRange {
        steal_ppm_max: all().filter_map(|c| c.steal_ppm).max(),
        others_ppm_max: measured.filter_map(|m| m.usage.as_ref()?.others_ppm).max(),
        load_average_max: all().filter_map(|c| c.load_average).reduce(f64::max),
        server_hz_min: hz().min(),
        server_hz_max: hz().max(),
        temperature_c_max: all()
            .flat_map(|c| [c.temperature_c.before, c.temperature_c.after])
            .flatten()
            .reduce(f64::max),
        throttled_trials: known().next().is_some().then(|| known().filter(|why| !why.is_empty()).count()),
        throttled,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example::in_heats as example;
    use model::Conditions;
    use model::environment::Ends;

    fn observed(conditions: Conditions) -> Start {
        Start { conditions: Some(conditions), ..example::start(0, 0, "a", &[]) }
    }

    #[test]
    fn the_worst_of_all_starts_is_told_and_what_no_start_tells_is_unknown() {
        assert_eq!(of_heats(&[observed(Conditions::default())]), ConditionsRange::default());
        let start = |steal, hz, celsius, why: &[&str]| {
            observed(Conditions {
                steal_ppm: Some(steal),
                server_hz: Ends { before: Some(hz), after: None },
                temperature_c: Ends { before: None, after: Some(celsius) },
                throttled: Some(why.iter().map(ToString::to_string).collect()),
                ..Conditions::default()
            })
        };
        let all = [
            start(0, 3, 50.0, &[]),
            start(9, 1, 80.5, &["too hot, 3 times"]),
            start(2, 2, 60.0, &["too hot, 9 times"]),
            observed(Conditions::default()),
        ];
        let found = of_heats(&all);
        assert_eq!((found.steal_ppm_max, found.others_ppm_max), (Some(9), None));
        assert_eq!((found.server_hz_min, found.server_hz_max), (Some(1), Some(3)));
        assert_eq!((found.temperature_c_max, found.throttled_trials), (Some(80.5), Some(2)));
        assert_eq!(found.throttled, ["too hot"]);
    }
}
