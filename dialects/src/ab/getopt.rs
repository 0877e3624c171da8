//! Options as APR's getopt parses them, including its quirks: an unknown option is reported as an error and ends
//! the options.

/// The options that take a value.
const WITH_VALUE: &str = "nctsbTpuvxyzCHPAgXeBmZfE";

/// The options that take no value.
const WITHOUT: &str = "lrkVhwidSqI";

/// The next part of the command line.
#[derive(Debug, PartialEq)]
pub enum Next {
    /// An option without a value.
    Flag(char),
    /// An option with its value.
    Value(char, String),
    /// No more options.
    End,
    /// An error with APR's message; there are no more options.
    Bad(String),
}

/// A command line that is being parsed.
#[derive(Debug)]
pub struct Getopt<'a> {
    args: &'a [String],
    /// The index of the next argument.
    pub at: usize,
    /// The rest of several options in one argument.
    rest: &'a str,
}

impl<'a> Getopt<'a> {
    /// A parser at the beginning of the arguments.
    pub fn new(args: &'a [String]) -> Self {
        Self { args, at: 0, rest: "" }
    }

    /// The next option.
    pub fn next(&mut self) -> Next {
        if self.rest.is_empty() {
            let Some(options) = self.args.get(self.at).and_then(|arg| arg.strip_prefix('-')) else {
                return Next::End;
            };
            if options.starts_with('-') {
                self.at += 1;
            }
            if options.is_empty() || options.starts_with('-') {
                return Next::End;
            }
            self.rest = options;
        }
        let mut rest = self.rest.chars();
        let Some(option) = rest.next() else { return Next::End };
        self.rest = rest.as_str();
        if WITH_VALUE.contains(option) {
            return self.value(option);
        }
        if self.rest.is_empty() {
            self.at += 1;
        }
        if WITHOUT.contains(option) {
            return Next::Flag(option);
        }
        Next::Bad(format!("illegal option -- {option}\n"))
    }

    fn value(&mut self, option: char) -> Next {
        self.at += 1;
        if !self.rest.is_empty() {
            return Next::Value(option, std::mem::take(&mut self.rest).to_owned());
        }
        let Some(value) = self.args.get(self.at) else {
            return Next::Bad(format!("option requires an argument -- {option}\n"));
        };
        self.at += 1;
        Next::Value(option, value.clone())
    }
}

/// A number as C's `atoi` reads it: the digits at the beginning, or 0.
pub fn atoi(text: &str) -> i64 {
    let text = text.trim_start();
    let (sign, digits) = match text.as_bytes().first() {
        Some(b'-') => (-1, &text[1..]),
        Some(b'+') => (1, &text[1..]),
        _ => (1, text),
    };
    let end = digits.bytes().take_while(u8::is_ascii_digit).count();
    // A number that is too large becomes the largest; C leaves it undefined.
    digits[..end].parse::<i32>().map_or(if end == 0 { 0 } else { i64::from(i32::MAX) }, i64::from) * sign
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(args: &[&str]) -> (Vec<Next>, usize) {
        let args: Vec<String> = args.iter().map(|&arg| arg.to_owned()).collect();
        let mut getopt = Getopt::new(&args);
        let mut all = Vec::new();
        loop {
            let next = getopt.next();
            let is_over = matches!(next, Next::End | Next::Bad(_));
            all.push(next);
            if is_over {
                return (all, getopt.at);
            }
        }
    }

    #[test]
    fn options_stand_alone_or_together() {
        let value = |option, value: &str| Next::Value(option, value.to_owned());
        assert_eq!(
            all(&["-krn", "5", "-c2", "url", "-q"]),
            (vec![Next::Flag('k'), Next::Flag('r'), value('n', "5"), value('c', "2"), Next::End], 3)
        );
        assert_eq!(all(&["-k", "--", "-q"]), (vec![Next::Flag('k'), Next::End], 2));
        assert_eq!(all(&["-", "url"]), (vec![Next::End], 0));
    }

    #[test]
    fn a_wrong_option_ends_them() {
        let bad = |why: &str| Next::Bad(why.to_owned());
        assert_eq!(all(&["-Q", "url"]), (vec![bad("illegal option -- Q\n")], 1));
        assert_eq!(all(&["-Qk", "url"]), (vec![bad("illegal option -- Q\n")], 0));
        assert_eq!(all(&["-k", "-n"]), (vec![Next::Flag('k'), bad("option requires an argument -- n\n")], 2));
        assert_eq!(all(&["-ä", "url"]), (vec![bad("illegal option -- ä\n")], 1));
    }

    #[test]
    fn numbers_as_c_reads_them() {
        let cases = [("5", 5), (" +7x", 7), ("-3", -3), ("", 0), ("x", 0), ("-", 0), ("1k", 1)];
        for (text, number) in cases {
            assert_eq!(atoi(text), number, "{text}");
        }
        assert_eq!(atoi("99999999999"), i64::from(i32::MAX));
    }
}
