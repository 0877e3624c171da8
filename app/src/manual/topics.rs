//! The topics of `drome help TOPIC`: pages of docs/, compiled in, so that there is one source. `app/topics` has links to them, because
//! Cargo packages no file from outside the crate's folder, but follows links.

/// A topic.
#[derive(Debug)]
pub struct Topic {
    /// Its name on the command line.
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
            text: include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/topics/", $name, ".md")),
        }
    };
}

/// All topics.
pub const TOPICS: &[Topic] = &[
    topic!("method", "how drome measures and decides, with sources"),
    topic!("loads", "closed and open load, and which latency is which"),
    topic!("verdicts", "when a measurement is void, and what limited it"),
    topic!("files", "the files that you write, and the files that drome writes"),
    topic!("exit-codes", "the exit codes of every command"),
    topic!("environment", "the environment variables that drome reads"),
    topic!("dialects", "the older tools whose command lines drome accepts"),
];

/// The topic of this name.
pub fn named(name: &str) -> Option<&'static Topic> {
    TOPICS.iter().find(|topic| topic.name == name)
}
