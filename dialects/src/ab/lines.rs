//! Finds the lines of ab's report in a text. Lines are split where a label of the report begins, so a report that
//! lost its line breaks is split in the same way.

use std::borrow::Cow;
use std::ops::Range;

/// The fields of a report, in the order in which ab prints them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Field {
    Banner,
    Notice,
    Benchmarking,
    Progress,
    Software,
    Hostname,
    Port,
    Tls,
    Path,
    Length,
    Concurrency,
    Taken,
    Complete,
    Failed,
    Kinds,
    Write,
    Non2xx,
    KeepAlive,
    Received,
    Sent,
    Body,
    Rate,
    PerRequest,
    Transfer,
    Times,
    Connect,
    Processing,
    Waiting,
    Total,
    Doubt,
    Percentiles,
    Abort,
    /// A message that may occur anywhere and does not matter here, such as progress.
    Aside,
}

impl Field {
    /// Whether it may occur in a report more than once.
    pub fn repeats(self) -> bool {
        use Field::{Abort, Doubt, Notice, PerRequest, Progress, Tls, Transfer};
        matches!(self, Notice | Progress | Tls | PerRequest | Transfer | Doubt | Abort)
    }

    /// Whether only ab prints it, so that a report may begin with it.
    pub fn is_telling(self) -> bool {
        use Field::{Banner, Benchmarking, Complete, Concurrency, Failed, Hostname, Length, Path, Rate};
        use Field::{Software, Taken};
        matches!(
            self,
            Banner
                | Benchmarking
                | Software
                | Hostname
                | Path
                | Length
                | Concurrency
                | Taken
                | Complete
                | Failed
                | Rate
        )
    }
}

/// Labels that end with a colon. They begin a line, or follow a space where line breaks were lost.
const LABELS: &[(&str, Field)] = &[
    ("Server Software:", Field::Software),
    ("Server Hostname:", Field::Hostname),
    ("Server Port:", Field::Port),
    ("SSL/TLS Protocol:", Field::Tls),
    ("Server Temp Key:", Field::Tls),
    ("TLS Server Name:", Field::Tls),
    ("Document Path:", Field::Path),
    ("Document Length:", Field::Length),
    ("Concurrency Level:", Field::Concurrency),
    ("Time taken for tests:", Field::Taken),
    ("Number of workers:", Field::Aside),
    ("Concurrency achieved:", Field::Aside),
    ("Rampup delay:", Field::Aside),
    ("Number of requests:", Field::Aside),
    ("Keep-Alive aborts:", Field::Aside),
    ("Complete requests:", Field::Complete),
    ("Failed requests:", Field::Failed),
    ("Write errors:", Field::Write),
    ("Broken pipe errors:", Field::Write),
    ("Non-2xx responses:", Field::Non2xx),
    ("Keep-Alive requests:", Field::KeepAlive),
    ("Total transferred:", Field::Received),
    ("Total body sent:", Field::Sent),
    // These are the names in versions up to 2.2.
    ("Total POSTed:", Field::Sent),
    ("Total PUT:", Field::Sent),
    ("HTML transferred:", Field::Body),
    ("Requests per second:", Field::Rate),
    ("Time per request:", Field::PerRequest),
    ("Transfer rate:", Field::Transfer),
    ("Connect:", Field::Connect),
    ("Processing:", Field::Processing),
    ("Waiting:", Field::Waiting),
    ("Total:", Field::Total),
];

/// Phrases that are as distinctive as labels. They may directly follow other text.
const MARKS: &[(&str, Field)] = &[
    ("This is ApacheBench, Version", Field::Banner),
    ("Copyright 1996", Field::Notice),
    ("Copyright (c) 1996", Field::Notice),
    ("Copyright (c) 1998", Field::Notice),
    ("Copyright 2006", Field::Notice),
    ("Licensed to The Apache", Field::Notice),
    ("Benchmarking ", Field::Benchmarking),
    ("..done", Field::Progress),
    ("Completed ", Field::Progress),
    ("Finished ", Field::Progress),
    ("Send request failed!", Field::Aside),
    ("Send request timed out!", Field::Aside),
    ("SSL handshake failed", Field::Aside),
    ("LOG: Response code", Field::Aside),
    ("WARNING: Response code not 2xx", Field::Aside),
    ("(Connect:", Field::Kinds),
    ("Connection Times (ms)", Field::Times),
    // ab 1.3 misspelled it.
    ("Connnection Times (ms)", Field::Times),
    ("WARNING: The median and mean for", Field::Doubt),
    ("These results are probably not", Field::Doubt),
    ("ERROR: The median and mean for", Field::Doubt),
    ("deviation apart. These results are", Field::Doubt),
    ("Percentage of the requests", Field::Percentiles),
    ("apr_socket_recv:", Field::Abort),
    ("apr_socket_connect():", Field::Abort),
    ("apr_pollset_poll:", Field::Abort),
    ("apr_poll:", Field::Abort),
    ("apr_sockaddr_info_get() for", Field::Abort),
    ("Test aborted after 10 failures", Field::Abort),
    ("Total of ", Field::Abort),
];

