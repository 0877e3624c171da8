//! Reads tables of figures that people wrote: each row, or each column, becomes a reading. A table has figures if the heading of a column
//! or row names a figure, or if a row of nothing but numbers is below names. All other tables are ignored.

mod metric;
mod rate;

pub(crate) use metric::of_heading;

use crate::text::lines::{lines, plain};
use crate::text::units::{has_decimal_comma, has_decimal_point, split};
use metric::{Kind, Metric};
use model::Reading;
use std::collections::BTreeSet;
use std::ops::Range;

/// The tool's name of a reading from a table.
pub const TOOL: &str = "table";

/// The longest row and the longest table. Anything longer is data, not a page's table.
const LONGEST_ROW: usize = 4000;
const MOST_ROWS: usize = 2000;

/// A table of figures.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// Where it begins and ends, in bytes.
    pub at: Range<usize>,
    /// One reading per contender, with the cells that are not understood.
    pub readings: Vec<(Reading, Vec<String>)>,
    /// Columns, or rows, that are not understood.
    pub strange: Vec<String>,
    /// Whether its figures have no heading, so that only the page's text says what they are.
    pub is_bare: bool,
}

/// The name of the figures in a table without headings, until the page's text names them.
pub const BARE: &str = "figure";

/// All tables of figures in a text.
pub fn tables(text: &str) -> Vec<Table> {
    let mut all = Vec::new();
    let mut rows: Vec<Vec<&str>> = Vec::new();
    let (mut from, mut to) = (0, 0);
    for line in lines(text) {
        let is_row = !line.is_code && line.text.len() <= LONGEST_ROW && is_row(line.text);
        if is_row && rows.len() < MOST_ROWS {
            if rows.is_empty() {
                from = line.at;
            }
            to = line.at + line.text.len();
            rows.push(cells(line.text));
        } else if !rows.is_empty() {
            all.extend(table(&std::mem::take(&mut rows), from..to));
        }
    }
    all.extend(table(&rows, from..to));
    all
}

fn is_row(line: &str) -> bool {
    let bars = line.bytes().filter(|byte| *byte == b'|').count();
    bars >= 2 || (bars == 1 && line.trim().contains(" | "))
}

/// The cells of a row; a bar after a backslash is part of its cell.
fn cells(line: &str) -> Vec<&str> {
    let bare = line.trim();
    let bare = bare.strip_prefix('|').unwrap_or(bare);
    let bare = bare.strip_suffix('|').unwrap_or(bare);
    let mut cells = Vec::new();
    let mut from = 0;
    for (at, _) in bare.match_indices('|') {
        if !bare[..at].ends_with('\\') {
            cells.push(bare[from..at].trim());
            from = at + 1;
        }
    }
    cells.push(bare[from..].trim());
    cells
}

fn is_rule(row: &[&str]) -> bool {
    row.iter().all(|cell| cell.contains('-') && cell.chars().all(|c| c == '-' || c == ':'))
}

fn table(rows: &[Vec<&str>], at: Range<usize>) -> Option<Table> {
    let rows: Vec<&Vec<&str>> = rows.iter().filter(|row| !is_rule(row)).collect();
    let (head, rows) = rows.split_first().filter(|(head, rows)| !rows.is_empty() && head.len() > 1)?;
    let found = by_columns(head, rows).or_else(|| by_rows(head, rows)).or_else(|| bare(head, rows));
    let found = found.or_else(|| unread(head, rows))?;
    Some(Table { at, ..found })
}

/// A table with figures of which none is understood: it has a column of nothing but numbers beside names, or a heading that names a
/// figure.
fn unread(head: &[&str], rows: &[&Vec<&str>]) -> Option<Table> {
    let is_number = |cell: &&str| split(cell).is_some();
    let has_names = rows.iter().all(|row| row.first().is_some_and(|cell| !is_number(cell)));
    let numbers = |column: usize| rows.iter().all(|row| row.get(column).is_some_and(is_number));
    let has_numbers = (1..head.len()).any(numbers);
    let is_one = has_numbers && (has_names || head.iter().any(|head| names_result(head)));
    let heads = || head.iter().map(|head| plain(head)).filter(|head| !head.is_empty());
    let has_words = heads().all(|head| head.contains(char::is_alphabetic));
    (is_one && has_words).then(|| {
        let strange = vec![format!("no row of figures in it ({})", heads().collect::<Vec<_>>().join(", "))];
        Table { strange, ..Table::default() }
    })
}

