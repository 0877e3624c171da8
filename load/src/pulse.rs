//! Answers in steps of one worker's window, for tools that sample the rate of each of their threads.

use model::Beat;
use net::clock;
use std::time::Duration;

/// The steps so far.
#[derive(Debug)]
pub struct Pulse {
    length_ns: u64,
    begun_ns: u64,
    answers: u64,
    beats: Vec<Beat>,
}

/// The number of steps with memory from the start: a minute at ten a second; beyond, the list grows now and then.
const PREPARED: usize = 600;

impl Pulse {
    /// A pulse with steps of this length.
    pub fn new(length: Duration) -> Self {
        let length_ns = clock::ns_of(length).max(1);
        Self { length_ns, begun_ns: 0, answers: 0, beats: Vec::with_capacity(PREPARED) }
    }

    /// Opens the window, with nothing counted yet.
    pub fn open(&mut self, now_ns: u64) {
        self.begun_ns = now_ns;
        self.answers = 0;
    }

    /// Closes the step if it is due; returns the next deadline. A late step makes all later ones later. `answers`: the number of answers so
    /// far.
    pub fn tick(&mut self, now_ns: u64, answers: u64) -> u64 {
        let duration_ns = now_ns - self.begun_ns;
        if duration_ns >= self.length_ns {
            self.beats.push(Beat { answers: answers - self.answers, duration_ns });
            (self.begun_ns, self.answers) = (now_ns, answers);
        }
        self.begun_ns.saturating_add(self.length_ns)
    }

    /// The whole steps; the current one is discarded.
    pub fn finish(self) -> Vec<Beat> {
        self.beats
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_is_as_long_as_it_was() {
        let mut pulse = Pulse::new(Duration::from_nanos(100));
        pulse.open(1000);
        assert_eq!([1050, 1100, 1150, 1230].map(|now| pulse.tick(now, now - 1000)), [1100, 1200, 1200, 1330]);
        let beats = [Beat { answers: 100, duration_ns: 100 }, Beat { answers: 130, duration_ns: 130 }];
        assert_eq!(pulse.finish(), beats);
    }
}
