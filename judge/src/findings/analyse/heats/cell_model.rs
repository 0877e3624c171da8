//! The one model of a cell, by the names of contenders: every ratio, interval, relation, rank, letter and noise floor comes from it.

use model::Metric;
use model::contender::Class;
use model::findings::{ClassFloor, Figure, Pairs, StartFigure};
use model::heat::HUB;
use stats::estimate::{Estimate, SYSTEMATIC};
use stats::heats::{self, Best, Fit, FitRules, Pair, Place, Relation};
use std::collections::{BTreeMap, BTreeSet};

/// A contender as the model sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedEntrant {
    /// Its name.
    pub name: String,
    /// Its class; `None`: it is assumed to vary as most contenders do.
    pub class: Option<Class>,
    /// Whether it gets a rank.
    pub is_ranked: bool,
    /// Whether the load generator was its limit.
    pub is_floor: bool,
}

/// What the model is asked for.
#[derive(Clone, Copy, Debug)]
pub struct Asked {
    /// The metric of the figures.
    pub metric: Metric,
    /// The probability of any wrong decision.
    pub chance: f64,
}

/// The fitted model of a cell.
pub struct CellModel {
    /// The fit of its figures.
    pub fit: Fit,
    names: BTreeMap<String, usize>,
    entrants: Vec<NamedEntrant>,
    /// Every start's figure, by index of its contender.
    starts: Vec<(usize, f64)>,
}

impl CellModel {
    /// Fits the model to these starts; the hub's tie the heats together, where it takes part in them.
    pub fn of(mut entrants: Vec<NamedEntrant>, starts: &[StartFigure], asked: &Asked) -> Self {
        let has_hub = starts.iter().any(|start| start.contender == HUB);
        let hub = has_hub.then_some(entrants.len());
        if has_hub {
            let (name, class) = (HUB.to_owned(), Some(Class::Native));
            entrants.push(NamedEntrant { name, class, is_ranked: false, is_floor: false });
        }
        let names: BTreeMap<String, usize> =
            entrants.iter().enumerate().map(|(i, entrant)| (entrant.name.clone(), i)).collect();
        let heats: Vec<(usize, usize)> =
            starts.iter().map(|s| (s.round, s.heat)).collect::<BTreeSet<_>>().into_iter().collect();
        let of = |s: &StartFigure| {
            let heat = heats.binary_search(&(s.round, s.heat)).ok()?;
            Some(heats::FitStart { contender: *names.get(&s.contender)?, heat, log_figure: s.figure.ln() })
        };
        let figures: Vec<heats::FitStart> = starts.iter().filter_map(of).collect();
        let known: Vec<heats::FitEntrant> = entrants
            .iter()
            .map(|e| heats::FitEntrant {
                class: group(e.class),
                is_ranked: e.is_ranked,
                is_floor: e.is_floor,
            })
            .collect();
        let best = if asked.metric.is_better_higher() { Best::Highest } else { Best::Lowest };
        let fit = Fit::new(&known, &figures, &FitRules { hub, best, chance: asked.chance });
        let starts = figures.iter().map(|start| (start.contender, start.log_figure.exp())).collect();
        Self { fit, names, entrants, starts }
    }

    /// The index of a contender.
    pub fn index(&self, name: &str) -> Option<usize> {
        self.names.get(name).copied()
    }

    /// The name of a contender; empty for an unknown index.
    pub fn name(&self, index: usize) -> &str {
        self.entrants.get(index).map_or("", |entrant| &entrant.name)
    }

    /// Whether the load generator was its limit.
    pub fn is_floor(&self, index: usize) -> bool {
        self.entrants.get(index).is_some_and(|entrant| entrant.is_floor)
    }

    /// The ranked contenders, the best estimate first, then those without a rank only because the load generator held all of them back.
    pub fn order(&self) -> Vec<usize> {
        let (mut order, places) = (self.fit.order(), self.fit.places());
        let is_lost = |c: &usize| {
            self.entrants[*c].is_ranked
                && self.entrants[*c].is_floor
                && places.get(*c).is_some_and(Option::is_none)
        };
        order.extend((0..self.entrants.len()).filter(is_lost));
        order
    }

    /// The comparison of two contenders.
    pub fn pair(&self, one: &str, other: &str) -> Option<Pair> {
        self.fit.pair(self.index(one)?, self.index(other)?)
    }

