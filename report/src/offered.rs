//! The offered rate of open load, in words and as JSON.

use crate::units;
use model::study::{Handshake, Transport};
use model::{Load, Protocol, Rate};
use schemars::JsonSchema;
use serde::Serialize;
use std::time::Duration;

/// At most this many steps are listed; of more steps, the first ones and the last one.
const LISTED: usize = 6;

/// A rate that changes, as part of the JSON.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Shape {
    /// A linear change from one rate to another.
    Ramp {
        /// The rate at the start of the window.
        from_per_s: f64,
        /// The rate at the end of the ramp and after it.
        to_per_s: f64,
        /// The length of the ramp.
        over_s: f64,
    },
    /// One constant rate after another.
    Steps {
        /// The rates.
        per_s: Vec<f64>,
        /// The length of each step.
        each_s: f64,
    },
}

/// What becomes of a connection under this load.
pub(crate) fn reuse(load: &Load) -> String {
    match load.per_connection() {
        None => "kept open".to_owned(),
        Some(1) => "a new one for every request".to_owned(),
        Some(n) => format!("a new one after {n} requests"),
    }
}

/// How a cell asks: `open load at 1,000 requests/s, 10 connections, kept open`, then its protocol and its TLS, where it is not plain HTTP/1.1.
pub fn cell_words(load: &Load, transport: Transport) -> String {
    let connections = units::several(load.connections(), "connection");
    let protocol = match transport.protocol {
        Protocol::Http1 => None,
        Protocol::Http2 | Protocol::Grpc => {
            let streams = units::several(transport.streams.unwrap_or(1), "stream");
            Some(format!("{} with {streams} each", transport.protocol.name()))
        }
        Protocol::WebSocket => {
            let in_flight =
                transport.streams.map(|n| format!(" with {} in flight each", units::several(n, "message")));
            Some(format!("{}{}", transport.protocol.name(), in_flight.unwrap_or_default()))
        }
    };
    let tls = transport.tls.map(|handshake| match (handshake, load.per_connection()) {
        (Handshake::Full, None) => "TLS 1.3".to_owned(),
        (Handshake::Full, Some(_)) => "TLS 1.3, each with a full handshake".to_owned(),
        (Handshake::Resumed, _) => "TLS 1.3, each resuming a session".to_owned(),
    });
    let parts = [Some(kind(load)), Some(connections), Some(reuse(load)), protocol, tls];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// `closed load`, or `open load` and its rate.
pub fn kind(load: &Load) -> String {
    load.rate_per_s().map_or("closed load".to_owned(), |rate| format!("open load {}", words(rate)))
}

/// The shape of a rate that changes; `None` for a constant rate.
pub(crate) fn shape(rate: &Rate) -> Option<Shape> {
    match rate.clone() {
        Rate::Constant(_) => None,
        Rate::Ramp { from_per_s, to_per_s, over } => {
            Some(Shape::Ramp { from_per_s, to_per_s, over_s: over.as_secs_f64() })
        }
        Rate::Steps { per_s, each } => Some(Shape::Steps { per_s, each_s: each.as_secs_f64() }),
    }
}

/// The rate in words, to follow "open load" or "arrivals".
pub(crate) fn words(rate: &Rate) -> String {
    let time = |duration: &Duration| units::duration(duration.as_nanos() as f64);
    match rate {
        Rate::Constant(per_s) => format!("at {}", units::requests_per_s(*per_s)),
        Rate::Ramp { from_per_s, to_per_s, over } => {
            format!(
                "from {} to {} requests/s in {}",
                units::rate(*from_per_s),
                units::rate(*to_per_s),
                time(over)
            )
        }
        Rate::Steps { per_s, each } => {
            let mut rates: Vec<String> = per_s.iter().map(|rate| units::rate(*rate)).collect();
            if rates.len() > LISTED {
                rates.splice(LISTED - 2..rates.len() - 1, ["…".to_owned()]);
            }
            format!(
                "in {} of {}: {} requests/s",
                units::several(per_s.len(), "step"),
                time(each),
                rates.join("; ")
            )
        }
    }
}

/// The mean over the window of a rate that changes; `None` for a constant rate.
pub fn mean(rate: &Rate, window_ns: u64) -> Option<String> {
    let mean = || units::requests_per_s(rate.mean_per_s(window_ns));
    (!matches!(rate, Rate::Constant(_))).then(mean)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shape_has_its_words() {
        let words = |text: &str| words(&text.parse().unwrap());
        assert_eq!(words("2.5k"), "at 2,500 requests/s");
        assert_eq!(words("20k..1k/500ms"), "from 20,000 to 1,000 requests/s in 500 ms");
        assert_eq!(words("1k,5k,20k/10s"), "in 3 steps of 10.0 s: 1,000; 5,000; 20,000 requests/s");
        assert_eq!(
            words("1,2,3,4,5,6,7,8/1s"),
            "in 8 steps of 1.00 s: 1.0; 2.0; 3.0; 4.0; …; 8.0 requests/s"
        );
        let mean = |text: &str| mean(&text.parse().unwrap(), 2_000_000_000);
        assert_eq!((mean("1k"), mean("1k..2k/2s")), (None, Some("1,500 requests/s".to_owned())));
    }
}
