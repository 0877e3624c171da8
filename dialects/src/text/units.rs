//! Numbers and their units, as tools and people write them.

/// Whether a number is certainly written with a comma before its decimals.
pub fn has_decimal_comma(cell: &str) -> bool {
    let number = &cell[..digits_of(cell)];
    let (whole, decimals) = number.rsplit_once(',').unwrap_or(("", ""));
    !decimals.is_empty()
        && !decimals.contains('.')
        && (whole.contains('.') || (decimals.len() != 3 && !whole.contains(',')))
}

/// Whether a number is certainly written with a point before its decimals.
pub fn has_decimal_point(cell: &str) -> bool {
    let number = &cell[..digits_of(cell)];
    let (whole, decimals) = number.rsplit_once('.').unwrap_or(("", ""));
    !decimals.is_empty() && !whole.contains('.') && (whole.contains(',') || decimals.len() != 3)
}

/// A number at the beginning, with or without separators between thousands, and what follows it.
pub fn split(text: &str) -> Option<(f64, &str)> {
    let text = text.trim();
    let (number, unit) = text.split_at(digits_of(text));
    let number: String = number.chars().filter(|c| !matches!(c, '\'' | '’' | ' ')).collect();
    let is_grouped = |groups: &str, mark: char| {
        let mut groups = groups.split(mark);
        groups.next().is_some_and(|first| (1..=3).contains(&first.len()))
            && groups.all(|group| group.len() == 3)
    };
    let (points, commas) = (number.matches('.').count(), number.matches(',').count());
    let plain = match number.rfind(['.', ',']).map(|at| (&number[..at], &number[at + 1..], &number[at..=at]))
    {
        None => number.clone(),
        Some((whole, decimals, ".")) if points == 1 && (commas == 0 || is_grouped(whole, ',')) => {
            format!("{}.{decimals}", whole.replace(',', ""))
        }
        Some((whole, decimals, ",")) if commas == 1 && (decimals.len() != 3 || points > 0) => {
            Some(whole).filter(|whole| points == 0 || is_grouped(whole, '.'))?;
            format!("{}.{decimals}", whole.replace('.', ""))
        }
        Some(_) if points == 0 && is_grouped(&number, ',') => number.replace(',', ""),
        Some(_) if commas == 0 && is_grouped(&number, '.') => number.replace('.', ""),
        Some(_) => return None,
    };
    Some((plain.parse().ok().filter(|number: &f64| number.is_finite())?, unit.trim()))
}

/// The length of the digits at the beginning, with what may stand between them: a space or an apostrophe only between thousands.
fn digits_of(text: &str) -> usize {
    let mut end = 0;
    loop {
        end += text[end..].bytes().take_while(u8::is_ascii_digit).count();
        let Some(mark) = text[end..].chars().next().filter(|_| end > 0) else { return end };
        let after = &text[end + mark.len_utf8()..];
        let digits = after.bytes().take_while(u8::is_ascii_digit).count();
        let goes_on = match mark {
            '.' | ',' => digits > 0,
            ' ' | '\'' | '’' => digits == 3,
            _ => false,
        };
        if !goes_on {
            return end;
        }
        end += mark.len_utf8();
    }
}

/// A unit without "per second".
fn of_a_second(unit: &str) -> &str {
    let ends = ["/seconds", "/second", "/secs", "/sec", "/s", " per second", " per sec", "ps"];
    ends.iter().find_map(|end| unit.strip_suffix(end)).unwrap_or(unit).trim()
}

/// Factors of 1,000, with or without what is counted.
pub fn many(unit: &str) -> Option<f64> {
    const NOUNS: &[&str] = &[
        "requests",
        "request",
        "reqs",
        "req.",
        "req",
        "responses",
        "response",
        "transactions",
        "trans",
        "queries",
        "hits",
        "ops",
        "r",
        "q",
        "t",
    ];
    let unit = unit.trim().to_lowercase();
    let unit = of_a_second(&unit);
    match NOUNS.iter().find_map(|noun| unit.strip_suffix(noun)).unwrap_or(unit).trim() {
        "" => Some(1.0),
        "k" => Some(1e3),
        "m" => Some(1e6),
        "g" => Some(1e9),
        _ => None,
    }
}

/// A KB is 1,024 bytes, as in all tools whose figures appear in such tables. Eight bits are a byte.
pub fn bytes(unit: &str) -> Option<f64> {
    if let Some(bits) = ["bps", "bit/s", "bits/s", "b/s"].iter().find_map(|end| unit.trim().strip_suffix(end))
    {
        match bits {
            "k" | "K" => return Some(1e3 / 8.0),
            "M" => return Some(1e6 / 8.0),
            "G" => return Some(1e9 / 8.0),
            // In small letters it may be bits or bytes.
            "m" | "g" => return None,
            _ => {}
        }
    }
    Some(match of_a_second(unit.trim()) {
        "B" | "b" | "bytes" | "byte" => 1.0,
        "KB" | "kb" | "K" | "k" | "KiB" | "kib" => 1024.0,
        "kB" => 1e3,
        "MB" | "mb" | "M" | "m" | "MiB" | "mib" => 1_048_576.0,
        "GB" | "gb" | "G" | "g" | "GiB" | "gib" => 1_073_741_824.0,
        "TB" | "tb" | "TiB" | "tib" => 1_099_511_627_776.0,
        _ => return None,
    })
}

/// Nanoseconds in a unit of time.
pub fn nanoseconds(unit: &str) -> Option<f64> {
    Some(match unit.trim() {
        "ns" | "nanoseconds" => 1.0,
        "us" | "µs" | "μs" | "usec" | "usecs" | "microseconds" => 1e3,
        "ms" | "msec" | "msecs" | "millisecond" | "milliseconds" => 1e6,
        "s" | "sec" | "secs" | "second" | "seconds" => 1e9,
        "m" | "min" | "mins" | "minute" | "minutes" => 60e9,
        "h" | "hour" | "hours" => 3600e9,
        _ => return None,
    })
}

/// A time with its unit.
pub fn time_ns(text: &str) -> Option<f64> {
    let (number, unit) = split(text)?;
    Some(number * nanoseconds(unit)?)
}
