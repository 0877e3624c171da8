//! How many pairs of contenders does a run decide, by how far they are apart? Reads what `drome report RUN --format json` prints, fits the
//! model of heats at the level of one cell (also to a first look, which gives no ranks), and prints, for each cell and for pairs of each class, how many are decided or equal, and
//! the median half-width of the interval that decides. Of several runs, each is compared with the one before it: how many pairs are
//! decided in both, and how many of these one way and then the other.
//!
//! `cargo run --release -p drome-lab --example decided -- FINDINGS.json...`

#![allow(clippy::unwrap_used, reason = "an example may panic")]

use model::Findings;
use model::contender::Class;
use model::findings::{CellFindings, ContenderFindings, Unranked};
use model::heat::HUB;
use stats::heats::{Best, Fit, FitEntrant, FitRules, FitStart, LEVEL, Pair, Relation};
use std::collections::BTreeMap;

/// The distances, as ratios less one, between which pairs are counted together.
const APART: [f64; 6] = [0.0, 0.02, 0.05, 0.15, 0.5, f64::INFINITY];

const CLASSES: [Class; 4] = [Class::Native, Class::Managed, Class::Jit, Class::Prefork];

fn class(c: &ContenderFindings) -> Class {
    c.in_heats.class.unwrap_or(Class::Managed)
}

/// All pairs of the classes, by their contenders' names, with each one's comparison.
fn pairs(cell: &CellFindings, of: &[Class]) -> Vec<((String, String), Pair)> {
    let in_heats = &cell.in_heats;
    let contenders = &cell.contenders;
    let index = |name: &str| match name {
        HUB => Some(contenders.len()),
        name => contenders.iter().position(|c| c.name == name),
    };
    let start = |s: &model::findings::StartFigure| {
        let heat = s.round * 1_000 + s.heat;
        Some(FitStart { contender: index(&s.contender)?, heat, log_figure: s.figure.ln() })
    };
    let starts: Vec<FitStart> = in_heats.starts.iter().filter_map(start).collect();
    let number = |class: Class| CLASSES.iter().position(|c| *c == class).unwrap();
    let entrant = |c: &ContenderFindings| FitEntrant {
        class: number(class(c)),
        is_ranked: matches!(c.in_heats.unranked, None | Some(Unranked::FirstLook)),
        is_floor: c.is_held_back(),
    };
    let hub = FitEntrant { class: number(Class::Native), is_ranked: false, is_floor: false };
    let entrants: Vec<FitEntrant> = contenders.iter().map(entrant).chain([hub]).collect();
    let best = if cell.metric.is_better_higher() { Best::Highest } else { Best::Lowest };
    let has_hub = starts.iter().any(|s| s.contender == contenders.len());
    let rules = FitRules { hub: has_hub.then_some(contenders.len()), best, chance: LEVEL };
    let fit = Fit::new(&entrants, &starts, &rules);
    let own: Vec<usize> = (0..contenders.len())
        .filter(|c| of.contains(&class(&contenders[*c])) && entrants[*c].is_ranked && !entrants[*c].is_floor)
        .collect();
    let all = own.iter().enumerate().flat_map(|(i, a)| own[i + 1..].iter().map(move |b| (*a, *b)));
    let name = |index: usize| contenders[index].name.clone();
    all.filter_map(|(a, b)| Some(((name(a), name(b)), fit.pair(a, b)?))).collect()
}

/// The pairs of a cell that are decided, by their contenders' names, with the better one.
fn decided(cell: &CellFindings) -> BTreeMap<(String, String), String> {
    let better = |((a, b), pair): ((String, String), Pair)| {
        let is_first = match pair.relation {
            Relation::Better => true,
            Relation::Worse => false,
            _ => return None,
        };
        let better = if is_first { a.clone() } else { b.clone() };
        // A later run may list its contenders in another order.
        Some((if a < b { (a, b) } else { (b, a) }, better))
    };
    pairs(cell, &CLASSES).into_iter().filter_map(better).collect()
}

/// Prints the pairs that two runs decide.
fn compare(then: &Findings, now: &Findings) {
    for cell in &now.cells {
        let Some(earlier) = then.cells.iter().find(|c| c.title == cell.title) else { continue };
        let (earlier, later) = (decided(earlier), decided(cell));
        let both = || later.iter().filter_map(|(pair, better)| Some((better, earlier.get(pair)?)));
        let turned = both().filter(|(now, then)| now != then).count();
        println!(
            "{}: {} pairs are decided in both runs, {turned} one way and then the other",
            cell.title,
            both().count()
        );
    }
}

fn row(pairs: &[&Pair]) -> String {
    let count = |wanted: &[Relation]| pairs.iter().filter(|pair| wanted.contains(&pair.relation)).count();
    let decided = count(&[Relation::Better, Relation::Worse]);
    let mut halves: Vec<f64> = pairs.iter().map(|pair| pair.sure_half_width()).collect();
    halves.sort_by(f64::total_cmp);
    let half = halves.get(halves.len() / 2).map_or("–".to_owned(), |half| format!("{:.1} %", 100.0 * half));
    format!("{} | {decided} | {} | {half}", pairs.len(), count(&[Relation::Equal]))
}

fn main() {
    let mut before: Option<Findings> = None;
    for file in std::env::args_os().skip(1) {
        let findings: Findings = serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
        println!(
            "{}\n\n| cell | class | apart | pairs | decided | equal | half-width, median |",
            file.display()
        );
        println!("| --- | --- | --- | ---: | ---: | ---: | ---: |");
        for cell in &findings.cells {
            for class in CLASSES {
                let all: Vec<Pair> = pairs(cell, &[class]).into_iter().map(|(_, pair)| pair).collect();
                for between in APART.windows(2) {
                    let apart = |pair: &&Pair| pair.ratio.ln().abs().exp_m1();
                    let own: Vec<&Pair> =
                        all.iter().filter(|p| (between[0]..between[1]).contains(&apart(p))).collect();
                    if !own.is_empty() {
                        let [low, high] = [between[0], between[1]].map(|share| 100.0 * share);
                        println!("| {} | {class:?} | {low:.0} to {high:.0} % | {} |", cell.title, row(&own));
                    }
                }
            }
        }
        println!();
        if let Some(before) = &before {
            compare(before, &findings);
        }
        before = Some(findings);
    }
}
