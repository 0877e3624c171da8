//! The profiles of a run that are in the store, as its page and its report read them.

use model::findings::{ProfiledPair, ProfiledPart};
use model::gate_verdict::MOST_FUNCTIONS;
use profile::{Row, StoredDifference, StoredProfile};
use store::{Store, StoreError};

/// Reads what is stored of a profile besides its calls; `None`: it is damaged, or a newer drome wrote it.
pub fn read(json: &str) -> Option<StoredProfile> {
    let stored: StoredProfile = serde_json::from_str(json).ok()?;
    (stored.schema <= StoredProfile::SCHEMA).then_some(stored)
}

/// How the CPU time of a run's servers differs, as far as that is stored and can be read: for the run's report.
pub fn differences(store: &Store, run: &str) -> Result<Vec<ProfiledPair>, StoreError> {
    let all = store.profiles(run)?.into_iter();
    Ok(all.filter_map(|(name, json)| Some(pair(name, read(&json)?.difference?))).collect())
}

/// What a report has of a stored difference.
pub fn pair(contender: String, difference: StoredDifference) -> ProfiledPair {
    let StoredDifference { against, sentence, overall, by_self } = difference;
    let part = |row: Row| ProfiledPart {
        function: row.frame,
        ns_per_answer: row.change.difference_ns,
        standard_error_ns: row.change.standard_error_ns,
    };
    let (ns_per_answer, standard_error_ns) = (overall.difference_ns, overall.standard_error_ns);
    let parts = by_self.into_iter().take(MOST_FUNCTIONS).map(part).collect();
    ProfiledPair { contender, against, sentence, ns_per_answer, standard_error_ns, parts }
}
