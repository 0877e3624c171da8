//! What heats with a known truth say.

mod races;

use super::world::World;
use super::*;
use crate::schedule::stopping_rule::Standing;
use model::findings::{Figure, Unranked};
use model::heat::Void;

fn of<'f>(found: &'f Findings, name: &str) -> &'f ContenderFindings {
    found.cells[0].contenders.iter().find(|c| c.name == name).unwrap()
}

fn holds(figure: Option<Figure>, truth: f64) -> bool {
    figure.is_some_and(|f| f.low.unwrap() <= truth && truth <= f.high.unwrap() && f.low < f.high)
}

#[test]
fn true_ratios_lie_in_their_intervals_and_the_order_is_the_true_one() {
    let world = World::of(&[("fast", 150_000.0), ("middle", 135_000.0), ("slow", 50_000.0)]);
    let found = world.findings();
    let cell = &found.cells[0];
    let order: Vec<&str> = cell.contenders.iter().map(|c| c.name.as_str()).collect();
    assert_eq!(order, ["reference", "fast", "middle", "slow"]);
    for (name, rate) in &world.rates {
        let c = of(&found, name);
        let ratio = rate / 200_000.0;
        assert!(*name == "reference" || holds(c.of_reference, ratio), "{name}: {:?}", c.of_reference);
        assert!(holds(c.in_heats.of_hub, rate / 30_000.0), "{name}");
        let [low, high] = [c.rank_low, c.rank_high].map(Option::unwrap);
        assert_eq!((low, high), (c.tier.unwrap(), c.tier.unwrap()), "10 % apart is decided");
        // The machine is 15 % slower in the middle of heats, and 5 % in that of cycles.
        let rate_per_s = c.rate_per_s.unwrap();
        assert!((0.7..0.95).contains(&(rate_per_s.median / rate)), "{name}: {rate_per_s:?}");
        assert!(rate_per_s.low.unwrap() > 0.95 * rate_per_s.median, "{rate_per_s:?}");
    }
    let more = of(&found, "slow").time_ns_more.unwrap();
    let reference = of(&found, "reference").rate_per_s.unwrap().median;
    assert!((more.median / (3.0 * 1e9 / reference) - 1.0).abs() < 0.03, "{more:?}");
    let in_heats = &cell.in_heats;
    let front = in_heats.front.as_ref().unwrap();
    assert_eq!((front.leaders.as_slice(), front.next.as_deref()), (&["fast".to_owned()][..], Some("middle")));
    assert!(holds(front.ratio, 150.0 / 135.0));
    assert_eq!((in_heats.rounds, in_heats.pairs.decided, in_heats.pairs.open), (6, 6, 0));
    assert_eq!((cell.rounds, in_heats.starts.len()), (6, 6 * 4 + in_heats.heats));
    assert!(cell.noise_floor.unwrap() < 0.04 && found.noise_floor == cell.noise_floor);
    let letters: Vec<_> = cell.contenders.iter().map(|c| c.in_heats.letters.as_deref()).collect();
    assert_eq!(letters, [Some("a"), Some("b"), Some("c"), Some("d")]);
    assert!(found.elapsed_s > 0.0 && found.ended == "enough");
}

#[test]
fn equals_share_their_ranks_and_are_called_equal() {
    let world = World { rounds: 13, ..World::of(&[("one", 100_000.0), ("other", 100_000.0)]) };
    let kept = world.kept();
    let found = findings(&world.run, &kept, None);
    for name in ["one", "other"] {
        let c = of(&found, name);
        assert_eq!((c.tier, c.rank_low, c.rank_high), (Some(2), Some(2), Some(3)), "{name}");
    }
    let front = found.cells[0].in_heats.front.as_ref().unwrap();
    assert_eq!((front.leaders.len(), &front.next), (2, &None));
    let known = neighbours(&world.run, &kept, 13);
    assert_eq!(known.iter().map(|n| n.standing).collect::<Vec<_>>(), [Standing::Decided, Standing::Equal]);
    assert_eq!((known[0].one.as_str(), known[0].cell), ("reference", 0));
    assert!(found.ended.contains("--resume"));
    let of_fleet = Run { fleet: Some(model::Fleet { machines: 2 }), ..world.run.clone() };
    let found = findings(&of_fleet, &kept, None);
    assert!(!found.ended.contains("--resume") && found.ended.contains("drome heat owed"), "{}", found.ended);
}

