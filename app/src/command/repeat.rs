//! The words of the command line, as a run keeps them, so that its report can say how to repeat it.

/// The words after the program, without the seed.
pub fn words(all: impl IntoIterator<Item = String>) -> Vec<String> {
    let (mut words, mut is_seed) = (Vec::new(), false);
    for word in all {
        let was_name = std::mem::replace(&mut is_seed, word == "--seed");
        if !was_name && !is_seed && !word.starts_with("--seed=") {
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
    }
}
