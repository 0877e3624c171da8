//! Command lines of the tools. Each tool has a table of its options, and each option says what it sets, so that a tool's whole command
//! line is its table and the checks of what was set together. There are three styles: that of the C library, with its error messages; that
//! of the Apache Portable Runtime; and words after one dash.

use crate::Printed;
use std::collections::VecDeque;

/// An option of a tool with the settings `S`; `E` is what the tool makes of a wrong value.
pub struct Opt<S: 'static, E: 'static = Printed> {
    /// Its letter, after one dash.
    pub letter: Option<char>,
    /// Its name, after two dashes, or after one in the style of words; empty if it has only a letter.
    pub name: &'static str,
    /// What it sets.
    pub set: Set<S, E>,
}

/// What an option takes, and what it sets.
pub enum Set<S: 'static, E: 'static = Printed> {
    /// No value.
    Flag(fn(&mut S)),
    /// No value; the option may be wrong here, or ends the tool, as its help does.
    Try(fn(&mut S) -> Result<(), E>),
    /// A value, in the same word or the next.
    Value(fn(&mut S, &str)),
    /// A value that may be wrong.
    Checked(fn(&mut S, &str) -> Result<(), E>),
    /// A value in the same word, which may be absent.
    Maybe(fn(&mut S, Option<&str>)),
}

/// An option without a value.
pub const fn flag<S, E>(letter: char, name: &'static str, set: fn(&mut S)) -> Opt<S, E> {
    of(letter, name, Set::Flag(set))
}

/// An option without a value that may be wrong, or ends the tool.
pub const fn try_flag<S, E>(letter: char, name: &'static str, set: fn(&mut S) -> Result<(), E>) -> Opt<S, E> {
    of(letter, name, Set::Try(set))
}

/// An option with a value.
pub const fn value<S, E>(letter: char, name: &'static str, set: fn(&mut S, &str)) -> Opt<S, E> {
    of(letter, name, Set::Value(set))
}

/// An option with a value that may be wrong.
pub const fn checked<S, E>(
    letter: char,
    name: &'static str,
    set: fn(&mut S, &str) -> Result<(), E>,
) -> Opt<S, E> {
    of(letter, name, Set::Checked(set))
}

/// An option whose value may be absent.
pub const fn maybe<S, E>(letter: char, name: &'static str, set: fn(&mut S, Option<&str>)) -> Opt<S, E> {
    of(letter, name, Set::Maybe(set))
}

/// In place of a letter, for an option that has only a name.
pub const NO_LETTER: char = '\0';

const fn of<S, E>(letter: char, name: &'static str, set: Set<S, E>) -> Opt<S, E> {
    Opt { letter: if letter == NO_LETTER { None } else { Some(letter) }, name, set }
}

impl<S, E> Opt<S, E> {
    fn needs_value(&self) -> bool {
        matches!(self.set, Set::Value(_) | Set::Checked(_))
    }

    /// Sets it.
    pub fn apply(&self, settings: &mut S, value: Option<&str>) -> Result<(), E> {
        match self.set {
            Set::Flag(set) => set(settings),
            Set::Try(set) => return set(settings),
            Set::Value(set) => set(settings, value.unwrap_or_default()),
            Set::Checked(set) => return set(settings, value.unwrap_or_default()),
            Set::Maybe(set) => set(settings, value),
        }
        Ok(())
    }
}

/// A part of a command line.
pub enum Item<S: 'static, E: 'static = Printed> {
    /// An option and its value.
    Option(&'static Opt<S, E>, Option<String>),
    /// An operand, which is not an option.
    Operand(String),
    /// An error: the tool does not know this option, or its value is missing.
    Wrong(Wrong),
}

impl<S, E> Item<S, E> {
    /// Whether it is the option of this name.
    pub fn is(&self, name: &str) -> bool {
        matches!(self, Self::Option(option, _) if option.name == name)
    }
}

/// What is wrong with an option.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wrong {
    /// No such short option.
    Unknown(char),
    /// A short option lacks its value.
    Missing(char),
    /// A wrong long option, with the C library's message.
    Long(String),
}

impl Wrong {
    /// The C library's message.
    pub fn say(&self, program: &str) -> String {
        match self {
            Self::Unknown(c) => format!("{program}: invalid option -- '{c}'\n"),
            Self::Missing(c) => format!("{program}: option requires an argument -- '{c}'\n"),
            Self::Long(text) => format!("{program}: {text}\n"),
        }
    }

    /// The message of the Apache Portable Runtime, which has no long options.
    pub fn say_as_apr(&self, program: &str) -> String {
        self.say(program).replace("invalid option", "illegal option").replace('\'', "")
    }
}

