//! Draws the viewer's screen, whatever the size of the terminal.

use super::bars;
use super::state::LiveState;
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Modifier, Style};
use ratatui::symbols;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, LineGauge, Paragraph, Sparkline};
use report::units;

/// The width of the widest line of percentiles.
const SIDE_WIDTH: u16 = 30;

/// The widths of a bar's longest label and of its share.
const LABEL_WIDTH: usize = 17;
const SHARE_WIDTH: usize = 8;

/// Draws everything.
pub fn draw(frame: &mut Frame, state: &LiveState) {
    let [head, progress, upper, lower, foot] = Layout::vertical([
        Constraint::Length(2),
        Constraint::Length(1),
        Constraint::Length(10),
        Constraint::Min(3),
        Constraint::Length(1),
    ])
    .areas(frame.area());
    let side = [Constraint::Min(10), Constraint::Length(SIDE_WIDTH)];
    let [chart, percentiles] = Layout::horizontal(side).areas(upper);
    let lines = [Line::from(state.url.as_str()).style(bold()), Line::from(state.load.as_str())];
    frame.render_widget(Paragraph::new(lines.to_vec()), head);
    let gauge = LineGauge::default().ratio(state.done).label(state.progress.as_str());
    frame.render_widget(gauge.filled_symbol(symbols::line::THICK_HORIZONTAL), progress);
    draw_rates(frame, state, chart);
    draw_percentiles(frame, state, percentiles);
    if state.sum.tally.error_causes.is_empty() {
        draw_histogram(frame, state, lower);
    } else {
        let [histogram, errors] = Layout::horizontal([Constraint::Fill(1), Constraint::Fill(1)]).areas(lower);
        draw_histogram(frame, state, histogram);
        draw_errors(frame, state, errors);
    }
    frame.render_widget(Paragraph::new(foot_line(state)), foot);
}

fn draw_rates(frame: &mut Frame, state: &LiveState, area: Rect) {
    let rate = |rate| units::known(rate, |rate| format!("{}/s", units::rate(rate)));
    let block = Block::bordered().title(format!(
        " requests: {} now, {} on average ",
        rate(state.rate_now()),
        rate(state.rate_mean())
    ));
    let inner = block.inner(area);
    let first = state.rates.len().saturating_sub(inner.width.into());
    let points = state.rates.iter().skip(first).map(|rate| rate.round() as u64);
    frame.render_widget(Sparkline::default().data(points).block(block), area);
}

fn draw_percentiles(frame: &mut Frame, state: &LiveState, area: Rect) {
    let time = |ns: Option<f64>| units::known(ns, units::duration);
    let quantile = |p| state.sum.tally.latency.quantile_ns(p).map(|ns| ns as f64);
    let figures = [
        ("min", state.sum.tally.latency.min_ns().map(|ns| ns as f64)),
        ("mean", state.sum.tally.latency.mean_ns()),
        ("p50", quantile(0.5)),
        ("p90", quantile(0.9)),
        ("p99", quantile(0.99)),
        ("p999", quantile(0.999)),
        ("p9999", quantile(0.9999)),
        ("max", state.sum.tally.latency.max_ns().map(|ns| ns as f64)),
    ];
    let line = |(name, ns): (&str, Option<f64>)| Line::from(format!("{name:<8}{:>18}", time(ns)));
    let lines: Vec<Line> = figures.into_iter().map(line).collect();
    let title = match state.sum.tally.unanswered {
        0 => " latency so far ".to_owned(),
        n => format!(" latency so far; {} timed out ", units::count(n)),
    };
    frame.render_widget(Paragraph::new(lines).block(Block::bordered().title(title)), area);
}

