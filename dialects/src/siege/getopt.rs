//! A command line as GNU's `getopt_long` takes it apart: options anywhere, long names cut short, its own words for
//! what is wrong. siege goes on after a wrong option, so wrong ones are items among others.

/// Whether an option has a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Takes {
    Nothing,
    Value,
    /// Only one that is written right behind it.
    Attached,
}

/// An option: its long name, its letter, and whether it has a value.
pub type Spec = (&'static str, char, Takes);

/// What stands on a command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Item {
    /// An option, by its letter.
    Option(char, Option<String>),
    /// What is wrong, in getopt's words, without the program's name.
    Wrong(String),
}

/// Takes a command line apart: the options, and what is none.
pub fn parse(specs: &[Spec], args: &[String]) -> (Vec<Item>, Vec<String>) {
    let (mut items, mut rest) = (Vec::new(), Vec::new());
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        if arg == "--" {
            rest.extend(args.by_ref().cloned());
        } else if let Some(long) = arg.strip_prefix("--") {
            items.push(long_option(specs, long, || args.next().cloned()));
        } else if arg.len() > 1 && arg.starts_with('-') {
            letters(specs, &arg[1..], || args.next().cloned(), &mut items);
        } else {
            rest.push(arg.clone());
        }
    }
    (items, rest)
}

fn letters(specs: &[Spec], cluster: &str, next: impl FnOnce() -> Option<String>, items: &mut Vec<Item>) {
    for (at, letter) in cluster.char_indices() {
        let behind = &cluster[at + letter.len_utf8()..];
        let Some((_, _, takes)) =
            specs.iter().find(|(_, short, _)| *short == letter && letter.is_ascii_graphic())
        else {
            items.push(Item::Wrong(format!("invalid option -- '{letter}'")));
            continue;
        };
        let attached = (!behind.is_empty()).then(|| behind.to_owned());
        match takes {
            Takes::Nothing => {
                items.push(Item::Option(letter, None));
                continue;
            }
            Takes::Attached => items.push(Item::Option(letter, attached)),
            Takes::Value => items.push(match attached.or_else(next) {
                Some(value) => Item::Option(letter, Some(value)),
                None => Item::Wrong(format!("option requires an argument -- '{letter}'")),
            }),
        }
        return;
    }
}

fn long_option(specs: &[Spec], long: &str, next: impl FnOnce() -> Option<String>) -> Item {
    let (name, value) = match long.split_once('=') {
        Some((name, value)) => (name, Some(value.to_owned())),
        None => (long, None),
    };
    let exact: Vec<&Spec> = specs.iter().filter(|(known, _, _)| *known == name).collect();
    let near: Vec<&Spec> = specs.iter().filter(|(known, _, _)| known.starts_with(name)).collect();
    let (known, letter, takes) = match (exact.as_slice(), near.as_slice()) {
        ([one], _) | ([], [one]) => **one,
        (_, []) => return Item::Wrong(format!("unrecognized option '--{name}'")),
        (_, several) => {
            let names: String = several.iter().map(|(known, _, _)| format!(" '--{known}'")).collect();
            return Item::Wrong(format!("option '--{long}' is ambiguous; possibilities:{names}"));
        }
    };
    match (takes, value) {
        (Takes::Nothing, Some(_)) => Item::Wrong(format!("option '--{known}' doesn't allow an argument")),
        (Takes::Value, None) => match next() {
            Some(value) => Item::Option(letter, Some(value)),
            None => Item::Wrong(format!("option '--{known}' requires an argument")),
        },
        (_, value) => Item::Option(letter, value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SPECS: &[Spec] = &[
        ("verbose", 'v', Takes::Nothing),
        ("version", 'V', Takes::Nothing),
        ("count", 'c', Takes::Value),
        ("log", 'l', Takes::Attached),
    ];

    fn parsed(line: &str) -> (Vec<Item>, Vec<String>) {
        let args: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        parse(SPECS, &args)
    }

    #[test]
    fn options_stand_anywhere_and_may_be_cut_short() {
        let option = |letter, value: Option<&str>| Item::Option(letter, value.map(str::to_owned));
        let (items, rest) = parsed("a -vc5 b --coun=6 --count 7 -l --log=f -lg - --versi -- -v");
        let expected = vec![
            option('v', None),
            option('c', Some("5")),
            option('c', Some("6")),
            option('c', Some("7")),
            option('l', None),
            option('l', Some("f")),
            option('l', Some("g")),
            option('V', None),
        ];
        assert_eq!((items, rest), (expected, ["a", "b", "-", "-v"].map(str::to_owned).to_vec()));
    }

    #[test]
    fn what_is_wrong_is_said_as_getopt_says_it() {
        for (line, words) in [
            ("-Z", "invalid option -- 'Z'"),
            ("-c", "option requires an argument -- 'c'"),
            ("--count", "option '--count' requires an argument"),
            ("--foo=1", "unrecognized option '--foo'"),
            ("--ver", "option '--ver' is ambiguous; possibilities: '--verbose' '--version'"),
            ("--verbose=1", "option '--verbose' doesn't allow an argument"),
        ] {
            assert_eq!(parsed(line).0, [Item::Wrong(words.to_owned())], "{line}");
        }
    }
}
