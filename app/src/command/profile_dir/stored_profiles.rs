//! Keeps the profiles of a run in the store, for the page and the report of the run.

use super::sample::Profiled;
use lab::Session;
use profile::{CallTree, Difference, StoredProfile};
use store::ProfileRow;

/// Calls with less than this share of the CPU time are left out, and count for their callers.
const LEAST_SHARE: f64 = 0.001;

/// The largest size of a stored profile, in bytes. A larger one is stored with fewer calls.
const MOST_BYTES: usize = 1_000_000;

/// Stores the profiles. If that fails it prints why: what was measured and the files are not affected.
pub(super) fn keep(session: &Session<'_>, rows: &[ProfileRow]) {
    if rows.is_empty() {
        return;
    }
    if let Err(error) = session.keep_profiles(rows) {
        alert!("drome: the profiles are not in the store, so `drome ui` can't show them: {error}");
    }
}

/// A profile as it is stored, under this name.
pub(super) fn row(
    name: &str,
    of: &Profiled,
    difference: Option<&Difference>,
) -> serde_json::Result<ProfileRow> {
    row_of(name, of, difference, MOST_BYTES)
}

fn row_of(
    name: &str,
    of: &Profiled,
    difference: Option<&Difference>,
    most_bytes: usize,
) -> serde_json::Result<ProfileRow> {
    let mut least_share = LEAST_SHARE;
    loop {
        let tree = serde_json::to_string(&CallTree::of(&of.report.profile, least_share))?;
        // Above a share of 1, only the root of the tree is left.
        if tree.len() <= most_bytes || least_share > 1.0 {
            let stored = StoredProfile::of(&of.title, &of.report, difference, least_share);
            let json = serde_json::to_string(&stored)?;
            return Ok(ProfileRow { contender: name.to_owned(), json, tree });
        }
        least_share *= 2.0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stored::profiles::{pair, read};
    use profile::{Report, Work, example};

    fn profiled(text: &str) -> Profiled {
        let work = Work { answers: 10, cpu_ns: None };
        let report = Report { work, profile: example::folded(text), ..Report::default() };
        Profiled { name: "A".to_owned(), title: "old".to_owned(), report }
    }

    fn both(row: &ProfileRow) -> (StoredProfile, CallTree) {
        (read(&row.json).unwrap(), serde_json::from_str(&row.tree).unwrap())
    }

    #[test]
    fn what_is_stored_can_be_read_and_has_all_samples() {
        let row = row_of("A", &profiled("# period_ns=1000000\nmain;a 1999\nmain;rare 1\n"), None, MOST_BYTES)
            .unwrap();
        let (stored, tree) = both(&row);
        assert_eq!((row.contender.as_str(), stored.title.as_str()), ("A", "old"));
        assert_eq!((stored.least_share, stored.difference), (LEAST_SHARE, None));
        assert_eq!((stored.samples, tree.samples()), (2_000, 2_000));
        let frames: Vec<&str> = tree.calls().iter().map(|call| call.frame.as_str()).collect();
        assert_eq!(frames, ["all", "main", "a"], "what has 0.05 % counts for main");
    }

    #[test]
    fn a_report_has_the_largest_parts_of_what_is_stored() {
        let rows =
            |count: u64| (0..9).map(|n| format!("main;f{n} {}\n", count * (n + 1))).collect::<String>();
        let [a, b] = [100, 1_000].map(|count| profiled(&format!("# period_ns=1000000\n{}", rows(count))));
        let [a, b] = [("A", a), ("B", b)].map(|(name, of)| Profiled { name: name.to_owned(), ..of });
        let difference = Difference::between(&a.side(), &b.side()).unwrap();
        let stored = read(&row("B", &b, Some(&difference)).unwrap().json).unwrap();
        let pair = pair("B, hello".to_owned(), stored.difference.unwrap());
        assert_eq!((pair.contender.as_str(), pair.against.as_str()), ("B, hello", "A"));
        assert!(pair.sentence.starts_with("B spends ") && pair.ns_per_answer > 0.0, "{pair:?}");
        let names: Vec<&str> = pair.parts.iter().map(|part| part.function.as_str()).collect();
        assert_eq!(names, ["f8", "f7", "f6", "f5", "f4"]);
        assert!(pair.parts[0].ns_per_answer > 3.0 * pair.parts[0].standard_error_ns, "{pair:?}");
        assert_eq!((read("{}"), read("{\"schema\": 99}")), (None, None));
    }

    #[test]
    fn a_large_profile_is_stored_with_fewer_calls() {
        let lines: String = (0..400).map(|n| format!("main;{}{n} 1\n", "long_name_".repeat(20))).collect();
        let large = profiled(&format!("{lines}main;hot 400\n"));
        let (whole, _) = both(&row_of("A", &large, None, MOST_BYTES).unwrap());
        assert_eq!(whole.least_share, LEAST_SHARE, "each call has 0.125 %");
        let row_of_few = row_of("A", &large, None, 10_000).unwrap();
        let (few, tree) = both(&row_of_few);
        assert!(row_of_few.tree.len() <= 10_000, "{} bytes", row_of_few.tree.len());
        assert_eq!((few.least_share, tree.samples()), (0.002, 800));
        let frames: Vec<&str> = tree.calls().iter().map(|call| call.frame.as_str()).collect();
        assert_eq!(frames, ["all", "main", "hot"]);
        let (_, least) = both(&row_of("A", &large, None, 1).unwrap());
        assert_eq!(least.calls().len(), 1, "it ends");
    }
}