fn draw_histogram(frame: &mut Frame, state: &LiveState, area: Rect) {
    let block = Block::bordered().title(" latency histogram ");
    let inner = block.inner(area);
    let rows = bars::rows(&state.sum.tally.latency, inner.height.into());
    let most = rows.iter().map(|row| row.share).fold(f64::MIN_POSITIVE, f64::max);
    let width = usize::from(inner.width).saturating_sub(LABEL_WIDTH + 1 + SHARE_WIDTH);
    let line = |row: &bars::Row| {
        let label = format!("{} – {}", edge(row.from_ns), edge(row.to_ns));
        let bar = "█".repeat((row.share / most * width as f64).round() as usize);
        Line::from(vec![
            Span::raw(format!("{label:>LABEL_WIDTH$} ")),
            Span::raw(format!("{bar:<width$}")).style(Modifier::DIM),
            Span::raw(format!("{:>SHARE_WIDTH$}", format!("{:.2} %", row.share * 100.0))),
        ])
    };
    let lines: Vec<Line> = rows.iter().map(line).collect();
    frame.render_widget(Paragraph::new(lines).block(block), area);
}

/// An edge of a row, which is a round number.
fn edge(ns: u64) -> String {
    match ns {
        0..1_000 => format!("{ns} ns"),
        1_000..1_000_000 => format!("{} µs", ns / 1_000),
        1_000_000..1_000_000_000 => format!("{} ms", ns / 1_000_000),
        _ => format!("{} s", ns / 1_000_000_000),
    }
}

fn draw_errors(frame: &mut Frame, state: &LiveState, area: Rect) {
    let block =
        Block::bordered().title(format!(" errors: {} ", units::count(state.sum.tally.errors.total())));
    let mut causes: Vec<_> = state.sum.tally.error_causes.iter().collect();
    causes.sort_by_key(|(_, n)| std::cmp::Reverse(**n));
    let lines: Vec<Line> =
        causes.into_iter().map(|(cause, n)| Line::from(format!("{}× {cause}", units::count(*n)))).collect();
    frame.render_widget(Paragraph::new(lines).block(block), area);
}

fn foot_line(state: &LiveState) -> Line<'static> {
    let open = units::known(state.sum.connections_open, |n| n.to_string());
    let client = units::known(state.client_core_use, units::percent);
    let server = units::known(state.server_core_use, units::percent);
    let memory =
        state.server_rss_bytes.map_or_else(String::new, |n| format!(" ({})", units::bytes(n as f64)));
    let figures = format!("cores in use: client {client}, server {server}{memory}   {open} connections");
    Line::from(vec![Span::raw(figures), Span::raw("   q stops").style(Modifier::DIM)])
}

fn bold() -> Style {
    Style::new().add_modifier(Modifier::BOLD)
}

#[cfg(test)]
mod tests {
    use super::super::state::tests::{interval, state};
    use super::*;
    use model::Errors;
    use ratatui::Terminal;
    use ratatui::backend::TestBackend;
    use std::time::Duration;

    fn screen(state: &LiveState, width: u16, height: u16) -> String {
        let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
        terminal.draw(|frame| draw(frame, state)).unwrap();
        terminal.backend().to_string()
    }

    fn under_way() -> LiveState {
        let mut state = state();
        for i in 1..=20 {
            state.take(&[interval(1000 + i * 100, 90_000), interval(1000, 90_000)]);
        }
        (state.server_core_use, state.server_rss_bytes) = (Some(0.973), Some(12_300_000));
        state.tick(Duration::from_secs(6));
        state
    }

    #[test]
    fn before_anything_is_known() {
        let mut state = state();
        state.tick(Duration::from_millis(200));
        insta::assert_snapshot!(screen(&state, 80, 24));
    }

    #[test]
    fn a_measurement_under_way() {
        insta::assert_snapshot!(screen(&under_way(), 80, 24));
    }

    #[test]
    fn errors_by_cause() {
        let mut state = under_way();
        let mut failed = interval(0, 1);
        failed.errors_by_kind = Errors { receive: 5, status: 1200, ..Errors::default() };
        failed.error_causes.insert("receive: Connection reset by peer (os error 104)".to_owned(), 5);
        failed.error_causes.insert("status: 503 was not expected".to_owned(), 1200);
        state.take(&[failed]);
        insta::assert_snapshot!(screen(&state, 100, 30));
    }

    #[test]
    fn no_terminal_is_too_small() {
        let state = under_way();
        for (width, height) in [(1, 1), (5, 3), (20, 8), (40, 12), (79, 15), (300, 100)] {
            assert!(!screen(&state, width, height).is_empty());
        }
    }
}
