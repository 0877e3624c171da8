//! Finds command lines of tools on a page: after a prompt, at the beginning of a line, or as code in a sentence.

use super::lines::lines;

/// The longest command line, in bytes.
const LONGEST: usize = 2000;

/// The largest number of words that are looked at.
const MOST_WORDS: usize = 200;

/// Words that may come before a program's name.
const BEFORE: &[&str] = &["sudo", "time", "nohup", "exec"];

/// Extensions of files after which a sentence may continue without a space, if the page lost it.
const ENDINGS: &[&str] =
    &[".html", ".htm", ".jpg", ".jpeg", ".png", ".gif", ".php", ".txt", ".css", ".js", ".json"];

/// A command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundCommand {
    /// Where its line begins, in bytes.
    pub at: usize,
    /// The program's name, without its folder.
    pub program: String,
    /// The whole command line, without the prompt.
    pub line: String,
}

/// The command lines of a page, in order, of the programs for which `is_tool` is true.
pub fn commands(text: &str, is_tool: impl Fn(&str) -> bool) -> Vec<FoundCommand> {
    let mut all = Vec::new();
    let mut begun: Option<(usize, String)> = None;
    for line in lines(text) {
        let (at, whole) = match begun.take() {
            Some((at, first)) => (at, first + line.text.trim_start()),
            // A line may be too long for a command line, as on a page without line breaks: only its beginning counts.
            None => (line.at, line.text[..line.text.floor_char_boundary(LONGEST)].to_owned()),
        };
        if let Some(first) = whole.strip_suffix('\\').filter(|first| first.len() < LONGEST) {
            begun = Some((at, first.to_owned()));
            continue;
        }
        all.extend(within(&whole, &is_tool).map(|(program, line)| FoundCommand { at, program, line }));
    }
    all
}

/// The first command line in a line.
fn within(line: &str, is_tool: &impl Fn(&str) -> bool) -> Option<(String, String)> {
    let quoted = line.split('`').skip(1).step_by(2);
    let mut spans = std::iter::once(line).chain(quoted);
    spans.find_map(|span| command(span, is_tool))
}

/// The command line in a text that is nothing else.
pub fn command(text: &str, is_tool: &impl Fn(&str) -> bool) -> Option<(String, String)> {
    let (words, _) = words(text, MOST_WORDS);
    let at = words.iter().take(6).position(|word| {
        let bare = word.trim_start_matches(['$', '%', '>']);
        is_tool(bare.rsplit('/').next().unwrap_or(bare)) && !word.contains("://")
    })?;
    let is_prompt = |word: &&str| word.ends_with(['$', '#', '%', '>', ':', '~']) || word.contains('@');
    let is_first = words[..at].iter().all(|word| is_prompt(word) || BEFORE.contains(word));
    // In "Results of wrk:", the name ends like a prompt. So without a prompt, the name must be the first word.
    let is_prompted =
        at == 0 || words[at - 1].ends_with(['$', '#', '%', '>']) || BEFORE.contains(&words[at - 1]);
    if !is_first || !is_prompted {
        return None;
    }
    let (program, line, _) = with_arguments(&words[at..])?;
    Some((program, line))
}

/// The command line at the beginning of a text: its program's name, the line, and its length in the text, where a backslash joins lines.
pub fn called(text: &str) -> Option<(String, String, usize)> {
    let is_joined = |line: &&str| line.trim_end().ends_with('\\');
    let joined = text.split_inclusive('\n').take_while(is_joined).map(str::len).sum::<usize>();
    let end = text[joined..].find('\n').map_or(text.len(), |end| joined + end);
    // As long as the text, so that places stay the same.
    let line = text[..end].replace("\\\n", "  ").replace("\\\r\n", "   ");
    let (program, command, arguments) = with_arguments(&words(&line, MOST_WORDS).0)?;
    let rest = words(&line, 1 + arguments).1;
    Some((program, command, line.len() - rest.len()))
}

/// The command line that begins with the first of these words, and the number of its arguments.
fn with_arguments(words: &[&str]) -> Option<(String, String, usize)> {
    let (name, rest) = words.split_first()?;
    let name = name.trim_start_matches(['$', '%', '>']);
    let program = name.rsplit('/').next().unwrap_or(name).to_owned();
    let args = arguments(rest);
    // A dash alone is one of a sentence.
    let is_option = |arg: &str| arg.starts_with('-') && arg.len() > 1;
    let is_called = args.iter().any(|arg| is_option(arg) || arg.contains("://"));
    is_called.then(|| (program, [&[name.to_owned()], &args[..]].concat().join(" "), args.len()))
}

/// The first words of a text as a shell splits them, and the rest; quotes stay. A quote that is not closed is none.
fn words(text: &str, most: usize) -> (Vec<&str>, &str) {
    let (mut words, mut rest) = (Vec::new(), text.trim_start());
    while !rest.is_empty() && words.len() < most {
        let mut end = 0;
        while let Some(c) = rest[end..].chars().next().filter(|c| !c.is_whitespace()) {
            let after = end + c.len_utf8();
            let begins = end == 0 || rest[..end].ends_with('=');
            let closed = rest[after..].find(c).filter(|_| begins && (c == '\'' || c == '"'));
            end = closed.map_or(after, |length| after + length + 1);
        }
        words.push(&rest[..end]);
        rest = rest[end..].trim_start();
    }
    (words, rest)
}

