//! The bodies of the workloads, made from their recipes. They are the same bytes on every machine: the code is
//! pure, and its few operations on floating-point numbers are exact by IEEE 754, so that no mathematics library can
//! make a difference.

mod chance;
mod html;
mod image;

use model::workload::Recipe;

/// A body that can't be made.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("a {kind} of {bytes} bytes can't be made: the smallest has {least} bytes")]
pub struct BodyError {
    /// What it would be: HTML, PNG or JPEG.
    pub kind: &'static str,
    /// The length that the recipe asks for.
    pub bytes: usize,
    /// The least possible length.
    pub least: usize,
}

/// Makes the body of a recipe. An echo has no body of its own, so its body is empty. Error: the recipe's length is too small for a document
/// or an image of its kind.
pub fn body(recipe: &Recipe) -> Result<Vec<u8>, BodyError> {
    match recipe {
        Recipe::Text(text) => Ok(text.as_bytes().to_vec()),
        Recipe::Bytes(bytes) => Ok(chance::bytes(*bytes)),
        Recipe::BytesValue(bytes) => Ok(bytes_value(&chance::bytes(*bytes))),
        Recipe::HtmlBytes(bytes) => html::document(*bytes),
        Recipe::PngBytes(bytes) => image::png(*bytes),
        Recipe::JpegBytes(bytes) => image::jpeg(*bytes),
        // The answer has the bytes of the request.
        Recipe::Sent => Ok(Vec::new()),
    }
}

/// This value as protobuf's `google.protobuf.BytesValue`: its first field, unless it is empty, which is a message without fields.
/// <https://protobuf.dev/programming-guides/encoding/>
pub fn bytes_value(value: &[u8]) -> Vec<u8> {
    let mut message = Vec::new();
    if !value.is_empty() {
        // Field 1, whose length follows in groups of seven bits, the lowest first.
        message.push(1 << 3 | 2);
        let mut length = value.len();
        while length >= 0x80 {
            message.push(length as u8 | 0x80);
            length >>= 7;
        }
        message.push(length as u8);
        message.extend_from_slice(value);
    }
    message
}

#[cfg(test)]
mod tests {
    use super::*;
    use sha2::{Digest, Sha256};

    fn digest(recipe: &Recipe) -> String {
        let bytes = body(recipe).unwrap();
        Sha256::digest(bytes)[..4].iter().map(|b| format!("{b:02x}")).collect()
    }

    #[test]
    fn every_body_has_the_length_that_was_asked_for() {
        for bytes in [147, 228, 1000] {
            assert_eq!(body(&Recipe::HtmlBytes(bytes)).unwrap().len(), bytes);
        }
        for bytes in [5_000, 50_000] {
            assert_eq!(body(&Recipe::PngBytes(bytes)).unwrap().len(), bytes);
        }
        for bytes in [10_000, 200_000] {
            assert_eq!(body(&Recipe::JpegBytes(bytes)).unwrap().len(), bytes);
        }
    }

    #[test]
    fn the_bytes_are_the_same_as_ever() {
        let all = [
            Recipe::HtmlBytes(147),
            Recipe::HtmlBytes(228),
            Recipe::PngBytes(50_000),
            Recipe::JpegBytes(200_000),
            Recipe::Bytes(1 << 20),
        ];
        assert_eq!(all.each_ref().map(digest), ["2e189197", "c3aab517", "fb30ce73", "19edafc9", "d83bfe1c"]);
    }

    #[test]
    fn a_message_says_how_long_its_value_is() {
        for (bytes, prefix) in [
            (0, &[][..]),
            (1, &[0x0a, 1]),
            (127, &[0x0a, 127]),
            (128, &[0x0a, 0x80, 1]),
            (70_000, &[0x0a, 0xf0, 0xa2, 0x04]),
        ] {
            let message = body(&Recipe::BytesValue(bytes)).unwrap();
            let value = body(&Recipe::Bytes(bytes)).unwrap();
            assert_eq!(message.strip_prefix(prefix), Some(&value[..]), "{bytes}");
        }
    }

    #[test]
    fn bytes_by_chance_are_so_many_and_about_evenly_spread() {
        let all = body(&Recipe::Bytes(1_000_003)).unwrap();
        let mut counts = [0; 256];
        all.iter().for_each(|byte| counts[usize::from(*byte)] += 1);
        assert_eq!(all.len(), 1_000_003);
        assert!(counts.iter().all(|n| (3500..4300).contains(n)));
        assert_eq!(body(&Recipe::Bytes(3)).unwrap(), all[..3]);
    }

    #[test]
    fn the_png_is_a_picture() {
        let bytes = body(&Recipe::PngBytes(50_000)).unwrap();
        let mut reader = png::Decoder::new(std::io::Cursor::new(&bytes)).read_info().unwrap();
        let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
        let info = reader.next_frame(&mut pixels).unwrap();
        assert!(info.width > 80 && pixels.iter().any(|p| *p != pixels[0]));
    }

    #[test]
    fn the_jpeg_is_a_picture() {
        let bytes = body(&Recipe::JpegBytes(200_000)).unwrap();
        let mut decoder = zune_jpeg::JpegDecoder::new(zune_jpeg::zune_core::bytestream::ZCursor::new(&bytes));
        let pixels = decoder.decode().unwrap();
        assert!(decoder.dimensions().unwrap().0 > 200 && pixels.iter().any(|p| *p != pixels[0]));
    }

    #[test]
    fn what_is_too_small_is_refused() {
        assert_eq!(body(&Recipe::HtmlBytes(10)).unwrap_err().kind, "HTML document");
        assert_eq!(body(&Recipe::PngBytes(10)).unwrap_err().kind, "PNG image");
        assert_eq!(body(&Recipe::JpegBytes(10)).unwrap_err().kind, "JPEG image");
    }
}