/// A piece of a line: its field, and the ranges of the piece and of its value in the line. Without a field, it is
/// text that may not belong to the report.
#[derive(Debug, PartialEq)]
pub struct Piece {
    pub field: Option<Field>,
    pub at: Range<usize>,
    pub value: Range<usize>,
}

/// Splits a line into pieces; a blank line has none.
pub fn cut(line: &str) -> Vec<Piece> {
    let cuts = cuts(line.as_bytes());
    let mut pieces = Vec::with_capacity(cuts.len() + 1);
    let first = cuts.first().map_or(line.len(), |(at, ..)| *at);
    if !line[..first].trim().is_empty() {
        pieces.push(Piece { field: None, at: 0..first, value: 0..first });
    }
    for (index, (at, value, field)) in cuts.iter().enumerate() {
        let end = cuts.get(index + 1).map_or(line.len(), |(at, ..)| *at);
        // If a mark occurs within another mark's text, the piece there belongs to the other.
        let value = (*value).min(end);
        pieces.push(Piece { field: Some(*field), at: *at..end, value: value..end });
    }
    pieces
}

/// Where pieces and their values begin, and their fields. This is one pass, because texts may be long.
fn cuts(line: &[u8]) -> Vec<(usize, usize, Field)> {
    let mut cuts = Vec::new();
    for (at, byte) in line.iter().enumerate() {
        if *byte == b':' {
            let head = &line[..=at];
            let label = LABELS.iter().find(|(label, _)| {
                let begins = |at: usize| at == 0 || matches!(head[at - 1], b' ' | b'\t');
                head.ends_with(label.as_bytes()) && begins(head.len() - label.len())
            });
            cuts.extend(label.map(|(label, field)| (at + 1 - label.len(), at + 1, *field)));
        } else if BEGINS_MARK[usize::from(*byte)] {
            let rest = &line[at..];
            let mark = MARKS.iter().find(|(mark, field)| {
                rest.starts_with(mark.as_bytes()) && (*field != Field::Benchmarking || is_patient(rest))
            });
            cuts.extend(mark.map(|(mark, field)| (at, at + mark.len(), *field)));
        }
    }
    cuts.sort_unstable_by_key(|(at, ..)| *at);
    cuts
}

/// The bytes that marks begin with.
const BEGINS_MARK: [bool; 256] = {
    let mut begins = [false; 256];
    let mut at = 0;
    while at < MARKS.len() {
        begins[MARKS[at].0.as_bytes()[0] as usize] = true;
        at += 1;
    }
    begins
};

/// What ab prints after the host in its first line.
pub const PATIENCE: &str = "(be patient)";

/// Many sentences begin with this word. In ab's line, a host of at most 255 letters and perhaps a proxy follow.
fn is_patient(rest: &[u8]) -> bool {
    let near = &rest[..rest.len().min(600)];
    near.windows(PATIENCE.len()).any(|window| window == PATIENCE.as_bytes())
}

/// A line of ab's HTML in which each byte of a tag is replaced by a space, so that positions stay the same.
pub fn without_tags(line: &str) -> Cow<'_, str> {
    let has_tags = || ["</t", "<t", "<br>", "<p>", "</p>"].iter().any(|tag| line.contains(tag));
    if !line.contains('<') || !has_tags() {
        return Cow::Borrowed(line);
    }
    let mut is_tag = false;
    let mut bare = String::with_capacity(line.len());
    for c in line.replace("&nbsp;", "      ").chars() {
        is_tag |= c == '<';
        if is_tag {
            bare.extend(std::iter::repeat_n(' ', c.len_utf8()));
        } else {
            bare.push(c);
        }
        is_tag &= c != '>';
    }
    Cow::Owned(bare)
}

/// Lines without their line breaks, and the byte at which each begins.
pub fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut at = 0;
    text.split_inclusive('\n').map(move |line| {
        let start = at;
        at += line.len();
        (start, line.trim_end_matches(['\n', '\r']))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(line: &str) -> Vec<(Option<Field>, &str)> {
        cut(line).into_iter().map(|piece| (piece.field, line[piece.value].trim())).collect()
    }

    #[test]
    fn a_line_without_line_breaks_is_cut_at_labels() {
        assert_eq!(
            fields("see: Server Software: Server Port: 80 (be patient)...apr_socket_recv: Reset"),
            [
                (None, "see:"),
                (Some(Field::Software), ""),
                (Some(Field::Port), "80 (be patient)..."),
                (Some(Field::Abort), "Reset")
            ]
        );
        assert_eq!(fields("    "), []);
        assert_eq!(fields("my-Total: 5"), [(None, "my-Total: 5")]);
        assert_eq!(fields("   (Connect: 1, Length: 2)"), [(Some(Field::Kinds), "1, Length: 2)")]);
    }

    #[test]
    fn tags_leave_blanks_and_places() {
        let line = "<tr ><th >Total:</th><td bgcolor=\"ä\">é  0</td></tr>";
        let bare = without_tags(line);
        assert_eq!((bare.len(), bare.find("é  0")), (line.len(), line.find("é  0")));
        assert_eq!(bare.split_whitespace().collect::<Vec<_>>(), ["Total:", "é", "0"]);
    }
}