/// Reads a table with one row per contender: the headings name the columns' figures.
fn by_columns(head: &[&str], rows: &[&Vec<&str>]) -> Option<Table> {
    let metrics: Vec<Option<Metric>> = head.iter().map(|head| metric::of_head(head)).collect();
    if !metrics.iter().flatten().any(is_result) {
        return None;
    }
    let is_number =
        |column: usize| rows.iter().all(|row| row.get(column).is_some_and(|cell| split(cell).is_some()));
    let has_commas = has_commas(rows);
    // Columns such as ranks may precede the names.
    let name = (0..head.len()).find(|column| metrics[*column].is_none() && !is_number(*column))?;
    let metrics = named_once(metrics);
    let mut table = Table { strange: not_understood(head, &metrics, Some(name)), ..Table::default() };
    for row in rows {
        let cell = |column: usize| row.get(column).copied().unwrap_or_default();
        let columns = head.iter().zip(&metrics).enumerate();
        let cells = columns.filter_map(|(i, (head, metric))| Some((*head, metric.as_ref().ok()?, cell(i))));
        table.add(reading(cell(name), cells, has_commas));
    }
    table.has_figures().then_some(table)
}

/// Reads a table with one column per contender: the first cell of a row names its figure.
fn by_rows(head: &[&str], rows: &[&Vec<&str>]) -> Option<Table> {
    let heads: Vec<&str> = rows.iter().map(|row| row.first().copied().unwrap_or_default()).collect();
    let metrics: Vec<Option<Metric>> = heads.iter().map(|head| metric::of_head(head)).collect();
    if !metrics.iter().flatten().any(is_result) {
        return None;
    }
    let has_commas = has_commas(rows);
    let metrics = named_once(metrics);
    let mut table = Table { strange: not_understood(&heads, &metrics, None), ..Table::default() };
    for (column, name) in head.iter().enumerate().skip(1) {
        let all = heads.iter().zip(&metrics).zip(rows);
        let cells = all.filter_map(|((head, metric), row)| {
            Some((*head, metric.as_ref().ok()?, row.get(column).copied().unwrap_or_default()))
        });
        table.add(reading(name, cells, has_commas));
    }
    table.has_figures().then_some(table)
}

/// Why a heading has no figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Without {
    /// It is not understood.
    Meaning,
    /// A heading before it has the same figure.
    Own,
}

/// The headings' figures, each only once.
fn named_once(metrics: Vec<Option<Metric>>) -> Vec<Result<Metric, Without>> {
    let mut names = BTreeSet::new();
    let once = |metric: Option<Metric>| {
        let metric = metric.ok_or(Without::Meaning)?;
        if names.insert(metric.name.clone()) { Ok(metric) } else { Err(Without::Own) }
    };
    metrics.into_iter().map(once).collect()
}

/// The headings without a figure, other than that of the names.
fn not_understood(heads: &[&str], metrics: &[Result<Metric, Without>], name: Option<usize>) -> Vec<String> {
    let all = heads.iter().zip(metrics).enumerate();
    let others = all.filter(|(i, (head, _))| Some(*i) != name && !head.is_empty());
    others
        .filter_map(|(_, (head, metric))| match metric.as_ref().err()? {
            Without::Meaning => Some(plain(head)),
            Without::Own => Some(format!("{} (another of the same figure)", plain(head))),
        })
        .collect()
}

/// Reads names with one row of nothing but numbers below them.
fn bare(head: &[&str], rows: &[&Vec<&str>]) -> Option<Table> {
    let [row] = rows else { return None };
    let is_name =
        |cell: &&str| cell.contains(char::is_alphabetic) && split(cell).is_none() && !names_result(cell);
    let numbers: Vec<f64> = row
        .iter()
        .filter_map(|cell| split(cell))
        .filter(|(_, unit)| unit.is_empty())
        .map(|(n, _)| n)
        .collect();
    if head.len() != row.len() || numbers.len() != row.len() || !head.iter().all(is_name) {
        return None;
    }
    let reading = |(name, value): (&&str, f64)| {
        let mut reading = Reading { title: Some(plain(name)), ..Reading::of(TOOL) };
        reading.set(BARE, value);
        (reading, Vec::new())
    };
    let readings = head.iter().zip(numbers).map(reading).collect();
    Some(Table { at: 0..0, readings, strange: Vec::new(), is_bare: true })
}

