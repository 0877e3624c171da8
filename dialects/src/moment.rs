//! Moments in UTC, as tools write them.

/// A moment, taken apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moment {
    pub weekday: &'static str,
    pub year: u64,
    /// From 1.
    pub month: u64,
    pub day: u64,
    pub hour: u64,
    pub minute: u64,
    pub second: u64,
}

impl Moment {
    /// The moment that is so many seconds after the beginning of 1970.
    pub fn at(unix_s: u64) -> Self {
        const DAYS: [&str; 7] = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"];
        let (days, of_day) = (unix_s / 86_400, unix_s % 86_400);
        // The civil date from days: eras of 400 years, with years that begin in March, so that leap days come last.
        let shifted = days + 719_468;
        let (era, of_era) = (shifted / 146_097, shifted % 146_097);
        let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
        let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let from_march = (5 * of_year + 2) / 153;
        let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
        Self {
            weekday: DAYS[(days % 7) as usize],
            year: year_of_era + era * 400 + u64::from(month <= 2),
            month,
            day: of_year - (153 * from_march + 2) / 5 + 1,
            hour: of_day / 3600,
            minute: of_day / 60 % 60,
            second: of_day % 60,
        }
    }

    /// Such as `2026-11-21 13:47:45`.
    pub fn in_numbers(self) -> String {
        let Self { year, month, day, hour, minute, second, .. } = self;
        format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}")
    }

    /// Such as `Sat Nov 21 13:47:45 2026`, as `apr_ctime` of the Apache Portable Runtime writes it.
    pub fn as_ctime(self) -> String {
        const MONTHS: [&str; 12] =
            ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
        let Self { weekday, year, month, day, hour, minute, second } = self;
        let month = MONTHS[(month - 1) as usize];
        format!("{weekday} {month} {day:02} {hour:02}:{minute:02}:{second:02} {year}")
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