/// Parses a command line as the C library does: grouped short options, abbreviated long ones, operands anywhere. The order of the options
/// also appears in messages.
pub fn parse<S, E>(
    options: impl IntoIterator<Item = &'static Opt<S, E>>,
    args: &[String],
) -> Vec<Item<S, E>> {
    let options: Vec<_> = options.into_iter().collect();
    let mut rest: VecDeque<&String> = args.iter().collect();
    let mut items = Vec::new();
    while let Some(word) = rest.pop_front() {
        if word == "--" {
            items.extend(rest.drain(..).cloned().map(Item::Operand));
        } else if let Some(name) = word.strip_prefix("--") {
            items.push(long(&options, name, &mut rest));
        } else if let Some(letters) = word.strip_prefix('-').filter(|letters| !letters.is_empty()) {
            items.extend(short(&options, letters, || rest.pop_front(), true));
        } else {
            items.push(Item::Operand(word.clone()));
        }
    }
    items
}

/// Parses a command line as the Apache Portable Runtime does: only short options, and the first operand or error ends them.
pub fn parse_as_apr<S, E>(
    options: impl IntoIterator<Item = &'static Opt<S, E>>,
    args: &[String],
) -> Vec<Item<S, E>> {
    let options: Vec<_> = options.into_iter().collect();
    let mut rest: VecDeque<&String> = args.iter().collect();
    let mut items = Vec::new();
    while let Some(word) = rest.pop_front_if(|word| word.starts_with('-') && word.len() > 1) {
        let letters = &word[1..];
        if letters.starts_with('-') {
            break;
        }
        items.extend(short(&options, letters, || rest.pop_front(), false));
        if let Some(Item::Wrong(wrong)) = items.last() {
            // The word counts as an operand, unless the unknown letter is its last.
            let after = |letter: &char| letters.split_once(*letter).map_or("", |(_, after)| after);
            if matches!(wrong, Wrong::Unknown(letter) if !after(letter).is_empty()) {
                rest.push_front(word);
            }
            break;
        }
    }
    items.extend(rest.into_iter().cloned().map(Item::Operand));
    items
}

/// Parses a command line of words after one dash, which may be abbreviated: the first option that fits is meant. The first operand ends
/// them.
pub fn parse_words<S, E>(
    options: impl IntoIterator<Item = &'static Opt<S, E>>,
    args: &[String],
) -> Vec<Item<S, E>> {
    let options: Vec<_> = options.into_iter().collect();
    let mut items = Vec::new();
    let mut rest = args;
    while let [arg, after @ ..] = rest
        && let Some(word) = arg.strip_prefix('-').filter(|word| !word.is_empty())
    {
        let is_meant = |option: &&&'static Opt<S, E>| {
            option.name.starts_with(word) && (!option.needs_value() || !after.is_empty())
        };
        let Some(option) = options.iter().find(is_meant) else {
            items.push(Item::Wrong(Wrong::Long(arg.clone())));
            break;
        };
        let value = after.first().filter(|_| option.needs_value());
        items.push(Item::Option(option, value.cloned()));
        rest = &after[usize::from(value.is_some())..];
    }
    items.extend(rest.iter().cloned().map(Item::Operand));
    items
}

/// The options of one word. Only the C library goes on after an unknown letter.
fn short<'a, S, E>(
    options: &[&'static Opt<S, E>],
    letters: &str,
    mut next: impl FnMut() -> Option<&'a String>,
    goes_on: bool,
) -> Vec<Item<S, E>> {
    let mut items = Vec::new();
    for (at, letter) in letters.char_indices() {
        let Some(option) = options.iter().find(|option| option.letter == Some(letter)) else {
            items.push(Item::Wrong(Wrong::Unknown(letter)));
            if goes_on {
                continue;
            }
            break;
        };
        let inside = &letters[at + letter.len_utf8()..];
        let inside = (!inside.is_empty()).then(|| inside.to_owned());
        if option.needs_value() {
            let given = inside.or_else(|| next().cloned());
            items.push(match given {
                None => Item::Wrong(Wrong::Missing(letter)),
                given => Item::Option(option, given),
            });
            break;
        }
        if let Set::Maybe(_) = option.set {
            items.push(Item::Option(option, inside));
            break;
        }
        items.push(Item::Option(option, None));
    }
    items
}

