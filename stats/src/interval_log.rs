//! `HdrHistogram`'s interval log: one line of text for each interval, with the compressed histogram in base 64. The tools of `HdrHistogram`
//! read it (`HistogramLogProcessor`, `HistogramLogAnalyzer`, hdr-plot).

use crate::Counts;
use hdrhistogram::serialization::V2DeflateSerializer;
use hdrhistogram::serialization::interval_log::{IntervalLogWriterBuilder, Tag};
use std::time::{Duration, SystemTime};

/// The factor from nanoseconds to the milliseconds of the log's column for the largest value. That column is for people; counts are
/// in nanoseconds, as in the reference tools.
const MS: f64 = 1e6;

/// The version of the format, and the columns: the first lines of a log by the reference implementation.
const VERSION: &str = "[Histogram log format version 1.3]";
const COLUMNS: &[u8] =
    b"\"StartTimestamp\",\"Interval_Length\",\"Interval_Max\",\"Interval_Compressed_Histogram\"\n";

/// One line of the log.
#[derive(Clone, Copy, Debug)]
pub struct Line<'a> {
    /// The name of the histogram; no comma, space or line break.
    pub tag: &'a str,
    /// When the interval began, since the start of the log.
    pub start: Duration,
    /// The length of the interval.
    pub length: Duration,
    /// The counts of the interval.
    pub counts: &'a Counts,
}

/// Writes the whole log. `comments` come first; `started` is the time from which the lines count.
#[expect(clippy::missing_panics_doc, reason = "writing to memory does not fail")]
pub fn interval_log<'a>(
    started: SystemTime,
    comments: &[&str],
    lines: impl IntoIterator<Item = Line<'a>>,
) -> Vec<u8> {
    let (mut log, mut serializer) = (Vec::new(), V2DeflateSerializer::new());
    let mut head = IntervalLogWriterBuilder::new();
    for comment in comments.iter().chain(&[VERSION]) {
        head.add_comment(comment);
    }
    head.with_start_time(started);
    head.begin_log_with(&mut log, &mut serializer).expect("writing to memory does not fail");
    log.extend_from_slice(COLUMNS);
    let mut rest = IntervalLogWriterBuilder::new();
    rest.with_max_value_divisor(MS);
    let mut writer = rest.begin_log_with(&mut log, &mut serializer).expect("writing to memory does not fail");
    for line in lines {
        let histogram = line.counts.histogram();
        writer
            .write_histogram(histogram.inner(), line.start, line.length, Tag::new(line.tag))
            .expect("writing to memory does not fail");
    }
    log
}
