//! Numbers as C reads and writes them, where Rust does it differently; and its words for errors.

/// `%g`: six significant digits, without trailing zeros, with an exponent below 10⁻⁴ and from 10⁶ on.
pub fn g(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return format!("{value}");
    }
    let scientific = format!("{value:.5e}");
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let bare = |digits: &str| {
        let whole = if digits.contains('.') { digits.trim_end_matches('0') } else { digits };
        whole.trim_end_matches('.').to_owned()
    };
    if (-4..6).contains(&exponent) {
        return bare(&format!("{value:.*}", (5 - exponent).max(0) as usize));
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{}e{sign}{:02}", bare(mantissa), exponent.abs())
}

/// The whole number at the beginning, as `strtoul` reads it, and the rest of the text. With `with_prefix`, `0x` and
/// `0` mean hexadecimal and octal. A minus sign makes the number wrap around, so it counts as too large.
pub fn integer(text: &str, with_prefix: bool) -> Option<(u64, &str)> {
    let bare = text.trim_start();
    let (is_negative, bare) = bare.strip_prefix('-').map_or((false, bare), |bare| (true, bare));
    let bare = bare.strip_prefix('+').filter(|_| !is_negative).unwrap_or(bare);
    let hexadecimal = bare.strip_prefix("0x").or_else(|| bare.strip_prefix("0X"));
    let hexadecimal =
        hexadecimal.filter(|rest| with_prefix && rest.starts_with(|c: char| c.is_ascii_hexdigit()));
    let (digits, radix) = match hexadecimal {
        Some(rest) => (rest, 16),
        None if with_prefix && bare.starts_with('0') => (bare, 8),
        None => (bare, 10),
    };
    let end = digits.find(|c: char| !c.is_digit(radix)).unwrap_or(digits.len());
    let value = u64::from_str_radix(&digits[..end], radix).ok()?;
    Some((if is_negative { value.wrapping_neg() } else { value }, &digits[end..]))
}

/// The number at the beginning, as `strtod` reads it, and the rest of the text. Infinity is not accepted.
pub fn real(text: &str) -> Option<(f64, &str)> {
    let bare = text.trim_start();
    let count = |from: usize| bare[from..].bytes().take_while(u8::is_ascii_digit).count();
    let sign = usize::from(bare.starts_with(['-', '+']));
    let whole = count(sign);
    let mut end = sign + whole;
    let mut digits = whole;
    if bare[end..].starts_with('.') {
        digits += count(end + 1);
        end += 1 + count(end + 1);
    }
    if bare[end..].starts_with(['e', 'E']) {
        let sign = usize::from(bare[end + 1..].starts_with(['-', '+']));
        let power = count(end + 1 + sign);
        end += if power > 0 { 1 + sign + power } else { 0 };
    }
    let value: f64 = bare[..end].parse().ok()?;
    (digits > 0 && value.is_finite()).then_some((value, &bare[end..]))
}

/// A number as `atoi` reads it: the digits at the beginning, or 0.
pub fn atoi(text: &str) -> i64 {
    let text = text.trim_start();
    let (sign, digits) = match text.as_bytes().first() {
        Some(b'-') => (-1, &text[1..]),
        Some(b'+') => (1, &text[1..]),
        _ => (1, text),
    };
    let end = digits.bytes().take_while(u8::is_ascii_digit).count();
    // A number that is too large becomes the largest; C leaves it undefined.
    digits[..end].parse::<i32>().map_or(if end == 0 { 0 } else { i64::from(i32::MAX) }, i64::from) * sign
}

/// The system's error message as `strerror` has it: without the number that Rust appends, and without what Rust was doing.
pub fn strerror(error: &std::io::Error) -> String {
    let text = error.to_string();
    let words = text.split(" (os error").next().unwrap_or_default();
    words.rsplit(": ").next().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_c_writes_them() {
        let cases = [
            (0.0, "0"),
            (5.0, "5"),
            (5.000_01, "5.00001"),
            (1_675_440.0, "1.67544e+06"),
            (326_733.0, "326733"),
            (999_999.5, "1e+06"),
            (0.053_125_8, "0.0531258"),
            (0.000_012_5, "1.25e-05"),
            (27_923.94, "27923.9"),
            (-1.5, "-1.5"),
        ];
        for (value, text) in cases {
            assert_eq!(g(value), text);
        }
    }

    #[test]
    fn as_c_reads_them() {
        let whole = ["5", " +7x", "-3", "", "x", "-", "1k", "99999999999"];
        assert_eq!(whole.map(atoi), [5, 7, -3, 0, 0, 0, 1, i64::from(i32::MAX)]);
        assert_eq!(integer(" +12x", false), Some((12, "x")));
        assert_eq!(integer("-1", false), Some((u64::MAX, "")));
        assert_eq!((integer("0x1f,", true), integer("017", true)), (Some((31, ",")), Some((15, ""))));
        assert_eq!((integer("0x1f", false), integer("0", true)), (Some((0, "x1f")), Some((0, ""))));
        for none in ["", "x", "-", "99999999999999999999"] {
            assert_eq!(integer(none, false), None, "{none}");
        }
        assert_eq!(
            (real(" 1.5e3x"), real("-.5,2"), real("2e")),
            (Some((1500.0, "x")), Some((-0.5, ",2")), Some((2.0, "e")))
        );
        for none in ["", ".", "x", "inf", "nan", "-", "1e999"] {
            assert_eq!(real(none), None, "{none}");
        }
    }
}
