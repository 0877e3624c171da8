//! Renders a chart as PNG: twice the chart's size, always in light colours, with the system's fonts.

use crate::failure::WrongInput;
use anyhow::{Context, anyhow};
use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::fontdb::Database;
use resvg::usvg::{Options, Tree};
use std::sync::Arc;

/// Pixels per unit of the chart: current screens have two or more.
const PIXELS: f32 = 2.0;

/// The largest picture, because all of its pixels are in memory at once.
const MOST_PIXELS: f32 = 1e8;

/// Font families that are legible in small sizes; the first one that is installed is used, else any.
const FAMILIES: [&str; 8] =
    ["Inter", "DejaVu Sans", "Noto Sans", "Liberation Sans", "Roboto", "Ubuntu", "Helvetica", "Arial"];

/// Renders charts. It loads the fonts once, which takes a moment, so use one for many charts.
pub struct Painter(Options<'static>);

impl Painter {
    /// A painter with the system's fonts. Fails if there is none.
    pub fn new() -> Result<Self, WrongInput> {
        let mut fonts = Database::new();
        fonts.load_system_fonts();
        Self::with(fonts)
    }

    /// A painter with these fonts. Fails if there is none, because a chart without text is useless.
    fn with(mut fonts: Database) -> Result<Self, WrongInput> {
        let names = || fonts.faces().filter_map(|face| face.families.first()).map(|(name, _)| name.as_str());
        let known = FAMILIES.into_iter().find(|family| names().any(|name| name == *family));
        let Some(family) = known.or_else(|| names().next()).map(str::to_owned) else {
            refuse!(
                "this machine has no font for the text of a PNG chart: install one, such as the package \
                 fonts-dejavu-core, or use --format svg"
            );
        };
        fonts.set_sans_serif_family(family);
        Ok(Self(Options { fontdb: Arc::new(fonts), ..Options::default() }))
    }

    /// A chart as PNG.
    pub fn png(&self, svg: &str) -> anyhow::Result<Vec<u8>> {
        let tree = Tree::from_str(&report::chart::light(svg), &self.0).context("a chart is not valid SVG")?;
        let (width, height) = (tree.size().width(), tree.size().height());
        let times = PIXELS.min((MOST_PIXELS / (width * height)).sqrt());
        let size = ((width * times).ceil() as u32, (height * times).ceil() as u32);
        let mut picture = Pixmap::new(size.0, size.1)
            .ok_or_else(|| anyhow!("can't draw a picture of {} × {} pixels", size.0, size.1))?;
        resvg::render(&tree, Transform::from_scale(times, times), &mut picture.as_mut());
        picture.encode_png().context("can't encode a picture as PNG")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_font_there_is_no_picture_but_the_next_step() {
        let refused = Painter::with(Database::new()).err().unwrap().to_string();
        assert!(refused.contains("fonts-dejavu-core") && refused.contains("--format svg"), "{refused}");
    }
}
