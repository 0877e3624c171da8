//! The model of heats on the noise of real servers: races that are put together at random from recorded ones.
//!
//! Each file of `recorded/` is a recording: a race of commands, each started twice a heat, of which every start has a line with contender,
//! heat, copy and figure (`lab/examples/starts.rs` writes it). There are two kinds:
//!
//! - Different programs. Each contender is centred over all heats, so that all are equal, and a race of any two draws whole heats. So it has
//!   what the machine of each heat did to one kind of work and not to another.
//! - Equal commands (one contender, four copies). A race draws heats, and in each of them which starts are A's. What differs from heat to heat for
//!   one contender only is not in these.
//!
//! B's figures are then reduced to make it slower.

use rand::RngExt;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use stats::heats::{Best, Fit, FitEntrant, FitRules, FitStart, HEAT_SHARE, LEVEL, Relation, looks};
use stats::random;
use std::collections::BTreeMap;
use std::path::Path;

/// No race goes on for longer; a real one would by then have reached its usual budget.
const MOST_ROUNDS: usize = 32;

const RACES: u64 = 600;

/// The starts of a contender in each heat, as logarithms.
type Heats = Vec<Vec<f64>>;

/// All recordings, by name and contender.
fn recordings() -> BTreeMap<String, BTreeMap<String, Heats>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/simulation/recorded");
    let files = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path());
    let named =
        |file: std::path::PathBuf| (file.file_stem().unwrap().to_str().unwrap().to_owned(), recording(&file));
    files.map(named).collect()
}

fn recording(file: &Path) -> BTreeMap<String, Heats> {
    let mut found: BTreeMap<String, BTreeMap<usize, Vec<f64>>> = BTreeMap::new();
    for line in std::fs::read_to_string(file).unwrap().lines() {
        let [contender, heat, _, figure] = line.split('\t').collect::<Vec<_>>()[..] else { panic!("{line}") };
        let figure: f64 = figure.parse().unwrap();
        found
            .entry(contender.to_owned())
            .or_default()
            .entry(heat.parse().unwrap())
            .or_default()
            .push(figure.ln());
    }
    // Only heats in which every contender has all of its starts.
    let copies = found.values().flat_map(BTreeMap::values).map(Vec::len).max().unwrap();
    let of = |contender: &BTreeMap<usize, Vec<f64>>, heat: &usize| {
        contender.get(heat).is_some_and(|own| own.len() == copies)
    };
    let whole: Vec<usize> = found
        .values()
        .next()
        .unwrap()
        .keys()
        .copied()
        .filter(|heat| found.values().all(|c| of(c, heat)))
        .collect();
    let centred = |own: BTreeMap<usize, Vec<f64>>| {
        let mean = mean(whole.iter().flat_map(|heat| own[heat].iter().copied()));
        whole.iter().map(|heat| own[heat].iter().map(|log| log - mean).collect()).collect()
    };
    found.into_iter().map(|(name, own)| (name, centred(own))).collect()
}

fn mean(values: impl Iterator<Item = f64> + Clone) -> f64 {
    values.clone().sum::<f64>() / values.count() as f64
}

/// Heats with the starts of two equal contenders.
#[derive(Clone, Copy)]
enum Source<'a> {
    /// Two different programs.
    Programs(&'a Heats, &'a Heats),
    /// The starts of equal commands.
    Equal(&'a Heats),
}

impl Source<'_> {
    /// The two contenders' starts in a heat that is drawn.
    fn draw(&self, generator: &mut ChaCha8Rng) -> [Vec<f64>; 2] {
        match self {
            Self::Programs(one, other) => {
                let heat = generator.random_range(0..one.len());
                [one[heat].clone(), other[heat].clone()]
            }
            Self::Equal(heats) => {
                let mut all = heats[generator.random_range(0..heats.len())].clone();
                all.shuffle(generator);
                let others = all.split_off(all.len() / 2);
                [all, others]
            }
        }
    }
}

/// The result of a race in which B has this share of A's speed, at the look at which it ended, whether its interval contains the true value, and
/// the rounds that it took.
fn race(source: Source<'_>, share: f64, seed: u64) -> (Relation, bool, usize) {
    let mut generator = random::generator(random::derive(&[seed, 5]));
    let (mut starts, mut last) = (Vec::new(), (Relation::Open, false, 0));
    let all = looks([2, MOST_ROUNDS]);
    for round in 1..=MOST_ROUNDS {
        let [one, other] = source.draw(&mut generator);
        starts.extend(one.iter().map(|log| FitStart { contender: 0, heat: round, log_figure: *log }));
        starts.extend(other.iter().map(|log| FitStart {
            contender: 1,
            heat: round,
            log_figure: log + share.ln(),
        }));
        if !all.contains(&round) {
            continue;
        }
        let rules = FitRules { hub: None, best: Best::Highest, chance: LEVEL };
        let Some(pair) = Fit::new(&[FitEntrant::of_class(0); 2], &starts, &rules).pair(0, 1) else {
            continue;
        };
        last = (pair.relation, pair.interval.0 <= 1.0 / share && 1.0 / share <= pair.interval.1, round);
        if pair.relation != Relation::Open {
            break;
        }
    }
    last
}

