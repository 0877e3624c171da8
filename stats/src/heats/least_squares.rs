//! Weighted least squares for `log figure = contender + heat + error` over any design: heats of different sizes, contenders
//! that miss heats or have several starts in one, heats that nothing ties together. A "start" here is the mean of a contender's in a heat.
//!
//! Heats are eliminated first, which leaves one equation per contender (the intrablock analysis of block designs: Yates 1940).
//! Contenders that only share heats with each other form an island, and only differences within an island are known.

use super::components::Mean;

/// The equations of a design under given weights.
pub(super) struct Equations<'a> {
    starts: &'a [Mean],
    /// The weight of each start; 0 where it says nothing about its heat's level.
    weights: Vec<f64>,
    /// The informing starts of each heat: those whose weight is above 0.
    heats: Vec<Vec<usize>>,
    /// The island of each contender; `None` where no start of it informs.
    pub islands: Vec<Option<usize>>,
    /// The inverse of the contenders' equations, one contender of each island held at 0. Row by row.
    inverse: Vec<Vec<f64>>,
    /// The level of each contender, relative to the one at 0 in its island; that of a floor is computed by `contrast.rs`.
    pub levels: Vec<f64>,
    /// The level of each heat; `None` without an informing start.
    pub heat_levels: Vec<Option<f64>>,
}

impl<'a> Equations<'a> {
    /// Solves the equations. `weights`: one for each contender, 0 for one that says nothing about a heat's level.
    pub fn solve(starts: &'a [Mean], weights: &[f64]) -> Self {
        let count = starts.iter().map(|s| s.heat + 1).max().unwrap_or(0);
        let mut heats = vec![Vec::new(); count];
        for (i, start) in starts.iter().enumerate().filter(|(_, s)| weights[s.contender] > 0.0) {
            heats[start.heat].push(i);
        }
        let of_start = starts.iter().map(|s| weights[s.contender] * s.worth).collect();
        let islands = islands(starts, &heats, weights.len());
        let none = Vec::new();
        let mut all = Self {
            starts,
            weights: of_start,
            heats,
            islands,
            inverse: none,
            levels: vec![],
            heat_levels: vec![],
        };
        all.inverse = all.invert();
        all.levels = all.contender_levels();
        all.heat_levels = (0..count).map(|h| all.heat_level(h)).collect();
        all
    }

    fn weight_of_heat(&self, heat: usize) -> f64 {
        self.heats[heat].iter().map(|s| self.weights[*s]).sum()
    }

    /// Each start of this heat whose weight is above 0: the start, its contender, and its share of the heat's total weight, which is its
    /// weight in the heat's level.
    fn shares(&self, heat: usize) -> impl Iterator<Item = (usize, usize, f64)> {
        let whole = self.weight_of_heat(heat);
        self.heats[heat].iter().map(move |s| (*s, self.starts[*s].contender, self.weights[*s] / whole))
    }

    fn invert(&self) -> Vec<Vec<f64>> {
        let n = self.islands.len();
        let mut matrix = vec![vec![0.0; n]; n];
        for heat in 0..self.heats.len() {
            let members: Vec<_> = self.shares(heat).collect();
            for (start, one, _) in &members {
                let weight = self.weights[*start];
                matrix[*one][*one] += weight;
                members.iter().for_each(|(_, other, share)| matrix[*one][*other] -= weight * share);
            }
        }
        // The first of each island is held at 0, and so is every contender without an equation.
        let is_first = |c: usize| self.islands[..c].iter().all(|i| *i != self.islands[c]);
        let free: Vec<usize> = (0..n).filter(|c| self.islands[*c].is_some() && !is_first(*c)).collect();
        let small = free.iter().map(|i| free.iter().map(|j| matrix[*i][*j]).collect()).collect();
        let mut inverse = vec![vec![0.0; n]; n];
        for (row, i) in inverse_of(small).into_iter().zip(&free) {
            for (value, j) in row.into_iter().zip(&free) {
                inverse[*i][*j] = value;
            }
        }
        inverse
    }

