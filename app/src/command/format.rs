//! `--format` and `--output`: how and where a command shows its result. `F` lists the formats of one command.

use super::output::Output;
use crate::console;
use crate::failure::WrongInput;
use clap::builder::{EnumValueParser, PossibleValue};
use clap::{Args, ValueEnum};
use report::TextStyle;
use std::path::{Path, PathBuf};

/// Every extension that stands for a format, with the format's name on the command line. The first match counts, so `bencher.json` comes
/// before `json`. All commands share the list: a command that lacks the format refuses a file of this name.
const EXTENSIONS: &[(&str, &str)] = &[
    ("bencher.json", "bencher"),
    ("bigger.json", "bigger-is-better"),
    ("smaller.json", "smaller-is-better"),
    ("xml", "junit"),
    ("txt", "terminal"),
    ("md", "markdown"),
    ("html", "html"),
    ("json", "json"),
    ("csv", "csv"),
    ("tsv", "tsv"),
    ("svg", "svg"),
    ("folded", "folded"),
    ("png", "png"),
];

/// The formats of a command that has no others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum TextOrJson {
    #[default]
    Terminal,
    Json,
}

/// Raw arguments.
#[derive(Clone, Debug, Args)]
pub struct FormatArgs<F: ValueEnum + Send + Sync + 'static> {
    /// Output format [default: by the extension of --output, else terminal]
    #[arg(long, value_parser = EnumValueParser::<F>::new())]
    pub format: Option<F>,
    /// Write to this file instead of standard output; its extension sets the format
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// How and where a result is shown; checked to be possible.
#[derive(Debug)]
pub struct Destination<F> {
    /// The format.
    pub format: F,
    output: Option<Output>,
}

impl<F: ValueEnum + Default + Send + Sync + 'static> FormatArgs<F> {
    /// Checks the options; called before anything is measured.
    pub fn destination(&self) -> Result<Destination<F>, WrongInput> {
        Destination::new(self.format()?, self.output.as_deref())
    }

    /// The format that was asked for, else that of the file's extension, else the default. Fails if the command lacks the extension's
    /// format.
    pub fn format(&self) -> Result<F, WrongInput> {
        if let Some(format) = &self.format {
            return Ok(format.clone());
        }
        let named = self.output.as_deref().and_then(|path| Some((path, name(path)?)));
        let Some((path, named)) = named else { return Ok(F::default()) };
        F::from_str(named, false).map_err(|_| {
            let (path, extensions) = (path.display(), extensions::<F>());
            WrongInput(format!(
                "--output {path}: this command has no format {named}: name a file that ends in {extensions}"
            ))
        })
    }
}

impl<F> Destination<F> {
    /// To this file, or to standard output.
    pub fn new(format: F, path: Option<&Path>) -> Result<Self, WrongInput> {
        let output = path.map(|path| Output::to("--output", path)).transpose()?;
        Ok(Self { format, output })
    }

    /// What the output can show; a file is no terminal.
    pub fn look(&self) -> TextStyle {
        if self.output.is_some() { console::file_style() } else { console::text_style() }
    }

    /// Writes to the file, or to standard output.
    pub fn write(&self, bytes: &[u8]) -> anyhow::Result<()> {
        match &self.output {
            Some(output) => output.write(bytes),
            None => console::print_bytes(bytes),
        }
    }
}

/// The file of an option such as `--export`, and the format of its extension.
pub fn export<F: ValueEnum>(option: &'static str, path: &Path) -> Result<(F, Output), WrongInput> {
    let Some(format) = of(path) else {
        let (path, extensions) = (path.display(), extensions::<F>());
        refuse!("{option} {path}: name a file that ends in {extensions}");
    };
    Ok((format, Output::to(option, path)?))
}

/// The format of the file name's extension, if there is such a format.
pub fn of<F: ValueEnum>(path: &Path) -> Option<F> {
    F::from_str(name(path)?, false).ok()
}

/// The extension of a format's files.
pub fn extension<F: ValueEnum>(format: &F) -> &'static str {
    let value = format.to_possible_value();
    let name = value.as_ref().map_or("", PossibleValue::get_name);
    EXTENSIONS.iter().find(|(_, known)| *known == name).map_or("", |(extension, _)| *extension)
}

/// The extensions of all formats, as part of a sentence.
pub fn extensions<F: ValueEnum>() -> String {
    let all: Vec<String> = F::value_variants().iter().map(|f| format!(".{}", extension(f))).collect();
    report::units::joined(&all, "or")
}

/// The name of the format that the file name's extension stands for.
fn name(path: &Path) -> Option<&'static str> {
    let file = path.file_name()?.to_str()?;
    // A hidden file such as `.json` has no extension.
    let has = |extension: &str| {
        file.strip_suffix(extension).is_some_and(|rest| rest.len() > 1 && rest.ends_with('.'))
    };
    EXTENSIONS.iter().find(|(extension, _)| has(extension)).map(|(_, name)| *name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stored::formats::Format;

    #[test]
    fn the_extension_sets_the_format_unless_it_is_given() {
        let format = |format, output: Option<&str>| {
            FormatArgs::<Format> { format, output: output.map(PathBuf::from) }.format().unwrap()
        };
        assert_eq!(format(None, None), Format::Terminal);
        assert_eq!(format(None, Some("a/report.md")), Format::Markdown);
        assert_eq!(format(None, Some("report")), Format::Terminal);
        assert_eq!(format(Some(Format::Json), Some("report.md")), Format::Json);
        for format in Format::value_variants() {
            let path = format!("a.{}", extension(format));
            assert_eq!(of(Path::new(&path)), Some(*format), "every format has an extension");
        }
    }

    #[test]
    fn a_format_that_a_command_lacks_is_refused() {
        #[derive(Clone, Copy, Debug, Default, PartialEq, ValueEnum)]
        enum Few {
            #[default]
            Terminal,
            Json,
        }
        let few = |path: &str| FormatArgs::<Few> { format: None, output: Some(path.into()) }.format();
        assert_eq!(few("a.json").unwrap(), Few::Json);
        assert_eq!(few("a.log").unwrap(), Few::Terminal);
        let why = few("a.html").unwrap_err().to_string();
        assert!(why.contains("no format html: name a file that ends in .txt or .json"), "{why}");
    }
}
