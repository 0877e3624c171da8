//! The words of the command line, as a run keeps them, so that its report can say how to repeat it.

use model::url::redacted;
use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;

/// The words after the program, without the seed and without the names and passwords of URLs. None if one of them is not UTF-8: a run is
/// stored as text, and would name another file.
fn words(all: impl IntoIterator<Item = OsString>) -> Vec<String> {
    let words = without("--seed", all).into_iter().map(OsString::into_string);
    let words = words.map(|word| word.map(|word| redacted(&word).into_owned()));
    words.collect::<Result<_, _>>().unwrap_or_default()
}

/// All words but this option and its value.
fn without(option: &str, all: impl IntoIterator<Item = OsString>) -> Vec<OsString> {
    let (mut words, mut is_option) = (Vec::new(), false);
    for word in all {
        let was_option = std::mem::replace(&mut is_option, word == option);
        let has_value =
            word.as_bytes().strip_prefix(option.as_bytes()).is_some_and(|rest| rest.starts_with(b"="));
        if !was_option && !is_option && !has_value {
            words.push(word);
        }
    }
    words
}

/// The words of this process.
pub fn own() -> Vec<String> {
    words(std::env::args_os().skip(1))
}

/// The words of this process, and those by which they say what it took from a file.
pub fn own_with(of_file: Vec<String>) -> Vec<String> {
    with(std::env::args_os().skip(1), of_file)
}

/// The words of a command line with those that its file stands for. These come last, where they need not be told from a global option and
/// its value; they are none that the command line has, too.
fn with(all: impl IntoIterator<Item = OsString>, of_file: Vec<String>) -> Vec<String> {
    let mut typed = without("--cell", without("--file", all));
    // What comes after `--` is no option.
    typed.pop_if(|word| word == "--");
    words(typed.into_iter().chain(of_file.into_iter().map(OsString::from)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::ffi::OsStringExt;

    #[test]
    fn the_seed_is_left_out_in_both_spellings() {
        let of = |line: &str| words(line.split(' ').map(OsString::from)).join(" ");
        assert_eq!(of("run today --seed 7 --quick"), "run today --quick");
        assert_eq!(of("run today --seed=7 --quick --seed 8"), "run today --quick");
        assert_eq!(of("run seed --seed"), "run seed");
        assert_eq!(of("race http://u:p@a/ --url=http://u@b/@"), "race http://***@a/ --url=http://***@b/@");
        let file = "race --file a.toml --rev x --file=b --files".split(' ').map(OsString::from);
        assert_eq!(without("--file", file), ["race", "--rev", "x", "--files"]);
    }

    #[test]
    fn the_words_of_a_file_are_added_to_all_that_were_typed() {
        let of = |line: &str| with(line.split(' ').map(OsString::from), vec!["--rev=a".to_owned()]).join(" ");
        assert_eq!(of("--store race race --file x.toml -c 8 --cell=2"), "--store race race -c 8 --rev=a");
        assert_eq!(of("race --name b --"), "race --name b --rev=a");
    }

    #[test]
    fn a_command_line_that_is_not_utf_8_is_taken_apart_but_not_kept() {
        let odd = OsString::from_vec(b"o\xff.md".to_vec());
        let all = || ["race", "--seed", "7", "--output"].map(OsString::from).into_iter().chain([odd.clone()]);
        assert_eq!(without("--seed", all()), ["race".as_ref(), "--output".as_ref(), odd.as_os_str()]);
        assert_eq!(words(all()), Vec::<String>::new());
    }
}