#[test]
fn a_look_sees_its_own_rounds_only() {
    let world = World { rounds: 4, ..World::of(&[("one", 100_000.0), ("other", 80_000.0)]) };
    let kept = world.kept();
    let at = |rounds| neighbours(&world.run, &kept, rounds);
    let is_decided = |n: &crate::schedule::stopping_rule::Neighbours| n.standing == Standing::Decided;
    assert!(at(4).len() == 2 && at(4).iter().all(is_decided), "{:?}", at(4));
    assert!(at(1).iter().all(|n| matches!(n.standing, Standing::Open(_))), "{:?}", at(1));
    assert!(at(0).is_empty());
}

#[test]
fn nobody_is_faster_than_what_the_load_generator_held_back() {
    // The reference could do 200,000, and the load generator asks it for no more than 60,000.
    let most = |name: &str| if name == "reference" { 60_000.0 } else { f64::INFINITY };
    let world = World { most, ..World::of(&[("fast", 150_000.0), ("slow", 40_000.0)]) };
    let found = world.findings();
    let [reference, fast, slow] = ["reference", "fast", "slow"].map(|name| of(&found, name));
    assert!(reference.is_held_back() && !fast.is_held_back());
    assert!(fast.of_reference.unwrap().low.unwrap() > 1.5, "it looks faster: {:?}", fast.of_reference);
    let rank = |c: &ContenderFindings| (c.rank_low, c.rank_high);
    assert_eq!((rank(fast), rank(reference)), ((Some(1), Some(2)), (Some(1), Some(2))));
    assert_eq!(rank(slow), (Some(3), Some(3)), "who is behind a floor is behind it");
    assert!(holds(fast.in_heats.of_hub, 5.0), "what moves the floor moves nobody else");
    let known = neighbours(&world.run, &world.kept(), 6);
    let standings: Vec<Standing> = known.iter().map(|n| n.standing).collect();
    assert_eq!(standings, [Standing::HeldBack, Standing::Decided], "more rounds would not help");
}

#[test]
fn one_that_does_not_settle_is_shown_and_not_ranked() {
    let mut world = World::of(&[("jit", 150_000.0), ("native", 100_000.0)]);
    world.settles = |name, round| Some(name != "jit" || round >= 2);
    let found = world.findings();
    let jit = of(&found, "jit");
    let in_heats = &jit.in_heats;
    assert_eq!((in_heats.not_settled, in_heats.settling_known, in_heats.starts), (2, 6, 6));
    assert_eq!((jit.tier, jit.rank_low, in_heats.unranked), (None, None, Some(Unranked::NotSettled)));
    assert!(jit.rate_per_s.is_some() && jit.of_reference.unwrap().low.is_some(), "measured all the same");
    assert_eq!(of(&found, "native").rank_high, Some(2), "of the two that are ranked");
    assert_eq!(found.cells[0].contenders.last().unwrap().name, "jit", "after those that have a rank");
    world.settles = |name, round| Some(name != "jit" || round >= 1);
    let once = world.findings();
    assert_eq!(of(&once, "jit").rank_low, Some(2), "once of six times is told, and costs no rank");
    world.settles = |_, _| None;
    let unknown = world.findings();
    let in_heats = &of(&unknown, "jit").in_heats;
    assert_eq!((in_heats.settling_known, in_heats.unranked), (0, None));
}

#[test]
fn one_whose_rate_changes_in_every_start_has_not_settled_although_no_start_shows_it() {
    for (warms_up, by) in [
        ((|name, at| if name == "cold" { 0.6 + 0.4 * at } else { 1.0 }) as fn(&str, f64) -> f64, 0.6),
        (|name, at| if name == "cold" { 1.0 - 0.4 * at } else { 1.0 }, -0.4),
    ] {
        let mut world = World::of(&[("cold", 150_000.0), ("level", 100_000.0)]);
        world.settles = |_, _| None;
        world.warms_up = warms_up;
        let found = world.findings();
        let cold = of(&found, "cold");
        let own = &cold.in_heats;
        assert_eq!((own.warm, own.unranked, cold.rank_low), (Some(false), Some(Unranked::NotSettled), None));
        let change = own.rate_change.unwrap().median;
        assert!((change - by).abs() < 0.15, "{change}");
        let told = |c: &ContenderFindings| {
            c.notes.iter().any(|note| note.starts_with("it had not settled: its rate changed"))
        };
        assert!(told(cold) && !told(of(&found, "level")), "{:?}", cold.notes);
        assert_eq!(of(&found, "level").rank_high, Some(2), "of the two that are ranked");
        // Two that are cold in the same way are found as well.
        world.warms_up = |name, at| if name == "reference" { 1.0 } else { 0.6 + 0.4 * at };
        let both = world.findings();
        assert!(["cold", "level"].iter().all(|name| of(&both, name).in_heats.warm == Some(false)));
    }
}

