//! How often the model of heats errs, how wide its intervals are, and what it finds, over simulated studies and races.
//! `cargo run --release -p drome-stats --example simulate_heats -- [studies] [races] [studies of slices] [comparisons] [watched]`
//! (400, 2,000, 400, 400 and 1,000 unless said).

#![allow(clippy::unwrap_used, reason = "a study of one's own may panic")]

#[path = "../tests/simulation/world.rs"]
mod world;

use stats::heats::{Best, Fit, FitRules, InBoth, LEVEL, Relation, changes, looks, start_rates};
use stats::random;
use world::{MANAGED, NATIVE, Noise, World};

fn main() {
    let count = |i: usize, usual: u64| {
        std::env::args_os().nth(i).and_then(|n| n.to_str()?.parse().ok()).unwrap_or(usual)
    };
    let (studies, races, sliced) = (count(1, 400), count(2, 2_000), count(3, 400));
    print_time();
    if studies > 0 {
        print_studies(studies);
    }
    if sliced > 0 {
        print_slices(sliced);
    }
    if races > 0 {
        print_races(races);
    }
    let watched = count(5, 1_000);
    if watched > 0 {
        print_watched(watched);
    }
    let comparisons = count(4, 400);
    if comparisons > 0 {
        print_comparisons(comparisons);
    }
}

/// The contenders of each of two cells, and the rounds of each of two runs that are compared.
const COMPARED: [(usize, usize); 5] = [(1, 5), (2, 5), (4, 5), (9, 5), (26, 5)];

fn print_comparisons(runs: u64) {
    println!(
        "\nTwo runs of two cells, compared, {runs} a row: native servers whose ratios change from one run to the other, each by \
         an amount of its own (standard deviation), and all by a common amount, which comes from the hub.\n"
    );
    println!(
        "| contenders | own change | common change | false alarm: any called changed | one that lost 15 % is found | half-width, median |"
    );
    println!("| ---: | ---: | ---: | ---: | ---: | ---: |");
    for (contenders, rounds) in COMPARED {
        for (own, together) in [(0.0, 0.0), (0.02, 0.0), (0.05, 0.0), (0.0, 0.05), (0.03, 0.05)] {
            let of = |lost| compared(&World::study(contenders, 0, 0.02), rounds, (own, together, lost), runs);
            let ((wrong, _, half), (_, found, _)) = (of(0.0), of(0.15));
            let percent = |share: f64| format!("{:.1} %", 100.0 * share);
            let cells = [own, together, wrong, found, half].map(percent).join(" | ");
            println!("| {contenders} | {cells} |");
        }
    }
}

/// How often any contender is called changed beside the one that `lost` so much, how often that one is, and the median half-width.
fn compared(
    before: &World,
    rounds: usize,
    (own, together, lost): (f64, f64, f64),
    runs: u64,
) -> (f64, f64, f64) {
    let hub = before.truth.len() - 1;
    let both: Vec<InBoth> = (0..hub).map(|c| InBoth { before: c, after: c, turn_deviation: None }).collect();
    let (mut wrong, mut found, mut halves) = (0.0, 0.0, Vec::new());
    for seed in 0..runs {
        let mut is_wrong = false;
        for cell in 0..2 {
            let mut now = before.clone();
            let seed = random::derive(&[seed, cell]);
            for (c, truth) in now.truth.iter_mut().enumerate().take(hub) {
                truth.0 += own * normal(seed, c as u64) + together;
            }
            if cell == 0 {
                now.truth[0].0 += (-lost).ln_1p();
            }
            let fit = |world: &World, seed| fit(world, &world.run(rounds, Noise::Normal, seed).0);
            let all = changes(&fit(before, seed), &fit(&now, seed ^ 1), (hub, hub), &both, 2 * hub).all;
            for (c, change) in all.into_iter().flatten().enumerate() {
                let is_lost = cell == 0 && c == 0 && lost > 0.0;
                found += f64::from(u8::from(is_lost && change.relation.is_difference()));
                is_wrong |= !is_lost && change.relation.is_difference();
                halves.push((change.sure.1 / change.sure.0).ln() / 2.0);
            }
        }
        wrong += f64::from(u8::from(is_wrong));
    }
    halves.sort_by(f64::total_cmp);
    (wrong / runs as f64, found / runs as f64, halves[halves.len() / 2])
}

