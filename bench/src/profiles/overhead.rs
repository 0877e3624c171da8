//! What sampling costs a server: loads of one and the same server with and without a profile, in turns.

use super::load;
use super::server::Server;
use super::servers::SERVERS;
use crate::drome::Drome;
use anyhow::{Context, Result};
use serde_json::Value;
use stats::{Estimate, median_interval};

/// The server that is loaded.
pub const SERVER: &str = "c";

/// The length of a load.
const LENGTH: &str = "1s";

/// Measures this number of pairs of loads, and returns a sentence that says what a profile costs.
pub fn measure(drome: &Drome, pairs: u16) -> Result<String> {
    let spins = SERVERS.iter().find(|server| server.name == SERVER).context("no such server")?;
    let server = Server::start(spins.command(drome.home())?)?;
    let file = drome.home().join("overhead.folded").to_string_lossy().into_owned();
    let rate = |is_sampled: bool| -> Result<Option<f64>> {
        let profile = ["--profile", file.as_str()];
        let more = if is_sampled { &profile[..] } else { &[] };
        let output =
            load(drome, &server, &[&["-d", LENGTH, "--quiet", "--format", "json"][..], more].concat())?;
        let json: Value = serde_json::from_slice(&output.stdout).context("no JSON from drome")?;
        Ok(json["rate_per_s"].as_f64())
    };
    // The first load does not count, because the server has just started.
    rate(false)?;
    let (mut with, mut without) = (Vec::new(), Vec::new());
    for nth in 0..pairs {
        // Each comes first in every second pair: what drifts affects both alike.
        let first = nth % 2 == 0;
        let [one, other] = [rate(first)?, rate(!first)?];
        let (sampled, plain) = if first { (one, other) } else { (other, one) };
        eprintln!("pair {}: {sampled:?} with, {plain:?} without", nth + 1);
        with.push(sampled);
        without.push(plain);
    }
    // Where the kernel does not allow sampling, all loads were without a profile.
    anyhow::ensure!(std::fs::exists(&file)?, "no profile was written: `cargo xtask profiles c` says why");
    let ratio = ratio(&with, &without).context("no pair of loads has a rate")?;
    Ok(sentence(ratio, pairs))
}

/// The median of the ratios of pairs, with its interval; `None` without a pair of which both have a rate.
fn ratio(with: &[Option<f64>], without: &[Option<f64>]) -> Option<Estimate> {
    let pairs = with.iter().zip(without).filter_map(|(with, without)| Some((*with)? / (*without)?));
    median_interval(&pairs.filter(|ratio| ratio.is_finite()).collect::<Vec<_>>())
}

fn sentence(ratio: Estimate, pairs: u16) -> String {
    let interval = match ratio.interval {
        Some((low, high)) => format!("95 % {low:.4}–{high:.4}"),
        None => "too few for an interval".to_owned(),
    };
    format!(
        "requests/s of the server in C with a profile, as a share of those without: {:.4}, {interval}, {pairs} pairs of {LENGTH}",
        ratio.median
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cost_is_a_ratio_of_pairs() {
        let without: Vec<Option<f64>> = (0..8).map(|nth| Some(1000.0 + f64::from(nth))).collect();
        let with: Vec<Option<f64>> = without.iter().map(|rate| rate.map(|rate| 0.98 * rate)).collect();
        let told = sentence(ratio(&with, &without).unwrap(), 8);
        assert!(told.contains("0.9800, 95 % 0.9800–0.9800, 8 pairs of 1s"), "{told}");
        let few = sentence(ratio(&with[..3], &without[..3]).unwrap(), 3);
        assert!(few.contains("too few for an interval"), "{few}");
    }
}
