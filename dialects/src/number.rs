//! Numbers as C's printf writes them, where Rust writes them differently.

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

#[cfg(test)]
mod tests {
    use super::g;

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
}
