//! What a process holds, looked at again and again: descriptors, threads, memory; and whether any of it grows.

use anyhow::{Context, Result, bail};
use std::fmt;
use std::time::{Duration, Instant};

/// Memory is averaged over so many stretches before a line is laid through it: looks that follow each other closely are alike,
/// and a line through all of them would claim to be surer than it is.
const STRETCHES: usize = 12;

/// Student's t for a line through as many points: 95 % within, at 10 degrees of freedom.
const T: f64 = 2.228;

/// A look.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Look {
    /// Since the watch began.
    pub at: Duration,
    /// Open descriptors.
    pub descriptors: usize,
    /// Threads.
    pub threads: usize,
    /// Resident memory.
    pub rss_bytes: u64,
}

/// All looks at a process.
#[derive(Debug)]
pub struct Watch {
    pid: u32,
    begun: Instant,
    looks: Vec<Look>,
}

impl Watch {
    /// Of a process, from now on.
    pub fn of(pid: u32) -> Self {
        Self { pid, begun: Instant::now(), looks: Vec::new() }
    }

    /// Looks and does not keep it.
    pub fn peek(&self) -> Result<Look> {
        let count = |what: &str| {
            let folder = format!("/proc/{}/{what}", self.pid);
            Ok::<_, anyhow::Error>(
                std::fs::read_dir(&folder).with_context(|| format!("{folder}: has it ended?"))?.count(),
            )
        };
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.pid))?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let kib = line.and_then(|text| text.trim().trim_end_matches(" kB").parse::<u64>().ok());
        Ok(Look {
            at: self.begun.elapsed(),
            descriptors: count("fd")?,
            threads: count("task")?,
            rss_bytes: kib.context("its memory is not known")? << 10,
        })
    }

    /// Looks.
    pub fn look(&mut self) -> Result<Look> {
        let look = self.peek()?;
        self.looks.push(look);
        Ok(look)
    }

    /// What all looks say.
    pub fn found(&self) -> Result<Found> {
        Found::of(&self.looks)
    }
}

/// What the last two thirds of the looks say: by then all is warm.
#[derive(Debug, PartialEq)]
pub struct Found {
    looks: usize,
    descriptors: (usize, usize),
    threads: (usize, usize),
    rss_bytes: (u64, u64),
    slope: Slope,
}

impl Found {
    fn of(looks: &[Look]) -> Result<Self> {
        let warm = &looks[looks.len() / 3..];
        if warm.len() < STRETCHES {
            bail!("{} looks are too few to tell anything: {} are needed", looks.len(), STRETCHES * 3 / 2);
        }
        let range = |of: fn(&Look) -> u64| {
            let all = || warm.iter().map(of);
            (all().min().unwrap_or_default(), all().max().unwrap_or_default())
        };
        let small = |(low, high): (u64, u64)| (low as usize, high as usize);
        Ok(Self {
            looks: warm.len(),
            descriptors: small(range(|look| look.descriptors as u64)),
            threads: small(range(|look| look.threads as u64)),
            rss_bytes: range(|look| look.rss_bytes),
            slope: Slope::of(warm),
        })
    }

    /// What grows.
    pub fn growing(&self) -> Vec<&'static str> {
        let all = [
            (self.descriptors.0 != self.descriptors.1, "the number of descriptors at rest is not constant"),
            (self.threads.0 != self.threads.1, "the number of threads at rest is not constant"),
            (self.slope.bytes_per_h > T * self.slope.error, "memory grows"),
        ];
        all.into_iter().filter(|(is, _)| *is).map(|(_, what)| what).collect()
    }
}

