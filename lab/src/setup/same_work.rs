//! Starts every contender of a race once: what it is shows how long it has to be warmed up, and all must give the same answer, because
//! otherwise the race would be of unequal work.

use super::{RACED, SetupError};
use crate::lab::Lab;
use control::fault::Fault;
use control::prepare::Prepared;
use control::verify::origin::Origin;
use control::verify::{self, Answer, Pace};
use model::contender::Class;
use model::run::Raced;
use model::{Cell, Run};
use std::collections::BTreeMap;
use std::sync::atomic::Ordering;

/// How many bytes are shown of bodies that differ.
const SHOWN: usize = 20;

/// What was learned by asking every contender once.
struct Asked {
    /// The answer of each, in order.
    answers: Vec<(String, Answer)>,
    /// The likely class of each, by name.
    classes: BTreeMap<String, Class>,
}

/// Starts every contender once and asks it: all must give the same body (unless `any_body`), or the race is of unequal work. From then on
/// that body is expected of all; the run keeps its size, and the likely class of each contender. With `any_body`, one that fails here
/// is only of unknown class: its measured starts show what is wrong with it. `step` is told whose turn it is: a start may take as long as
/// the contender is given to be ready.
pub fn same_work(
    lab: &mut Lab,
    run: &mut Run,
    path: &str,
    any_body: bool,
    step: &dyn Fn(&str),
) -> Result<(), SetupError> {
    let asked =
        ask_all(lab, run, path, any_body, step).and_then(|asked| match unequal(&asked.answers, path) {
            Some(wrong) if !any_body => Err(wrong),
            _ => Ok(asked),
        });
    // After a request to stop, its result does not matter.
    if lab.stop.load(Ordering::Relaxed) {
        return Err(SetupError::Interrupted);
    }
    let Asked { answers, classes } = asked?;
    for (name, class) in classes {
        if let Some(entrant) = run.contenders.get_mut(&name) {
            entrant.class = entrant.class.or(Some(class));
        }
    }
    if !any_body {
        let body = answers.into_iter().next().map(|(_, answer)| answer.body);
        let body_bytes = body.as_ref().map(Vec::len);
        run.race = Some(Raced { body_bytes, ..run.race.take().unwrap_or_default() });
        lab.works.entry(RACED.to_owned()).or_default().body = body;
    }
    Ok(())
}

fn ask_all(
    lab: &Lab,
    run: &Run,
    path: &str,
    any_body: bool,
    step: &dyn Fn(&str),
) -> Result<Asked, SetupError> {
    let (mut answers, mut classes) = (Vec::new(), BTreeMap::new());
    for (name, prepared) in &lab.prepared {
        // The first one has answered, so that what is wrong now is not wrong with all of them.
        let wrong = if answers.is_empty() { SetupError::Race } else { SetupError::Compared };
        let (title, patience) = (&prepared.contender.title, prepared.contender.run.ready);
        step(&format!("{name} (`{title}`) is started and asked for {path}, for up to {patience:?}"));
        let prepare = lab.run_prepare(run, "").map_err(|fault| setup_error(fault, SetupError::Race));
        let asked = prepare.and_then(|()| ask_one(lab, prepared, (&run.study.cells[0], path), wrong));
        let (answer, class) = match asked {
            Err(SetupError::Race(_) | SetupError::Compared(_)) if any_body => continue,
            asked => asked?,
        };
        if answers.is_empty() && answer.status != 200 && !any_body {
            let status = answer.status;
            return Err(SetupError::Race(format!("{name} (`{title}`): status {status} for {path}, not 200")));
        }
        if let Some(class) = class {
            classes.insert(name.clone(), class);
        }
        answers.push((name.clone(), answer));
    }
    Ok(Asked { answers, classes })
}

/// The error of a fault; `wrong` makes that of what the contender itself does wrong.
fn setup_error(fault: Fault, wrong: impl Fn(String) -> SetupError) -> SetupError {
    match fault {
        Fault::Contender(why) => wrong(why),
        Fault::Lab(why) => SetupError::Lab(why),
    }
}

