//! The model of heats on the noise of real servers: races that are put together at random from recorded ones.
//!
//! `recorded.tsv.gz` has the turns that counted in races of two equal commands, each of which was started twice a heat: nginx, Go's
//! net/http and Node.js (the recipes of the catalogue) and Python's `http.server`, recorded on a shared virtual machine of two cores
//! with `drome race COMMAND COMMAND --rounds N --precision 0.01%`. Its columns: server, heat, start, cycle, answers, nanoseconds. A race
//! draws heats, and in each of them which starts are A's and which are B's; B's answers are then reduced to make it slower.

use flate2::read::GzDecoder;
use rand::RngExt;
use rand::seq::SliceRandom;
use stats::heats::{Best, Entrant, Fit, Looks, Rules, Slice, Start, Verdict, figures};
use stats::random;
use std::collections::BTreeMap;
use std::io::Read;

/// Starts of a recorded heat.
const STARTS: usize = 4;

/// No race goes on for longer; a real one would by then have reached its usual budget.
const MOST_ROUNDS: usize = 32;

const RACES: u64 = 600;

/// The heats of each server, each with its slices.
fn recorded() -> BTreeMap<String, Vec<Vec<Slice>>> {
    let mut text = String::new();
    GzDecoder::new(&include_bytes!("recorded.tsv.gz")[..]).read_to_string(&mut text).unwrap();
    let mut servers: BTreeMap<String, BTreeMap<usize, Vec<Slice>>> = BTreeMap::new();
    for line in text.lines() {
        let (server, numbers) = line.split_once('\t').unwrap();
        let numbers: Vec<u64> = numbers.split('\t').map(|n| n.parse().unwrap()).collect();
        let [heat, member, cycle, answers, time_ns] = numbers[..] else { panic!("{line}") };
        let slice = Slice { cycle: cycle as usize, member: member as usize, answers, time_ns };
        servers.entry(server.to_owned()).or_default().entry(heat as usize).or_default().push(slice);
    }
    servers.into_iter().map(|(server, heats)| (server, heats.into_values().collect())).collect()
}

/// Starts of a race in which B has this share of A's rate; `ends`: the number of starts up to each round's end.
fn race(heats: &[Vec<Slice>], share: f64, seed: u64) -> (Vec<Start>, Vec<usize>) {
    let mut generator = random::generator(random::derive(&[seed, 5]));
    let (mut starts, mut ends) = (Vec::new(), Vec::new());
    for round in 0..MOST_ROUNDS {
        let heat = &heats[generator.random_range(0..heats.len())];
        let mut contenders = [0, 0, 1, 1];
        contenders.shuffle(&mut generator);
        let slowed = |slice: &Slice| {
            let share = if contenders[slice.member] == 1 { share } else { 1.0 };
            Slice { answers: (slice.answers as f64 * share).round() as u64, ..*slice }
        };
        let slices: Vec<Slice> = heat.iter().map(slowed).collect();
        let found = figures(&slices, &[true; STARTS]);
        for (contender, figure) in contenders.into_iter().zip(found).filter_map(|(c, f)| Some((c, f?))) {
            starts.push(Start { contender, heat: round, log_figure: figure.log_rate });
        }
        ends.push(starts.len());
    }
    (starts, ends)
}

/// The result of a race at the look at which it ended, whether its interval contains the true value, and the rounds that it took.
fn run(heats: &[Vec<Slice>], share: f64, seed: u64) -> (Verdict, bool, usize) {
    let (starts, ends) = race(heats, share, seed);
    let rules = Rules { hub: None, best: Best::Highest, chance: Looks::RACE.chance };
    let looks = Looks::RACE.after.iter().filter(|look| **look <= MOST_ROUNDS);
    let mut last = (Verdict::Open, false, 0);
    for look in looks {
        let fit = Fit::new(&[Entrant::of_class(0); 2], &starts[..ends[look - 1]], &rules);
        let Some(pair) = fit.pair(0, 1) else { continue };
        last = (pair.verdict, pair.interval.0 <= 1.0 / share && 1.0 / share <= pair.interval.1, *look);
        if pair.verdict != Verdict::Open {
            break;
        }
    }
    last
}

#[test]
fn races_of_recorded_servers_err_as_seldom_as_they_say() {
    println!(
        "| server | heats | B slower by | races | A faster | B faster | equal | rounds: median, 90 % | covers |"
    );
    println!("| --- | ---: | ---: | ---: | ---: | ---: | ---: | --- | ---: |");
    let (mut wrong, mut equals) = (0, 0);
    for (server, heats) in recorded() {
        for slower in [0.0, 0.03, 0.10] {
            let ended: Vec<_> = (0..RACES).map(|seed| run(&heats, 1.0 - slower, seed)).collect();
            let count = |verdict| ended.iter().filter(|(own, ..)| *own == verdict).count();
            let [first, second, equal] = [Verdict::First, Verdict::Second, Verdict::Equal].map(count);
            let mut rounds: Vec<usize> = ended.iter().map(|(.., rounds)| *rounds).collect();
            rounds.sort_unstable();
            let (median, most) = (rounds[rounds.len() / 2], rounds[rounds.len() * 9 / 10]);
            let covers = ended.iter().filter(|(_, covers, _)| *covers).count();
            let percent = |n: usize| format!("{:.1} %", 100.0 * n as f64 / RACES as f64);
            println!(
                "| {server} | {} | {:.0} % | {RACES} | {} | {} | {} | {median}, {most} | {} |",
                heats.len(),
                100.0 * slower,
                percent(first),
                percent(second),
                percent(equal),
                percent(covers),
            );
            if slower == 0.0 {
                (wrong, equals) = (wrong + first + second, equals + ended.len());
                assert!(first + second <= ended.len() / 10, "{server}: equals are decided");
            } else {
                assert!(second <= ended.len() / 40, "{server}: the slower one is called faster");
            }
            if slower > 0.05 {
                assert!(first >= ended.len() * 9 / 10, "{server}: {slower} is not found");
                assert!(median == 2, "{server}: {slower} is not found at the first look");
            }
        }
    }
    println!("equals that were decided: {wrong} of {equals}");
    assert!(equals >= 2_000 && wrong * 20 <= equals);
}
