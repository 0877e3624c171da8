//! Everybody once a round, nobody where there is no room, and everybody with everybody about equally often.

use super::*;
use proptest::prelude::*;
use std::collections::BTreeSet;

fn players(n: usize) -> Vec<Player> {
    (0..n).map(|i| Player { name: format!("c{i:02}"), ..Player::default() }).collect()
}

fn room(size: usize) -> Room {
    Room { size, memory_bytes: None }
}

/// Deals this number of rounds, each with the ones before it taken into account.
fn rounds(players: &[Player], room: Room, rounds: u64, seed: u64) -> Vec<Vec<String>> {
    let mut all: Vec<Vec<String>> = Vec::new();
    for round in 0..rounds {
        all.extend(deal(players, room, &all, random::derive(&[seed, round])));
    }
    all
}

fn sorted(heats: &[Vec<String>]) -> Vec<String> {
    let mut names = heats.concat();
    names.sort();
    names
}

fn meetings(heats: &[Vec<String>], players: &[Player]) -> Vec<usize> {
    let Met(met) = Met::of(&players.iter().collect::<Vec<_>>(), heats);
    met.iter().enumerate().flat_map(|(i, row)| row[i + 1..].to_vec()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn everybody_is_in_one_heat_and_the_heats_are_equal_in_size(n in 0_usize..40, size in 1_usize..8, seed: u64) {
        let heats = deal(&players(n), room(size), &[], seed);
        prop_assert_eq!(sorted(&heats), players(n).into_iter().map(|p| p.name).collect::<Vec<_>>());
        prop_assert_eq!(heats.len(), n.div_ceil(size));
        let sizes: Vec<usize> = heats.iter().map(Vec::len).collect();
        let spread = sizes.iter().max().zip(sizes.iter().min()).map_or(0, |(most, least)| most - least);
        prop_assert!(spread <= 1, "{:?}", sizes);
    }

    #[test]
    fn whatever_they_need_everybody_is_dealt_and_nobody_beside_whom_there_is_no_room(
        needs in proptest::collection::vec((0_u64..120, any::<bool>()), 0..20), seed: u64
    ) {
        let player = |(i, (memory, alone)): (usize, &(u64, bool))| Player {
            name: format!("c{i:02}"),
            alone: *alone,
            lacked_memory: false,
            memory_bytes: (memory % 5 > 0).then_some(*memory),
        };
        let players: Vec<Player> = needs.iter().enumerate().map(player).collect();
        let heats = rounds(&players, Room { size: 6, memory_bytes: Some(100) }, 2, seed);
        let names: Vec<String> = players.iter().map(|p| p.name.clone()).collect();
        prop_assert_eq!(sorted(&heats), sorted(&[names.clone(), names]));
        let of = |name: &String| players.iter().find(|p| p.name == *name).unwrap();
        for heat in heats.iter().filter(|heat| heat.len() > 1) {
            prop_assert!(heat.len() <= 6 && heat.iter().all(|name| !of(name).alone));
            prop_assert!(heat.iter().filter_map(|name| of(name).memory_bytes).sum::<u64>() <= 100);
        }
    }
}

#[test]
fn each_round_and_each_seed_is_dealt_anew_and_the_same_one_is_dealt_alike() {
    let players = players(12);
    let first = deal(&players, room(6), &[], 1);
    assert_eq!(first, deal(&players, room(6), &[], 1));
    let as_sets = |heats: &[Vec<String>]| -> BTreeSet<BTreeSet<String>> {
        heats.iter().map(|heat| heat.iter().cloned().collect()).collect()
    };
    assert_ne!(as_sets(&first), as_sets(&deal(&players, room(6), &[], 2)));
    assert_ne!(as_sets(&first), as_sets(&deal(&players, room(6), &first, 1)));
}

#[test]
fn everybody_meets_everybody_about_equally_often() {
    for (n, size, count, most_between) in [(51, 6, 13, 3), (12, 6, 13, 3), (9, 6, 6, 5), (7, 4, 13, 3)] {
        let players = players(n);
        let dealt = meetings(&rounds(&players, room(size), count, 5), &players);
        let shuffled: Vec<Vec<String>> = (0..count)
            .flat_map(|round| deal(&players, room(size), &[], random::derive(&[5, round])))
            .collect();
        let spread = |met: &[usize]| met.iter().max().unwrap() - met.iter().min().unwrap();
        let by_chance = meetings(&shuffled, &players);
        assert!(
            spread(&dealt) <= most_between,
            "{n}: {} to {:?}",
            dealt.iter().min().unwrap(),
            dealt.iter().max()
        );
        // The heats have the same sizes in both, so the sums of meetings are equal, and the sums of their squares show the difference.
        let squares = |met: &[usize]| met.iter().map(|times| times * times).sum::<usize>();
        assert!(
            squares(&dealt) < squares(&by_chance),
            "{n}: {} and {}",
            squares(&dealt),
            squares(&by_chance)
        );
    }
}
