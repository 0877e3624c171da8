//! Removes what collectors of logs, mails and comments put before each line: the time, the name of a container, a level, a process,
//! a mark. Lines of several containers are put in order, container by container, because a report is one container's.

use std::borrow::Cow;
use std::collections::BTreeMap;

/// A prefix is one only if this many lines in succession have it.
const LEAST: usize = 3;

/// A line has no more further prefixes than this: a time, a level, a host, a process.
const MOST_MORE: usize = 6;

/// The longest name of a container, a host or a process.
const LONGEST_NAME: usize = 100;

/// What comments in scripts and sources begin with.
const MARKS: [&str; 4] = ["#", "//", "--", ";"];

/// A prefix at the beginning of a line: its kind, its name if it has one, and its length.
struct Prefix<'l> {
    kind: Kind,
    name: &'l str,
    length: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Time,
    /// `> `, of quoted mail.
    Quote,
    /// One of [`MARKS`].
    Comment,
    /// `name  | `, of Docker Compose and others.
    Bar,
    /// `[name] `.
    Bracket,
    /// A word after the time: a level, a host, a process, a stream.
    Word,
    /// The job and the step of a continuous-integration service, each before a tab.
    Step,
}

/// The text without prefixes.
pub fn without(text: &str) -> Cow<'_, str> {
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let mut out: Option<String> = None;
    let mut at = 0;
    while at < lines.len() {
        let (run, is_one) = run(&lines[at..]);
        match (&mut out, is_one) {
            (None, false) => {}
            (Some(out), false) => lines[at..at + run].iter().for_each(|line| out.push_str(line)),
            (out, true) => {
                let out = out.get_or_insert_with(|| lines[..at].concat());
                strip(&lines[at..at + run], out);
            }
        }
        at += run;
    }
    out.map_or(Cow::Borrowed(text), Cow::Owned)
}

/// The number of lines from the first one on that are alike, and whether they have a prefix.
fn run(lines: &[&str]) -> (usize, bool) {
    let Some(first) = lines.first().and_then(|line| prefix(line, false)) else { return (1, false) };
    let is_alike = |line: &&&str| {
        let prefix = prefix(line, false);
        // Of names in brackets, only paths are of containers: a level differs from line to line.
        let is_its = |name: &str| name == first.name || (is_path(name) && is_path(first.name));
        prefix.is_some_and(|p| {
            p.kind == first.kind
                && match p.kind {
                    Kind::Bracket => is_its(p.name),
                    Kind::Comment => p.name == first.name,
                    _ => true,
                }
        })
    };
    let alike: Vec<&str> = lines.iter().take_while(is_alike).copied().collect();
    let is_one = match first.kind {
        // In a table, each row has a name of its own.
        Kind::Bar => {
            let counts = names(&alike);
            let has_words = alike.iter().any(|line| line.split_whitespace().count() > 4);
            counts.len() * LEAST <= alike.len() && has_words
        }
        Kind::Bracket => {
            first.name.contains(char::is_alphabetic) && names(&alike).len() * LEAST <= alike.len()
        }
        // Headings of Markdown begin with `#` too, but only a report has columns.
        Kind::Comment => alike.iter().any(|line| line.trim().contains("   ")),
        _ => true,
    };
    (alike.len(), is_one && alike.len() >= LEAST)
}

/// Whether a name is one of `pod/name/container`.
fn is_path(name: &str) -> bool {
    name.contains('/') && name.contains(char::is_alphabetic)
}

/// How many lines each name has.
fn names<'l>(lines: &[&'l str]) -> BTreeMap<&'l str, usize> {
    let mut names = BTreeMap::new();
    for prefix in lines.iter().filter_map(|line| prefix(line, false)) {
        *names.entry(prefix.name).or_default() += 1;
    }
    names
}

/// Writes lines without their prefixes, of which all have the first.
fn strip(lines: &[&str], out: &mut String) {
    let of =
        |line: &str| prefix(line, false).map(|prefix| (prefix.name.to_owned(), prefix.kind, prefix.length));
    let mut groups: Vec<(String, Vec<&str>)> = Vec::new();
    for line in lines {
        let Some((name, kind, length)) = of(line) else { continue };
        let name = if matches!(kind, Kind::Bar | Kind::Bracket) { name } else { String::new() };
        let rest = &line[length..];
        match groups.iter_mut().find(|(other, _)| *other == name) {
            Some((_, lines)) => lines.push(rest),
            None => groups.push((name, vec![rest])),
        }
    }
    let is_several = groups.iter().filter(|(_, lines)| lines.len() >= LEAST).count() > 1;
    for (name, lines) in groups {
        if is_several {
            out.push_str(&format!("\n# {name}\n\n"));
        }
        let mut lines = lines;
        // What all lines still have in common before their words.
        for _ in 0..MOST_MORE {
            let Some(shorter) = once_more(&lines) else { break };
            lines = shorter;
        }
        lines.iter().for_each(|line| out.push_str(if line.is_empty() { "\n" } else { line }));
    }
}