/// Starts one contender, asks it, and stops it; returns its answer, and its likely class where that is known. `wrong` makes the
/// error of what the contender itself does wrong.
fn ask_one(
    lab: &Lab,
    prepared: &Prepared,
    (cell, path): (&Cell, &str),
    wrong: fn(String) -> SetupError,
) -> Result<(Answer, Option<Class>), SetupError> {
    let (name, title) = (&prepared.name, &prepared.contender.title);
    let trouble = |why: String| wrong(format!("{name} (`{title}`): {why}"));
    let instance = lab.start(prepared, &[cell], name).map_err(|fault| setup_error(fault, trouble))?;
    let lacks = || std::io::Error::other("it does not listen as it is asked");
    let answer = instance.origin_in(cell).ok_or_else(lacks).and_then(|at| ask_usual(lab, &at, path));
    let class = instance.server.likely_class();
    // Trouble with stopping is no reason not to measure: it is noted at every start that is measured.
    let _ = instance.server.stop();
    let answer = answer.map_err(|e| match Fault::own(&e) {
        Some(own) => SetupError::Lab(own.to_string()),
        None => trouble(format!("no answer for {path}: {e}")),
    })?;
    Ok((answer, class))
}

/// Asks what is asked under load.
fn ask_usual(lab: &Lab, at: &Origin, path: &str) -> std::io::Result<Answer> {
    let work = lab.works.get(RACED).cloned().unwrap_or_default();
    verify::ask(at, &work.usual(path), Pace::AtOnce)
}

/// Why these answers are not the same work, if they are not: names the first contender and the first that differs from it, each with its
/// answer. The first one, whose status is 200, is taken for right.
fn unequal(answers: &[(String, Answer)], path: &str) -> Option<SetupError> {
    let ((one, first), others) = answers.split_first()?;
    let told = |(other, answer): &(String, Answer)| {
        let [of_one, of_other] = difference(first, answer)?;
        let remedy = if first.status == answer.status {
            "make them answer alike, or use --any-body"
        } else {
            "both must answer with status 200"
        };
        Some(SetupError::Compared(format!(
            "{one} answers {path} with {of_one}, {other} with {of_other}: that is not the same work; {remedy}"
        )))
    };
    others.iter().find_map(told)
}

/// What differs between two answers: of each its status, its length, or its bytes from the first different one on.
fn difference(one: &Answer, other: &Answer) -> Option<[String; 2]> {
    if one.status != other.status {
        return Some([one, other].map(|answer| format!("status {}", answer.status)));
    }
    let bodies = [&one.body, &other.body];
    if one.body.len() != other.body.len() {
        return Some(bodies.map(|body| format!("{} bytes", body.len())));
    }
    let at = one.body.iter().zip(&other.body).position(|(a, b)| a != b)?;
    let shown = |body: &Vec<u8>| {
        let some: Vec<u8> = body.iter().skip(at).take(SHOWN).copied().collect();
        format!("`{}` from byte {at} on", String::from_utf8_lossy(&some).escape_debug())
    };
    Some(bodies.map(shown))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wrong(answers: &[(u16, &str)]) -> Option<SetupError> {
        let answer = |(nth, (status, body)): (usize, &(u16, &str))| {
            let body = body.as_bytes().to_vec();
            (["A", "B", "C"][nth].to_owned(), Answer { status: *status, body, ..Answer::default() })
        };
        unequal(&answers.iter().enumerate().map(answer).collect::<Vec<_>>(), "/x")
    }

    fn told(answers: &[(u16, &str)]) -> Option<String> {
        wrong(answers).map(|wrong| wrong.to_string())
    }

    #[test]
    fn what_differs_is_told_of_both() {
        assert_eq!((told(&[]), told(&[(200, "a"), (200, "a"), (200, "a")])), (None, None));
        let words = |answers: &[(u16, &str)]| told(answers).unwrap_or_default();
        let status = words(&[(200, "a"), (404, "a")]);
        assert!(status.starts_with("A answers /x with status 200, B with status 404: "), "{status}");
        assert!(!status.contains("--any-body"), "{status}");
        let length = words(&[(200, "a"), (200, "a"), (200, "abc")]);
        assert!(length.starts_with("A answers /x with 1 bytes, C with 3 bytes: "), "{length}");
        let body = words(&[(200, "hello\n"), (200, "helps\n")]);
        assert!(body.contains(r"with `lo\n` from byte 3 on, B with `ps\n` from byte 3 on: "), "{body}");
        assert!(body.contains("not the same work") && body.ends_with("--any-body"), "{body}");
    }
}
