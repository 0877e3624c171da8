//! The figures that a study's page published, each beside the same figure measured here.

use crate::table::Table;
use crate::units;
use model::findings::{CellFindings, ContenderFindings};
use model::{Findings, Metric};

/// One figure of the page and the same figure measured here, for all contenders that have both.
pub(crate) struct Comparison<'f> {
    pub kind: Kind,
    /// In the order of the page.
    pub rows: Vec<Compared<'f>>,
}

/// What is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Throughput.
    Rate,
    /// Throughput under open load. Every server that keeps up reaches the offered rate, so this gives no ranking.
    OfferedRate,
    /// The mean latency, in nanoseconds.
    LatencyMean,
}

/// A contender with both figures.
pub(crate) struct Compared<'f> {
    pub title: &'f str,
    pub published: f64,
    pub measured: f64,
    is_floor: bool,
    /// The range of ranks in the cell, if the measured figure is the one that ranks it.
    ranks: Option<(usize, usize)>,
}

/// All comparisons between the page and this machine in a cell: throughput, and under open load latency as well.
pub(crate) fn comparisons<'f>(f: &'f Findings, cell: &'f CellFindings) -> Vec<Comparison<'f>> {
    let is_open = cell.load.rate_per_s().is_some();
    let kinds = if is_open { &[Kind::OfferedRate, Kind::LatencyMean][..] } else { &[Kind::Rate] };
    let of = |kind: &Kind| Comparison { kind: *kind, rows: rows(f, cell, *kind) };
    kinds.iter().map(of).filter(|one| !one.rows.is_empty()).collect()
}

fn rows<'f>(f: &'f Findings, cell: &'f CellFindings, kind: Kind) -> Vec<Compared<'f>> {
    let details = f.page.as_ref().and_then(|page| page.details.get(&cell.title));
    let both = |c: &'f ContenderFindings| match kind {
        Kind::Rate | Kind::OfferedRate => Some((c.published?, c.rate_per_s?.median, c.is_held_back())),
        Kind::LatencyMean => {
            let published_ms = details?.get(&c.name)?.get("latency_mean_ms")?;
            Some((published_ms * 1e6, c.latency_ns_mean?.median, false))
        }
    };
    let is_known = |(then, now, _): &(f64, f64, bool)| then.is_finite() && now.is_finite();
    let row = |c: &'f ContenderFindings| {
        let (published, measured, is_floor) = both(c).filter(is_known)?;
        let ranks = c.rank_low.zip(c.rank_high).filter(|_| kind == Kind::Rate && cell.metric == Metric::Rate);
        Some(Compared { title: &c.title, published, measured, is_floor, ranks })
    };
    let mut rows: Vec<Compared> = cell.contenders.iter().filter_map(row).collect();
    rows.sort_by(|a, b| kind.order(a.published, b.published));
    rows
}

impl Kind {
    /// The suffix to the cell's title.
    pub(crate) fn words(self) -> &'static str {
        match self {
            Self::Rate => "",
            Self::OfferedRate => ", requests/s",
            Self::LatencyMean => ", mean latency",
        }
    }

    /// Puts the better value first.
    fn order(self, a: f64, b: f64) -> std::cmp::Ordering {
        if self == Self::LatencyMean { a.total_cmp(&b) } else { b.total_cmp(&a) }
    }

    fn shown(self, value: f64) -> String {
        if self == Self::LatencyMean { units::duration(value) } else { units::rate(value) }
    }
}

impl Comparison<'_> {
    /// Whether this figure gives a ranking.
    pub(crate) fn is_ranked(&self) -> bool {
        self.kind != Kind::OfferedRate
    }

    /// The figures then and now and, if it gives a ranking, the ranks then and now.
    pub(crate) fn table(&self) -> Table {
        let floor = |row: &Compared| if row.is_floor { "≥ " } else { "" };
        let then = |row: &Compared| match self.kind {
            Kind::LatencyMean => units::duration(row.published),
            Kind::Rate | Kind::OfferedRate => format!("{:.1}", row.published),
        };
        let ratio = |row: &Compared| units::times(row.measured / row.published);
        let table = Table::of(&self.rows)
            .text("contender", |row| row.title.to_owned())
            .number("published", then)
            .number("measured", |row| format!("{}{}", floor(row), self.kind.shown(row.measured)))
            .number("ratio", |row| format!("{}{}", floor(row), ratio(row)));
        if !self.is_ranked() {
            return table.table();
        }
        table
            .number("rank then", |row| self.rank(|r| r.published, row))
            .number("rank now", |row| self.rank(|r| r.measured, row))
            .table()
    }

    /// The rank: one more than the number of better ones.
    fn rank(&self, of: impl Fn(&Compared<'_>) -> f64, own: &Compared<'_>) -> String {
        let is_better = |r: &&Compared<'_>| self.kind.order(of(r), of(own)).is_lt();
        (1 + self.rows.iter().filter(is_better).count()).to_string()
    }

    /// How well the two rankings agree, and what their order does not say.
    pub(crate) fn agreement(&self) -> String {
        if !self.is_ranked() {
            return OFFERED.to_owned();
        }
        let words = words(&self.rows.iter().map(|r| (r.published, r.measured)).collect::<Vec<_>>());
        if self.rows.len() >= LEAST_ORDER && self.has_overlap() {
            format!("{words} {OVERLAP}")
        } else {
            words
        }
    }

    /// Whether the measured ranks of two contenders overlap.
    fn has_overlap(&self) -> bool {
        let ranks: Vec<(usize, usize)> = self.rows.iter().filter_map(|row| row.ranks).collect();
        let overlap =
            |i: usize, (low, high): (usize, usize)| ranks[..i].iter().any(|r| r.0 <= high && low <= r.1);
        ranks.iter().enumerate().any(|(i, own)| overlap(i, *own))
    }
}

/// Printed in place of the agreement of two rankings.
const OFFERED: &str =
    "This is the offered rate. Every server that keeps up reaches it, so it gives no ranking.";

/// Printed after the agreement of two rankings, where ranks overlap.
const OVERLAP: &str =
    "The measured ranks follow the estimates; where ranges of ranks overlap, their order may be chance.";

/// The least number of figures to compare two rankings: two figures agree by chance half of the time.
const LEAST_ORDER: usize = 3;

/// How well the two rankings agree. `pairs`: the published and the measured figure of each contender.
pub fn words(pairs: &[(f64, f64)]) -> String {
    match stats::kendall::tau(pairs).filter(|_| pairs.len() >= LEAST_ORDER) {
        Some(tau) => {
            format!(
                "The agreement of the two rankings is Kendall's τ = {tau:.2} (1: same order, −1: reversed) over {} contenders.",
                pairs.len()
            )
        }
        None => "There are too few figures to compare the two rankings.".to_owned(),
    }
}
