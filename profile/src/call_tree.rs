//! A profile as a tree of calls, small enough to be stored and drawn. The calls are in the order of a flame graph: each is followed by
//! the calls that it made, in the order of their names.

use crate::cost::PerSample;
use crate::difference::Side;
use crate::stacks::Profile;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The largest number of samples in a tree. Sums stay exact as floating-point numbers, and no product of them overflows.
const MOST_SAMPLES: u64 = 1 << 48;

/// The name of the tree's root, the call around all others.
const ALL: &str = "all";

/// The calls of a profile. The first is the root: it is around all others and stands for all samples.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Packed", into = "Packed")]
pub struct CallTree {
    calls: Vec<Call>,
}

/// A function, called through one chain of callers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// The function.
    pub frame: String,
    /// The number of calls around it: 0 for the root.
    pub depth: usize,
    /// Samples in which the function itself was running, or something that it called and that is too small for the tree.
    pub own_samples: u64,
    /// Samples in it and in everything that it called.
    pub total_samples: u64,
    /// The position of its left edge in a flame graph: the number of samples between that and the left edge of the graph.
    pub samples_before: u64,
}

/// A call as it is built and stored: its depth, its function, and its own samples.
type Entry<N> = (usize, N, u64);

impl CallTree {
    /// The tree of a profile. A call with less than `least_share` (from 0 to 1) of all samples is left out with everything that it
    /// called; its samples are then its caller's own.
    pub fn of(profile: &Profile, least_share: f64) -> Self {
        let entries = entries(profile);
        let totals = totals(&entries);
        let least = least_share * profile.samples as f64;
        let mut kept: Vec<Entry<String>> = Vec::new();
        // The indices in `kept` of the current call's callers.
        let mut callers: Vec<usize> = Vec::new();
        let mut left_out = None;
        for ((depth, frame, own), total) in entries.into_iter().zip(totals) {
            if left_out.is_some_and(|left_out| depth > left_out) {
                continue;
            }
            left_out = None;
            callers.truncate(depth);
            let is_small = total == 0 || (total as f64) < least;
            match callers.last().copied() {
                Some(caller) if is_small => {
                    let (_, _, own_of_caller) = &mut kept[caller];
                    *own_of_caller = own_of_caller.saturating_add(total);
                    left_out = Some(depth);
                }
                _ => {
                    callers.push(kept.len());
                    kept.push((depth, frame.to_owned(), own));
                }
            }
        }
        Self { calls: laid_out(kept) }
    }

    /// All calls, each before those that it made. There is at least one.
    pub fn calls(&self) -> &[Call] {
        &self.calls
    }

    /// The number of all samples.
    pub fn samples(&self) -> u64 {
        self.calls.first().map_or(0, |all| all.total_samples)
    }

    /// Samples in functions for whose names `is_sought` is true, and in everything that they called.
    pub fn samples_in(&self, is_sought: impl Fn(&str) -> bool) -> u64 {
        let (mut samples, mut inside) = (0_u64, None);
        for call in &self.calls {
            // What a function calls is in its samples already.
            if inside.is_some_and(|depth| call.depth > depth) {
                continue;
            }
            inside = is_sought(&call.frame).then_some(call.depth);
            if inside.is_some() {
                samples = samples.saturating_add(call.total_samples);
            }
        }
        samples
    }

    /// How much more CPU time per answer each call of this tree takes itself in B than in A, in nanoseconds. `None` if one of the two has no
    /// samples or no answers.
    pub fn changes_ns(&self, a: &Side<'_>, b: &Side<'_>) -> Option<Vec<f64>> {
        let [of_a, of_b] = [PerSample::of(a.profile, &a.work)?, PerSample::of(b.profile, &b.work)?];
        let mut stack: Vec<String> = Vec::new();
        let change = |call: &Call| {
            // The root is in no stack.
            stack.truncate(call.depth.saturating_sub(1));
            if call.depth > 0 {
                stack.push(call.frame.clone());
            }
            let own_ns = |side: &Side<'_>, of: PerSample| {
                side.profile.stacks.get(&stack).map_or(0.0, |samples| *samples as f64 * of.ns)
            };
            own_ns(b, of_b) - own_ns(a, of_a)
        };
        Some(self.calls.iter().map(change).collect())
    }
}

