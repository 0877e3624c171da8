//! Command lines as the C library parses them: grouped short options, abbreviated long ones, operands anywhere; and
//! its error messages.

use std::collections::VecDeque;

/// Whether an option takes a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value {
    /// No value.
    None,
    /// A required value, in the same word or the next.
    Needed,
    /// An optional value, in the same word.
    Maybe,
}

/// A part of a command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Item {
    /// An option by its name in the tables, and its value.
    Option(&'static str, Option<String>),
    /// An operand, which is not an option.
    Operand(String),
    /// An error: the tool does not know this option, or its value is missing.
    Wrong(Wrong),
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
}

/// The options of a tool.
#[derive(Clone, Copy, Debug)]
pub struct Table {
    /// Short options: the letter, a name, whether it takes a value.
    pub short: &'static [(char, &'static str, Value)],
    /// Long options, in the tool's own order, which also appears in its messages.
    pub long: &'static [(&'static str, Value)],
}

/// Parses a command line.
pub fn parse(table: Table, args: &[String]) -> Vec<Item> {
    let mut rest: VecDeque<&String> = args.iter().collect();
    let mut items = Vec::new();
    while let Some(word) = rest.pop_front() {
        if word == "--" {
            items.extend(rest.drain(..).cloned().map(Item::Operand));
        } else if let Some(name) = word.strip_prefix("--") {
            items.push(long(table, name, &mut rest));
        } else if let Some(letters) = word.strip_prefix('-').filter(|letters| !letters.is_empty()) {
            short(table, letters, &mut rest, &mut items);
        } else {
            items.push(Item::Operand(word.clone()));
        }
    }
    items
}

fn short(table: Table, letters: &str, rest: &mut VecDeque<&String>, items: &mut Vec<Item>) {
    for (at, letter) in letters.char_indices() {
        let Some((_, name, value)) = table.short.iter().find(|(known, ..)| *known == letter) else {
            items.push(Item::Wrong(Wrong::Unknown(letter)));
            continue;
        };
        if *value == Value::None {
            items.push(Item::Option(name, None));
            continue;
        }
        let inside = &letters[at + letter.len_utf8()..];
        let inside = (!inside.is_empty()).then(|| inside.to_owned());
        let given =
            if *value == Value::Maybe { inside } else { inside.or_else(|| rest.pop_front().cloned()) };
        items.push(match given {
            None if *value == Value::Needed => Item::Wrong(Wrong::Missing(letter)),
            given => Item::Option(name, given),
        });
        return;
    }
}

fn long(table: Table, word: &str, rest: &mut VecDeque<&String>) -> Item {
    let (name, inside) = word.split_once('=').map_or((word, None), |(name, value)| (name, Some(value)));
    let exact = table.long.iter().find(|(known, _)| *known == name);
    let like: Vec<_> = table.long.iter().filter(|(known, _)| known.starts_with(name)).collect();
    let wrong = |text: String| Item::Wrong(Wrong::Long(text));
    let (name, value) = match (exact, like.as_slice()) {
        (Some(exact), _) => exact,
        (None, [only]) => only,
        (None, []) => return wrong(format!("unrecognized option '--{word}'")),
        (None, several) => {
            let all: String = several.iter().map(|(name, _)| format!(" '--{name}'")).collect();
            return wrong(format!("option '--{word}' is ambiguous; possibilities:{all}"));
        }
    };
    match (value, inside) {
        (Value::None, Some(_)) => wrong(format!("option '--{name}' doesn't allow an argument")),
        (Value::Needed, None) => match rest.pop_front() {
            None => wrong(format!("option '--{name}' requires an argument")),
            given => Item::Option(name, given.cloned()),
        },
        (_, inside) => Item::Option(name, inside.map(str::to_owned)),
    }
}

/// The whole number at the beginning, as `strtoul` reads it, and the rest of the text. With `with_prefix`, `0x` and
/// `0` mean hexadecimal and octal. A minus sign makes the number wrap around, so it counts as too large.
pub fn integer(text: &str, with_prefix: bool) -> Option<(u64, &str)> {
    let bare = text.trim_start();
    let (is_negative, bare) = bare.strip_prefix('-').map_or((false, bare), |bare| (true, bare));
    let bare = bare.strip_prefix('+').filter(|_| !is_negative).unwrap_or(bare);
    let hexadecimal = bare.strip_prefix("0x").or_else(|| bare.strip_prefix("0X"));
    let hexadecimal =
        hexadecimal.filter(|rest| with_prefix && rest.starts_with(|c: char| c.is_ascii_hexdigit()));
    let (digits, radix) = match hexadecimal {
        Some(rest) => (rest, 16),
        None if with_prefix && bare.starts_with('0') => (bare, 8),
        None => (bare, 10),
    };
    let end = digits.find(|c: char| !c.is_digit(radix)).unwrap_or(digits.len());
    let value = u64::from_str_radix(&digits[..end], radix).ok()?;
    Some((if is_negative { value.wrapping_neg() } else { value }, &digits[end..]))
}