/// The lines without a further prefix, if all of them have it.
fn once_more<'l>(lines: &[&'l str]) -> Option<Vec<&'l str>> {
    let first = lines.iter().find(|line| !line.trim().is_empty()).and_then(|line| prefix(line, true))?;
    if lines.len() < LEAST {
        return None;
    }
    let shorter = |line: &&'l str| {
        if line.trim().is_empty() {
            return Some(*line);
        }
        let prefix = prefix(line, true).filter(|p| p.kind == first.kind)?;
        let is_same = [Kind::Time, Kind::Quote].contains(&prefix.kind) || prefix.name == first.name;
        is_same.then(|| &line[prefix.length..])
    };
    lines.iter().map(shorter).collect()
}

/// The prefix of a line. A word alone is one only after another prefix.
fn prefix(line: &str, is_further: bool) -> Option<Prefix<'_>> {
    let whole = line.trim_end_matches('\n');
    let bare = whole.trim_start_matches(' ');
    let indent = whole.len() - bare.len();
    let made = |kind, name, length: usize| {
        // One space belongs to the prefix; further ones are the line's own.
        let blank = usize::from(bare[length..].starts_with([' ', '\t']));
        Some(Prefix { kind, name, length: indent + length + blank })
    };
    let quoted = bare.trim_start_matches(['>', ' ']);
    let marks = bare[..bare.len() - quoted.len()].trim_end();
    if marks.starts_with('>') && (quoted.len() < bare.len() - marks.len() || quoted.is_empty()) {
        return made(Kind::Quote, "", marks.len());
    }
    let word = &bare[..bare.find([' ', '\t', '|']).unwrap_or(bare.len())];
    if MARKS.contains(&word) {
        return made(Kind::Comment, word, word.len());
    }
    if let Some(length) = time(bare) {
        return made(Kind::Time, "", length);
    }
    if let Some(inner) = bare.strip_prefix('[')
        && let Some(end) = inner.find(']').filter(|end| (1..=LONGEST_NAME).contains(end))
        && inner[end + 1..].starts_with([' ', '\t'])
        && !inner[..end].contains(['=', '['])
    {
        let is_time = time(&inner[..end]).is_some();
        return made(if is_time { Kind::Time } else { Kind::Bracket }, &inner[..end], end + 2);
    }
    let after = bare[word.len()..].trim_start_matches(' ');
    let is_name = !word.is_empty()
        && word.len() <= LONGEST_NAME
        && word.starts_with(|c: char| c.is_ascii_alphanumeric())
        && word.contains(|c: char| c.is_ascii_alphabetic())
        && word.bytes().all(|b| b.is_ascii_alphanumeric() || b"._-/".contains(&b));
    if let Some(rest) = after.strip_prefix('|').filter(|_| is_name)
        && (rest.is_empty() || rest.starts_with(' '))
    {
        return made(Kind::Bar, word, bare.len() - rest.len());
    }
    let mut parts = bare.splitn(3, '\t');
    if let (Some(job), Some(step), Some(rest)) = (parts.next(), parts.next(), parts.next())
        && time(rest.trim_start_matches('\u{feff}')).is_some()
    {
        return made(Kind::Step, "", job.len() + step.len() + 1);
    }
    (is_further && !word.is_empty() && word.len() < bare.len()).then_some(())?;
    made(Kind::Word, word, word.len())
}

/// The length of a time at the beginning: `2026-01-02T03:04:05.678Z`, `2026/01/02 03:04:05`, `03:04:05`, `Jan  2 03:04:05`.
fn time(text: &str) -> Option<usize> {
    const MONTHS: [&str; 12] =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let shaped = |text: &str, shape: &str| {
        let fits = |(byte, want): (u8, u8)| match want {
            b'0' => byte.is_ascii_digit(),
            b'-' => byte == b'-' || byte == b'/',
            b'_' => byte == b' ' || byte.is_ascii_digit(),
            _ => byte == want || (want == b'T' && byte == b' '),
        };
        text.len() >= shape.len() && text.bytes().zip(shape.bytes()).all(fits)
    };
    let date = if shaped(text, "0000-00-00T00:00:00") {
        11
    } else if MONTHS.iter().any(|month| text.starts_with(month)) && shaped(&text[3..], " _0 00:00:00") {
        7
    } else {
        0
    };
    let clock = &text[date..];
    if !shaped(clock, "00:00:00") {
        return None;
    }
    let mut rest = &clock[8..];
    if let Some(fraction) = rest.strip_prefix(['.', ',']) {
        rest = fraction.trim_start_matches(|c: char| c.is_ascii_digit());
    }
    rest = rest.strip_prefix('Z').unwrap_or(rest);
    if ["+00:00", "-00:00"]
        .iter()
        .any(|shape| rest.starts_with(['+', '-']) && shaped(&rest[1..], &shape[1..]))
    {
        rest = &rest[6..];
    } else if rest.starts_with(['+', '-']) && shaped(&rest[1..], "0000") {
        rest = &rest[5..];
    }
    (rest.is_empty() || rest.starts_with([' ', '\t', ']'])).then_some(text.len() - rest.len())
}

