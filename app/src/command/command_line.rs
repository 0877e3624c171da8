//! The words of a command line that no shell runs.

/// Characters that a shell acts on unless they are quoted, each with a stand-in that changes how the line is split wherever the character
/// is not quoted: a space ends a word outside quotes, and a double quote opens or closes a quotation outside single quotes. Inside double
/// quotes, a shell acts only on the last two.
const ACTIVE: [(&str, &str); 9] = [
    ("|", " "),
    ("&", " "),
    (";", " "),
    ("<", " "),
    (">", " "),
    ("(", " "),
    (")", " "),
    ("$", "\""),
    ("`", "\""),
];

/// Splits a line by a shell's rules for quotes. What only a shell can do is refused; the error says what is wrong with the line and what to
/// write instead.
pub fn words(line: &str) -> Result<Vec<String>, String> {
    let words =
        shell_words::split(line).map_err(|_| "a quote is not closed: write another one".to_owned())?;
    for (active, stand_in) in ACTIVE.iter().filter(|(active, _)| line.contains(active)) {
        // Where the character is quoted, its stand-in leaves the words as they are, but for the character itself.
        let expected: Vec<String> = words.iter().map(|word| word.replace(active, stand_in)).collect();
        if shell_words::split(&line.replace(active, stand_in)).ok() != Some(expected) {
            return Err(format!(
                "no shell reads it, so `{active}` means nothing: put it in single quotes, or write sh -c '…'"
            ));
        }
    }
    Ok(words)
}

#[cfg(test)]
mod tests {
    use super::words;

    #[test]
    fn words_are_those_of_a_shell() {
        let cases: &[(&str, &[&str])] = &[
            ("", &[]),
            ("  /app\t--port {port}\n", &["/app", "--port", "{port}"]),
            ("sh -c 'exec /app --port \"$PORT\"'", &["sh", "-c", "exec /app --port \"$PORT\""]),
            (r#"a"b c"'d e'f \  """#, &["ab cd ef", " ", ""]),
            (r#""\" \\ \$ \n" \'"#, &[r#"" \ $ \n"#, "'"]),
            ("--name='' x", &["--name=", "x"]),
            (r#"sh -c "a | b; c > d" \& '`x` $y'"#, &["sh", "-c", "a | b; c > d", "&", "`x` $y"]),
        ];
        for (line, expected) in cases {
            assert_eq!(words(line).unwrap(), *expected, "{line}");
        }
    }

    #[test]
    fn what_only_a_shell_can_do_is_refused() {
        for (line, why) in [
            ("/app $PORT", "`$`"),
            ("/app \"$PORT\"", "`$`"),
            ("/app '$A'$B", "`$`"),
            ("$A$B", "`$`"),
            ("a `b`", "```"),
            ("a; b", "`;`"),
            ("a;", "`;`"),
            ("a | b", "`|`"),
            ("(a)", "`(`"),
            ("a 'b", "quote"),
            ("a \"b", "quote"),
            ("a \"b\\", "quote"),
        ] {
            let refused = words(line).unwrap_err();
            assert!(refused.contains(why), "{line}: {refused}");
        }
    }
}