/// The words that belong to the command line: options, their values, and one operand, which is the URL. A sentence
/// that continues after it does not belong to it.
fn arguments(words: &[&str]) -> Vec<String> {
    let mut args = Vec::new();
    let (mut is_value, mut has_url) = (false, false);
    for (i, word) in words.iter().enumerate() {
        let is_end = word.starts_with(['|', '>', '&', ';']) || word.starts_with("2>");
        let is_option = word.starts_with('-');
        let is_url = word.contains("://") && !word.contains(char::is_whitespace);
        let is_operand =
            is_url || i + 1 == words.len() || word.contains(['/', ':', '.']) || is_placeholder(word);
        if is_end || !(is_option || is_value || is_operand) || (has_url && !is_option && !is_value) {
            break;
        }
        args.push(if is_url { without_sentence(word) } else { (*word).to_owned() });
        has_url |= is_url || (is_operand && !is_value && !is_option);
        // A value is in the option's own word or in the next one.
        is_value = is_option && !is_url && !word.contains('=');
    }
    args
}

/// The value of an option in a command line, by its names: `-c 10`, `-c10`, `--connections=10`.
pub fn option<'c>(command: &'c str, names: &[&str]) -> Option<&'c str> {
    let mut words = command.split_whitespace();
    while let Some(word) = words.next() {
        let value = |name: &&str| {
            let rest = word.strip_prefix(*name)?;
            match rest.strip_prefix('=') {
                Some(value) => Some(value),
                None if rest.is_empty() || !name.starts_with("--") => Some(rest),
                None => None,
            }
        };
        let Some(value) = names.iter().find_map(value) else { continue };
        return if value.is_empty() { words.next() } else { Some(value) };
    }
    None
}

/// Whether a word is a placeholder for a URL.
fn is_placeholder(word: &str) -> bool {
    word.eq_ignore_ascii_case("url") || word.eq_ignore_ascii_case("<url>")
}

/// Cuts off a sentence that a page joined to a URL: `…/a.jpgWe` becomes `…/a.jpg`.
fn without_sentence(url: &str) -> String {
    let cut = ENDINGS.iter().find_map(|ending| {
        let end = url.rfind(ending)? + ending.len();
        url[end..].starts_with(|c: char| c.is_uppercase()).then_some(end)
    });
    url[..cut.unwrap_or(url.len())].trim_end_matches([',', '`']).to_owned()
}

#[cfg(test)]
mod tests {
    use super::{commands, option};

    fn result(text: &str) -> Vec<String> {
        let tools = ["ab", "siege", "wrk", "http_load", "httperf"];
        commands(text, |name| tools.contains(&name)).into_iter().map(|command| command.line).collect()
    }

    #[test]
    fn command_lines_of_every_form() {
        let cases = [
            ("    ab -r -c 10 -n 1000 http://h:8080/", "ab -r -c 10 -n 1000 http://h:8080/"),
            (
                "$ siege -b -t10S -c200 http://h:PORT/a.jpgWe set the mode.",
                "siege -b -t10S -c200 http://h:PORT/a.jpg",
            ),
            ("the command `http_load -p 10 -s 5 http://h/` on my laptop", "http_load -p 10 -s 5 http://h/"),
            ("http_load -p 10 -s 5 url", "http_load -p 10 -s 5 url"),
            ("me@host:~/x$ ./wrk -t2 -c10 http://h/ > out", "./wrk -t2 -c10 http://h/"),
            ("# sudo ab -k 'http://h/'", "ab -k 'http://h/'"),
            ("wrk -t2 \\\n  -c10 \\\n  http://h/", "wrk -t2 -c10 http://h/"),
            ("httperf --hog --rate 1000 --uri=/pong", "httperf --hog --rate 1000 --uri=/pong"),
            ("Then, `ab -n1 'http://h/'` will deliver", "ab -n1 'http://h/'"),
            (
                "wrk -H 'Host: a b' -H \"X: y\" -c 8 http://h/",
                "wrk -H 'Host: a b' -H \"X: y\" -c 8 http://h/",
            ),
            ("wrk --header='Host: a b' -c8 \"http://h/\"", "wrk --header='Host: a b' -c8 \"http://h/\""),
            (
                "wrk -c 8 -H 'Referer: http://o/ x' http://h/ -s p.lua -- 16",
                "wrk -c 8 -H 'Referer: http://o/ x' http://h/ -s p.lua -- 16",
            ),
            ("wrk -H 'Host: unclosed -c 8 http://h/", "wrk -H 'Host:"),
        ];
        for (text, line) in cases {
            assert_eq!(result(text), [line], "{text}");
        }
    }

    #[test]
    fn what_only_names_a_tool_is_no_command() {
        for text in [
            "ab is a tool",
            "Results of wrk: -5 %",
            "use ab -n 1 http://h/",
            "wrk - a HTTP benchmarking tool",
            "see http://h/ab -n",
            "wrk",
            "",
            "``",
        ] {
            assert_eq!(result(text), Vec::<String>::new(), "{text}");
        }
    }

    #[test]
    fn options() {
        let cases = [
            ("ab -c 10 -n 5 u", Some("10")),
            ("wrk -t2 -c100", Some("100")),
            ("wrk --connections=1k u", Some("1k")),
            ("oha --connections 50 u", Some("50")),
            ("ab -n 5", None),
            ("ab -c", None),
            ("ab -cx", Some("x")),
            ("h2load --connect-to=1 u", None),
        ];
        for (command, connections) in cases {
            assert_eq!(option(command, &["--connections", "-c"]), connections, "{command}");
        }
    }
}
