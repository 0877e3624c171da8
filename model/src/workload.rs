//! What is asked and what must come back. The bytes are made from the recipes by the crate `bodies`.

use serde::{Deserialize, Serialize};

/// `workloads/<name>.toml`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Workload {
    /// What a table calls it.
    pub title: String,
    /// What the answer's Content-Type must be, parameters aside.
    pub content_type: String,
    /// The file in the assets folder that has the body; none: the answer is made anew for every request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// How it is asked for.
    #[serde(default)]
    pub method: Method,
    /// What follows the path and a question mark; `{n}` in it stands for a number, which is 1 under load.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub query: Option<String>,
    /// The body of the request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub send: Option<Recipe>,
    /// The body of the answer.
    pub body: Recipe,
}

/// In a query and in the text of a body: the same number in both.
pub const NUMBER: &str = "{n}";

/// How a workload is asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
#[expect(missing_docs, reason = "the names are the methods'")]
pub enum Method {
    #[default]
    Get,
    Post,
}

impl Method {
    /// As it is written in a request.
    pub fn word(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Post => "POST",
        }
    }
}

/// How a body is made; the same bytes on every machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Recipe {
    /// These very bytes.
    Text(String),
    /// So many bytes that look like chance, of which none can be packed smaller.
    Bytes(usize),
    /// An HTML document of so many bytes.
    HtmlBytes(usize),
    /// A PNG image of so many bytes.
    PngBytes(usize),
    /// A JPEG image of so many bytes.
    JpegBytes(usize),
    /// What was sent, where it comes back.
    Sent,
}

impl Workload {
    /// What contradicts itself; `None`: nothing.
    pub fn contradiction(&self) -> Option<&'static str> {
        let is_text_with_number = matches!(&self.body, Recipe::Text(text) if text.contains(NUMBER));
        let has_number = self.query.as_ref().is_some_and(|query| query.contains(NUMBER));
        if self.body == Recipe::Sent && self.send.is_none() {
            Some("body = \"sent\" needs `send`: what is sent")
        } else if self.send == Some(Recipe::Sent) {
            Some("send = \"sent\" says nothing: allowed is a recipe, such as { bytes = 1024 }")
        } else if self.send.is_some() && self.method == Method::Get {
            Some("a GET sends no body: write method = \"POST\" beside `send`")
        } else if has_number && !is_text_with_number {
            Some("the query has {n}, but no text of the body has it")
        } else if self.file.is_some() && (self.body == Recipe::Sent || has_number) {
            Some("a body that depends on the request is in no file: leave `file` out")
        } else {
            None
        }
    }
}
