//! Finds the cause of each step. A ratio to the reference leaves out the machine's speed, but not all of it where another machine affects a
//! server more than the reference; and where the reference itself becomes another program, every ratio steps. So a step that the
//! reference or most others share is never called a contender's.

use model::history::{Cause, CellHistory, ContenderHistory, Step};

/// Steps of several series count as one if they are no farther apart than this: each is found to within about one run.
const NEAR_RUNS: usize = 1;

/// Sets the cause of every step of a cell.
pub fn tell(cell: &mut CellHistory) {
    let reference: Vec<usize> = cell.reference.steps.iter().map(|step| step.at).collect();
    for step in &mut cell.reference.steps {
        step.cause = if step.drome.is_some() { Cause::Drome } else { Cause::Machine };
    }
    let shared: Vec<Vec<bool>> = cell
        .contenders
        .iter()
        .map(|c| c.steps.iter().map(|step| is_shared(&cell.contenders, step)).collect())
        .collect();
    let is_alone = cell.contenders.len() == 1;
    for (contender, shared) in cell.contenders.iter_mut().zip(shared) {
        for (step, shared) in contender.steps.iter_mut().zip(shared) {
            let with_reference = reference.iter().any(|at| at.abs_diff(step.at) <= NEAR_RUNS);
            // Beside a single contender, another reference can't be told from another contender.
            let is_drome = step.drome.is_some() && (with_reference || shared || is_alone);
            step.cause = match (is_drome, with_reference, shared) {
                (true, ..) => Cause::Drome,
                (_, true, _) => Cause::Machine,
                (.., true) => Cause::Shared,
                _ => Cause::Contender,
            };
        }
    }
}

/// Whether more than half of at least three contenders step there, in the same direction.
fn is_shared(contenders: &[ContenderHistory], step: &Step) -> bool {
    let is_like = |other: &Step| {
        let same_way = (other.ratio.median > 1.0) == (step.ratio.median > 1.0);
        other.at.abs_diff(step.at) <= NEAR_RUNS && same_way
    };
    let alike = contenders.iter().filter(|c| c.steps.iter().any(is_like)).count();
    contenders.len() >= 3 && 2 * alike > contenders.len()
}
