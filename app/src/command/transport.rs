//! The command by which drome on another machine is reached: `ssh HOST`, or any other words to which a command line can be appended.

pub mod remote_command;
mod ssh;

use super::command_line;
use std::process::Command;
use std::str::FromStr;

/// The program on the other machine.
const DROME: &str = "drome";

/// What ssh is told: never to ask for a password, because nobody may be there to answer.
const BATCH: [&str; 2] = ["-o", "BatchMode=yes"];

/// A command that runs drome on another machine: the words by which the machine is reached, such as `ssh HOST`, and after them those of
/// the program there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transport {
    words: Vec<String>,
    /// The index of the word that is ssh, if one is.
    ssh: Option<usize>,
    /// The words that run on the other machine; with ssh, a shell there sees them, so they are plain or quoted.
    program: Vec<String>,
}

impl FromStr for Transport {
    type Err = String;

    /// Splits the words by a shell's rules for quotes. No shell runs them.
    fn from_str(line: &str) -> Result<Self, String> {
        let words = command_line::words(line)?;
        let Some(program) = words.first() else {
            return Err("write how to reach the other machine, such as `ssh HOST`".to_owned());
        };
        if program.starts_with('-') {
            return Err(format!("`{program}` is an option, not a program: write it like `ssh HOST`"));
        }
        let ssh = ssh::find(&words)?;
        let host = ssh.and_then(|at| words[at + 1..].last());
        if ssh.is_some() && host.is_none_or(|host| host.starts_with('-') || host.is_empty()) {
            return Err("ssh needs the name of a host, which can't begin with `-`: write it like `ssh HOST`"
                .to_owned());
        }
        Ok(Self { words, ssh, program: vec![DROME.to_owned()] })
    }
}

impl Transport {
    /// The words that the user wrote: the machine's name in messages.
    pub fn name(&self) -> String {
        self.words.join(" ")
    }

    /// The same way to the machine, but with these words in place of `drome`. They may have characters that a shell acts on: for ssh, which
    /// gives them to a shell, they are quoted.
    pub fn with_program(&self, program: &[&str]) -> Self {
        let quoted = |word: &&str| {
            if self.ssh.is_some() { shell_words::quote(word).into_owned() } else { (*word).to_owned() }
        };
        Self { program: program.iter().map(quoted).collect(), ..self.clone() }
    }

    /// The command that runs drome with these words on the other machine. They must mean nothing to a shell, because ssh gives them to one.
    pub fn command(&self, drome: &[String]) -> Command {
        let words = self.all(drome);
        let mut command = Command::new(&words[0]);
        command.args(&words[1..]);
        command
    }

    /// The command line, for a message.
    pub fn shown(&self, drome: &[String]) -> String {
        self.all(drome).join(" ")
    }

    fn all(&self, drome: &[String]) -> Vec<String> {
        let mut words = self.words.clone();
        if let Some(at) = self.ssh {
            // What follows `--` is the host, whatever it looks like. With options of ssh, `--` could separate one from its value.
            let end: &[&str] = if words.len() == at + 2 { &["--"] } else { &[] };
            let has_own = words[at..].iter().any(|word| word.contains("BatchMode"));
            let batch: &[&str] = if has_own { &[] } else { &BATCH };
            let after = at + 1;
            words.splice(after..after, batch.iter().chain(end).map(|word| (*word).to_owned()));
        }
        words.extend_from_slice(&self.program);
        words.extend_from_slice(drome);
        words
    }
}

/// Whether a word means the same with and without a shell: the names of runs do.
pub fn is_plain(word: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    !word.is_empty() && !word.starts_with('-') && word.chars().all(is_plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(line: &str) -> String {
        line.parse::<Transport>().unwrap().shown(&["pull".to_owned(), "-".to_owned()])
    }

    #[test]
    fn a_host_is_reached_by_ssh_without_questions() {
        for (line, expected) in [
            ("ssh box", "ssh -o BatchMode=yes -- box drome pull -"),
            ("/usr/bin/ssh  jane@box", "/usr/bin/ssh -o BatchMode=yes -- jane@box drome pull -"),
            ("ssh -p 2222 box", "ssh -o BatchMode=yes -p 2222 box drome pull -"),
            ("ssh -o BatchMode=no box", "ssh -o BatchMode=no box drome pull -"),
            ("ssh box env DROME_HOME=/srv", "ssh -o BatchMode=yes box env DROME_HOME=/srv drome pull -"),
            ("sudo -u jane ssh box", "sudo -u jane ssh -o BatchMode=yes -- box drome pull -"),
            ("env X=1 ssh -p 22 box", "env X=1 ssh -o BatchMode=yes -p 22 box drome pull -"),
            ("docker exec -i box", "docker exec -i box drome pull -"),
            ("env 'A=x y'", "env A=x y drome pull -"),
        ] {
            assert_eq!(shown(line), expected);
        }
    }

    #[test]
    fn a_program_of_several_words_is_quoted_for_the_shell_of_ssh_and_for_no_other() {
        let words = |line: &str| {
            let transport =
                line.parse::<Transport>().unwrap().with_program(&["sh", "-c", "cat > \"$HOME/a b\"", "it's"]);
            let command = transport.command(&["x".to_owned()]);
            command.get_args().map(|word| word.to_string_lossy().into_owned()).collect::<Vec<_>>()
        };
        let program = ["sh", "-c", "cat > \"$HOME/a b\"", "it's", "x"];
        assert_eq!(words("docker exec -i box")[3..], program);
        let of_ssh = words("ssh box");
        assert_eq!(of_ssh[..4], ["-o", "BatchMode=yes", "--", "box"]);
        assert_eq!(shell_words::split(&of_ssh[4..].join(" ")).unwrap(), program);
        let behind = words("sudo -u jane ssh box");
        assert_eq!(behind[..7], ["-u", "jane", "ssh", "-o", "BatchMode=yes", "--", "box"]);
        assert_eq!(shell_words::split(&behind[7..].join(" ")).unwrap(), program);
    }

    #[test]
    fn what_is_no_host_is_refused() {
        for (line, why) in [
            ("", "`ssh HOST`"),
            ("  ", "`ssh HOST`"),
            ("-oProxyCommand=x box", "is an option"),
            ("ssh", "the name of a host"),
            ("ssh -oProxyCommand=touch", "can't begin with `-`"),
            ("ssh ''", "the name of a host"),
            ("sudo -u jane ssh -oProxyCommand=touch", "can't begin with `-`"),
            ("env X=1 ssh", "the name of a host"),
            ("setsid ssh box", "what `setsid` does with ssh"),
            ("ssh box; rm", "`;`"),
            ("ssh 'box", "a quote is not closed"),
        ] {
            let refused = line.parse::<Transport>().unwrap_err();
            assert!(refused.contains(why), "{line}: {refused}");
        }
    }

    #[test]
    fn only_words_that_a_shell_leaves_alone_are_plain() {
        assert!(["20260101-000000-00af", "raspberry-pi", "a.b_c"].into_iter().all(is_plain));
        assert!(!["", "-x", "a b", "$(x)", "a;b", "a/b", "ä", "x\n"].into_iter().any(is_plain));
    }
}
