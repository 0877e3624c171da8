//! Finds ssh among the words by which another machine is reached: as the first of them, or after programs that run another one.

use std::path::Path;

/// The program that takes the host as an argument.
const SSH: &str = "ssh";

/// A program that runs the one that its arguments name.
struct Runner {
    name: &'static str,
    /// Its options that take a value, which may be the next word.
    letters: &'static str,
    long: &'static [&'static str],
    /// Whether assignments of variables may come before the program.
    assigns: bool,
}

/// The programs behind which ssh is recognised. Options: coreutils 9.1, sudo 1.9.
const RUNNERS: [Runner; 3] = [
    Runner { name: "env", letters: "uC", long: &["unset", "chdir"], assigns: true },
    Runner { name: "nice", letters: "n", long: &["adjustment"], assigns: false },
    Runner {
        name: "sudo",
        letters: "CDghpRrTtUu",
        long: &[
            "chdir",
            "chroot",
            "close-from",
            "command-timeout",
            "group",
            "host",
            "other-user",
            "prompt",
            "role",
            "type",
            "user",
        ],
        assigns: true,
    },
];

/// The words by which a program runs in a network namespace of this machine; the namespace's name follows.
const IN_NAMESPACE: [&str; 3] = ["ip", "netns", "exec"];

/// The index of the word that is ssh; the host follows somewhere after it. `None`: another program reaches the machine.
///
/// # Errors
///
/// ssh comes after a program of which drome does not know how it runs ssh.
pub fn find(words: &[String]) -> Result<Option<usize>, String> {
    let mut at = 0;
    while let Some(word) = words.get(at) {
        if is(word, SSH) {
            return Ok(Some(at));
        }
        if let Some(runner) = RUNNERS.iter().find(|runner| is(word, runner.name)) {
            at = runner.end(words, at + 1);
        } else if words[at..].iter().map(|word| file_name(word)).take(3).eq(IN_NAMESPACE) {
            at += IN_NAMESPACE.len() + 1;
        } else {
            break;
        }
    }
    let Some(first) = words.get(at) else { return Ok(None) };
    // A last word is the name of a container or the like: what comes after it is drome.
    let hidden = words[at..].iter().rev().skip(1).any(|word| is(word, SSH));
    if hidden {
        return Err(format!(
            "drome does not know what `{first}` does with ssh, for which it adds options and quotes: write ssh first, or after env, nice, \
             sudo or `ip netns exec NAME`; for another machine behind the first one, write `ssh -J FIRST HOST`"
        ));
    }
    Ok(None)
}

impl Runner {
    /// The index of the first word after the runner's own options and assignments, which begin at `at`.
    fn end(&self, words: &[String], mut at: usize) -> usize {
        while let Some(option) = words.get(at).and_then(|word| word.strip_prefix('-')) {
            at += 1;
            if option == "-" {
                break;
            }
            let takes_next = match option.strip_prefix('-') {
                Some(long) => self.long.contains(&long),
                // What follows the letter in the same word is its value.
                None => option.find(|c| self.letters.contains(c)).is_some_and(|nth| nth + 1 == option.len()),
            };
            at += usize::from(takes_next);
        }
        let is_assignment = |word: &&String| self.assigns && word.contains('=');
        at + words.iter().skip(at).take_while(is_assignment).count()
    }
}

fn is(word: &str, program: &str) -> bool {
    file_name(word) == program
}

fn file_name(word: &str) -> &str {
    Path::new(word).file_name().and_then(|name| name.to_str()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(line: &str) -> Result<Option<usize>, String> {
        find(&line.split(' ').map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn ssh_is_found_behind_programs_that_run_it() {
        for (line, at) in [
            ("ssh box", 0),
            ("/usr/bin/ssh box", 0),
            ("env ssh box", 1),
            ("/usr/bin/env X=1 Y=a=b ssh box", 3),
            ("env -i -u HOME X=1 ssh box", 5),
            ("sudo ssh box", 1),
            ("sudo -u jane ssh box", 3),
            ("sudo -ujane ssh box", 2),
            ("sudo -nu jane -- ssh box", 4),
            ("sudo --user jane ssh box", 3),
            ("sudo --user=jane -n A=b ssh box", 4),
            ("nice -n 5 ssh box", 3),
            ("nice -5 ssh box", 2),
            ("ip netns exec a ssh box", 4),
            ("sudo -n ip netns exec a env X=1 nice ssh box", 9),
        ] {
            assert_eq!(found(line), Ok(Some(at)), "{line}");
        }
    }

    #[test]
    fn other_programs_reach_a_machine_without_ssh() {
        for line in
            ["docker exec -i box", "docker exec -i ssh", "sudo -n", "env A=b", "sudo -u ssh ip netns exec a"]
        {
            assert_eq!(found(line), Ok(None), "{line}");
        }
    }

    #[test]
    fn ssh_behind_anything_else_is_refused() {
        for (line, behind) in [("setsid ssh box", "setsid"), ("sudo timeout 9 ssh box", "timeout")] {
            let refused = found(line).unwrap_err();
            assert!(refused.contains(&format!("what `{behind}` does with ssh")), "{refused}");
        }
    }
}
