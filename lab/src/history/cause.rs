//! Whose step it is. The ratio has the machine's speed taken out, but not all of it where a server feels another machine more
//! than the reference does; and where the reference itself becomes another program, every ratio steps. So a step that the
//! reference or most others share is never called a contender's.

use model::history::{Cause, CellHistory, ContenderHistory, Step};

/// Steps of several series are one where they are so many runs apart: each is found to within about one.
const NEAR_RUNS: usize = 1;

/// Says it of every step of a cell.
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

/// More than half of at least three contenders step there, the same way.
fn is_shared(contenders: &[ContenderHistory], step: &Step) -> bool {
    let is_like = |other: &Step| {
        let same_way = (other.ratio.median > 1.0) == (step.ratio.median > 1.0);
        other.at.abs_diff(step.at) <= NEAR_RUNS && same_way
    };
    let alike = contenders.iter().filter(|c| c.steps.iter().any(is_like)).count();
    contenders.len() >= 3 && 2 * alike > contenders.len()
}
