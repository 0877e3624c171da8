//! The input of the model: the contenders, the result of each start, and after how many rounds decisions are made.

/// One contender of a cell, as the model needs to know it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entrant {
    /// Contenders of one class are taken to vary alike from start to start (native, managed, prefork; open cells have classes
    /// of their own). Any number will do.
    pub class: usize,
    /// Whether it gets a rank: not the hub, not one that has not settled or had too few sound starts.
    pub is_ranked: bool,
    /// Whether the load generator held it back: its figure is then a lower bound, so that no contender is certainly faster or equal, and
    /// its starts say nothing about the level of their heat.
    pub is_floor: bool,
}

impl Entrant {
    /// A ranked contender of a class, whose figures are no lower bounds.
    pub fn of_class(class: usize) -> Self {
        Self { class, is_ranked: true, is_floor: false }
    }
}

/// The result of one fresh start.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Start {
    /// The contender: an index into the entrants.
    pub contender: usize,
    /// The heat; any numbering without large gaps. Only starts of the same heat share a machine's state.
    pub heat: usize,
    /// The natural logarithm of its figure.
    pub log_figure: f64,
}

/// Which figures are better.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Best {
    /// Higher ones: rates.
    Highest,
    /// Lower ones: latencies, memory.
    Lowest,
}

/// How the starts are judged.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rules {
    /// The contender that runs in every heat and ties them together, if there is one.
    pub hub: Option<usize>,
    /// Which figures are better.
    pub best: Best,
    /// The probability of any wrong decision at this look: [`Looks::chance`].
    pub chance: f64,
}

/// The numbers of rounds after which decisions are made, and how strictly, so that all looks together err in at most 5 % of runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Looks {
    /// The numbers of rounds, ascending.
    pub after: &'static [usize],
    /// The probability of any wrong decision at each look.
    pub chance: f64,
}

impl Looks {
    /// The looks of a study: four looks share 5 % equally. A run that ends between two looks counts as the next one: still at most four.
    pub const STUDY: Self = Self { after: &[4, 6, 9, 13], chance: 0.0125 };

    /// The looks of a race, which may go on until a small difference is decided. Looks of the same race are correlated, so ten of them at
    /// this chance err in less than 5 % together, not in 7 % (`examples/simulate_heats`: in 0 to 4.4 % of races of equals,
    /// and in 10 % where they compare differently at a machine's two speeds). The end of a race takes the place of one of them.
    pub const RACE: Self = Self { after: &[2, 3, 4, 6, 9, 14, 21, 32, 48, 72], chance: 0.007 };

    /// Whether this number of rounds is a look.
    pub fn is_look(&self, rounds: usize) -> bool {
        self.after.contains(&rounds)
    }

    /// The first look after this number of rounds; `None` where none is left.
    pub fn next(&self, rounds: usize) -> Option<usize> {
        self.after.iter().copied().find(|look| *look > rounds)
    }
}