#[test]
fn one_was_warm_only_where_it_could_have_been_found_cold() {
    use model::contender::Class;
    type Settled = fn(&str, usize) -> Option<bool>;
    let warm = |class: Option<Class>, settled: Settled, rounds: usize| {
        let mut world =
            World { rounds, settles: settled, ..World::of(&[("one", 150_000.0), ("other", 100_000.0)]) };
        world.run.contenders.get_mut("one").unwrap().class = class;
        let found = world.findings();
        let one = of(&found, "one");
        let own = &one.in_heats;
        let is_told = one.notes.iter().any(|note| note.starts_with("it is unknown whether it was warm"));
        assert_eq!(is_told, own.warm.is_none(), "{:?}", one.notes);
        assert!(own.unranked.is_none(), "what is unknown costs no rank");
        own.warm
    };
    let (unknown, shown): (Settled, Settled) = (|_, _| None, |_, _| Some(true));
    for (class, settled, rounds, expected) in [
        (Some(Class::Native), unknown, 6, Some(true)),
        (Some(Class::Managed), unknown, 6, Some(true)),
        (Some(Class::Prefork), unknown, 6, Some(true)),
        // Half a second shows nothing of a server that compiles for a minute, or may.
        (Some(Class::Jit), unknown, 6, None),
        (None, unknown, 6, None),
        (Some(Class::Jit), shown, 6, Some(true)),
        (None, shown, 6, Some(true)),
        // One heat has no other to be compared with.
        (Some(Class::Native), unknown, 1, None),
        (Some(Class::Native), shown, 1, Some(true)),
        (Some(Class::Jit), (|_, round| (round > 1).then_some(true)) as Settled, 6, None),
    ] {
        assert_eq!(warm(class, settled, rounds), expected, "{class:?}, {rounds} rounds");
    }
}

#[test]
fn who_fails_in_a_third_of_its_starts_has_no_rank() {
    let mut world = World::of(&[("frail", 150_000.0), ("sound", 100_000.0)]);
    world.fails = |name, round| name == "frail" && round % 3 == 0;
    let found = world.findings();
    let frail = of(&found, "frail");
    assert_eq!((frail.trials, frail.failed, frail.void), (4, 2, 0));
    assert_eq!((frail.rank_low, frail.in_heats.unranked), (None, Some(Unranked::Failed)));
    assert_eq!(frail.notes, ["failed: it ended (exit status: 1) (2 of 6 starts)"]);
    assert!(frail.of_reference.is_some());
    assert!(holds(of(&found, "sound").of_reference, 0.5));
    world.fails = |name, round| name == "frail" && round == 0;
    assert!(of(&world.findings(), "frail").rank_low.is_some(), "one of six");
}

/// A world whose contender "frail" gave wrong answers in its starts of these rounds.
fn wrong_in(rounds: &[usize]) -> Findings {
    let world = World::of(&[("frail", 150_000.0), ("sound", 100_000.0)]);
    let mut kept = world.kept();
    let wrong = |start: &&mut Start| start.contender == "frail" && rounds.contains(&start.round);
    for start in kept.starts.iter_mut().filter(wrong) {
        for cell in start.cells.values_mut() {
            cell.measurement.as_mut().unwrap().verdict.valid = false;
        }
    }
    world.findings_from(&kept)
}

#[test]
fn who_is_void_in_a_third_of_its_starts_has_no_rank() {
    let found = wrong_in(&[0, 3]);
    let frail = of(&found, "frail");
    assert_eq!((frail.trials, frail.void, frail.rank_low), (6, 2, None));
    assert_eq!(frail.in_heats.unranked, Some(Unranked::Void));
    assert!(frail.of_reference.is_some(), "shown all the same");
    assert!(holds(of(&found, "sound").of_reference, 0.5));
    assert!(of(&wrong_in(&[0]), "frail").rank_low.is_some(), "one of six");
    let never = wrong_in(&[0, 1, 2, 3, 4, 5]);
    assert_eq!(of(&never, "frail").in_heats.unranked, Some(Unranked::NoFigure));
}