    /// One contender's figure as a share of another's, with the interval of this pair, or without one where the starts can't tell.
    /// The share of a contender in itself is 1.
    pub fn ratio(&self, one: &str, other: &str) -> Option<Figure> {
        let (a, b) = (self.index(one)?, self.index(other)?);
        if a == b {
            return self.fit.ratio(a, b).map(|_| Figure { median: 1.0, low: Some(1.0), high: Some(1.0) });
        }
        match self.fit.pair(a, b) {
            Some(pair) => Some(Figure::from(pair.estimate())),
            None => self.fit.ratio(a, b).map(|median| Figure { median, low: None, high: None }),
        }
    }

    /// One contender's figure as a share of another's, with the interval that decides; `None` where the starts can't tell.
    pub fn sure(&self, one: &str, other: &str) -> Option<Figure> {
        let Pair { ratio, sure, .. } = self.pair(one, other)?;
        Some(Figure { median: ratio, low: Some(sure.0), high: Some(sure.1) })
    }

    /// A contender's mean figure over all heats. Its interval is that of its ratio to the hub, because the machine's speed affects
    /// all contenders alike. Without a hub it is that of the median over its starts.
    pub fn figure(&self, name: &str) -> Option<Figure> {
        let own = self.index(name)?;
        if self.index(HUB).is_none() {
            let figures: Vec<f64> = self.starts.iter().filter(|s| s.0 == own).map(|s| s.1).collect();
            let usual = Figure::from(stats::median_interval(&figures)?);
            // Ratios are those of fitted figures, so this one is used, too. Where all are floors, nothing ties heats together, and there is
            // none.
            let median = self.fit.figure(own).unwrap_or(usual.median);
            let (low, high) = (usual.low.map(|low| low.min(median)), usual.high.map(|high| high.max(median)));
            return Some(Figure { median, low, high });
        }
        let median = self.fit.figure(own)?;
        let Some(pair) = self.pair(name, HUB) else { return Some(Figure { median, low: None, high: None }) };
        // A pair's interval allows for effects that depend on working conditions, as a share of the ratio. A figure by itself does not need
        // that.
        let whole = (pair.interval.1 / pair.interval.0).ln() / 2.0;
        let half = (whole - SYSTEMATIC * pair.ratio.ln().abs()).max(0.0);
        let interval = Some((median * (-half).exp(), median * half.exp()));
        Some(Figure::from(Estimate { median, interval }))
    }

    /// Which of the two is better, or that they are equal; `None` where that is not known.
    pub fn relation(&self, one: &str, other: &str) -> Option<Relation> {
        self.pair(one, other).map(|pair| pair.relation).filter(|relation| *relation != Relation::Open)
    }

    /// The range of its rank; `None` for one that is not ranked.
    pub fn place(&self, name: &str) -> Option<Place> {
        self.fit.places().get(self.index(name)?).copied()?
    }

    /// The letters of the ranked contenders, by name.
    pub fn letters(&self) -> BTreeMap<&str, String> {
        let named = |(i, letters): (usize, Option<String>)| Some((self.name(i), letters?));
        self.fit.letters().into_iter().enumerate().filter_map(named).collect()
    }

    /// The noise floor of every class with two ranked contenders.
    pub fn noise_floors(&self) -> Vec<ClassFloor> {
        let classes: BTreeSet<Class> =
            self.entrants.iter().map(|entrant| Class::assumed(entrant.class)).collect();
        let floor = |class: Class| {
            let noise_floor = self.fit.noise_floor(group(Some(class)))?;
            Some(ClassFloor { class, noise_floor })
        };
        classes.into_iter().filter_map(floor).collect()
    }

    /// The pairs of ranked contenders, counted by their relation.
    pub fn pairs(&self) -> Pairs {
        let order = self.fit.order();
        let mut pairs = Pairs::default();
        for (nth, one) in order.iter().enumerate() {
            for other in order.iter().skip(nth + 1) {
                match self.fit.pair(*one, *other).map(|pair| pair.relation) {
                    Some(Relation::Better | Relation::Worse) => pairs.decided += 1,
                    Some(Relation::Equal) => pairs.equal += 1,
                    Some(Relation::Open) | None => pairs.open += 1,
                }
            }
        }
        pairs
    }
}

/// The group of a class; contenders of one group are assumed to vary alike.
fn group(class: Option<Class>) -> usize {
    Class::assumed(class) as usize
}
