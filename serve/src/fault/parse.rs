//! Parses faults from the command line: the one place of their names, their forms and their help.

use super::{Delay, Fault, FaultError, Framing, Mishap, Stall, Trickle};
use std::str::FromStr;
use std::time::Duration;

/// Each form by example, and what it does.
const FORMS: &[(&str, &str)] = &[
    ("stall=100ms/1s", "nothing is answered in the last 100 ms of every second"),
    ("stall=100ms/1s,for=10s", "the same, in the first 10 s only"),
    ("delay=5ms", "each answer is delayed by this time; other answers don't wait for it"),
    ("delay=exp:5ms", "by a random time: exponential, with this mean"),
    ("delay=uniform:1ms..9ms", "evenly distributed between the two"),
    ("delay=normal:5ms,1ms", "normal: mean and standard deviation; never below 0"),
    ("delay=lognormal:5ms,1ms", "log-normal: mean and standard deviation"),
    ("trickle=10B/100ms", "answers leave 10 bytes at a time, every 100 ms; also kB, MB"),
    ("chunked", "answers come in chunks, without a length"),
    ("http10", "answers are HTTP/1.0: no length, they end with the connection"),
    ("close-after=100", "a connection's 100th answer is its last and announces the close"),
    ("drop-after=100", "a connection's 100th answer is its last, without announcing the close"),
    ("status=503@0.01", "1 % of answers have this status"),
    ("reset@0.01", "the connection is reset instead of an answer"),
    ("truncate@0.01", "the connection is closed in the middle of the body"),
    ("garbage@0.01", "bytes that are not HTTP instead of an answer"),
    ("length=+5@0.01", "Content-Length is 5 more than the body has; -5: 5 less"),
    ("unasked@0.01", "the answer is followed by a 408 that no request asked for"),
];

/// What is different over HTTP/2.
const OVER_HTTP2: &[(&str, &str)] = &[
    ("delay:", "other streams of the connection don't wait for it"),
    ("trickle:", "the body leaves slowly, the head at once; other streams don't wait"),
    ("chunked:", "the answer has no content-length"),
    ("http10:", "the answer has no content-length and is its connection's last: GOAWAY"),
    ("close-after:", "GOAWAY announces that the connection closes when its streams have ended"),
    ("drop-after:", "the connection closes when its streams have ended, without GOAWAY"),
    ("reset:", "the connection is reset, and with it all of its streams"),
    ("truncate:", "RST_STREAM in the middle of the body; other streams go on"),
    ("garbage:", "bytes that are no frame, in the midst of the connection's frames"),
    ("unasked:", "a 408 on a stream that the client has not opened"),
];

/// What is different over WebSocket.
const OVER_WEBSOCKET: &[(&str, &str)] = &[
    ("delay, trickle, reset:", "messages are answers, too; those of one connection wait for each other"),
    ("close-after:", "a close frame announces the end; the answer to the handshake counts as one"),
    ("truncate:", "the connection is closed in the middle of the message"),
    ("garbage:", "bytes that are no frame"),
    ("unasked:", "a message that no message asked for"),
    ("status:", "only the answer to the handshake has one"),
    ("chunked, http10, length:", "nothing"),
];

/// The longest duration in a fault.
const LONGEST: Duration = Duration::from_hours(24);

/// The largest number in a fault, of answers or of bytes.
const MOST: u64 = 1_000_000_000_000;

/// The help of an option: all faults, one per line.
pub fn help() -> String {
    format!(
        "A known fault, for tests. May be given several times:\n{}\n\
         @0.01 is the share of answers that are affected, chosen by --seed; without it, all of them are. \
         An answer has at most one fault with a share.\nOver HTTP/2:\n{}\n\
         Over WebSocket:\n{}",
        forms(|_| true),
        lines(OVER_HTTP2.iter()),
        lines(OVER_WEBSOCKET.iter())
    )
}

/// The forms of the faults whose names are wanted, one per line.
pub fn forms(is_wanted: impl Fn(&str) -> bool) -> String {
    lines(FORMS.iter().filter(|(form, _)| is_wanted(name_of(form))))
}

fn lines<'t>(rows: impl Iterator<Item = &'t (&'t str, &'t str)>) -> String {
    rows.map(|(form, meaning)| format!("  {form:<23}  {meaning}")).collect::<Vec<_>>().join("\n")
}

fn name_of(text: &str) -> &str {
    text.split(['=', '@']).next().unwrap_or_default()
}

impl FromStr for Fault {
    type Err = FaultError;

