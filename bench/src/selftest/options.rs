//! The options of `cargo xtask selftest`: which parts, and how many races.

use super::parts::{PARTS, Part};
use clap::Parser;
use clap::builder::PossibleValuesParser;

/// The part that is no race: the search for the capacity of a server.
const KNEE: &str = "knee";

/// Raw arguments.
#[derive(Parser)]
#[command(override_usage = "cargo xtask selftest [OPTIONS] [PART]...")]
pub struct Options {
    /// Parts to run: races between servers with this difference, or the search for the knee [default: all]
    #[arg(value_name = "PART", value_parser = PossibleValuesParser::new(names()))]
    parts: Vec<String>,
    /// Number of races of each difference [default: 40 between equals, 20 of each other difference]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1000))]
    races: Option<u16>,
    /// Continue where the last run was interrupted
    #[arg(long)]
    pub resume: bool,
}

impl Options {
    /// The selected races in the order of the table; all if no part was named.
    pub fn parts(&self) -> impl Iterator<Item = &'static Part> {
        PARTS.iter().filter(|part| self.selects(part.name))
    }

    /// Whether the search for the knee is selected.
    pub fn has_knee(&self) -> bool {
        self.selects(KNEE)
    }

    /// How many races of a part.
    pub fn races(&self, part: &Part) -> usize {
        self.races.map_or(part.races, usize::from)
    }

    fn selects(&self, name: &str) -> bool {
        self.parts.is_empty() || self.parts.iter().any(|part| part == name)
    }
}

fn names() -> impl Iterator<Item = &'static str> {
    PARTS.iter().map(|part| part.name).chain([KNEE])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Options, clap::Error> {
        Options::try_parse_from(["selftest"].into_iter().chain(text.split_whitespace()))
    }

    fn selected(text: &str) -> (Vec<&'static str>, bool) {
        let options = read(text).unwrap();
        (options.parts().map(|part| part.name).collect(), options.has_knee())
    }

    #[test]
    fn parts_are_selected_by_name_and_all_of_them_by_default() {
        let all = PARTS.iter().map(|part| part.name).collect::<Vec<_>>();
        assert_eq!(selected(""), (all, true));
        assert_eq!(selected("10% equal --races 3"), (vec!["equal", "10%"], false));
        assert_eq!(selected("knee"), (vec![], true));
    }

    #[test]
    fn the_number_of_races_is_that_of_the_part_by_default() {
        let races =
            |text| read(text).unwrap().races(&Part { name: "x", cost: 0.5, races: 7, neighbour: false });
        assert_eq!((races(""), races("--races 1000")), (7, 1000));
        assert!(!read("--races 3").unwrap().resume && read("--resume").unwrap().resume);
    }

    #[test]
    fn bad_input_is_refused() {
        for bad in ["11%", "--races", "--races 0", "--races 1001", "--races x"] {
            assert!(read(bad).is_err(), "{bad}");
        }
        let error = read("11%").err().unwrap().to_string();
        assert!(
            error.contains("'11%'") && error.contains("equal, 1%, 2%, 3%, 5%, 10%, neighbour, knee"),
            "{error}"
        );
    }
}
