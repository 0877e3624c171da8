//! Where the servers of a race spent their CPU time, as a part of a verdict's document. What drome writes stays within the limits that
//! every reader applies: few servers, few functions, short names, possible numbers.

use super::check::{LARGEST_COUNT, at_most, within};
use super::{LONGEST_NAME, LONGEST_SENTENCE, clipped, on_one_line};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The largest number of servers whose profiles a document has, the first one included.
pub const MOST_PROFILED: usize = 6;

/// The largest number of functions in a list.
pub const MOST_FUNCTIONS: usize = 5;

/// The longest name of a function, in bytes.
pub const LONGEST_FUNCTION: usize = 200;

/// The longest time per answer, in nanoseconds: a thousand seconds.
pub const LONGEST_NS: f64 = 1e12;

/// The largest number of samples that is accepted.
const MOST_SAMPLES: u64 = 1 << 48;

/// A difference counts as one beyond this many standard errors, as in the comparison of the samples.
const STANDARD_ERRORS: f64 = 3.0;

/// Each server was sampled in one start, and two starts of one program differ by about this share, as in the comparison of the samples.
const STARTS_DIFFER: f64 = 0.01;

/// Where the servers spent their CPU time: samples of one more start of each, after the race and under its load.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct VerdictProfile {
    /// Why servers could not be sampled, in a sentence; null: each one has its profile, or its own reason.
    pub why_not: Option<String>,
    /// The servers in the order of the race. The others are compared with the first.
    pub servers: Vec<ProfiledServer>,
    /// The number of servers that are left out because there are too many.
    pub left_out: usize,
}

/// The profile of one server.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ProfiledServer {
    /// What a table calls the server.
    pub title: String,
    /// Why it has no profile, in a sentence; null: it has one.
    pub why_not: Option<String>,
    /// The number of samples.
    pub samples: u64,
    /// Its CPU time per answer, in nanoseconds; null: unknown.
    pub ns_per_answer: Option<f64>,
    /// The functions that take the most CPU time themselves, without what they call, the most expensive first.
    pub functions: Vec<ProfiledFunction>,
    /// What it spends more or less than the first server; null: it is the first, or one of the two has no profile.
    pub difference: Option<ProfileDifference>,
    /// How to get the names of its functions, in a sentence; null: most are known.
    pub hint: Option<String>,
}

/// What a server spends more or less than the first one.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ProfileDifference {
    /// Its CPU time per answer minus that of the first, in nanoseconds: negative where it spends less.
    pub ns_per_answer: f64,
    /// The standard error that sampling has in this difference, in nanoseconds; 0 where the clocks of the processes tell both times.
    pub standard_error_ns: f64,
    /// The functions whose own CPU time is most above that of the first, with the difference; differences that sampling explains are left
    /// out.
    pub more: Vec<ProfiledFunction>,
    /// The functions whose own CPU time is most below that of the first, with the difference as a positive number; left out as above.
    pub less: Vec<ProfiledFunction>,
}

/// A function and a time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ProfiledFunction {
    /// Its name; of a long one, only the end. Names in the kernel end in `_[k]`, names of code that was compiled at run time in `_[j]`.
    pub name: String,
    /// CPU time per answer in the function itself, without what it calls, in nanoseconds; in a difference, that difference.
    pub ns_per_answer: f64,
    /// The standard error that sampling has in this time, in nanoseconds.
    pub standard_error_ns: f64,
}

impl VerdictProfile {
    /// Keeps what a document may have of these servers, the first of which is the one that the others are compared with. Lists and texts
    /// are cut; what is no number is left out.
    pub fn new(servers: Vec<ProfiledServer>, why_not: Option<&str>) -> Self {
        let left_out = servers.len().saturating_sub(MOST_PROFILED);
        let mut servers: Vec<ProfiledServer> =
            servers.into_iter().take(MOST_PROFILED).map(ProfiledServer::kept).collect();
        if let Some(first) = servers.first_mut() {
            first.difference = None;
        }
        Self { why_not: why_not.map(|why| clipped(why, LONGEST_SENTENCE)), servers, left_out }
    }

    /// A document's part without any profile, for this reason.
    pub fn without(why: &str) -> Self {
        Self::new(Vec::new(), Some(why))
    }

    /// Fails with the first thing that is wrong, as the end of a sentence.
    pub(super) fn check(&self) -> Result<(), String> {
        at_most("profiled servers", self.servers.len(), MOST_PROFILED)?;
        at_most("left_out", self.left_out, LARGEST_COUNT)?;
        check_sentence(self.why_not.as_ref())?;
        if self.servers.first().is_some_and(|first| first.difference.is_some()) {
            return Err("the first profiled server is compared with itself".to_owned());
        }
        self.servers.iter().try_for_each(ProfiledServer::check)
    }
}