    /// Reads one fault, such as `delay=5ms` or `reset@0.01`.
    fn from_str(text: &str) -> Result<Self, FaultError> {
        let known = FORMS.iter().map(|(form, _)| name_of(form)).find(|name| *name == name_of(text));
        let name = known.ok_or_else(|| FaultError::Unknown(text.to_owned()))?;
        let rest = &text[name.len()..];
        let value = rest.strip_prefix('=');
        let fault = match name {
            "stall" => value.and_then(stall).map(Self::Stall),
            "delay" => value.and_then(delay).map(Self::Delay),
            "trickle" => value.and_then(trickle).map(Self::Trickle),
            "chunked" => rest.is_empty().then_some(Self::Framing(Framing::Chunked)),
            "http10" => rest.is_empty().then_some(Self::Framing(Framing::Http10)),
            "close-after" => value.and_then(count).map(Self::CloseAfter),
            "drop-after" => value.and_then(count).map(Self::DropAfter),
            _ => mishap(name, rest),
        };
        fault.ok_or_else(|| FaultError::Unreadable { text: text.to_owned(), name })
    }
}

/// Parses `100ms/1s` or `100ms/1s,for=10s`.
fn stall(text: &str) -> Option<Stall> {
    let (text, lasts) = match text.split_once(",for=") {
        None => (text, None),
        Some((text, lasts)) => (text, Some(time(lasts)?)),
    };
    let (pause, period) = text.split_once('/')?;
    let stall = Stall { pause: time(pause)?, period: time(period)?, lasts };
    (stall.pause < stall.period).then_some(stall)
}

/// Parses `5ms`, `exp:5ms`, `uniform:1ms..9ms`, `normal:5ms,1ms` or `lognormal:5ms,1ms`.
fn delay(text: &str) -> Option<Delay> {
    let Some((distribution, text)) = text.split_once(':') else {
        return time(text).map(Delay::Constant);
    };
    let two = |by: &str| text.split_once(by).and_then(|(a, b)| Some((time(a)?, time(b)?)));
    match distribution {
        "exp" => time(text).map(Delay::Exponential),
        "uniform" => {
            let (least, most) = text.split_once("..")?;
            // Unlike other times, this lower bound may be 0.
            let (least, most) = (time_or_zero(least)?, time(most)?);
            (least < most).then_some(Delay::Uniform(least, most))
        }
        "normal" => two(",").map(|(mean, sd)| Delay::Normal(mean, sd)),
        "lognormal" => two(",").map(|(mean, sd)| Delay::LogNormal(mean, sd)),
        _ => None,
    }
}

/// Parses `10B/100ms`.
fn trickle(text: &str) -> Option<Trickle> {
    let (bytes, every) = text.split_once('/')?;
    let digits = bytes.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = bytes.split_at(digits);
    let factor = match unit {
        "B" => 1,
        "kB" => 1000,
        "MB" => 1_000_000,
        _ => return None,
    };
    let bytes = count(number)?.checked_mul(factor).filter(|n| *n <= MOST)?;
    Some(Trickle { bytes: bytes as usize, every: time(every)? })
}

/// Parses `=503@0.01`, `@0.01` or nothing.
fn mishap(name: &str, rest: &str) -> Option<Fault> {
    let (rest, share) = match rest.split_once('@') {
        None => (rest, 1.0),
        Some((rest, share)) => (rest, share.parse().ok().filter(|share| *share > 0.0 && *share <= 1.0)?),
    };
    let mishap = match (name, rest.strip_prefix('=')) {
        ("status", Some(status)) => {
            Mishap::Status(status.parse().ok().filter(|status| (200..=599).contains(status))?)
        }
        ("length", Some(by)) => Mishap::Length(length(by)?),
        ("reset", None) if rest.is_empty() => Mishap::Reset,
        ("truncate", None) if rest.is_empty() => Mishap::Truncate,
        ("garbage", None) if rest.is_empty() => Mishap::Garbage,
        ("unasked", None) if rest.is_empty() => Mishap::Unasked,
        _ => return None,
    };
    Some(Fault::Mishap(mishap, share))
}

/// Parses `+5` or `-5`.
fn length(text: &str) -> Option<i64> {
    let n = count(text.strip_prefix(['+', '-'])?)? as i64;
    Some(if text.starts_with('-') { -n } else { n })
}

fn count(text: &str) -> Option<u64> {
    let is_number = text.bytes().all(|b| b.is_ascii_digit());
    text.parse().ok().filter(|n| is_number && (1..=MOST).contains(n))
}

