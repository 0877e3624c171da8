//! The bar chart in the style of the first web page whose benchmark drome reproduced: a name, a figure, and one ■ for every so many
//! requests/s.

use crate::text_style::{TextStyle, shortened};
use model::findings::CellFindings;
use unicode_width::UnicodeWidthStr;

/// The scale of the original page's chart, in requests/s: one ■ = 5 requests/s, rounded down.
pub const PAGE_UNIT: f64 = 5.0;

/// The length of the longest bar in characters, as on the original page.
const LONGEST: f64 = 70.0;

/// The width of the column of names on the original page, in characters.
const NAME_WIDTH: usize = 27;

/// The minimum room for bars, in characters; shorter bars would show nothing.
const SHORTEST: usize = 8;

/// One line per bar, in the given order. `unit`: requests/s per ■.
pub fn chart(bars: &[(String, f64)], unit: f64) -> String {
    // The original page's figures have at most five characters; larger ones stay aligned too.
    let width = figure_width(bars);
    let line = |(name, rate): &(String, f64)| {
        let name = TextStyle::default().words(name).replace('\n', " ");
        let bar = "■".repeat((rate / unit) as usize);
        format!("{name:>NAME_WIDTH$}: {rate:width$.1} {bar}").trim_end().to_owned() + "\n"
    };
    bars.iter().map(line).collect()
}

fn figure_width(bars: &[(String, f64)]) -> usize {
    bars.iter().map(|(_, rate)| format!("{rate:.1}").len()).fold(5, usize::max)
}

/// The scale of a chart, in requests/s per ■: the smallest of 5, 10, 20, 50, 100, … that keeps the longest bar within the width of the
/// original page.
pub fn unit(bars: &[(String, f64)]) -> f64 {
    unit_within(bars, LONGEST)
}

fn unit_within(bars: &[(String, f64)], longest: f64) -> f64 {
    let most = bars.iter().map(|(_, rate)| *rate).fold(0.0, f64::max);
    let steps = (0..12).flat_map(|power| [5.0, 10.0, 20.0].map(|step| step * 10_f64.powi(power)));
    steps.into_iter().find(|unit| most / unit <= longest + 1.0).unwrap_or(most)
}

/// The bars of a cell. None under open load, where every server that keeps up has the same rate.
pub(crate) fn of_cell(cell: &CellFindings) -> Vec<(String, f64)> {
    if cell.load.rate_per_s().is_some() {
        return Vec::new();
    }
    let bar = |c: &model::findings::ContenderFindings| Some((c.title.clone(), c.rate_per_s?.median));
    cell.contenders.iter().filter_map(bar).collect()
}

/// A chart with its scale, at most `columns` wide. Names that leave no room for bars are shortened.
pub fn within(mut bars: Vec<(String, f64)>, columns: Option<usize>) -> String {
    let mut longest = LONGEST;
    if let Some(columns) = columns {
        let names = bars.iter().map(|(name, _)| name.width()).fold(NAME_WIDTH, usize::max);
        // A colon and two blanks.
        let room = columns.saturating_sub(figure_width(&bars) + 3);
        let name_width = names.min(room.saturating_sub(SHORTEST)).max(NAME_WIDTH.min(room / 2));
        for (name, _) in &mut bars {
            *name = shortened(name, name_width, "…");
        }
        longest = longest.min(room.saturating_sub(name_width.max(NAME_WIDTH)) as f64 - 1.0).max(1.0);
    }
    let unit = unit_within(&bars, longest);
    format!("one ■ = {unit} requests/s\n{}", chart(&bars, unit))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pages_own_bars() {
        let bars = [("Nginx".to_owned(), 351.49), ("Perl/Mojolicious".to_owned(), 17.63)];
        assert_eq!(unit(&bars), PAGE_UNIT);
        let expected = format!(
            "                      Nginx: 351.5 {}\n           Perl/Mojolicious:  17.6 ■■■\n",
            "■".repeat(70)
        );
        assert_eq!(chart(&bars, PAGE_UNIT), expected);
    }

    #[test]
    fn the_unit_grows_with_the_figures() {
        let unit_for = |rate: f64| unit(&[("x".to_owned(), rate)]);
        assert_eq!([1.0, 400.0, 1000.0, 34_000.0, 1e9].map(unit_for), [5.0, 10.0, 20.0, 500.0, 20_000_000.0]);
    }
}
