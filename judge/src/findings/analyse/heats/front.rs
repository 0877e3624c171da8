//! The leaders of a cell, and the tiers of all ranked contenders.

use super::cell_model::CellModel;
use model::findings::{ContenderFindings, Front};
use model::study::REFERENCE;

/// The contenders that no other is certainly better than, the reference aside.
pub(super) fn front(model: &CellModel) -> Option<Front> {
    let is_in_field = |c: &usize| model.name(*c) != REFERENCE;
    let field: Vec<usize> = model.fit.order().into_iter().filter(is_in_field).collect();
    let is_beaten = |c: usize| field.iter().any(|other| model.fit.is_better(*other, c));
    let (leaders, others): (Vec<usize>, Vec<usize>) = field.iter().partition(|c| !is_beaten(**c));
    let (first, next) = (*leaders.first()?, others.first().copied());
    let ratio = next.and_then(|next| model.sure(model.name(first), model.name(next)));
    let named = |c: usize| model.name(c).to_owned();
    Some(Front { leaders: leaders.into_iter().map(named).collect(), next: next.map(named), ratio })
}

/// Assigns the tiers: going down from the best estimate, a new tier begins at the first contender that the tier's first certainly beats.
pub(super) fn tiers(model: &CellModel, contenders: &mut [ContenderFindings]) {
    let (mut tier, mut first) = (0, None);
    for c in model.fit.order() {
        if first.is_none_or(|first| model.fit.is_better(first, c)) {
            (tier, first) = (tier + 1, Some(c));
        }
        if let Some(own) = contenders.iter_mut().find(|own| own.name == model.name(c)) {
            own.tier = Some(tier);
        }
    }
}
