//! What is asked for on the command line.

use super::parts::{PARTS, Part};
use anyhow::{Result, bail};

#[derive(Default)]
pub struct Options {
    names: Vec<String>,
    pub races: Option<usize>,
    pub resume: bool,
    pub knee: bool,
}

impl Options {
    /// `None`: help is asked for.
    pub fn read(args: &[String]) -> Result<Option<Self>> {
        let mut options = Self::default();
        let mut args = args.iter().map(String::as_str);
        while let Some(arg) = args.next() {
            match arg {
                "--help" | "-h" => return Ok(None),
                "--resume" => options.resume = true,
                "--races" => match args.next().and_then(|n| n.parse().ok()) {
                    Some(n @ 1..=1000) => options.races = Some(n),
                    _ => bail!("--races takes a whole number from 1 to 1000"),
                },
                "knee" => options.knee = true,
                name if PARTS.iter().any(|part| part.name == name) => options.names.push(name.to_owned()),
                other => bail!("`{other}` is no part; there are: {}", names()),
            }
        }
        if options.names.is_empty() && !options.knee {
            options.names = PARTS.iter().map(|part| part.name.to_owned()).collect();
            options.knee = true;
        }
        Ok(Some(options))
    }

    /// In the order of the table.
    pub fn parts(&self) -> impl Iterator<Item = &'static Part> {
        PARTS.iter().filter(|part| self.names.iter().any(|name| name == part.name))
    }
}

fn names() -> String {
    let names: Vec<_> = PARTS.iter().map(|part| part.name).chain(["knee"]).collect();
    names.join(" ")
}

/// What can be asked for.
pub fn help() -> String {
    format!(
        "cargo xtask selftest [PART…] [--races N] [--resume]
  PART      which, all unless told: {}
  --races   how many races of each difference [40 between equals, 20 of each other]
  --resume  goes on where the last one was cut off
",
        names()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Option<Options>> {
        Options::read(&text.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn parts_are_chosen_by_name_and_all_of_them_unless_told() {
        let all = read("").unwrap().unwrap();
        assert!(all.knee && all.parts().count() == PARTS.len());
        let some = read("10% equal --races 3").unwrap().unwrap();
        assert_eq!(some.parts().map(|part| part.name).collect::<Vec<_>>(), ["equal", "10%"]);
        assert!(!some.knee && some.races == Some(3));
        assert_eq!(read("knee").unwrap().unwrap().parts().count(), 0);
    }

    #[test]
    fn what_is_no_part_is_refused() {
        for bad in ["11%", "--races", "--races 0", "--races x"] {
            assert!(read(bad).is_err(), "{bad}");
        }
        assert!(read("--help").unwrap().is_none());
    }
}
