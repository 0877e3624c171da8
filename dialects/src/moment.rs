//! Moments in UTC, as tools write them.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// A moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moment(SystemTime);

impl Moment {
    /// The moment that is so many seconds after the beginning of 1970.
    pub fn at(unix_s: u64) -> Self {
        Self(UNIX_EPOCH + Duration::from_secs(unix_s))
    }

    /// Such as `2026-11-21 13:47:45`.
    pub fn in_numbers(self) -> String {
        humantime::format_rfc3339_seconds(self.0).to_string().replace('T', " ").replace('Z', "")
    }

    /// Such as `Sat`.
    pub fn weekday(self) -> String {
        httpdate::fmt_http_date(self.0)[..3].to_owned()
    }

    /// Such as `Sat Nov 21 13:47:45 2026`, as `apr_ctime` of the Apache Portable Runtime writes it.
    pub fn as_ctime(self) -> String {
        // Such as `Sat, 21 Nov 2026 13:47:45 GMT`.
        let date = httpdate::fmt_http_date(self.0);
        format!("{} {} {} {} {}", &date[..3], &date[8..11], &date[5..7], &date[17..25], &date[12..16])
    }
}

#[cfg(test)]
mod tests {
    use super::Moment;

    #[test]
    fn moments_are_those_of_the_calendar() {
        // These are from `date -u -d @SECONDS '+%a %b %d %H:%M:%S %Y'`.
        let cases = [
            (0, "Thu Jan 01 00:00:00 1970"),
            (951_782_399, "Mon Feb 28 23:59:59 2000"),
            (951_782_400, "Tue Feb 29 00:00:00 2000"),
            (1_795_269_223, "Sat Nov 21 13:53:43 2026"),
            (4_107_542_399, "Sun Feb 28 23:59:59 2100"),
            (4_107_542_400, "Mon Mar 01 00:00:00 2100"),
            (1_735_689_599, "Tue Dec 31 23:59:59 2024"),
        ];
        for (seconds, text) in cases {
            assert_eq!(Moment::at(seconds).as_ctime(), text);
        }
        assert_eq!(Moment::at(1_795_268_865).in_numbers(), "2026-11-21 13:47:45");
    }
}