impl ProfiledServer {
    /// A server without a profile, for this reason.
    pub fn without(title: &str, why: &str) -> Self {
        Self { title: title.to_owned(), why_not: Some(why.to_owned()), ..Self::default() }
    }

    fn kept(self) -> Self {
        let sentence = |text: Option<String>| text.map(|text| clipped(&text, LONGEST_SENTENCE));
        Self {
            title: clipped(&self.title, LONGEST_NAME),
            why_not: sentence(self.why_not),
            samples: self.samples.min(MOST_SAMPLES),
            ns_per_answer: self.ns_per_answer.filter(|ns| !ns.is_nan()).map(|ns| ns.clamp(0.0, LONGEST_NS)),
            functions: kept(self.functions),
            difference: self.difference.and_then(ProfileDifference::kept),
            hint: sentence(self.hint),
        }
    }

    fn check(&self) -> Result<(), String> {
        at_most("a name's bytes", self.title.len(), LONGEST_NAME)?;
        check_sentence(self.why_not.as_ref())?;
        check_sentence(self.hint.as_ref())?;
        if self.samples > MOST_SAMPLES {
            return Err("a number of samples is out of range".to_owned());
        }
        within("a CPU time per answer", self.ns_per_answer.unwrap_or_default(), 0.0, LONGEST_NS)?;
        check_functions(&self.functions)?;
        self.difference.as_ref().map_or(Ok(()), ProfileDifference::check)
    }
}

impl ProfileDifference {
    /// Whether the difference is more than sampling explains.
    pub fn is_significant(&self) -> bool {
        self.ns_per_answer.abs() > STANDARD_ERRORS * self.standard_error_ns
    }

    /// Whether the clocks of the processes tell both times, that of the first server being this one, and the difference is no larger than
    /// between two starts of one program.
    pub fn is_within_starts(&self, first_ns: Option<f64>) -> bool {
        let is_exact = self.standard_error_ns == 0.0;
        is_exact && first_ns.is_some_and(|first_ns| self.ns_per_answer.abs() < STARTS_DIFFER * first_ns)
    }

    /// The largest difference that sampling explains, in nanoseconds.
    pub fn margin_ns(&self) -> f64 {
        STANDARD_ERRORS * self.standard_error_ns
    }

    /// `None`: it is not a number.
    fn kept(self) -> Option<Self> {
        let is_number = !self.ns_per_answer.is_nan() && !self.standard_error_ns.is_nan();
        is_number.then(|| Self {
            ns_per_answer: self.ns_per_answer.clamp(-LONGEST_NS, LONGEST_NS),
            standard_error_ns: self.standard_error_ns.clamp(0.0, LONGEST_NS),
            more: kept(self.more),
            less: kept(self.less),
        })
    }

    fn check(&self) -> Result<(), String> {
        within("a difference in CPU time", self.ns_per_answer, -LONGEST_NS, LONGEST_NS)?;
        within("a standard error", self.standard_error_ns, 0.0, LONGEST_NS)?;
        check_functions(&self.more)?;
        check_functions(&self.less)
    }
}

/// The first functions of a list, as far as they have numbers.
fn kept(functions: Vec<ProfiledFunction>) -> Vec<ProfiledFunction> {
    let are_numbers = |f: &ProfiledFunction| !f.ns_per_answer.is_nan() && !f.standard_error_ns.is_nan();
    let function = |f: ProfiledFunction| ProfiledFunction {
        name: end(&f.name),
        ns_per_answer: f.ns_per_answer.clamp(0.0, LONGEST_NS),
        standard_error_ns: f.standard_error_ns.clamp(0.0, LONGEST_NS),
    };
    functions.into_iter().filter(are_numbers).take(MOST_FUNCTIONS).map(function).collect()
}

/// The name on one line; of a long one the end, which says more than its beginning.
fn end(name: &str) -> String {
    let line = on_one_line(name);
    if line.len() <= LONGEST_FUNCTION {
        return line;
    }
    let room = LONGEST_FUNCTION - '…'.len_utf8();
    let least = line.len() - room;
    let from = (least..line.len()).find(|at| line.is_char_boundary(*at)).unwrap_or(line.len());
    format!("…{}", &line[from..])
}

fn check_functions(functions: &[ProfiledFunction]) -> Result<(), String> {
    at_most("functions", functions.len(), MOST_FUNCTIONS)?;
    for function in functions {
        at_most("a function's bytes", function.name.len(), LONGEST_FUNCTION)?;
        within("a function's CPU time", function.ns_per_answer, 0.0, LONGEST_NS)?;
        within("a function's standard error", function.standard_error_ns, 0.0, LONGEST_NS)?;
    }
    Ok(())
}

fn check_sentence(text: Option<&String>) -> Result<(), String> {
    text.map_or(Ok(()), |text| at_most("a sentence's bytes", text.len(), LONGEST_SENTENCE))
}

#[cfg(test)]
mod tests;