impl Table {
    /// Adds a reading, or names it if it has no figure.
    fn add(&mut self, (reading, strange): (Reading, Vec<String>)) {
        if has_any(&reading) || !strange.is_empty() {
            self.readings.push((reading, strange));
        } else if let Some(title) = reading.title {
            self.strange.push(format!("{title} (no figure)"));
        }
    }

    fn has_figures(&self) -> bool {
        self.readings.iter().any(|(reading, _)| has_any(reading))
    }
}

fn has_any(reading: &Reading) -> bool {
    !reading.figures.is_empty() || !reading.below.is_empty()
}

/// Whether a table's numbers have a comma before their decimals, so that a point is between thousands.
fn has_commas(rows: &[&Vec<&str>]) -> bool {
    let any = |is_one: fn(&str) -> bool| rows.iter().copied().flatten().any(|cell| is_one(&plain(cell)));
    any(has_decimal_comma) && !any(has_decimal_point)
}

/// Whether a figure shows that a table has results, and not something else.
fn is_result(metric: &Metric) -> bool {
    matches!(metric.kind, Kind::Rate | Kind::Time)
}

fn names_result(head: &str) -> bool {
    metric::of_head(head).is_some_and(|metric| is_result(&metric))
}

fn reading<'c>(
    name: &str,
    cells: impl Iterator<Item = (&'c str, &'c Metric, &'c str)>,
    has_commas: bool,
) -> (Reading, Vec<String>) {
    let mut reading =
        Reading { title: Some(plain(name)).filter(|name| !name.is_empty()), ..Reading::of(TOOL) };
    let mut strange = Vec::new();
    for (head, metric, cell) in cells {
        match metric.value(cell, has_commas) {
            Ok(None) => {}
            Ok(Some((value, _))) if metric.kind == Kind::Errors => {
                reading.errors.insert(metric.name.clone(), value as u64);
            }
            Ok(Some((value, last_digit))) => {
                reading.set_measured(&metric.name, value, last_digit);
                if let Some(duration_ns) = metric.duration_ns {
                    reading.set("duration_ns", duration_ns);
                }
            }
            Err(why) => strange.push(format!("{}: {} ({why})", plain(head), plain(cell))),
        }
    }
    (reading, strange)
}

#[cfg(test)]
mod tests {
    use super::{BARE, tables};

    #[test]
    fn a_row_a_contender() {
        let text = "x\n| server | Req/Sec(avg) | Transfer/Sec(avg) | Timeout error | Stars |\n|:---:|---|---|---|---|
| **fly** | 996.66 | 359.15KB | 3 | many |\n| a \\| b | 1.04k | 138.28 | - | 3 |\ny | z\n";
        let [table] = &tables(text)[..] else { panic!("{:?}", tables(text)) };
        assert_eq!((&text[table.at.clone()][..8], table.is_bare), ("| server", false));
        assert_eq!(table.strange, ["Stars"]);
        let (fly, strange) = &table.readings[0];
        assert_eq!(
            (fly.title.as_deref(), fly.get("rate_per_s"), strange.len()),
            (Some("fly"), Some(996.66), 0)
        );
        assert_eq!(fly.errors["timeout"], 3);
        let (other, strange) = &table.readings[1];
        assert_eq!((other.get("rate_per_s"), other.get("received_bytes_per_s")), (Some(1040.0), None));
        assert_eq!(strange, &["Transfer/Sec(avg): 138.28 (no unit)"]);
        assert!(other.errors.is_empty(), "unknown is not 0");
    }