/// The variance of contender × heat as a share of that from start to start, over all pairs of a recording of different programs.
fn heat_share(contenders: &BTreeMap<String, Heats>) -> f64 {
    let all: Vec<&Heats> = contenders.values().collect();
    let (heats, copies) = (all[0].len() as f64, all[0][0].len() as f64);
    let means = |own: &Heats| own.iter().map(|starts| mean(starts.iter().copied())).collect::<Vec<f64>>();
    let within = |own: &&Heats| {
        let squares = own.iter().flat_map(|starts| {
            let mean = mean(starts.iter().copied());
            starts.iter().map(move |log| (log - mean).powi(2))
        });
        squares.sum::<f64>() / heats / (copies - 1.0)
    };
    let between = |one: &Heats, other: &Heats| {
        let squares = means(one).into_iter().zip(means(other)).map(|(a, b)| (a - b).powi(2));
        squares.sum::<f64>() / (heats - 1.0) / 2.0
    };
    let pairs =
        all.iter().enumerate().flat_map(|(i, one)| all[i + 1..].iter().map(move |other| (one, other)));
    let of_means = mean(pairs.map(|(one, other)| between(one, other)).collect::<Vec<_>>().into_iter());
    let of_starts = mean(all.iter().map(within).collect::<Vec<_>>().into_iter());
    of_means / of_starts - 1.0 / copies
}

/// What races of a recording draw from: its only contender, or every pair of them.
fn sources<'a>(all: &[&'a Heats]) -> Vec<Source<'a>> {
    if let [one] = all {
        return vec![Source::Equal(one)];
    }
    let pairs =
        all.iter().enumerate().flat_map(|(i, one)| all[i + 1..].iter().map(move |other| (*one, *other)));
    pairs.map(|(one, other)| Source::Programs(one, other)).collect()
}

#[test]
fn races_of_recorded_servers_err_as_seldom_as_they_say() {
    println!(
        "| recording | heats | B slower by | races | A faster | B faster | equal | rounds: median, 90 % | covers |"
    );
    println!("| --- | ---: | ---: | ---: | ---: | ---: | ---: | --- | ---: |");
    let (mut wrong, mut equals) = (0, 0);
    for (recording, contenders) in recordings() {
        let all: Vec<&Heats> = contenders.values().collect();
        let sources = sources(&all);
        if all.len() > 1 {
            let share = heat_share(&contenders);
            println!(
                "{recording}: contender × heat varies by {share:.2} of starts; {HEAT_SHARE} is supposed"
            );
        }
        for slower in [0.0, 0.03, 0.10] {
            let source = |seed: u64| sources[seed as usize % sources.len()];
            let ended: Vec<_> = (0..RACES).map(|seed| race(source(seed), 1.0 - slower, seed)).collect();
            let count = |verdict| ended.iter().filter(|(own, ..)| *own == verdict).count();
            let [first, second, equal] = [Relation::Better, Relation::Worse, Relation::Equal].map(count);
            let mut rounds: Vec<usize> = ended.iter().map(|(.., rounds)| *rounds).collect();
            rounds.sort_unstable();
            let (median, most) = (rounds[rounds.len() / 2], rounds[rounds.len() * 9 / 10]);
            let covers = ended.iter().filter(|(_, covers, _)| *covers).count();
            let percent = |n: usize| format!("{:.1} %", 100.0 * n as f64 / RACES as f64);
            println!(
                "| {recording} | {} | {:.0} % | {RACES} | {} | {} | {} | {median}, {most} | {} |",
                all[0].len(),
                100.0 * slower,
                percent(first),
                percent(second),
                percent(equal),
                percent(covers),
            );
            if slower == 0.0 {
                (wrong, equals) = (wrong + first + second, equals + ended.len());
                assert!(first + second <= ended.len() / 20, "{recording}: equals are decided");
            } else {
                assert!(second <= ended.len() / 40, "{recording}: the slower one is called faster");
            }
            if slower > 0.05 {
                assert!(first >= ended.len() * 9 / 10, "{recording}: {slower} is not found");
                // Equal commands have no contender × heat, which different ones can have a lot of.
                assert!(
                    median <= if all.len() > 1 { 10 } else { 4 },
                    "{recording}: {slower} is not found soon"
                );
            }
        }
    }
    println!("equals that were decided: {wrong} of {equals}");
    assert!(equals >= 2_000 && wrong * 20 <= equals);
}