    fn contender_levels(&self) -> Vec<f64> {
        let mut right = vec![0.0; self.islands.len()];
        for heat in 0..self.heats.len() {
            let mean: f64 = self.shares(heat).map(|(s, _, share)| share * self.starts[s].log_figure).sum();
            for (s, c, _) in self.shares(heat) {
                right[c] += self.weights[s] * (self.starts[s].log_figure - mean);
            }
        }
        self.inverse.iter().map(|row| row.iter().zip(&right).map(|(g, b)| g * b).sum()).collect()
    }

    fn heat_level(&self, heat: usize) -> Option<f64> {
        let rest = |(s, c, share): (usize, usize, f64)| share * (self.starts[s].log_figure - self.levels[c]);
        (!self.heats[heat].is_empty()).then(|| self.shares(heat).map(rest).sum())
    }

    /// The residual of an informing start; `None` where its heat has no level.
    pub fn residual(&self, start: usize) -> Option<f64> {
        let s = self.starts[start];
        Some(s.log_figure - self.levels[s.contender] - self.heat_levels[s.heat]?)
    }

    /// The degrees of freedom that an informing start leaves over: 1 less its leverage.
    pub fn freedom(&self, start: usize) -> f64 {
        let s = self.starts[start];
        let mut direction: Vec<(usize, f64)> = self.shares(s.heat).map(|(_, c, share)| (c, -share)).collect();
        direction.push((s.contender, 1.0));
        let row = |i: usize| direction.iter().map(|(j, b)| b * self.inverse[i][*j]).sum::<f64>();
        let form: f64 = direction.iter().map(|(i, a)| a * row(*i)).sum();
        (1.0 - self.weights[start] * (1.0 / self.weight_of_heat(s.heat) + form)).clamp(0.0, 1.0)
    }

    /// How each contender's level depends on each start's figure: `[contender][start]`. Differences of levels are made of differences
    /// of rows of the same island.
    pub fn dependence(&self) -> Vec<Vec<f64>> {
        let mut rows = vec![vec![0.0; self.starts.len()]; self.islands.len()];
        for heat in 0..self.heats.len() {
            for (contender, row) in rows.iter_mut().enumerate() {
                let inverse = &self.inverse[contender];
                let mean: f64 = self.shares(heat).map(|(_, c, share)| share * inverse[c]).sum();
                for (s, c, _) in self.shares(heat) {
                    row[s] = self.weights[s] * (inverse[c] - mean);
                }
            }
        }
        rows
    }

    /// How a heat's level depends on each start's figure.
    pub fn heat_dependence(&self, heat: usize, rows: &[Vec<f64>]) -> Vec<f64> {
        let mut depends = vec![0.0; self.starts.len()];
        for (s, c, share) in self.shares(heat) {
            depends[s] += share;
            depends.iter_mut().zip(&rows[c]).for_each(|(d, row)| *d -= share * row);
        }
        depends
    }

    /// The island of a heat.
    pub fn island_of_heat(&self, heat: usize) -> Option<usize> {
        self.heats.get(heat)?.first().and_then(|s| self.islands[self.starts[*s].contender])
    }
}

/// The island of each contender. Contenders that heats tie together, directly or through others, have the same number, from 0 in order of
/// the first.
fn islands(starts: &[Mean], heats: &[Vec<usize>], contenders: usize) -> Vec<Option<usize>> {
    let mut islands: Vec<Option<usize>> = vec![None; contenders];
    for start in heats.iter().flatten() {
        islands[starts[*start].contender] = Some(starts[*start].contender);
    }
    // Every contender takes the lowest number of its heats until nothing changes.
    loop {
        let mut is_done = true;
        for heat in heats {
            let lowest = heat.iter().filter_map(|s| islands[starts[*s].contender]).min();
            for s in heat {
                let island = &mut islands[starts[*s].contender];
                is_done &= *island == lowest;
                *island = lowest;
            }
        }
        if is_done {
            return islands;
        }
    }
}