#[cfg(test)]
mod tests {
    use super::without;

    /// The lines of a report, each with what a collector puts before it.
    fn collected(before: impl Fn(usize) -> String) -> String {
        let lines = ["Running 1s test @ http://h/", "  2 threads", "", "Requests/sec:  5.00"];
        lines.iter().enumerate().map(|(i, line)| format!("{}{line}\n", before(i))).collect()
    }

    #[test]
    fn every_collector() {
        let bare = collected(|_| String::new());
        for before in [
            "bench-1  | ",
            "2026-01-02T03:04:05.678Z ",
            "2026-01-02T03:04:05.678901234Z stdout F ",
            "2026-01-02 03:04:05,678 INFO ",
            "2026/01/02 03:04:05 ",
            "[2026-01-02T03:04:05.678Z] ",
            "[03:04:05] ",
            "[bench] ",
            "[pod/bench-x/wrk] ",
            "Jan  2 03:04:05 host wrk[123]: ",
            "2026-01-02T03:04:05+00:00 app[web.1]: ",
            "03:04:05 wrk.1   | ",
            "bench-1  | 2026-01-02T03:04:05.678Z ",
            "build\trun wrk\t2026-01-02T03:04:05.678Z ",
            "    bench-1  | ",
            "          build\tx\t03:04:05 ",
            "> ",
            ">> ",
            "> > ",
            "# ",
            "  // ",
            "-- ",
            "; ",
        ] {
            assert_eq!(without(&collected(|_| before.to_owned())), bare, "{before:?}");
        }
        let ticking = collected(|i| format!("2026-01-02T03:04:0{i}.{i}Z "));
        assert_eq!(without(&format!("before\n{ticking}after\n")), format!("before\n{bare}after\n"));
    }

    #[test]
    fn lines_of_several_containers_are_put_together() {
        let text = "a-1  | one\nb-22 | uno\na-1  | two words of four or five\nb-22 | dos\nb-22 | tres\na-1  | three\n";
        let expected = "\n# a-1\n\none\ntwo words of four or five\nthree\n\n# b-22\n\nuno\ndos\ntres\n";
        assert_eq!(without(text), expected);
        let of_pods =
            |line: &str| line.replace("a-1  |", "[pod/a-1]").replace("b-22 |", "[pod/b-22/x] 03:04:05");
        let expected = expected.replace("# a-1", "# pod/a-1").replace("# b-22", "# pod/b-22/x");
        assert_eq!(without(&of_pods(text)), expected);
        let one = "a-1  | one two three four five\nb-1  | x\na-1  | two\na-1  | three\na-1 | 4\na-1 | 5\n";
        assert_eq!(
            without(one),
            "one two three four five\ntwo\nthree\n4\n5\nx\n",
            "a single line is no report's"
        );
    }

    #[test]
    fn what_is_no_prefix_stays() {
        for text in [
            "",
            "a | b\n1 | 2\n",
            "go   | 100 requests in 1 s\nrust | 200 requests in 1 s\nnode | 300 requests in 1 s\n",
            "name | requests/s\n--- | ---\ngo | 1\ngo | 2\ngo | 3\n",
            "  [200]\t10 responses\n  [404]\t1 responses\n  [500]\t1 responses\n",
            "[info] a\n[warn] b\n[info] c\n[warn] d\n[info] e\n[warn] f\n",
            "progress: 10% done\nprogress: 20% done\nprogress: 30% done\n",
            "Jan\nJan\nJan\n",
            "# One\n# Two\n# Three\n",
            "# a   b\n## c   d\n# e   f\n",
            "#1   a\n#2   b\n#3   c\n",
            "12:00:00 one\ntwo\n12:00:01 three\n",
            "| 2026-01-02 | 5 |\n| 2026-01-03 | 5 |\n| 2026-01-04 | 5 |\n",
        ] {
            assert_eq!(without(text), text);
        }
    }
}
