//! `drome help TOPIC`: pages of docs/, compiled in, so that there is one source.

/// A topic.
#[derive(Debug)]
pub struct Topic {
    /// As it is asked for.
    pub name: &'static str,
    /// What it is about.
    pub about: &'static str,
    /// The page in docs/.
    pub page: &'static str,
    /// Its Markdown.
    pub text: &'static str,
}

macro_rules! topic {
    ($name:literal, $about:literal) => {
        Topic {
            name: $name,
            about: $about,
            page: concat!($name, ".md"),
            text: include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/", $name, ".md")),
        }
    };
}

/// All of them.
pub const TOPICS: &[Topic] = &[
    topic!("method", "how drome measures and decides, and where that comes from"),
    topic!("loads", "closed and open load, and which latency is which"),
    topic!("verdicts", "when a measurement is void, and what bounded it"),
    topic!("files", "the files that people write, and where drome keeps its own"),
    topic!("exit-codes", "what every command ends with"),
    topic!("environment", "variables that drome reads"),
    topic!("dialects", "the older tools whose command lines drome speaks"),
];

/// The topic of this name.
pub fn named(name: &str) -> Option<&'static Topic> {
    TOPICS.iter().find(|topic| topic.name == name)
}
