//! Narrows a study to what is wanted of it now: some of its contenders, some of its cells, less time. The result is a study like
//! any other and is stored with the run, so that a resumed run is the same.

use crate::catalog::did_you_mean;
use model::Study;
use std::collections::BTreeSet;
use std::time::Duration;

/// What is wanted of a study; empty or `None`: as the study says.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StudyPart {
    /// Names of contenders.
    pub contenders: Vec<String>,
    /// Titles of cells, or their numbers, counted from 1.
    pub cells: Vec<String>,
    /// The longest duration of the run: a heat that would exceed it is not started.
    pub budget: Option<Duration>,
    /// Stop when every ratio is known to within this share.
    pub precision: Option<f64>,
}

/// A contender or a cell that the study does not have.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the study has no {kind} `{name}`{hint}; it has: {all}")]
pub struct NotInStudy {
    /// Contender or cell.
    kind: &'static str,
    /// The name as given.
    name: String,
    /// The most similar one, if any is similar.
    hint: String,
    /// All names that the study has.
    all: String,
}

/// Reduces a study to what is wanted, in the study's own order.
pub fn narrow(study: &mut Study, wanted: &StudyPart) -> Result<(), NotInStudy> {
    known("contender", &wanted.contenders, study.contenders.iter().map(String::as_str))?;
    let titles: Vec<&str> = study.cells.iter().map(|cell| cell.title.as_str()).collect();
    let title =
        |given: &String| position(&titles, given).map_or(given.as_str(), |nth| titles[nth]).to_owned();
    let cells: Vec<String> = wanted.cells.iter().map(title).collect();
    known("cell", &cells, study.cells.iter().map(|cell| cell.title.as_str()))?;
    if !wanted.contenders.is_empty() {
        study.contenders.retain(|name| wanted.contenders.contains(name));
    }
    if !cells.is_empty() {
        study.cells.retain(|cell| cells.contains(&cell.title));
        study.as_published.retain(|page| cells.contains(&page.cell));
    }
    study.design.budget = wanted.budget.unwrap_or(study.design.budget);
    study.design.precision = wanted.precision.unwrap_or(study.design.precision);
    Ok(())
}

/// The place of a cell that is given by its title or by its number, counted from 1; `None`: there is no such cell.
pub fn position(titles: &[&str], given: &str) -> Option<usize> {
    let numbered = || given.parse::<usize>().ok()?.checked_sub(1).filter(|nth| *nth < titles.len());
    titles.iter().position(|title| *title == given).or_else(numbered)
}

/// Fails with a message if the title of a cell is missing or given twice.
pub fn ensure_distinct<'s>(titles: impl Iterator<Item = &'s str>) -> Result<(), String> {
    let mut known = BTreeSet::new();
    for title in titles {
        if title.trim().is_empty() {
            return Err("a cell has no title".to_owned());
        }
        if !known.insert(title) {
            return Err(format!("two cells have the title `{title}`"));
        }
    }
    Ok(())
}

fn known<'s>(
    kind: &'static str,
    wanted: &[String],
    all: impl Iterator<Item = &'s str> + Clone,
) -> Result<(), NotInStudy> {
    match wanted.iter().find(|name| !all.clone().any(|one| one == name.as_str())) {
        None => Ok(()),
        Some(name) => Err(NotInStudy {
            kind,
            name: name.clone(),
            hint: did_you_mean(name, all.clone()),
            all: all.map(|one| format!("`{one}`")).collect::<Vec<_>>().join(", "),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Catalog;

    fn text(words: &[&str]) -> Vec<String> {
        words.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn every_study_can_be_narrowed_to_each_of_its_contenders_and_cells() {
        for (name, whole) in Catalog::built_in().unwrap().studies {
            let mut same = whole.clone();
            narrow(&mut same, &StudyPart::default()).unwrap();
            assert_eq!(same, whole, "{name}: nothing wanted is all wanted");
            for (contender, cell) in whole.contenders.iter().zip(whole.cells.iter().cycle()) {
                let mut study = whole.clone();
                let (contenders, cells) = (text(&[contender]), text(&[&cell.title]));
                narrow(&mut study, &StudyPart { contenders, cells, ..StudyPart::default() }).unwrap();
                assert_eq!((&study.contenders, study.cells.len()), (&text(&[contender]), 1), "{name}");
                assert_eq!(study.cells[0], *cell);
                assert!(study.as_published.iter().all(|page| page.cell == cell.title), "{name}");
            }
        }
    }

    #[test]
    fn a_cell_has_a_number_unless_another_has_it_for_a_title() {
        let mut study = Catalog::built_in().unwrap().studies["raspberry-pi"].clone();
        let narrowed = |study: &Study, cell: &str| {
            let mut study = study.clone();
            narrow(&mut study, &StudyPart { cells: text(&[cell]), ..StudyPart::default() })
                .map(|()| study.cells)
        };
        assert_eq!(narrowed(&study, "2").unwrap(), study.cells[1..2]);
        assert!(narrowed(&study, "0").is_err() && narrowed(&study, "3").is_err());
        study.cells[0].title = "2".to_owned();
        assert_eq!(narrowed(&study, "2").unwrap(), study.cells[..1]);
    }

    #[test]
    fn what_the_study_lacks_is_refused_with_the_nearest_and_all_it_has() {
        let mut study = Catalog::built_in().unwrap().studies["raspberry-pi"].clone();
        let wanted = StudyPart { contenders: text(&["node", "ngimx"]), ..StudyPart::default() };
        let why = narrow(&mut study, &wanted).unwrap_err().to_string();
        assert!(
            why.starts_with("the study has no contender `ngimx` (did you mean `nginx`?); it has: `nginx`, ")
        );
        let wanted = StudyPart { cells: text(&["keepalive"]), ..StudyPart::default() };
        let why = narrow(&mut study, &wanted).unwrap_err().to_string();
        assert!(why.contains("no cell `keepalive` (did you mean `keep-alive`?)"), "{why}");
        assert_eq!((study.contenders.len(), study.cells.len()), (9, 2), "who is refused changes nothing");
    }
}
