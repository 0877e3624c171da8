//! Notes that differ only in their figures, told as one. A text is cut into words and figures in turn; a figure is a number or a
//! range: `9`, `1,024.5`, `9 to 24.5`.

/// How a note on starts begins that have no measurement; then follows why. Reports find such notes by it.
pub const FAILED: &str = "failed: ";

/// How a note on measurements begins that do not count; then follows why. Reports find such notes by it.
pub const VOID: &str = "void: ";

/// Between the ends of a range.
const TO: &str = " to ";

/// The words of a text between its figures. Texts of the same kind have the same words, and figures in the same places.
pub fn kind(text: &str) -> Vec<String> {
    pieces(text).into_iter().step_by(2).map(str::to_owned).collect()
}

/// One text for several of the same kind, with the range of each figure; empty for none.
pub fn together<'t>(texts: impl IntoIterator<Item = &'t str>) -> String {
    let all: Vec<Vec<&str>> = texts.into_iter().map(pieces).collect();
    let Some(first) = all.first() else { return String::new() };
    let piece = |i: usize| {
        let is_figure = i % 2 == 1;
        let mut ends: Vec<&str> =
            all.iter().filter_map(|pieces| pieces.get(i)).flat_map(|piece| piece.split(TO)).collect();
        ends.sort_by(|a, b| value(a).total_cmp(&value(b)));
        match (ends.first(), ends.last()) {
            (Some(least), Some(most)) if is_figure && least != most => format!("{least}{TO}{most}"),
            (Some(only), _) if is_figure => (*only).to_owned(),
            _ => first[i].to_owned(),
        }
    };
    (0..first.len()).map(piece).collect()
}

fn value(figure: &str) -> f64 {
    figure.replace(',', "").parse().unwrap_or(f64::NAN)
}

/// A text cut into words and figures in turn, beginning and ending with words.
fn pieces(text: &str) -> Vec<&str> {
    let ends = ends_of_pieces(text);
    let mut begun = 0;
    let cut = |end: usize| {
        let piece = &text[begun..end];
        begun = end;
        piece
    };
    ends.into_iter().map(cut).collect()
}

/// Where the words and figures of a text end, in turn.
fn ends_of_pieces(text: &str) -> Vec<usize> {
    let (mut ends, mut is_figure): (Vec<usize>, bool) = (Vec::new(), false);
    let mut chars = text.char_indices().peekable();
    while let Some((at, char)) = chars.next() {
        let goes_on = chars.peek().is_some_and(|(_, next)| next.is_ascii_digit());
        let belongs = char.is_ascii_digit() || (is_figure && matches!(char, '.' | ',') && goes_on);
        if belongs == is_figure {
            continue;
        }
        // A figure that begins after `9 to ` is the other end of a range.
        let continues = belongs && ends.len() > 1 && ends.last().is_some_and(|end| &text[*end..at] == TO);
        if continues {
            ends.pop();
        } else {
            ends.push(at);
        }
        is_figure = belongs;
    }
    if is_figure {
        ends.push(text.len());
    }
    ends.push(text.len());
    ends
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_words_and_figures_in_turn() {
        assert_eq!(pieces("took 1,024.5 s, p99. 7"), ["took ", "1,024.5", " s, p", "99", ". ", "7", ""]);
        assert_eq!(pieces("5 µs"), ["", "5", " µs"]);
        assert_eq!(pieces("signal 9"), ["signal ", "9", ""]);
        assert_eq!(pieces(""), [""]);
    }

    #[test]
    fn a_range_is_one_figure() {
        assert_eq!(pieces("took 9 to 24.5 % of 2"), ["took ", "9 to 24.5", " % of ", "2", ""]);
        assert_eq!(pieces("9 to 1 to 5"), ["", "9 to 1 to 5", ""]);
        assert_eq!(pieces(" to 5 to x"), [" to ", "5", " to x"]);
    }

    #[test]
    fn figures_in_other_places_are_another_kind() {
        assert_eq!(kind("exit 1, 2"), kind("exit 31, 4.5"));
        assert_eq!(kind("idle for 9 %"), kind("idle for 3 to 9 %"));
        for other in ["exit , ", "exit 1, ", "exit , 2", "exit 1 2,"] {
            assert_ne!(kind("exit 1, 2"), kind(other), "{other}");
        }
    }

    #[test]
    fn what_differs_only_in_figures_is_told_with_the_least_and_the_most() {
        let alike = ["the host took 9 % of 2 cores", "the host took 10 to 24.5 % of 2 cores"];
        assert_eq!(together(alike), "the host took 9 to 24.5 % of 2 cores");
        assert_eq!(together(["took 1,024 of 5"]), "took 1,024 of 5");
        assert_eq!(
            together(["it went to sleep for 5 s", "it went to sleep for 7 s"]),
            "it went to sleep for 5 to 7 s"
        );
        assert_eq!(together([]), "");
    }
}