/// The inverse of a symmetric positive definite matrix, by Gauss and Jordan without pivots, which such a matrix does not need.
fn inverse_of(mut matrix: Vec<Vec<f64>>) -> Vec<Vec<f64>> {
    let n = matrix.len();
    for k in 0..n {
        let pivot = matrix[k][k];
        let mut row = std::mem::take(&mut matrix[k]);
        row[k] = 1.0;
        row.iter_mut().for_each(|value| *value /= pivot);
        for (_, other) in matrix.iter_mut().enumerate().filter(|(i, _)| *i != k) {
            let factor = std::mem::replace(&mut other[k], 0.0);
            if factor != 0.0 {
                other.iter_mut().zip(&row).for_each(|(value, r)| *value -= factor * r);
            }
        }
        matrix[k] = row;
    }
    matrix
}

#[cfg(test)]
mod tests {
    use super::*;

    fn start(contender: usize, heat: usize, log_figure: f64) -> Mean {
        Mean { contender, heat, log_figure, worth: 1.0 }
    }

    #[test]
    fn without_noise_it_finds_what_the_figures_were_made_of() {
        let levels = [0.0, 0.3, -0.2, 0.7];
        let heats = [[0, 1, 2], [0, 3, 1], [2, 3, 0]];
        let figure =
            |(h, members): (usize, &[usize; 3])| members.map(|c| start(c, h, levels[c] + 1.0 + h as f64));
        let starts: Vec<Mean> = heats.iter().enumerate().flat_map(figure).collect();
        let solved = Equations::solve(&starts, &[4.0, 1.0, 0.1, 2.0]);
        assert!(solved.levels.iter().zip(levels).all(|(found, level)| (found - level).abs() < 1e-12));
        assert!((solved.heat_levels[2].unwrap() - 3.0).abs() < 1e-12);
        // Nine starts, three heats and three differences leave three degrees of freedom.
        let freedom: f64 = (0..9).map(|s| solved.freedom(s)).sum();
        assert!((freedom - 3.0).abs() < 1e-12, "{freedom}");
        let rows = solved.dependence();
        for (c, row) in rows.iter().enumerate() {
            let level: f64 = row.iter().zip(&starts).map(|(l, s)| l * s.log_figure).sum();
            assert!((level - levels[c]).abs() < 1e-12);
        }
        let heat: f64 =
            solved.heat_dependence(1, &rows).iter().zip(&starts).map(|(l, s)| l * s.log_figure).sum();
        assert!((heat - 2.0).abs() < 1e-12);
    }

    #[test]
    fn entering_a_heat_twice_is_two_starts() {
        let starts = [start(0, 0, 1.0), start(0, 0, 3.0), start(1, 0, 5.0), start(1, 0, 7.0)];
        let solved = Equations::solve(&starts, &[1.0, 1.0]);
        assert!((solved.levels[1] - solved.levels[0] - 4.0).abs() < 1e-12);
        let freedom: f64 = (0..4).map(|s| solved.freedom(s)).sum();
        assert!((freedom - 2.0).abs() < 1e-12, "{freedom}");
    }

    #[test]
    fn heats_that_nothing_ties_together_are_islands() {
        let starts =
            [start(0, 0, 1.0), start(1, 0, 2.0), start(2, 1, 5.0), start(3, 1, 5.5), start(4, 2, 1.0)];
        let solved = Equations::solve(&starts, &[1.0; 6]);
        assert_eq!(solved.islands, [Some(0), Some(0), Some(2), Some(2), Some(4), None]);
        assert!((solved.levels[3] - solved.levels[2] - 0.5).abs() < 1e-12);
    }
}
