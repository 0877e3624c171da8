//! Command lines as GNU's `getopt_long` takes them apart, with its words for what is wrong: options may stand behind
//! operands, letters may be joined, long names may be shortened as long as they are told apart.

/// The options of a tool.
#[derive(Clone, Copy, Debug)]
pub struct Getopt {
    /// Its letters as C has them: those with a colon behind take an argument.
    pub letters: &'static str,
    /// Long names: whether they take an argument, and the letter that they stand for.
    pub names: &'static [(&'static str, bool, char)],
}

/// What a command line has, in its order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Taken {
    /// The options with their arguments; where one is wrong, what is said of it.
    pub options: Vec<Result<(char, Option<String>), String>>,
    /// All else.
    pub operands: Vec<String>,
}

impl Getopt {
    /// Takes it apart. `program` is what complaints begin with.
    pub fn take(&self, program: &str, args: &[String]) -> Taken {
        let mut taken = Taken::default();
        let mut args = args.iter();
        while let Some(arg) = args.next() {
            if arg == "--" {
                taken.operands.extend(args.cloned());
                break;
            } else if let Some(name) = arg.strip_prefix("--") {
                let option = self.long(name, &mut args).map_err(|why| format!("{program}: {why}\n"));
                taken.options.push(option);
            } else if let Some(letters) = arg.strip_prefix('-').filter(|letters| !letters.is_empty()) {
                self.short(program, letters, &mut args, &mut taken);
            } else {
                taken.operands.push(arg.clone());
            }
        }
        taken
    }

    fn short<'a>(
        &self,
        program: &str,
        letters: &str,
        args: &mut impl Iterator<Item = &'a String>,
        taken: &mut Taken,
    ) {
        for (at, letter) in letters.char_indices() {
            let known = self.letters.find(letter).filter(|_| letter != ':');
            let Some(place) = known else {
                taken.options.push(Err(format!("{program}: invalid option -- '{letter}'\n")));
                continue;
            };
            if !self.letters[place + letter.len_utf8()..].starts_with(':') {
                taken.options.push(Ok((letter, None)));
                continue;
            }
            let rest = &letters[at + letter.len_utf8()..];
            let value = if rest.is_empty() { args.next().cloned() } else { Some(rest.to_owned()) };
            taken.options.push(match value {
                Some(value) => Ok((letter, Some(value))),
                None => Err(format!("{program}: option requires an argument -- '{letter}'\n")),
            });
            return;
        }
    }

    fn long<'a>(
        &self,
        given: &str,
        args: &mut impl Iterator<Item = &'a String>,
    ) -> Result<(char, Option<String>), String> {
        let (short, value) = given.split_once('=').map_or((given, None), |(name, value)| (name, Some(value)));
        let like: Vec<_> = self.names.iter().filter(|(name, ..)| name.starts_with(short)).collect();
        let exact = like.iter().find(|(name, ..)| *name == short);
        let (name, takes, letter) = match (exact, like.as_slice()) {
            (Some(one), _) => **one,
            (None, []) => return Err(format!("unrecognized option '--{given}'")),
            (None, [first, others @ ..])
                if others.iter().all(|other| (other.1, other.2) == (first.1, first.2)) =>
            {
                **first
            }
            (None, several) => {
                let names: String = several.iter().map(|(name, ..)| format!(" '--{name}'")).collect();
                return Err(format!("option '--{given}' is ambiguous; possibilities:{names}"));
            }
        };
        match (takes, value) {
            (false, Some(_)) => Err(format!("option '--{name}' doesn't allow an argument")),
            (false, None) => Ok((letter, None)),
            (true, Some(value)) => Ok((letter, Some(value.to_owned()))),
            (true, None) => match args.next() {
                Some(value) => Ok((letter, Some(value.clone()))),
                None => Err(format!("option '--{name}' requires an argument")),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOOL: Getopt = Getopt {
        letters: "c:Lv?",
        names: &[("count", true, 'c'), ("color", false, 'L'), ("version", false, 'v')],
    };

    fn take(args: &[&str]) -> (String, String) {
        let args: Vec<String> = args.iter().map(|&arg| arg.to_owned()).collect();
        let taken = TOOL.take("tool", &args);
        let options = taken.options.into_iter().map(|option| match option {
            Ok((letter, value)) => {
                format!("{letter}{} ", value.map_or_else(String::new, |v| format!("={v}")))
            }
            Err(why) => why,
        });
        (options.collect(), taken.operands.join(" "))
    }

    #[test]
    fn options_stand_anywhere() {
        let expected = |options: &str, operands: &str| (options.to_owned(), operands.to_owned());
        assert_eq!(take(&["-c1", "a", "-Lc", "2", "-", "b", "-vL"]), expected("c=1 L c=2 v L ", "a - b"));
        assert_eq!(take(&["--count=1", "--cou", "2", "--ver", "-?"]), expected("c=1 c=2 v ? ", ""));
        assert_eq!(take(&["-L", "--", "-c", "x"]), expected("L ", "-c x"));
        assert_eq!(take(&["-Lc-v", "--count", "--color"]), expected("L c=-v c=--color ", ""));
    }

    #[test]
    fn what_is_wrong_is_said_as_the_library_says_it() {
        let cases = [
            (&["-z"][..], "tool: invalid option -- 'z'\n"),
            (&["-:"], "tool: invalid option -- ':'\n"),
            (&["-c"], "tool: option requires an argument -- 'c'\n"),
            (&["--count"], "tool: option '--count' requires an argument\n"),
            (&["--color=3"], "tool: option '--color' doesn't allow an argument\n"),
            (&["--nope=3"], "tool: unrecognized option '--nope=3'\n"),
            (&["--co"], "tool: option '--co' is ambiguous; possibilities: '--count' '--color'\n"),
        ];
        for (args, why) in cases {
            assert_eq!(take(args).0, why);
        }
    }
}