#[test]
fn what_was_never_measured_is_unknown_not_zero() {
    let mut world = World::of(&[("dead", 150_000.0), ("sound", 100_000.0)]);
    world.fails = |name, _| name == "dead";
    let found = world.findings();
    let dead = of(&found, "dead");
    assert_eq!((dead.trials, dead.failed, dead.rss_max_bytes), (0, 3, None), "it is given up after three");
    assert_eq!(of(&found, "sound").rss_max_bytes, Some(1 << 20));
    let in_heats = &dead.in_heats;
    assert_eq!((in_heats.warmup_s, in_heats.disturbed_share, in_heats.stall_share), (None, None, None));
    let json = serde_json::to_value(dead).unwrap();
    for key in [
        "rate_per_s",
        "metric",
        "of_reference",
        "tier",
        "bound",
        "server_cpu_ns_per_request",
        "latency_ns_p99",
    ] {
        assert!(json[key].is_null(), "{key}: {}", json[key]);
    }
    let nothing = findings(&world.run, &Measured::default(), None);
    let cell = &nothing.cells[0];
    assert!(cell.contenders.iter().all(|c| c.rate_per_s.is_none() && c.rank_low.is_none()));
    assert_eq!((cell.rounds, cell.noise_floor), (0, None));
}

#[test]
fn a_first_look_claims_no_ranks() {
    let mut world = World::of(&[("half", 100_000.0)]);
    (world.run.quick, world.rounds) = (true, 2);
    let found = world.findings();
    let half = of(&found, "half");
    assert_eq!((half.rank_low, half.in_heats.unranked), (None, Some(Unranked::FirstLook)));
    assert!(holds(half.of_reference, 0.5) && found.cells[0].in_heats.front.is_none());
}

#[test]
fn cycles_that_were_disturbed_do_not_count() {
    let world = World::of(&[("a", 100_000.0), ("b", 80_000.0)]);
    let mut kept = world.kept();
    for slice in kept.slices.iter_mut().filter(|s| s.cycle >= 15 && s.contender == "a") {
        (slice.void, slice.answers) = (Some(Void::Others), slice.answers / 4);
    }
    for start in kept.starts.iter_mut().filter(|start| start.contender == "a") {
        start.cells.get_mut(&0).unwrap().disturbed = 5;
    }
    let found = world.findings_from(&kept);
    assert!(holds(of(&found, "a").of_reference, 0.5));
    assert_eq!(of(&found, "a").in_heats.disturbed_share, Some(0.25));
    for cell in kept.starts.iter_mut().flat_map(|start| start.cells.values_mut()) {
        cell.counts = Counts::NeverQuiet;
    }
    let all = world.findings_from(&kept);
    assert!(of(&all, "a").of_reference.unwrap().median < 0.45, "everything counts");
    let in_heats = &all.cells[0].in_heats;
    assert_eq!((in_heats.never_quiet, in_heats.heats), (kept.heats.len(), kept.heats.len()));
    assert_eq!(of(&all, "b").in_heats.never_quiet, 6);
}

#[test]
fn pauses_of_its_own_are_told() {
    let world = World::of(&[("pauses", 100_000.0), ("b", 80_000.0)]);
    let mut kept = world.kept();
    for slice in kept.slices.iter_mut().filter(|s| s.cycle % 5 == 0 && s.contender == "pauses") {
        slice.answers /= 2;
    }
    let found = world.findings_from(&kept);
    let in_heats = of(&found, "pauses").in_heats.clone();
    assert_eq!(in_heats.stalls, 6);
    assert!((in_heats.stall_share.unwrap() - 0.1).abs() < 0.02, "{:?}", in_heats.stall_share);
    assert!(holds(of(&found, "pauses").of_reference, 0.45), "they count");
    assert_eq!(of(&found, "b").in_heats.stalls, 0);
}