/// The number at the beginning, as `strtod` reads it, and the rest of the text. Infinity is not accepted.
pub fn real(text: &str) -> Option<(f64, &str)> {
    let bare = text.trim_start();
    let count = |from: usize| bare[from..].bytes().take_while(u8::is_ascii_digit).count();
    let sign = usize::from(bare.starts_with(['-', '+']));
    let whole = count(sign);
    let mut end = sign + whole;
    let mut digits = whole;
    if bare[end..].starts_with('.') {
        digits += count(end + 1);
        end += 1 + count(end + 1);
    }
    if bare[end..].starts_with(['e', 'E']) {
        let sign = usize::from(bare[end + 1..].starts_with(['-', '+']));
        let power = count(end + 1 + sign);
        end += if power > 0 { 1 + sign + power } else { 0 };
    }
    let value: f64 = bare[..end].parse().ok()?;
    (digits > 0 && value.is_finite()).then_some((value, &bare[end..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: Table = Table {
        short: &[('v', "verbose", Value::None), ('d', "debug", Value::Needed), ('l', "log", Value::Maybe)],
        long: &[
            ("num-calls", Value::Needed),
            ("num-conns", Value::Needed),
            ("num", Value::None),
            ("print", Value::Maybe),
        ],
    };

    fn items(line: &str) -> Vec<Item> {
        parse(TABLE, &line.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
    }

    fn option(name: &'static str, value: &str) -> Item {
        Item::Option(name, (!value.is_empty()).then(|| value.to_owned()))
    }

    #[test]
    fn options_in_all_their_forms() {
        let operand = |word: &str| Item::Operand(word.to_owned());
        let cases = [
            (
                "-vd3 x -d 4",
                vec![option("verbose", ""), option("debug", "3"), operand("x"), option("debug", "4")],
            ),
            ("--num-ca=5 --num-co 6", vec![option("num-calls", "5"), option("num-conns", "6")]),
            (
                "--num --print --print=a b",
                vec![option("num", ""), option("print", ""), option("print", "a"), operand("b")],
            ),
            ("-v -- -v - --x", vec![option("verbose", ""), operand("-v"), operand("-"), operand("--x")]),
            ("-", vec![operand("-")]),
            ("-l x -vlx", vec![option("log", ""), operand("x"), option("verbose", ""), option("log", "x")]),
        ];
        for (line, expected) in cases {
            assert_eq!(items(line), expected, "{line}");
        }
    }

    #[test]
    fn what_is_wrong_is_said_in_the_c_library_s_words() {
        let cases = [
            ("-x", "t: invalid option -- 'x'\n"),
            ("-vd", "t: option requires an argument -- 'd'\n"),
            ("--bogus=3", "t: unrecognized option '--bogus=3'\n"),
            ("--num-c=1", "t: option '--num-c=1' is ambiguous; possibilities: '--num-calls' '--num-conns'\n"),
            ("--num=1", "t: option '--num' doesn't allow an argument\n"),
            ("--num-ca", "t: option '--num-calls' requires an argument\n"),
        ];
        for (line, expected) in cases {
            let Some(Item::Wrong(wrong)) = items(line).pop() else { panic!("{line}") };
            assert_eq!(wrong.say("t"), expected);
        }
    }

    #[test]
    fn numbers_as_c_reads_them() {
        assert_eq!(integer(" +12x", false), Some((12, "x")));
        assert_eq!(integer("-1", false), Some((u64::MAX, "")));
        assert_eq!((integer("0x1f,", true), integer("017", true)), (Some((31, ",")), Some((15, ""))));
        assert_eq!((integer("0x1f", false), integer("0", true)), (Some((0, "x1f")), Some((0, ""))));
        for none in ["", "x", "-", "99999999999999999999"] {
            assert_eq!(integer(none, false), None, "{none}");
        }
        assert_eq!(
            (real(" 1.5e3x"), real("-.5,2"), real("2e")),
            (Some((1500.0, "x")), Some((-0.5, ",2")), Some((2.0, "e")))
        );
        for none in ["", ".", "x", "inf", "nan", "-", "1e999"] {
            assert_eq!(real(none), None, "{none}");
        }
    }
}
