//! A profile as a part of a verdict's document.

use super::sample::Profiled;
use model::gate_verdict::{MOST_FUNCTIONS, ProfileDifference, ProfiledFunction, ProfiledServer};
use profile::{Difference, Row};

/// What was sampled of a server, and how it differs from the first one.
pub fn server(of: &Profiled, difference: Option<&Difference>) -> ProfiledServer {
    let (profile, work) = (&of.report.profile, &of.report.work);
    let costs = profile.costs(work);
    let own = costs.iter().filter(|cost| cost.self_samples > 0).take(MOST_FUNCTIONS);
    ProfiledServer {
        title: of.title.clone(),
        why_not: None,
        samples: profile.samples,
        ns_per_answer: profile.ns_per_answer(work),
        functions: own
            .map(|cost| ProfiledFunction {
                name: cost.frame.clone(),
                ns_per_answer: cost.self_ns_per_answer,
                standard_error_ns: cost.self_standard_error_ns,
            })
            .collect(),
        difference: difference.map(of_difference),
        hint: profile.hints().into_iter().next(),
    }
}

fn of_difference(difference: &Difference) -> ProfileDifference {
    let function = |row: &Row| ProfiledFunction {
        name: row.frame.clone(),
        ns_per_answer: row.change.difference_ns.abs(),
        standard_error_ns: row.change.standard_error_ns,
    };
    ProfileDifference {
        ns_per_answer: difference.overall.difference_ns,
        standard_error_ns: difference.overall.standard_error_ns,
        more: difference.more().take(MOST_FUNCTIONS).map(function).collect(),
        less: difference.less().take(MOST_FUNCTIONS).map(function).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::gate_verdict::VerdictProfile;
    use profile::{Report, Work, example};

    fn profiled(name: &str, folded: &str) -> Profiled {
        let profile = example::folded(&format!("# period_ns=1000000 has_kernel=true\n{folded}"));
        let work = Work { answers: 100_000, cpu_ns: None };
        let report = Report { work, profile, ..Report::default() };
        Profiled { name: name.to_owned(), title: format!("title of {name}"), report }
    }

    #[test]
    fn the_document_has_what_was_sampled() {
        let a = profiled("A", "main;read 1000\nmain;old 300\nmain;same 50\n");
        let b = profiled("B", "main;read 1000\nmain;new::work 4000\nmain;same 51\n");
        let difference = Difference::between(&a.side(), &b.side()).unwrap();
        let all = vec![server(&a, None), server(&b, Some(&difference))];
        let profile = VerdictProfile::new(all.clone(), None);
        assert_eq!(profile.servers, all, "everything is within the limits");
        let [of_a, of_b] = &all[..] else { panic!("{all:?}") };
        assert_eq!(
            (of_a.title.as_str(), of_a.samples, of_a.ns_per_answer),
            ("title of A", 1_350, Some(13_500.0))
        );
        let names: Vec<&str> = of_a.functions.iter().map(|f| f.name.as_str()).collect();
        assert_eq!((names, of_a.functions[0].ns_per_answer), (vec!["read", "old", "same"], 10_000.0));
        let of_b = of_b.difference.as_ref().unwrap();
        assert_eq!(of_b.ns_per_answer.round(), 37_010.0);
        let one = |list: &[ProfiledFunction]| (list.len(), list[0].name.clone(), list[0].ns_per_answer);
        assert_eq!(one(&of_b.more), (1, "new::work".to_owned(), 40_000.0));
        assert_eq!(one(&of_b.less), (1, "old".to_owned(), 3_000.0));
        assert!(of_b.is_significant() && of_b.more[0].standard_error_ns > 0.0);
    }

    #[test]
    fn lists_have_the_five_largest() {
        let lines =
            |count: u64| (0..9).map(|n| format!("main;f{n} {}\n", count * (n + 1))).collect::<String>();
        let (a, b) = (profiled("A", &lines(100)), profiled("B", &lines(1_000)));
        let difference = Difference::between(&a.side(), &b.side()).unwrap();
        let of = server(&b, Some(&difference));
        let names = |list: &[ProfiledFunction]| list.iter().map(|f| f.name.clone()).collect::<Vec<_>>();
        assert_eq!(names(&of.functions), ["f8", "f7", "f6", "f5", "f4"]);
        assert_eq!(names(&of.difference.as_ref().unwrap().more), ["f8", "f7", "f6", "f5", "f4"]);
        let nothing = server(&profiled("C", ""), None);
        assert_eq!((nothing.samples, nothing.ns_per_answer, nothing.functions.len()), (0, None, 0));
    }
}