/// As `World`, at an offered rate: what differs is how long answers take.
fn offered(us: impl Fn(&str) -> u64, answers: u64) -> Findings {
    let world = World::of(&[("quick", 100.0), ("slow", 100.0)]);
    let mut kept = world.kept();
    let run = crate::example::offered(world.run);
    for start in &mut kept.starts {
        let (name, round) = (start.contender.clone(), start.round as u64);
        for cell in start.cells.values_mut() {
            let m = cell.measurement.as_mut().unwrap();
            m.tally.latency = stats::Histogram::default();
            m.tally.completed = answers;
            let latency_ns = us(&name) * 1_000 * (100 + (round * 7 + name.len() as u64) % 5) / 100;
            m.tally.latency.record(latency_ns);
        }
    }
    findings(&run, &kept, Some("enough"))
}

#[test]
fn at_an_offered_rate_the_quick_lead() {
    let us = |name: &str| match name {
        "quick" => 500,
        "slow" => 9_000,
        _ => 700,
    };
    let found = offered(us, 2_000);
    let cell = &found.cells[0];
    assert_eq!(cell.metric.word(), "p99");
    let order: Vec<_> = cell.contenders.iter().map(|c| (c.name.as_str(), c.rank_low)).collect();
    assert_eq!(order, [("quick", Some(1)), ("reference", Some(2)), ("slow", Some(3))]);
    assert!(holds(of(&found, "slow").metric_of_reference, 9_000.0 / 700.0));
    let front = cell.in_heats.front.as_ref().unwrap();
    assert!(front.leaders == ["quick"] && front.ratio.unwrap().median < 0.1);
    assert_eq!(offered(us, 500).cells[0].metric.word(), "p90", "five answers beyond say nothing of p99");
}

#[test]
fn memory_that_grows_with_every_answer_has_its_slope() {
    let world = World::of(&[("leaks", 100_000.0), ("flat", 100_000.0)]);
    let mut kept = world.kept();
    let growth = |kept: &Measured, name: &str| {
        let found = world.findings_from(kept);
        of(&found, name).in_heats.memory_growth_bytes_per_answer
    };
    assert_eq!(growth(&kept, "leaks"), None, "a store of an older version has no looks");
    for start in &mut kept.starts {
        let bytes = if start.contender == "leaks" { 1000 } else { 0 };
        for cell in start.cells.values_mut() {
            cell.memory = (0..5).map(|nth| [nth * 10_000, 50_000_000 + nth * 10_000 * bytes]).collect();
        }
    }
    let leaks = growth(&kept, "leaks");
    assert!(holds(leaks, 1000.0) && !holds(leaks, 990.0), "{leaks:?}");
    assert!(holds(growth(&kept, "flat"), 0.0), "{:?}", growth(&kept, "flat"));
}

#[test]
fn the_environment_is_that_of_the_one_machine_that_measured_and_else_the_planners() {
    let world = World::of(&[("fast", 150_000.0)]);
    let mut kept = world.kept();
    let machine = |name: &str| {
        let environment = model::Environment { cpu: Some(name.to_owned()), ..Default::default() };
        Some(Box::new(model::HeatMachine { name: name.to_owned(), attempt: 1, environment }))
    };
    let cpu = |kept: &Measured| world.findings_from(kept).environment.cpu;
    assert_eq!(cpu(&kept), world.run.environment.cpu, "the machine of the run measured it");
    kept.heats.iter_mut().for_each(|heat| heat.machine = machine("board"));
    assert_eq!(cpu(&kept).as_deref(), Some("board"));
    kept.heats[0].machine = machine("another");
    assert_eq!(cpu(&kept), world.run.environment.cpu);
}

#[test]
fn what_the_load_generator_held_back_tells_nothing_of_machines() {
    let most = |name: &str| if name == "fast" { 60_000.0 } else { f64::INFINITY };
    let world = World { most, rounds: 13, ..World::of(&[("fast", 150_000.0), ("slow", 40_000.0)]) };
    let mut kept = world.kept();
    for heat in &mut kept.heats {
        let name = if heat.round % 2 == 0 { "one" } else { "two" };
        let machine = model::HeatMachine { name: name.to_owned(), attempt: 1, ..Default::default() };
        heat.machine = Some(Box::new(machine));
    }
    let found = world.findings_from(&kept);
    assert!(of(&found, "fast").is_held_back());
    let machines = found.cells[0].in_heats.machines.as_ref().unwrap();
    assert_eq!((machines.machines.len(), machines.differ), (2, Some(false)), "{machines:?}");
    assert!(machines.machines.iter().all(|m| m.contender.as_deref() != Some("fast")), "{machines:?}");
}