fn time(text: &str) -> Option<Duration> {
    time_or_zero(text).filter(|time| !time.is_zero())
}

fn time_or_zero(text: &str) -> Option<Duration> {
    humantime::parse_duration(text).ok().filter(|time| *time <= LONGEST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_of_the_help_is_read_as_it_says() {
        let ms = Duration::from_millis;
        let stall = |lasts| Fault::Stall(Stall { pause: ms(100), period: ms(1000), lasts });
        let expected = [
            stall(None),
            stall(Some(ms(10_000))),
            Fault::Delay(Delay::Constant(ms(5))),
            Fault::Delay(Delay::Exponential(ms(5))),
            Fault::Delay(Delay::Uniform(ms(1), ms(9))),
            Fault::Delay(Delay::Normal(ms(5), ms(1))),
            Fault::Delay(Delay::LogNormal(ms(5), ms(1))),
            Fault::Trickle(Trickle { bytes: 10, every: ms(100) }),
            Fault::Framing(Framing::Chunked),
            Fault::Framing(Framing::Http10),
            Fault::CloseAfter(100),
            Fault::DropAfter(100),
            Fault::Mishap(Mishap::Status(503), 0.01),
            Fault::Mishap(Mishap::Reset, 0.01),
            Fault::Mishap(Mishap::Truncate, 0.01),
            Fault::Mishap(Mishap::Garbage, 0.01),
            Fault::Mishap(Mishap::Length(5), 0.01),
            Fault::Mishap(Mishap::Unasked, 0.01),
        ];
        let read: Vec<Fault> = FORMS.iter().map(|(form, _)| form.parse().unwrap()).collect();
        assert_eq!(read, expected);
        assert!(FORMS.iter().all(|(form, meaning)| help().contains(&format!("{form:<23}  {meaning}\n"))));
        assert!(
            OVER_HTTP2
                .iter()
                .all(|(name, _)| FORMS.iter().any(|(form, _)| format!("{}:", name_of(form)) == *name))
        );
    }

    #[test]
    fn other_spellings_that_are_right() {
        let read = |text: &str| text.parse::<Fault>().unwrap();
        assert_eq!(read("garbage"), Fault::Mishap(Mishap::Garbage, 1.0));
        assert_eq!(read("length=-5"), Fault::Mishap(Mishap::Length(-5), 1.0));
        assert_eq!(
            read("trickle=2kB/1s"),
            Fault::Trickle(Trickle { bytes: 2000, every: Duration::from_secs(1) })
        );
        let (least, most) = (Duration::ZERO, Duration::from_millis(9));
        assert_eq!(read("delay=uniform:0s..9ms"), Fault::Delay(Delay::Uniform(least, most)));
    }

    #[test]
    fn what_is_no_fault_is_refused_with_what_is_allowed() {
        for bad in ["", "melt=1s/2s", "=", "@0.1", "Reset@0.1", "stal=1s/2s", "délai=1ms"] {
            let error = bad.parse::<Fault>().unwrap_err().to_string();
            assert!(FORMS.iter().all(|(form, _)| error.contains(form)), "{bad}: {error}");
        }
        let bad = "stall stall= stall=1s stall=1s/1s stall=0s/1s stall=x/1s stall=1s/2s,for= stall=1s/2s,for=0s \
            stall=1s/2s@0.1 stall=1000years/2000years delay delay= delay=0ms delay=5 delay=gauss:1ms \
            delay=exp:0ms delay=uniform:9ms..1ms delay=uniform:1ms,9ms delay=normal:5ms delay=lognormal:0ms,1ms \
            trickle=10/1s trickle=0B/1s trickle=10B trickle=10B/0s trickle=99999999999MB/1s chunked=1 http10@0.1 \
            close-after close-after=0 close-after=-1 drop-after=+1 drop-after=1@0.1 status@0.1 status=600 \
            status=100@0.1 status=503@ status=503@0 status=503@2 status=503@-0.1 status=503@nan reset=1 reset@1% \
            truncate= garbage@x length=5@0.1 length=+0@0.1 length=@0.1 length=++5 unasked=1";
        for bad in bad.split_ascii_whitespace() {
            let error = bad.parse::<Fault>().unwrap_err().to_string();
            let has = |word: &str| error.contains(word);
            assert!(has(bad) && has(&format!("write\n  {}", name_of(bad))), "{bad}: {error}");
            assert!(error.lines().count() <= 6, "only the forms of the one that was meant: {error}");
        }
    }
}