/// Nearly normal: the sum of twelve uniform variables.
fn normal(seed: u64, nth: u64) -> f64 {
    (0..12).map(|k| random::uniform(seed, 1_000 + 12 * nth + k)).sum::<f64>() - 6.0
}

/// What looks at one or many simulated runs add up to.
#[derive(Clone, Copy, Default)]
struct Sums {
    pairs: f64,
    covered: f64,
    covered_in_all: f64,
    wrong: f64,
    halves: [f64; 2],
    half_pairs: [f64; 2],
    neighbours: f64,
    found: f64,
    called_equal: f64,
}

fn print_time() {
    let world = World::study(36, 15, 0.05);
    let (starts, _) = world.run(13, Noise::Normal, 1);
    let began = std::time::Instant::now();
    (0..10).for_each(|_| drop(fit(&world, &starts)));
    println!("A fit of 51 contenders and 13 rounds takes {:.1} ms.\n", began.elapsed().as_secs_f64() * 100.0);
}

/// The numbers of rounds whose rows are printed.
const PRINTED: [usize; 3] = [4, 6, 13];

fn print_studies(runs: u64) {
    println!("51 contenders (36 native, 15 managed), heats of six and a hub, {runs} studies a row.\n");
    println!(
        "| noise | rounds | family-wise error, looks so far | one pair's interval covers | all pairs' intervals cover | half-width native, managed | native 5 % apart is found | equals called equal |"
    );
    println!("| --- | ---: | ---: | ---: | ---: | --- | ---: | ---: |");
    for noise in world::ALL {
        let (equal, apart) = (World::study(36, 15, 0.0), World::study(36, 15, 0.05_f64.ln_1p()));
        let all = looks([4, 13]);
        let mut sums = vec![(Sums::default(), Sums::default()); all.len()];
        let mut wrong_so_far = vec![0.0; all.len()];
        for seed in 0..runs {
            let mut is_wrong = false;
            let (starts, ends) = equal.run(13, noise, seed);
            let (steps, step_ends) = apart.run(13, noise, seed + 1_000_000);
            for (i, look) in all.iter().enumerate() {
                let before = sums[i].0.wrong;
                judge(&equal, &fit(&equal, &starts[..ends[look - 1]]), &mut sums[i].0);
                is_wrong |= sums[i].0.wrong > before;
                wrong_so_far[i] += f64::from(u8::from(is_wrong));
                if PRINTED.contains(look) {
                    judge(&apart, &fit(&apart, &steps[..step_ends[look - 1]]), &mut sums[i].1);
                }
            }
        }
        for (i, look) in all.iter().enumerate().filter(|(_, look)| PRINTED.contains(look)) {
            let (s, power) = sums[i];
            let percent = |part: f64, whole: f64| 100.0 * part / whole;
            println!(
                "| {noise:?} | {look} | {:.1} % | {:.1} % | {:.1} % | {:.1}, {:.1} % | {:.2} | {:.2} |",
                percent(wrong_so_far[i], runs as f64),
                percent(s.covered, s.pairs),
                percent(s.covered_in_all, runs as f64),
                percent(s.halves[NATIVE], s.half_pairs[NATIVE]),
                percent(s.halves[MANAGED], s.half_pairs[MANAGED]),
                power.found / power.neighbours,
                s.called_equal / s.half_pairs[NATIVE],
            );
        }
    }
}

fn fit(world: &World, starts: &[stats::heats::FitStart]) -> Fit {
    Fit::new(&world.entrants, starts, &FitRules { hub: world.hub, best: Best::Highest, chance: LEVEL })
}

