//! What is asked and what must come back. The bytes are made from the recipe by the crate `bodies`.

use serde::{Deserialize, Serialize};

/// `workloads/<name>.toml`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Workload {
    /// What a table calls it.
    pub title: String,
    /// What the answer's Content-Type must be, parameters aside.
    pub content_type: String,
    /// The file in the assets folder, and the reference server's path for it.
    pub file: String,
    /// The body's recipe.
    pub body: Recipe,
}

/// How a body is made; the same bytes on every machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Recipe {
    /// These very bytes.
    Text(String),
    /// An HTML document of so many bytes.
    HtmlBytes(usize),
    /// A PNG image of so many bytes.
    PngBytes(usize),
    /// A JPEG image of so many bytes.
    JpegBytes(usize),
}