fn long<S, E>(options: &[&'static Opt<S, E>], word: &str, rest: &mut VecDeque<&String>) -> Item<S, E> {
    let (name, inside) = word.split_once('=').map_or((word, None), |(name, value)| (name, Some(value)));
    let named = || options.iter().filter(|option| !option.name.is_empty());
    let exact = named().find(|option| option.name == name);
    let like: Vec<_> = named().filter(|option| option.name.starts_with(name)).collect();
    let wrong = |text: String| Item::Wrong(Wrong::Long(text));
    let option = match (exact, like.as_slice()) {
        (Some(exact), _) => exact,
        (None, [only]) => only,
        (None, []) => return wrong(format!("unrecognized option '--{word}'")),
        (None, several) => {
            let all: String = several.iter().map(|option| format!(" '--{}'", option.name)).collect();
            return wrong(format!("option '--{word}' is ambiguous; possibilities:{all}"));
        }
    };
    let name = option.name;
    match (&option.set, inside) {
        (Set::Flag(_) | Set::Try(_), Some(_)) => {
            wrong(format!("option '--{name}' doesn't allow an argument"))
        }
        (Set::Value(_) | Set::Checked(_), None) => match rest.pop_front() {
            None => wrong(format!("option '--{name}' requires an argument")),
            given => Item::Option(option, given.cloned()),
        },
        (_, inside) => Item::Option(option, inside.map(str::to_owned)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Got = Vec<String>;

    const OPTIONS: &[Opt<Got>] = &[
        value(NO_LETTER, "num-calls", |got, value| got.push(format!("calls {value}"))),
        value(NO_LETTER, "num-conns", |got, value| got.push(format!("conns {value}"))),
        flag(NO_LETTER, "num", |got| got.push("num".to_owned())),
        maybe(NO_LETTER, "print", |got, value| got.push(format!("print {value:?}"))),
        flag('v', "", |got| got.push("verbose".to_owned())),
        checked('d', "debug", |got, value| {
            got.push(format!("debug {value}"));
            Ok(())
        }),
        maybe('l', "", |got, value| got.push(format!("log {value:?}"))),
    ];

    type Parse = fn(&'static [Opt<Got>], &[String]) -> Vec<Item<Got>>;

    fn parsed(parse: Parse, line: &str) -> String {
        let args: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        let mut got = Got::new();
        for item in parse(OPTIONS, &args) {
            match item {
                Item::Option(option, value) => option.apply(&mut got, value.as_deref()).unwrap(),
                Item::Operand(word) => got.push(format!("[{word}]")),
                Item::Wrong(wrong) => got.push(wrong.say("t").trim_end().to_owned()),
            }
        }
        got.join(", ")
    }

    #[test]
    fn the_c_library_s() {
        for (line, expected) in [
            ("-vd3 x -d 4", "verbose, debug 3, [x], debug 4"),
            ("--num-ca=5 --num-co 6", "calls 5, conns 6"),
            ("--num --print --print=a b", "num, print None, print Some(\"a\"), [b]"),
            ("-v -- -v - --x", "verbose, [-v], [-], [--x]"),
            ("-", "[-]"),
            ("-l x -vlx", "log None, [x], verbose, log Some(\"x\")"),
            ("-xv", "t: invalid option -- 'x', verbose"),
            ("-vd", "verbose, t: option requires an argument -- 'd'"),
            ("--bogus=3", "t: unrecognized option '--bogus=3'"),
            ("--num-c=1", "t: option '--num-c=1' is ambiguous; possibilities: '--num-calls' '--num-conns'"),
            ("--num=1", "t: option '--num' doesn't allow an argument"),
            ("--num-ca", "t: option '--num-calls' requires an argument"),
        ] {
            assert_eq!(parsed(parse, line), expected, "{line}");
        }
    }

    #[test]
    fn those_of_the_apache_portable_runtime_end_at_the_first_operand_or_error() {
        for (line, expected) in [
            ("-vvd 5 -d2 url -v", "verbose, verbose, debug 5, debug 2, [url], [-v]"),
            ("-v -- -v", "verbose, [-v]"),
            ("- url", "[-], [url]"),
            ("-Q url", "t: invalid option -- 'Q', [url]"),
            ("-Qv url", "t: invalid option -- 'Q', [-Qv], [url]"),
            ("-QQ url", "t: invalid option -- 'Q', [-QQ], [url]"),
            ("-v -d", "verbose, t: option requires an argument -- 'd'"),
            ("-ä url", "t: invalid option -- 'ä', [url]"),
        ] {
            assert_eq!(parsed(parse_as_apr, line), expected, "{line}");
        }
        assert_eq!(Wrong::Unknown('Q').say_as_apr("ab"), "ab: illegal option -- Q\n");
    }

    #[test]
    fn of_words_the_first_that_fits_is_meant() {
        for (line, expected) in [
            ("-num 5 -d 3 url -num", "calls 5, debug 3, [url], [-num]"),
            // What needs a value and has none is not meant.
            ("-num", "num"),
            ("-x url", "t: -x, [-x], [url]"),
            ("-", "[-]"),
        ] {
            assert_eq!(parsed(parse_words, line), expected, "{line}");
        }
    }
}
