//! A cell of `drome.toml`: what is requested in one of several races of the same servers, and how slow it may become.

use schemars::JsonSchema;
use serde::Deserialize;

/// One race. An option that is missing here is taken from `[race]`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Cell {
    /// The name of this race in reports.
    pub title: String,
    /// URL to request; `{port}` stands for the server's port.
    #[serde(default)]
    url: Option<String>,
    /// Number of connections.
    #[serde(default)]
    connections: Option<u32>,
    /// Whether a new connection is opened for every request.
    #[serde(default)]
    no_keepalive: bool,
    /// Metric that decides, such as `rate`, `server-cpu` or `p99@5k`.
    #[serde(default)]
    metric: Option<String>,
    /// Largest slowdown that passes, such as `2%`.
    #[serde(default)]
    fail_if_slower: Option<String>,
    /// Longest time of this race, such as `2min`.
    #[serde(default)]
    budget: Option<String>,
}

impl Cell {
    /// Whether it says what is requested.
    pub fn has_url(&self) -> bool {
        self.url.is_some()
    }

    /// Its options as words of a command line.
    pub fn words(self) -> Vec<String> {
        let all = [
            self.url.map(|url| format!("--url={url}")),
            self.connections.map(|n| format!("--connections={n}")),
            self.no_keepalive.then(|| "--no-keepalive".to_owned()),
            self.metric.map(|metric| format!("--metric={metric}")),
            self.fail_if_slower.map(|share| format!("--fail-if-slower={share}")),
            self.budget.map(|time| format!("--budget={time}")),
        ];
        all.into_iter().flatten().collect()
    }
}

/// Fails with a message if a title is missing or given twice.
pub fn ensure_distinct(cells: &[Cell]) -> Result<(), String> {
    for (nth, cell) in cells.iter().enumerate() {
        if cell.title.trim().is_empty() {
            return Err("a cell has no title".to_owned());
        }
        if cells[..nth].iter().any(|earlier| earlier.title == cell.title) {
            return Err(format!("two cells have the title `{}`", cell.title));
        }
    }
    Ok(())
}