    #[test]
    fn a_table_with_decimal_commas_has_points_between_thousands() {
        let rates = |rows: &str| {
            let text = format!("| server | req/s | p50 |\n|---|---|---|\n{rows}");
            let [table] = &tables(&text)[..] else { panic!("{text}") };
            table.readings.iter().map(|(r, _)| r.get("rate_per_s")).collect::<Vec<_>>()
        };
        assert_eq!(rates("| a | 12.345 | 1,5 ms |\n| b | 9,5 | 2 ms |\n"), [Some(12_345.0), Some(9.5)]);
        assert_eq!(rates("| a | 12.345 | 1.5 ms |\n| b | 9.5 | 2 ms |\n"), [Some(12.345), Some(9.5)]);
        assert_eq!(rates("| a | 12,345 | 1.5 ms |\n| b | 950 | 2 ms |\n"), [Some(12_345.0), Some(950.0)]);
    }

    #[test]
    fn a_time_of_0_is_below_the_last_digit() {
        let [table] = &tables("| server | p50 | p99 |\n|---|---|---|\n| a | 0 ms | 0.00 ms |\n")[..] else {
            panic!()
        };
        let reading = &table.readings[0].0;
        assert_eq!((reading.below["latency_ns_p50"], reading.below["latency_ns_p99"]), (1e6, 1e4));
        assert!(reading.figures.is_empty());
    }

    #[test]
    fn a_column_a_contender() {
        let text = "| | nginx | go |\n|---|---|---|\n| Requests/s | 100 | 90 |\n| Latency p99 | 1ms | |\n| mood | good | bad |\n";
        let [table] = &tables(text)[..] else { panic!("{:?}", tables(text)) };
        let figures: Vec<_> = table
            .readings
            .iter()
            .map(|(r, _)| (r.title.as_deref().unwrap(), r.get("latency_ns_p99")))
            .collect();
        assert_eq!(figures, [("nginx", Some(1e6)), ("go", None)]);
        assert_eq!(table.strange, ["mood"]);
    }

    #[test]
    fn each_figure_is_read_once_and_what_is_not_read_is_named() {
        type Case = (&'static str, &'static [Option<f64>], &'static [&'static str]);
        let cases: [Case; 5] = [
            ("| a | req/s | req/s/core |\n|---|---|---|\n| x | 12 | 3 |\n", &[Some(12.0)], &["req/s/core"]),
            (
                "| a | req/s/core | p99 | p99 TLS | req/s |\n|---|---|---|---|---|\n| x | 3 | 1 ms | 2 ms | 12 |\n",
                &[Some(12.0)],
                &["req/s/core", "p99 TLS (another of the same figure)"],
            ),
            ("| a | req/s |\n|---|---|\n| x | 5 |\n| y | n/a |\n", &[Some(5.0)], &["y (no figure)"]),
            ("| a | req/min |\n|---|---|\n| x | 5 |\n", &[], &["no row of figures in it (a, req/min)"]),
            (
                "| Connections | req/s |\n|---|---|\n| 8 | 5 |\n",
                &[],
                &["no row of figures in it (Connections, req/s)"],
            ),
        ];
        for (text, rates, strange) in cases {
            let [table] = &tables(text)[..] else { panic!("{text}") };
            let read: Vec<_> = table.readings.iter().map(|(r, _)| r.get("rate_per_s")).collect();
            assert_eq!(
                (&read[..], &table.strange[..]),
                (rates, &strange.iter().map(|s| (*s).to_owned()).collect::<Vec<_>>()[..]),
                "{text}"
            );
        }
    }

    #[test]
    fn names_over_numbers() {
        let [table] = &tables("The Numbers\nA | B | C+D |\n258 | 7,796 | 85 |\nIt")[..] else { panic!() };
        let figures: Vec<_> =
            table.readings.iter().map(|(r, _)| (r.title.clone().unwrap(), r.get(BARE).unwrap())).collect();
        assert_eq!(figures, [("A".to_owned(), 258.0), ("B".to_owned(), 7796.0), ("C+D".to_owned(), 85.0)]);
        assert!(table.is_bare);
    }

    #[test]
    fn other_tables_are_left_alone() {
        for text in [
            "| option | meaning |\n|---|---|\n| -n | requests |\n",
            "a | b\n1 | x\n",
            "a | b\n1 | 2\n3 | 4\n",
            "2010 | 2011\n1 | 2\n",
            "| server | Req/s |\n|---|---|\n",
            "    | server | Req/s |\n    | x | 1 |\n",
            "ls | wc -l | x\n",
            "|||\n|||\n",
            "|\n|",
        ] {
            assert_eq!(tables(text), [], "{text}");
        }
    }
}
