//! Deals contenders into heats. A round has every contender in exactly one heat, dealt anew each round. Pure: depends on the seed, on
//! which contenders have met before, and on the memory that they took, never on how fast they were.

use stats::random;
use std::collections::BTreeMap;

/// How many shuffles are tried before another heat is added.
const SHUFFLES: u64 = 20;

/// A contender that is to be dealt into a heat, with what decides where it fits.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Player {
    /// Its name.
    pub name: String,
    /// Whether no other contender may be alive beside it.
    pub alone: bool,
    /// Whether that is because the machine once ran out of memory while it was alive beside others.
    pub lacked_memory: bool,
    /// The maximum memory that all of its copies used together, in bytes. Unknown before its first start, and then counted as 0: if the
    /// heat needs more than the machine has, the kernel ends a server, which is then repeated alone.
    pub memory_bytes: Option<u64>,
}

/// The room in a heat.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Room {
    /// The maximum number of contenders, without the hub.
    pub size: usize,
    /// The memory for all of them together; unknown: it is not limited.
    pub memory_bytes: Option<u64>,
}

/// Deals all players into heats that are as equal in size as possible, and in which they have met as seldom as possible. `earlier` are the
/// heats of all earlier rounds. The heats, and the members of each, come in a random order.
pub fn deal(players: &[Player], room: Room, earlier: &[Vec<String>], seed: u64) -> Vec<Vec<String>> {
    let (alone, together): (Vec<&Player>, Vec<&Player>) = players.iter().partition(|player| player.alone);
    let fewest = together.len().div_ceil(room.size.max(1));
    let seeds = (0..SHUFFLES).map(|nth| random::derive(&[seed, nth]));
    let tries = (fewest..=together.len()).flat_map(|heats| seeds.clone().map(move |seed| (heats, seed)));
    let table = tries.into_iter().find_map(|(heats, seed)| Table::shuffled(&together, room, heats, seed));
    let dealt = table.map(|table| table.by_meetings(&Met::of(&together, earlier))).unwrap_or_default();
    let by_index = |members: Vec<usize>| members.into_iter().map(|member| together[member]).collect();
    let mut heats: Vec<Vec<&Player>> = dealt.into_iter().map(by_index).collect();
    heats.extend(alone.into_iter().map(|player| vec![player]));
    let in_order = |heats: &[Vec<&Player>], seed| -> Vec<Vec<String>> {
        let shuffled = |members: &[&Player], seed| {
            random::shuffled(members.len(), seed).into_iter().map(|i| members[i].name.clone()).collect()
        };
        let order = random::shuffled(heats.len(), seed);
        order.into_iter().map(|at| shuffled(&heats[at], random::derive(&[seed, at as u64]))).collect()
    };
    in_order(&heats, random::derive(&[seed, SHUFFLES]))
}

/// The heats while they are dealt; members by index.
struct Table<'p> {
    players: &'p [&'p Player],
    room: Room,
    heats: Vec<Vec<usize>>,
}

impl<'p> Table<'p> {
    /// Deals the players in the order of the seed, each to the emptiest heat that has room; `None` if one finds none.
    fn shuffled(players: &'p [&'p Player], room: Room, heats: usize, seed: u64) -> Option<Self> {
        let mut table = Self { players, room, heats: vec![Vec::new(); heats] };
        for player in random::shuffled(players.len(), seed) {
            let mut at: Vec<usize> = (0..heats).collect();
            at.sort_by_key(|at| table.heats[*at].len());
            let at = at.into_iter().find(|at| {
                let members = &table.heats[*at];
                members.len() < room.size.max(1) && table.fits(&[members, &[player][..]].concat())
            })?;
            table.heats[at].push(player);
        }
        Some(table)
    }

    /// Whether these can be alive together. A single one always can, whatever it takes.
    fn fits(&self, members: &[usize]) -> bool {
        let of_each = members.iter().map(|member| self.players[*member].memory_bytes.unwrap_or(0));
        let memory = of_each.fold(0, u64::saturating_add);
        members.len() < 2 || self.room.memory_bytes.is_none_or(|room| memory <= room)
    }

    /// Exchanges members of different heats for as long as that lowers the number of repeated meetings.
    fn by_meetings(mut self, met: &Met) -> Vec<Vec<usize>> {
        // Each exchange lowers their number, so this ends.
        while self.exchange_in_all(met) {}
        self.heats
    }

    /// Exchanges members of all pairs of heats once; returns whether that lowered the number of repeated meetings.
    fn exchange_in_all(&mut self, met: &Met) -> bool {
        let mut is_better = false;
        for a in 0..self.heats.len() {
            for b in a + 1..self.heats.len() {
                is_better |= self.exchange(a, b, met);
            }
        }
        is_better
    }

    fn exchange(&mut self, a: usize, b: usize, met: &Met) -> bool {
        let mut is_better = false;
        for i in 0..self.heats[a].len() {
            for j in 0..self.heats[b].len() {
                let (one, other) = (self.heats[a][i], self.heats[b][j]);
                let [here, there] = [&self.heats[a], &self.heats[b]];
                let now = met.with(one, here, one) + met.with(other, there, other);
                if met.with(one, there, other) + met.with(other, here, one) >= now {
                    continue;
                }
                (self.heats[a][i], self.heats[b][j]) = (other, one);
                if self.fits(&self.heats[a]) && self.fits(&self.heats[b]) {
                    is_better = true;
                } else {
                    (self.heats[a][i], self.heats[b][j]) = (one, other);
                }
            }
        }
        is_better
    }
}

/// How often each pair of players has met; row and column are their indices.
struct Met(Vec<Vec<usize>>);

impl Met {
    fn of(players: &[&Player], heats: &[Vec<String>]) -> Self {
        let index: BTreeMap<&str, usize> =
            players.iter().enumerate().map(|(i, p)| (p.name.as_str(), i)).collect();
        let mut met = vec![vec![0; players.len()]; players.len()];
        for heat in heats {
            let members: Vec<usize> =
                heat.iter().filter_map(|name| index.get(name.as_str()).copied()).collect();
            for one in &members {
                for other in members.iter().filter(|other| *other != one) {
                    met[*one][*other] += 1;
                }
            }
        }
        Self(met)
    }

    /// The number of meetings of player `one` with the members of a heat, except with `without`.
    fn with(&self, one: usize, heat: &[usize], without: usize) -> usize {
        heat.iter().filter(|member| **member != without).map(|member| self.0[one][*member]).sum()
    }
}

#[cfg(test)]
mod tests;
