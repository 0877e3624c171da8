//! The lines of a text, and which of them are code: between fences, or indented by four spaces or a tab.

/// A line and where it begins.
#[derive(Clone, Copy, Debug)]
pub struct Line<'t> {
    /// Where it begins, in bytes.
    pub at: usize,
    /// The line, without its line break.
    pub text: &'t str,
    /// The line, including its line break.
    pub whole: &'t str,
    /// Whether it is code or a fence.
    pub is_code: bool,
    /// Whether it is a fence.
    pub is_fence: bool,
}

/// All lines.
pub fn lines(text: &str) -> impl Iterator<Item = Line<'_>> {
    let (mut at, mut fence) = (0, None);
    text.split_inclusive('\n').map(move |whole| {
        let line = whole.trim_end_matches(['\n', '\r']);
        let bare = line.trim_start_matches(' ');
        let mark =
            ["```", "~~~"].into_iter().find(|mark| bare.starts_with(mark) && line.len() - bare.len() < 4);
        // Only an opening fence may have text after it.
        let ends =
            mark.is_some() && mark == fence && bare.trim_end().trim_start_matches(['`', '~']).is_empty();
        // A fence with its code on the same line ends there.
        let begins = mark.is_some() && fence.is_none() && !bare[3..].contains("```");
        let is_indented = fence.is_none() && (line.starts_with("    ") || line.starts_with('\t'));
        let is_code = fence.is_some() || begins || is_indented;
        if begins {
            fence = mark;
        } else if ends {
            fence = None;
        }
        at += whole.len();
        Line { at: at - whole.len(), text: line, whole, is_code, is_fence: begins || ends }
    })
}

/// Splits the text into lines of code and of prose.
pub fn segments(text: &str) -> Vec<(bool, &str)> {
    let mut all: Vec<(bool, usize, usize)> = Vec::new();
    for line in lines(text) {
        let end = line.at + line.whole.len();
        match all.last_mut() {
            Some((is_code, _, to)) if *is_code == line.is_code => *to = end,
            _ => all.push((line.is_code, line.at, end)),
        }
    }
    all.into_iter().map(|(is_code, from, to)| (is_code, &text[from..to])).collect()
}

/// A text without Markdown's marks: emphasis, code, links, entities.
pub fn plain(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('[') {
        let link = rest[at..].find("](").and_then(|mid| {
            let close = rest[at + mid..].find(')')?;
            Some((at + 1, at + mid, at + mid + close + 1))
        });
        let Some((from, to, end)) = link else { break };
        out.push_str(rest[..at].trim_end_matches('!'));
        out.push_str(&rest[from..to]);
        rest = &rest[end..];
    }
    out.push_str(rest);
    let out = out.replace("**", "").replace("__", "").replace('`', "");
    let bare = out.trim();
    let is_set = |mark: char| bare.len() > 2 && bare.starts_with(mark) && bare.ends_with(mark);
    let bare = if is_set('*') || is_set('_') { &bare[1..bare.len() - 1] } else { bare };
    bare.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::{lines, plain, segments};

    #[test]
    fn code_is_told_from_text() {
        let text = "a\n```sh\nb\n```\nc\n    d\n~~~\ne\n```\n~~~\n``` f ```\ng";
        let code: String = lines(text)
            .map(|l| {
                if l.is_fence {
                    'f'
                } else if l.is_code {
                    'c'
                } else {
                    '.'
                }
            })
            .collect();
        assert_eq!(code, ".fcf.cfccf..");
        let pieces = segments(text);
        assert_eq!(pieces.iter().map(|(_, t)| *t).collect::<String>(), text);
        assert_eq!(pieces[0], (false, "a\n"));
    }

    #[test]
    fn words_without_their_dress() {
        let cases = [
            ("**fly**", "fly"),
            (" _x_ ", "x"),
            ("And [node.js](http://nodejs.org/) v0.6.1", "And node.js v0.6.1"),
            ("`a_b` *c", "a_b *c"),
            ("a [b] c", "a [b] c"),
            ("![x](y)", "x"),
        ];
        for (dressed, bare) in cases {
            assert_eq!(plain(dressed), bare);
        }
    }
}
