//! The words of the command line, as a run keeps them, so that its report can say how to repeat it.

/// The words after the program, without the seed.
pub fn words(all: impl IntoIterator<Item = String>) -> Vec<String> {
    without("--seed", all)
}

/// All words but this option and its value.
pub fn without(option: &str, all: impl IntoIterator<Item = String>) -> Vec<String> {
    let (mut words, mut is_option) = (Vec::new(), false);
    for word in all {
        let was_option = std::mem::replace(&mut is_option, word == option);
        let has_value = word.strip_prefix(option).is_some_and(|rest| rest.starts_with('='));
        if !was_option && !is_option && !has_value {
            words.push(word);
        }
    }
    words
}

/// The words of this process.
pub fn own() -> Vec<String> {
    words(std::env::args().skip(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_seed_is_left_out_in_both_spellings() {
        let of = |line: &str| words(line.split(' ').map(str::to_owned)).join(" ");
        assert_eq!(of("run today --seed 7 --quick"), "run today --quick");
        assert_eq!(of("run today --seed=7 --quick --seed 8"), "run today --quick");
        assert_eq!(of("run seed --seed"), "run seed");
        let file = "race --file a.toml --rev x --file=b --files".split(' ').map(str::to_owned);
        assert_eq!(without("--file", file), ["race", "--rev", "x", "--files"]);
    }
}
