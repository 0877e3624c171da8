//! The parts of the variation of a figure: from start to start, from heat to heat for one contender (some kinds of work suit the machine of that
//! hour better than others), and from run to run. The model is
//! `log figure = contender + heat + contender × heat + start`, and `contender × run` where runs are compared.
//!
//! In a study, a contender has one start in a heat, so the residuals hold both the start's part and the heat's. In a race it has two, and
//! what is compared is their mean ([`means`]): the spread between the two shows the start's part alone.

use super::design::{FitEntrant, FitStart};

/// The variance of contender × heat as a share of that from start to start, where a heat has several starts of a contender.
///
/// A race of two rounds can't see it: its own heats leave one degree of freedom. So this is what is supposed until a race's own heats say
/// otherwise. It is what `tests/simulation/recorded.rs` prints for recorded heats of different programs.
pub const HEAT_SHARE: f64 = 3.5;

/// The degrees of freedom of `1 + copies × HEAT_SHARE`: one, as it comes from one recording. Few make a race's own heats count soon, so
/// that a race in which the share is smaller is hardly longer, and one in which it is larger errs little more often.
pub const HEAT_FREEDOM: f64 = 1.0;

/// The variance of contender × run: of the change of a contender's ratio to the hub from one run to another although it did not change, in
/// squared logarithms. It stands for the 32 recorded pairs of runs of docs/decisions.md, in which ratios moved by 0.7 % (standard deviation) in a
/// quiet day, by 1 to 3 % (nginx, Go) and 6 to 10 % (Perl) in a noisy one, and by up to 11 % within 76 minutes in which the machine sped up.
pub const RUN_VARIANCE: f64 = 0.025 * 0.025;

/// The degrees of freedom of [`RUN_VARIANCE`]: 32 pairs, but of fourteen runs in four sittings, which agree this little. With more, comparisons
/// of one or two contenders would name one wrongly in more than 5 % where contenders move by 5 % (`examples/simulate_heats`).
pub const RUN_FREEDOM: f64 = 2.0;

/// The least variance of contender × run, as a share of that from start to start of both ratios to the base: five runs of `raspberry-pi`
/// within six hours, in which the means of 15 ratios varied from run to run 4.0 times as much as their five starts explain, 1 + 5 × 0.6.
pub const RUN_SHARE: f64 = 0.6;

/// The variance of a mean of so many starts of a contender in a heat, as a share of that of one start.
fn share_of_mean(copies: f64) -> f64 {
    (HEAT_SHARE + 1.0 / copies) / (HEAT_SHARE + 1.0)
}

/// The mean of a contender's starts in one heat.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Mean {
    pub contender: usize,
    pub heat: usize,
    pub log_figure: f64,
    /// How much more it is worth than a single start: the inverse of its share of a start's variance.
    pub worth: f64,
}

impl Mean {
    /// A single start.
    pub fn of_one(start: &FitStart) -> Self {
        let FitStart { contender, heat, log_figure } = *start;
        Self { contender, heat, log_figure, worth: 1.0 }
    }
}

/// What a contender's starts show within heats, beside each other.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Within {
    /// The sum of squared distances from the means.
    squares: f64,
    /// The degrees of freedom of that sum.
    freedom: f64,
    /// The number of starts in heats with several, and of these heats.
    starts: f64,
    heats: f64,
}

impl Within {
    /// What it says about the variance of a single start with its heat's part, as a sum of squares and its degrees of freedom. `all`: the
    /// degrees of freedom of all contenders that share the supposed [`HEAT_SHARE`], and so its error.
    pub fn of_start(&self, all: f64) -> (f64, f64) {
        let counts = 1.0 / (1.0 + all / HEAT_FREEDOM);
        (self.squares * (1.0 + HEAT_SHARE) * counts, self.freedom * counts)
    }

    /// The least variance of a single start with its heat's part: the mean of several starts can't vary less than starts alone make it vary.
    pub fn least(&self) -> f64 {
        if self.freedom <= 0.0 {
            return 0.0;
        }
        let copies = self.starts / self.heats;
        self.squares / self.freedom / copies / share_of_mean(copies)
    }

    /// Its degrees of freedom.
    pub fn freedom(&self) -> f64 {
        self.freedom
    }
}

/// The means of all contenders' starts, heat by heat, and what the starts show within heats, by contender.
pub(super) fn means(entrants: &[FitEntrant], starts: &[FitStart]) -> (Vec<Mean>, Vec<Within>) {
    let mut order: Vec<usize> = (0..starts.len()).collect();
    let key = |start: &FitStart| (start.heat, start.contender);
    order.sort_by_key(|i| key(&starts[*i]));
    let mut within = vec![Within::default(); entrants.len()];
    let mut means = Vec::with_capacity(starts.len());
    for alike in order.chunk_by(|a, b| key(&starts[*a]) == key(&starts[*b])) {
        let (one, copies) = (Mean::of_one(&starts[alike[0]]), alike.len() as f64);
        if alike.len() == 1 {
            means.push(one);
            continue;
        }
        let mean = alike.iter().map(|i| starts[*i].log_figure).sum::<f64>() / copies;
        means.push(Mean { log_figure: mean, worth: 1.0 / share_of_mean(copies), ..one });
        let own = &mut within[one.contender];
        own.squares += alike.iter().map(|i| (starts[*i].log_figure - mean).powi(2)).sum::<f64>();
        own.freedom += copies - 1.0;
        own.starts += copies;
        own.heats += 1.0;
    }
    (means, within)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn start(contender: usize, heat: usize, log_figure: f64) -> FitStart {
        FitStart { contender, heat, log_figure }
    }

    #[test]
    fn one_start_in_a_heat_is_its_own_mean_and_shows_nothing_within_heats() {
        let starts = [start(0, 1, 3.0), start(1, 0, 2.0), start(0, 0, 1.0)];
        let (means, within) = means(&[FitEntrant::of_class(0); 2], &starts);
        let figures: Vec<_> = means.iter().map(|m| (m.heat, m.contender, m.log_figure, m.worth)).collect();
        assert_eq!(figures, [(0, 0, 1.0, 1.0), (0, 1, 2.0, 1.0), (1, 0, 3.0, 1.0)]);
        assert!(within.iter().all(|w| *w == Within::default() && w.least() == 0.0));
    }

    #[test]
    fn two_starts_in_a_heat_become_their_mean_which_varies_by_no_less_than_half_of_a_start() {
        let starts = [start(0, 0, 1.0), start(0, 0, 3.0), start(0, 1, 6.0), start(0, 1, 6.0)];
        let (means, within) = means(&[FitEntrant::of_class(0)], &starts);
        assert_eq!(means.iter().map(|m| m.log_figure).collect::<Vec<_>>(), [2.0, 6.0]);
        let (squares, freedom) = (within[0].squares, within[0].freedom());
        assert_eq!((squares, freedom), (2.0, 2.0));
        // A start varies by 1, so a mean of two by a half, whatever the heat's part.
        assert!((within[0].least() / means[0].worth - 0.5).abs() < 1e-12);
        // With the supposed part of the heat, a mean varies by half of a start's variance and that part.
        let (squares, counted) = within[0].of_start(freedom);
        assert!((squares / counted / means[0].worth - (0.5 + HEAT_SHARE)).abs() < 1e-12);
        assert!((counted - 1.0 / (1.0 / freedom + 1.0 / HEAT_FREEDOM)).abs() < 1e-12);
    }
}
