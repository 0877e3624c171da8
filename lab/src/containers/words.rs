//! Splits a command line into words by a shell's rules for quotes. Pure. No shell runs such a line, so what only a shell can do is refused.

use std::str::Chars;

/// What a shell would do something with, outside of single quotes.
const IN_DOUBLE_QUOTES: [char; 2] = ['$', '`'];

/// What a shell would do something with, outside of quotes.
const BARE: [char; 9] = ['$', '`', '|', '&', ';', '<', '>', '(', ')'];

/// The words of a line; the error says what is wrong with the line and what to write instead.
pub fn split(line: &str) -> Result<Vec<String>, String> {
    let (mut words, mut word, mut rest) = (Vec::new(), None::<String>, line.chars());
    while let Some(c) = rest.next() {
        if c.is_whitespace() {
            words.extend(word.take());
            continue;
        }
        let word = word.get_or_insert_default();
        match c {
            '\'' => single(&mut rest, word)?,
            '"' => double(&mut rest, word)?,
            '\\' => word.push(rest.next().ok_or("it ends with a backslash: write the character after it")?),
            c if BARE.contains(&c) => return Err(special(c)),
            c => word.push(c),
        }
    }
    words.extend(word);
    Ok(words)
}

/// Reads up to the closing single quote.
fn single(rest: &mut Chars<'_>, word: &mut String) -> Result<(), String> {
    loop {
        match rest.next() {
            Some('\'') => return Ok(()),
            Some(c) => word.push(c),
            None => return Err("a single quote is not closed: write another one".to_owned()),
        }
    }
}

/// Reads up to the closing double quote.
fn double(rest: &mut Chars<'_>, word: &mut String) -> Result<(), String> {
    let open = || "a double quote is not closed: write another one".to_owned();
    loop {
        match rest.next().ok_or_else(open)? {
            '"' => return Ok(()),
            '\\' => match rest.next().ok_or_else(open)? {
                c @ ('"' | '\\' | '$' | '`') => word.push(c),
                c => word.extend(['\\', c]),
            },
            c if IN_DOUBLE_QUOTES.contains(&c) => return Err(special(c)),
            c => word.push(c),
        }
    }
}

fn special(c: char) -> String {
    format!("no shell reads it, so `{c}` means nothing: put it in single quotes, or write sh -c '…'")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_those_of_a_shell() {
        let cases: &[(&str, &[&str])] = &[
            ("", &[]),
            ("  /app\t--port {port}\n", &["/app", "--port", "{port}"]),
            ("sh -c 'exec /app --port \"$PORT\"'", &["sh", "-c", "exec /app --port \"$PORT\""]),
            (r#"a"b c"'d e'f \  """#, &["ab cd ef", " ", ""]),
            (r#""\" \\ \$ \n" \'"#, &[r#"" \ $ \n"#, "'"]),
            ("--name='' x", &["--name=", "x"]),
        ];
        for (line, words) in cases {
            assert_eq!(split(line).unwrap(), *words, "{line}");
        }
    }

    #[test]
    fn what_only_a_shell_can_do_is_refused() {
        for (line, why) in [
            ("/app $PORT", "`$`"),
            ("/app \"$PORT\"", "`$`"),
            ("a; b", "`;`"),
            ("a | b", "`|`"),
            ("a 'b", "single quote"),
            ("a \"b", "double quote"),
            ("a \"b\\", "double quote"),
            ("a \\", "backslash"),
        ] {
            let refused = split(line).unwrap_err();
            assert!(refused.contains(why), "{line}: {refused}");
        }
    }
}
