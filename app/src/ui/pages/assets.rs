//! The style, the scripts and the icon. They are compiled into the binary; no file is served by its path.

use super::error_page::ErrorPage;
use crate::flame;
use axum::extract::Path;
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderName, StatusCode};

const STYLE: &str = concat!(
    include_str!("assets/palette.css"),
    include_str!("assets/ui.css"),
    include_str!("../../flame/flame.css")
);

/// The name, type and text of each asset.
const ASSETS: [(&str, &str, &str); 4] = [
    ("ui.css", "text/css; charset=utf-8", STYLE),
    ("ui.js", "text/javascript; charset=utf-8", include_str!("assets/ui.js")),
    ("flame.js", "text/javascript; charset=utf-8", flame::SCRIPT),
    ("icon.svg", "image/svg+xml", include_str!("assets/icon.svg")),
];

/// Sends an asset.
pub async fn show(
    Path(name): Path<String>,
) -> Result<([(HeaderName, &'static str); 1], &'static str), ErrorPage> {
    let found = ASSETS.iter().find(|(known, _, _)| *known == name);
    let (_, kind, text) =
        found.ok_or_else(|| ErrorPage::new(StatusCode::NOT_FOUND, "There is no such page."))?;
    Ok(([(CONTENT_TYPE, kind)], text))
}