/// All calls of a profile in order. Stacks are sorted, so those that begin alike follow each other.
fn entries(profile: &Profile) -> Vec<Entry<&str>> {
    let mut entries = vec![(0, ALL, 0)];
    let mut before: &[String] = &[];
    for (stack, count) in &profile.stacks {
        let alike = before.iter().zip(stack).take_while(|(a, b)| a == b).count();
        entries.extend(stack.iter().enumerate().skip(alike).map(|(at, frame)| (at + 1, frame.as_str(), 0)));
        if let Some((_, _, own)) = entries.last_mut() {
            *own = count.saturating_add(*own);
        }
        before = stack.as_slice();
    }
    entries
}

/// The samples of each call with those of everything that it called.
fn totals<N>(entries: &[Entry<N>]) -> Vec<u64> {
    let mut totals = vec![0; entries.len()];
    // By depth: the samples of calls further right whose caller has not been reached yet.
    let mut waiting: Vec<u64> = Vec::new();
    for (at, (depth, _, own)) in entries.iter().enumerate().rev() {
        if waiting.len() < depth + 2 {
            waiting.resize(depth + 2, 0);
        }
        let total = own.saturating_add(std::mem::take(&mut waiting[depth + 1]));
        waiting[*depth] = waiting[*depth].saturating_add(total);
        totals[at] = total;
    }
    totals
}

/// Gives each call its total and its position in a flame graph.
fn laid_out(entries: Vec<Entry<String>>) -> Vec<Call> {
    let totals = totals(&entries);
    // By depth: where the next call begins.
    let mut next: Vec<u64> = vec![0];
    let mut calls = Vec::with_capacity(entries.len());
    for ((depth, frame, own_samples), total_samples) in entries.into_iter().zip(totals) {
        next.truncate(depth + 1);
        let samples_before = next.last().copied().unwrap_or(0);
        if let Some(next) = next.last_mut() {
            *next = next.saturating_add(total_samples);
        }
        // Its own calls begin where it begins.
        next.push(samples_before);
        calls.push(Call { frame, depth, own_samples, total_samples, samples_before });
    }
    calls
}

/// The form in JSON: every name once, and for each call its depth, the index of its name, and its own samples.
#[derive(Serialize, Deserialize)]
struct Packed {
    names: Vec<String>,
    calls: Vec<Entry<usize>>,
}

impl From<CallTree> for Packed {
    fn from(tree: CallTree) -> Self {
        let mut names: Vec<String> = Vec::new();
        let mut numbers: BTreeMap<String, usize> = BTreeMap::new();
        let mut calls = Vec::with_capacity(tree.calls.len());
        for call in tree.calls {
            let number = *numbers.entry(call.frame.clone()).or_insert_with(|| {
                names.push(call.frame);
                names.len() - 1
            });
            calls.push((call.depth, number, call.own_samples));
        }
        Self { names, calls }
    }
}

impl TryFrom<Packed> for CallTree {
    type Error = String;

    fn try_from(packed: Packed) -> Result<Self, String> {
        let mut entries: Vec<Entry<String>> = Vec::with_capacity(packed.calls.len());
        let (mut deepest, mut samples) = (0, 0_u64);
        for (at, (depth, name, own)) in packed.calls.into_iter().enumerate() {
            let is_in_place = if at == 0 { depth == 0 } else { (1..=deepest).contains(&depth) };
            let name = packed.names.get(name).filter(|_| is_in_place);
            let name = name.ok_or_else(|| format!("call {} has an impossible depth or name", at + 1))?;
            let sum = samples.checked_add(own).filter(|sum| *sum <= MOST_SAMPLES);
            samples = sum.ok_or("it has more samples than drome can add up")?;
            entries.push((depth, name.clone(), own));
            deepest = depth + 1;
        }
        if entries.is_empty() {
            Err("it has no calls".to_owned())
        } else {
            Ok(Self { calls: laid_out(entries) })
        }
    }
}

#[cfg(test)]
mod tests;
