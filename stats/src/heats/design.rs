//! The input of the model: the contenders, the result of each start, and after how many rounds, and how strictly, decisions are made.

/// One contender of a cell, as the model needs to know it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FitEntrant {
    /// Contenders of one class are taken to vary alike from start to start (native, managed, prefork; open cells have classes
    /// of their own). Any number will do.
    pub class: usize,
    /// Whether it gets a rank: not the hub, not one that has not settled or had too few sound starts.
    pub is_ranked: bool,
    /// Whether the load generator held it back: its figure is then a lower bound, so that no contender is certainly faster or equal, and
    /// its starts say nothing about the level of their heat.
    pub is_floor: bool,
}

impl FitEntrant {
    /// A ranked contender of a class, whose figures are no lower bounds.
    pub fn of_class(class: usize) -> Self {
        Self { class, is_ranked: true, is_floor: false }
    }
}

/// The result of one fresh start.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FitStart {
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
pub struct FitRules {
    /// The contender that runs in every heat and ties them together, if there is one.
    pub hub: Option<usize>,
    /// Which figures are better.
    pub best: Best,
    /// The probability of any wrong decision: [`LEVEL`], or a share of it where several cells are judged together.
    pub chance: f64,
}

/// The numbers of rounds after which a run is evaluated, and may end: each about a quarter more than the one before (Renard's series R10).
/// Nothing depends on them but the time that is lost between two: [`LEVEL`] holds after any number of rounds.
const LOOKS: [usize; 17] = [2, 3, 4, 5, 6, 8, 10, 13, 16, 20, 25, 32, 40, 50, 63, 80, 100];

/// The probability of any wrong decision in one evaluation. Evaluations of one run are correlated, so that at this level a run that is evaluated
/// after every round from the second to the hundredth, and believed whenever it decides, errs in at most 5 % of runs
/// (`examples/simulate_heats`). So it does not matter when a run is looked at, how often it is resumed, or what ends it.
pub const LEVEL: f64 = 0.004;

/// The numbers of rounds after which a run of this many rounds is evaluated; the last is the largest.
pub fn looks([least, most]: [usize; 2]) -> Vec<usize> {
    let within = LOOKS.iter().copied().filter(|rounds| (least..most).contains(rounds));
    within.chain([most]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_evaluated_between_its_smallest_and_its_largest_number_of_rounds() {
        assert_eq!(looks([4, 13]), [4, 5, 6, 8, 10, 13]);
        assert_eq!((looks([4, 4]), looks([7, 7]), looks([101, 120])), (vec![4], vec![7], vec![120]));
        assert_eq!(looks([2, 60]), [2, 3, 4, 5, 6, 8, 10, 13, 16, 20, 25, 32, 40, 50, 60]);
        assert_eq!(looks([7, 12]), [8, 10, 12]);
    }
}