impl fmt::Display for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mib = |bytes: u64| bytes as f64 / f64::from(1 << 20);
        let kib = |bytes: f64| bytes / 1024.0;
        writeln!(f, "over the last two thirds, {} looks:", self.looks)?;
        writeln!(f, "  descriptors  {} to {}", self.descriptors.0, self.descriptors.1)?;
        writeln!(f, "  threads      {} to {}", self.threads.0, self.threads.1)?;
        writeln!(f, "  memory       {:.1} to {:.1} MiB", mib(self.rss_bytes.0), mib(self.rss_bytes.1))?;
        let (slope, error) = (kib(self.slope.bytes_per_h), kib(self.slope.error));
        write!(f, "  its slope    {slope:.0} KiB/h, standard error {error:.0} KiB/h")
    }
}

/// A line through the memory, by least squares, and the standard error of its slope.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Slope {
    bytes_per_h: f64,
    error: f64,
}

impl Slope {
    fn of(looks: &[Look]) -> Self {
        let mean = |values: &mut dyn Iterator<Item = f64>, n: usize| values.sum::<f64>() / n as f64;
        let bounds =
            |stretch: usize| stretch * looks.len() / STRETCHES..(stretch + 1) * looks.len() / STRETCHES;
        let points: Vec<(f64, f64)> = (0..STRETCHES)
            .map(|stretch| {
                let part = &looks[bounds(stretch)];
                let hours = mean(&mut part.iter().map(|look| look.at.as_secs_f64() / 3600.0), part.len());
                (hours, mean(&mut part.iter().map(|look| look.rss_bytes as f64), part.len()))
            })
            .collect();
        let (x, y) = (
            mean(&mut points.iter().map(|p| p.0), STRETCHES),
            mean(&mut points.iter().map(|p| p.1), STRETCHES),
        );
        let spread: f64 = points.iter().map(|p| (p.0 - x).powi(2)).sum();
        let bytes_per_h = points.iter().map(|p| (p.0 - x) * (p.1 - y)).sum::<f64>() / spread;
        let left = |p: &(f64, f64)| (p.1 - y - bytes_per_h * (p.0 - x)).powi(2);
        let variance = points.iter().map(left).sum::<f64>() / (STRETCHES - 2) as f64;
        Self { bytes_per_h, error: (variance / spread).sqrt() }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may panic")]

    use super::*;

    /// One look a minute, for two hours.
    fn looks(rss_bytes: impl Fn(u64) -> u64) -> Vec<Look> {
        let look = |minute| Look {
            at: Duration::from_mins(minute),
            descriptors: 12,
            threads: 3,
            rss_bytes: rss_bytes(minute),
        };
        (0..120).map(look).collect()
    }

    #[test]
    fn what_grows_is_told_and_what_wavers_is_not() {
        let grows = Found::of(&looks(|minute| (20 << 20) + minute * 1024)).unwrap();
        assert!((grows.slope.bytes_per_h - 61_440.0).abs() < 1.0 && grows.slope.error < 1.0, "{grows}");
        assert_eq!(grows.growing(), ["memory grows"]);
        let wavers = Found::of(&looks(|minute| (20 << 20) + minute * 7919 % 65_536)).unwrap();
        assert_eq!(wavers.growing(), Vec::<&str>::new(), "{wavers}");
        let warms_up = Found::of(&looks(|minute| (20 << 20) + minute.min(40) * 65_536)).unwrap();
        assert_eq!(warms_up.growing(), Vec::<&str>::new(), "{warms_up}");
        let constant = Found::of(&looks(|_| 20 << 20)).unwrap();
        assert_eq!(constant.slope, Slope { bytes_per_h: 0.0, error: 0.0 });
        assert_eq!(constant.growing(), Vec::<&str>::new());
        assert!(Found::of(&looks(|_| 1)[..10]).is_err());
    }

    #[test]
    fn a_descriptor_or_a_thread_that_is_left_is_told() {
        let mut all = looks(|_| 20 << 20);
        all[119].descriptors = 13;
        assert_eq!(Found::of(&all).unwrap().growing(), ["the number of descriptors at rest is not constant"]);
        all[119] = Look { descriptors: 12, threads: 4, ..all[119] };
        assert_eq!(Found::of(&all).unwrap().growing(), ["the number of threads at rest is not constant"]);
    }
}
