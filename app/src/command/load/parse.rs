//! Parses the values of options; an error says what is allowed.

use model::rate::{Rate, RateError};

/// A rate per second, such as `500` or `2.5k`, which does not change.
pub fn rate(text: &str) -> Result<f64, RateError> {
    Ok(Rate::constant(text)?.mean_per_s(0))
}

/// A header field.
pub fn header(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once(':').ok_or("write it like 'Name: value'")?;
    let is_token = !name.is_empty()
        && name.bytes().all(|b| b.is_ascii_graphic() && !b"()<>@,;:\\\"/[]?={}".contains(&b));
    if !is_token || value.bytes().any(|b| b < b' ' && b != b'\t') {
        return Err("a name can't have spaces, and neither name nor value can have line breaks".to_owned());
    }
    Ok((name.to_owned(), value.trim().to_owned()))
}

/// A method.
pub fn method(text: &str) -> Result<String, String> {
    if !text.is_empty() && text.bytes().all(|b| b.is_ascii_alphabetic() || b == b'-') {
        Ok(text.to_owned())
    } else {
        Err("must be a word such as GET or POST".to_owned())
    }
}

/// A digest.
pub fn sha256(text: &str) -> Result<[u8; 32], String> {
    let bad = || "must be 64 hexadecimal digits".to_owned();
    let digits: Vec<u8> =
        text.chars().map(|c| c.to_digit(16).map(|d| d as u8)).collect::<Option<_>>().ok_or_else(bad)?;
    let bytes: Vec<u8> =
        digits.chunks(2).map(|pair| pair[0] << 4 | pair.get(1).copied().unwrap_or(0)).collect();
    if digits.len() == 64 { bytes.try_into().map_err(|_| bad()) } else { Err(bad()) }
}

/// A pause: `1s`, `1s..3s`, or `exp:2s`.
pub fn think(text: &str) -> Result<model::Think, String> {
    let time = |t: &str| humantime::parse_duration(t).map_err(|e| format!("{e}: use 1s, 1s..3s or exp:2s"));
    if let Some(mean) = text.strip_prefix("exp:") {
        return Ok(model::Think::Exponential(time(mean)?));
    }
    let (low, high) = match text.split_once("..") {
        Some((low, high)) => (time(low)?, time(high)?),
        None => (time(text)?, time(text)?),
    };
    if low > high {
        return Err("the shorter time must come first, such as 1s..3s".to_owned());
    }
    Ok(model::Think::Between(low, high))
}
