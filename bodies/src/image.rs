//! Real images of an exact length: a picture that is slightly too short, with a comment that fills the rest.

use crate::BodyError;
use jpeg_encoder::{ColorType, Encoder};

/// The side of the smallest picture, in pixels. A smaller one would leave no room for a comment.
const LEAST_SIDE: u16 = 8;

/// A square PNG of `bytes` bytes, with eight bits per channel.
pub fn png(bytes: usize) -> Result<Vec<u8>, BodyError> {
    // A chunk's length, type and checksum, and the keyword of a comment with its end.
    const COMMENT: usize = 12 + "Comment".len() + 1;
    fit("PNG image", bytes, COMMENT, |side, fill| {
        let mut out = Vec::new();
        let mut encoder = png::Encoder::new(&mut out, side.into(), side.into());
        encoder.set_color(png::ColorType::Rgb);
        encoder.set_depth(png::BitDepth::Eight);
        let mut writer = encoder.write_header().ok()?;
        if let Some(fill) = fill {
            writer.write_chunk(png::chunk::tEXt, &[b"Comment\0", &filler(fill)[..]].concat()).ok()?;
        }
        writer.write_image_data(&pixels(side)).ok()?;
        writer.finish().ok()?;
        Some(out)
    })
}

/// A square JPEG of `bytes` bytes.
pub fn jpeg(bytes: usize) -> Result<Vec<u8>, BodyError> {
    const QUALITY: u8 = 85;
    // A segment's marker and length.
    const SEGMENT: usize = 4;
    fit("JPEG image", bytes, SEGMENT, |side, fill| {
        let mut out = Vec::new();
        let mut encoder = Encoder::new(&mut out, QUALITY);
        if let Some(fill) = fill {
            encoder.add_app_segment(15, filler(fill)).ok()?;
        }
        encoder.encode(&pixels(side), side, side, ColorType::Rgb).ok()?;
        Some(out)
    })
}

/// The largest square picture that leaves room for a comment, with the comment that makes it `bytes` long.
fn fit(
    kind: &'static str,
    bytes: usize,
    overhead: usize,
    encode: impl Fn(u16, Option<usize>) -> Option<Vec<u8>>,
) -> Result<Vec<u8>, BodyError> {
    let encoded_bytes = |side| encode(side, None).map_or(usize::MAX, |image| image.len());
    let least = encoded_bytes(LEAST_SIDE).saturating_add(overhead);
    // A small picture is encoded first to estimate how many bytes a pixel takes.
    let probe = ((bytes as f64).sqrt() / 2.0).clamp(f64::from(LEAST_SIDE), 2000.0) as u16;
    let bytes_per_pixel = encoded_bytes(probe) as f64 / f64::from(probe).powi(2);
    let mut side = (bytes as f64 / bytes_per_pixel).sqrt().clamp(f64::from(LEAST_SIDE), 8000.0) as u16;
    while side >= LEAST_SIDE {
        if let Some(fill) = bytes.checked_sub(encoded_bytes(side).saturating_add(overhead)) {
            return encode(side, Some(fill)).ok_or(BodyError { kind, bytes, least });
        }
        side -= 1;
    }
    Err(BodyError { kind, bytes, least })
}

/// The pixels: slanted bands with noise, so that neither format can compress them to almost nothing.
fn pixels(side: u16) -> Vec<u8> {
    let mut grain = 0x2545_f491_u32;
    let mut out = Vec::with_capacity(usize::from(side) * usize::from(side) * 3);
    for y in 0..u32::from(side) {
        for x in 0..u32::from(side) {
            for channel in 0..3 {
                // Marsaglia's xorshift, 32 bits.
                grain ^= grain << 13;
                grain ^= grain >> 17;
                grain ^= grain << 5;
                let band = (x * (2 + channel) + y * (4 - channel)) % 384;
                let level = if band < 192 { band } else { 383 - band };
                out.push((level + 16 + grain % 24) as u8);
            }
        }
    }
    out
}

fn filler(n: usize) -> Vec<u8> {
    b"drome ".iter().copied().cycle().take(n).collect()
}
