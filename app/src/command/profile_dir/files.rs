//! The files of `--profile DIR`: for each contender a flame graph, and its samples as text and as JSON; for each contender that is compared
//! with the first, the flame graph of the difference. Where a run has several cells, each has a folder of its own.

use super::sample::Profiled;
use crate::command::folder::Folder;
use crate::flame::file;
use model::Run;
use profile::ProfileError;

/// The longest part of a file's name that comes from a title, in characters.
const LONGEST_PART: usize = 60;

/// The folder of one cell.
#[derive(Debug)]
pub struct CellFolder(Folder);

impl CellFolder {
    /// Makes the folder of a cell, by its index, if it is not there. The only cell of a run has the whole folder.
    pub fn new(folder: &Folder, run: &Run, cell: usize) -> anyhow::Result<Self> {
        let own = match &run.study.cells[..] {
            [] | [_] => None,
            cells => {
                let title = cells.get(cell).map_or("", |cell| cell.title.as_str());
                Some(format!("{}-{}", cell + 1, part(title)))
            }
        };
        folder.make(own.as_deref()).map(Self)
    }

    /// Writes the flame graph of a contender, and its samples as text and as JSON.
    pub fn write_one(&self, of: &Profiled) -> anyhow::Result<()> {
        let Profiled { name, title, report } = of;
        let stem = part(name);
        let picture = file::picture_alone(report, &format!("CPU time of {name} ({title}) under load"));
        self.draw(&format!("{stem}.svg"), picture)?;
        self.0.write(&format!("{stem}.folded"), report.profile.to_folded().as_bytes())?;
        let json = format!("{}\n", serde_json::to_string_pretty(report)?);
        self.0.write(&format!("{stem}.json"), json.as_bytes()).map(drop)
    }

    /// Writes the flame graph of the difference: what B spends more and less CPU time on than A.
    pub fn write_difference(&self, a: &Profiled, b: &Profiled) -> anyhow::Result<()> {
        let title =
            format!("CPU time per answer of {} ({}) against {} ({})", b.name, b.title, a.name, a.title);
        let picture = file::difference(&a.side(), &b.side(), &title);
        self.draw(&format!("{}-against-{}.svg", part(&b.name), part(&a.name)), picture)
    }

    /// Writes a picture, or prints why there is none.
    fn draw(&self, file: &str, picture: Result<String, ProfileError>) -> anyhow::Result<()> {
        match picture {
            Ok(svg) => self.0.write(file, svg.as_bytes()).map(drop),
            Err(error) => {
                alert!("drome: no {file}: {error}");
                Ok(())
            }
        }
    }
}

/// A name or a title as a part of a file's name: letters, digits and marks that have no special meaning to a shell.
fn part(text: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || "@._-".contains(c) { c } else { '-' };
    let part: String = text.chars().map(plain).take(LONGEST_PART).collect();
    // Neither a hidden file nor the folder above.
    let part = part.trim_matches(['.', '-']);
    if part.is_empty() { "unnamed".to_owned() } else { part.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_files_are_plain() {
        assert_eq!(
            [part("A"), part("nginx@tuned"), part("http_load-1.0")],
            ["A", "nginx@tuned", "http_load-1.0"]
        );
        assert_eq!(part("four bytes, kept"), "four-bytes--kept");
        assert_eq!([part("../../etc/passwd"), part(".."), part("")], ["etc-passwd", "unnamed", "unnamed"]);
        assert_eq!(part(&"ä".repeat(99)), "unnamed");
        assert_eq!(part(&"a".repeat(99)).len(), LONGEST_PART);
    }
}