fn judge(world: &World, fit: &Fit, sums: &mut Sums) {
    let ranked: Vec<usize> = (0..world.truth.len()).filter(|c| Some(*c) != world.hub).collect();
    let (mut is_wrong, mut all_cover) = (false, true);
    for one in &ranked {
        for other in ranked.iter().filter(|other| *other > one) {
            let pair = fit.pair(*one, *other).unwrap();
            let truth = (world.truth[*one].0 - world.truth[*other].0).exp();
            let holds = |(low, high): (f64, f64)| low <= truth && truth <= high;
            sums.pairs += 1.0;
            sums.covered += f64::from(u8::from(holds(pair.interval)));
            all_cover &= holds(pair.sure);
            is_wrong |= (pair.relation == Relation::Better && truth <= 1.0)
                || (pair.relation == Relation::Worse && truth >= 1.0);
            let class = world.entrants[*one].class;
            if class == world.entrants[*other].class {
                sums.halves[class] += pair.sure_half_width();
                sums.half_pairs[class] += 1.0;
            }
            if class == NATIVE && world.entrants[*other].class == NATIVE {
                sums.called_equal += f64::from(u8::from(pair.relation == Relation::Equal));
                if other - one == 1 {
                    sums.neighbours += 1.0;
                    sums.found += f64::from(u8::from(pair.relation == Relation::Worse));
                }
            }
        }
    }
    sums.wrong += f64::from(u8::from(is_wrong));
    sums.covered_in_all += f64::from(u8::from(all_cover));
}

/// What happens to the slices of a heat.
const TROUBLES: [&str; 4] = ["quiet", "two speeds", "bursts", "a third of the slices missing"];

fn print_slices(runs: u64) {
    println!(
        "\nFrom slices to verdicts: twelve equals, two heats of six and a hub a round, four rounds; forty cycles of 100 ms, 4 % of noise a slice, 0.5 % between starts; {runs} studies a row.\n"
    );
    println!("| slices | called different | one pair's interval covers | half-width | stalls told |");
    println!("| --- | ---: | ---: | ---: | ---: |");
    let mut world = World::study(12, 0, 0.0);
    world.truth.iter_mut().for_each(|truth| truth.1 = 0.005);
    for trouble in TROUBLES {
        let mut sums = Sums::default();
        let (mut stalls, mut count) = (0, 0.0);
        for seed in 0..runs {
            let (mut starts, _) = world.run(4, Noise::Normal, seed);
            let heats = starts.last().unwrap().heat;
            for heat in 0..=heats {
                let places: Vec<usize> = (0..starts.len()).filter(|i| starts[*i].heat == heat).collect();
                let logs: Vec<f64> = places.iter().map(|i| starts[*i].log_figure).collect();
                let slices = world::slices(&logs, trouble, seed * 100 + heat as u64);
                for (i, figure) in places.iter().zip(start_rates(&slices, &vec![true; places.len()])) {
                    let figure = figure.unwrap();
                    starts[*i].log_figure = figure.log_rate;
                    stalls += i32::from(figure.stalls());
                    count += 1.0;
                }
            }
            judge(&world, &fit(&world, &starts), &mut sums);
        }
        println!(
            "| {trouble} | {:.1} % | {:.1} % | {:.1} % | {:.2} |",
            100.0 * sums.wrong / runs as f64,
            100.0 * sums.covered / sums.pairs,
            100.0 * sums.halves[NATIVE] / sums.half_pairs[NATIVE],
            f64::from(stalls) / count,
        );
    }
}

/// The largest number of rounds of a race, unless `--rounds` says otherwise.
const MOST_ROUNDS: usize = 60;

/// The variances of contender × heat, as shares of that from start to start.
const HEAT_SHARES: [f64; 4] = [0.0, 0.5, 1.0, 2.0];

