//! A workload: the request and the answer that it must get. The crate `bodies` makes the bytes from the recipes.

use crate::plan::Protocol;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A request, and the answer that must come back: `workloads/NAME.toml`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Workload {
    /// Its name in tables.
    pub title: String,
    /// What the answer's Content-Type must be, parameters aside.
    pub content_type: String,
    /// The file in the assets folder that has the body; absent: the answer is made anew for every request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The only protocol in which it can be asked; absent: HTTP, in any version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub protocol: Option<Protocol>,
    /// The method of the request.
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

/// The placeholder in a query and in the text of a body: the same number in both.
pub const NUMBER: &str = "{n}";

/// The method of a workload's request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
#[expect(missing_docs, reason = "the names are the methods'")]
pub enum Method {
    #[default]
    Get,
    Post,
}

impl Method {
    /// The method as it is written in a request.
    pub fn word(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Post => "POST",
        }
    }
}

/// How a body is made; the same bytes on every machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Recipe {
    /// This text.
    Text(String),
    /// This many bytes that look random, so that they can't be compressed.
    Bytes(usize),
    /// The same bytes in a message of gRPC: protobuf's `google.protobuf.BytesValue`, whose value has this many.
    BytesValue(usize),
    /// An HTML document of this many bytes.
    HtmlBytes(usize),
    /// A PNG image of this many bytes.
    PngBytes(usize),
    /// A JPEG image of this many bytes.
    JpegBytes(usize),
    /// The body of the request, which comes back.
    Sent,
}

impl Workload {
    /// Whether it can be asked in this protocol.
    pub fn is_of(&self, protocol: Protocol) -> bool {
        match self.protocol {
            None => matches!(protocol, Protocol::Http1 | Protocol::Http2),
            Some(own) => own == protocol,
        }
    }

    /// Why the workload contradicts itself; `None`: it does not.
    pub fn contradiction(&self) -> Option<&'static str> {
        let is_text_with_number = matches!(&self.body, Recipe::Text(text) if text.contains(NUMBER));
        let has_number = self.query.as_ref().is_some_and(|query| query.contains(NUMBER));
        if self.body == Recipe::Sent && self.send.is_none() {
            Some("body = \"sent\" needs `send`: what is sent")
        } else if self.send == Some(Recipe::Sent) {
            Some("send = \"sent\" has no meaning: must be a recipe, such as { bytes = 1024 }")
        } else if self.send.is_some()
            && self.method == Method::Get
            && self.protocol != Some(Protocol::WebSocket)
        {
            Some("a GET sends no body: write method = \"POST\" beside `send`")
        } else if has_number && !is_text_with_number {
            Some("the query has {n}, but no body text has it")
        } else if self.file.is_some() && (self.body == Recipe::Sent || has_number) {
            Some("a body that depends on the request can't be a file: leave `file` out")
        } else {
            None
        }
    }
}