fn print_races(races: u64) {
    println!(
        "\nRaces of two or four commands, each twice in a heat, {races} a row; neighbours so far apart; the variance of contender × \
         heat is given as a share of that from start to start.\n"
    );
    println!(
        "| commands | noise | deviation of a start | contender × heat | apart | decided | wrongly | called equal | rounds: median, 90 % |"
    );
    println!("| ---: | --- | ---: | ---: | ---: | ---: | ---: | ---: | --- |");
    let print = |commands, noise, sd, heat_share, apart: f64| {
        let world = World { heat_share, ..World::race(commands, apart.ln_1p(), sd) };
        print_race(&world, noise, sd, apart, races);
    };
    for heat_share in HEAT_SHARES {
        for sd in [0.003, 0.01, 0.03] {
            [0.0, 0.01, 0.03, 0.10].iter().for_each(|apart| print(2, Noise::Normal, sd, heat_share, *apart));
        }
        [0.0, 0.015, 0.03].iter().for_each(|apart| print(4, Noise::Normal, 0.01, heat_share, *apart));
    }
    for noise in world::ALL.into_iter().filter(|noise| *noise != Noise::Normal) {
        [0.0, 0.5].iter().for_each(|heat_share| print(2, noise, 0.03, *heat_share, 0.0));
    }
}

fn print_race(world: &World, noise: Noise, sd: f64, apart: f64, races: u64) {
    let (mut decided, mut wrong, mut equal, mut rounds) = (0, 0, 0, Vec::new());
    let n = world.truth.len();
    let all: Vec<_> = (0..n).flat_map(|i| (i + 1..n).map(move |j| (i, j))).collect();
    for seed in 0..races {
        let (starts, ends) = world.run(MOST_ROUNDS, noise, seed);
        // It goes on until no pair is open.
        for look in looks([2, MOST_ROUNDS]) {
            let fit = fit(world, &starts[..ends[look - 1]]);
            let count =
                |v: Relation| all.iter().filter(|(i, j)| fit.pair(*i, *j).unwrap().relation == v).count();
            if count(Relation::Open) == 0 || look == MOST_ROUNDS {
                decided += usize::from(count(Relation::Better) + count(Relation::Worse) > 0);
                wrong += usize::from(
                    count(Relation::Worse) + if apart == 0.0 { count(Relation::Better) } else { 0 } > 0,
                );
                equal += usize::from(count(Relation::Equal) == all.len());
                rounds.push(look);
                break;
            }
        }
    }
    rounds.sort_unstable();
    let percent = |n: usize| 100.0 * n as f64 / races as f64;
    let (median, most) = (rounds[rounds.len() / 2], rounds[rounds.len() * 9 / 10]);
    println!(
        "| {n} | {noise:?} | {:.1} % | {} | {} % | {:.1} % | {:.1} % | {:.1} % | {median}, {most} |",
        100.0 * sd,
        world.heat_share,
        100.0 * apart,
        percent(decided),
        percent(wrong),
        percent(equal),
    );
}

fn print_watched(races: u64) {
    println!(
        "\nRaces of equals, evaluated after every round from the second to the hundredth and believed as soon as they decide, {races} a row; \
         starts vary by 3 %.\n"
    );
    println!("| commands | noise | contender × heat | wrong |");
    println!("| ---: | --- | ---: | ---: |");
    let print = |commands: usize, noise: Noise, heat_share: f64| {
        let world = World { heat_share, ..World::race(commands, 0.0, 0.03) };
        let is_wrong = |seed: &u64| {
            let (starts, ends) = world.run(100, noise, *seed);
            let decides = |rounds: usize| {
                let fit = fit(&world, &starts[..ends[rounds - 1]]);
                (0..commands).any(|one| (0..commands).any(|other| fit.is_better(one, other)))
            };
            (2..=100).any(decides)
        };
        let wrong = (0..races).filter(is_wrong).count();
        println!("| {commands} | {noise:?} | {heat_share} | {:.1} % |", 100.0 * wrong as f64 / races as f64);
    };
    HEAT_SHARES.iter().for_each(|share| print(2, Noise::Normal, *share));
    [0.0, 0.5].iter().for_each(|share| print(3, Noise::Normal, *share));
    for noise in world::ALL.into_iter().filter(|noise| ![Noise::Normal, Noise::TwoRatios].contains(noise)) {
        [0.0, 0.5].iter().for_each(|share| print(2, noise, *share));
    }
}
