//! What ab counts of each finished request, in the order in which requests end; and when it gives up.

use super::options::Options;
use super::times::Times;
use crate::Printed;
use model::{End, Exchange, Loss};

/// The messages of the system or of APR for errors that end a run, and ab's exit codes: the same numbers, cut to a
/// byte.
const RESET: (&str, u8) = ("apr_socket_recv: Connection reset by peer (104)\n", 104);
const REFUSED: (&str, u8) = ("apr_socket_recv: Connection refused (111)\n", 111);
pub const TIMED_OUT: (&str, u8) = ("apr_pollset_poll: The timeout specified has expired (70007)\n", 119);

/// The counts of a run.
#[derive(Clone, Debug, Default)]
pub struct Heard {
    /// The times of every request that ended, whether it was answered or lost; one entry for each request.
    pub times: Vec<Times>,
    /// The figure that ab prints as `Failed requests`: `receive` + `length` + `exceptions`. A request can count more than once.
    pub bad: u64,
    /// Connections that were refused, or lost before their answer was complete.
    pub receive: u64,
    /// Answers of another length than the first.
    pub length: u64,
    /// The same losses as in `receive`, which ab counts under this name as well.
    pub exceptions: u64,
    /// Requests that could not be sent in full.
    pub write: u64,
    /// Answers with a status other than 2xx.
    pub non_2xx: u64,
    /// Answers after which the connection stayed open, if that was asked for.
    pub kept_alive: u64,
    /// The length of the first complete answer, which all others must have.
    pub document_bytes: Option<u64>,
    /// The exit code, if the run was given up.
    pub aborted: Option<u8>,
    /// When a request last made progress, in nanoseconds of the monotonic clock.
    moved_ns: u64,
}

impl Heard {
    /// The number of finished requests.
    pub fn done(&self) -> u64 {
        self.times.len() as u64
    }

    /// Counts a finished request, and returns what ab prints about it.
    pub fn take(&mut self, exchange: &Exchange, options: &Options) -> Printed {
        let mut printed = Printed::default();
        if self.aborted.is_some() {
            return printed;
        }
        match exchange.end {
            End::Answered { status, keeps_alive } => {
                self.answered(status, options, &mut printed);
                self.kept_alive += u64::from(options.keeps_alive && keeps_alive);
                self.finish(exchange, true, options, &mut printed);
            }
            End::Lost(Loss::Receive) if !options.goes_on => return self.abort(RESET),
            End::Lost(Loss::Connect) if !options.goes_on => return self.abort(REFUSED),
            End::Lost(Loss::Receive | Loss::Connect) => {
                // ab counts such an end twice: as an error of reading, and as an exception of the socket.
                self.receive += 1;
                self.exceptions += 1;
                self.bad += 2;
                self.finish(exchange, false, options, &mut printed);
            }
            End::Lost(Loss::Timeout) => {
                // Other requests in flight keep ab from giving up.
                let still_ns = exchange.done_ns.saturating_sub(self.moved_ns);
                if u128::from(still_ns) >= options.timeout.as_nanos() {
                    return self.abort(TIMED_OUT);
                }
                self.finish(exchange, false, options, &mut printed);
            }
            End::Lost(Loss::Send) => {
                self.write += 1;
                printed.out.push_str("Send request failed!\n");
                self.finish(exchange, false, options, &mut printed);
            }
            End::Lost(Loss::Handshake) => {
                printed.err.push_str("SSL handshake failed (1).\n");
                self.finish(exchange, false, options, &mut printed);
            }
            // To ab, the end of a connection always ends an answer.
            End::Lost(Loss::Ended | Loss::Protocol) => self.finish(exchange, true, options, &mut printed),
            // The load engine stops by itself and reports why.
            End::Lost(Loss::Local) => {}
        }
        printed
    }

    fn answered(&mut self, status: u16, options: &Options, printed: &mut Printed) {
        let is_fine = status / 100 == 2;
        self.non_2xx += u64::from(!is_fine);
        if !is_fine && options.verbosity >= 2 {
            printed.out.push_str(&format!("WARNING: Response code not 2xx ({status})\n"));
        } else if is_fine && options.verbosity >= 3 {
            printed.out.push_str(&format!("LOG: Response code = {status}\n"));
        }
    }

    fn finish(&mut self, exchange: &Exchange, is_whole: bool, options: &Options, printed: &mut Printed) {
        if is_whole {
            self.moved_ns = exchange.done_ns;
            self.document_bytes.get_or_insert(exchange.body_bytes);
        }
        let differs = exchange.body_bytes != self.document_bytes.unwrap_or(0);
        if differs && !options.any_length {
            self.bad += 1;
            self.length += 1;
        }
        self.times.push(Times::of(exchange));
        let done = self.done();
        if options.heartbeat().is_some_and(|every| done.is_multiple_of(every)) {
            printed.err.push_str(&format!("Completed {done} requests\n"));
        }
    }

    fn abort(&mut self, (why, code): (&str, u8)) -> Printed {
        self.aborted = Some(code);
        let done = self.done();
        let out = if done > 0 { format!("Total of {done} requests completed\n") } else { String::new() };
        Printed { out, err: why.to_owned(), ..Printed::default() }.exit(code)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Call;
    use model::Exchange;
    use std::time::Duration;

    const WHOLE: Exchange = Exchange {
        connection: 1,
        nth: 0,
        ask: 0,
        connect_ns: 1_000_000,
        connected_ns: 1_300_000,
        due_ns: 1_300_000,
        sent_ns: 1_400_000,
        first_byte_ns: 2_000_000,
        done_ns: 2_500_000,
        body_bytes: 12,
        end: End::Answered { status: 200, keeps_alive: true },
    };

    fn hear(args: &[&str], exchanges: &[Exchange]) -> (Heard, Printed) {
        let options = Options::parse(&Call::new("ab", &[args, &["http://a/"]].concat())).unwrap();
        let mut heard = Heard::default();
        let mut all = Printed::default();
        for exchange in exchanges {
            let printed = heard.take(exchange, &options);
            all.out += &printed.out;
            all.err += &printed.err;
            all.exit = all.exit.or(printed.exit);
        }
        (heard, all)
    }

    fn lost(loss: Loss, body_bytes: u64) -> Exchange {
        Exchange { end: End::Lost(loss), body_bytes, ..WHOLE }
    }

    #[test]
    fn an_answer_of_another_length_is_a_failure_unless_any_will_do() {
        let longer = Exchange { body_bytes: 13, ..WHOLE };
        let exchanges = [WHOLE, longer, lost(Loss::Ended, 12), lost(Loss::Ended, 3)];
        let (heard, printed) = hear(&[], &exchanges);
        assert_eq!((heard.done(), heard.bad, heard.length, heard.document_bytes), (4, 2, 2, Some(12)));
        assert_eq!(printed, Printed::default());
        assert_eq!(hear(&["-l"], &exchanges).0.bad, 0);
    }

    #[test]
    fn a_reset_ends_it_or_counts_twice() {
        let exchanges = [WHOLE, lost(Loss::Receive, 0), WHOLE];
        let (heard, printed) = hear(&[], &exchanges);
        assert_eq!((heard.done(), printed.exit, heard.aborted), (1, Some(104), Some(104)));
        assert_eq!(printed.out, "Total of 1 requests completed\n");
        assert_eq!(printed.err, RESET.0);
        assert_eq!(hear(&[], &exchanges[1..]).1.out, "");
        let (heard, printed) = hear(&["-r"], &exchanges);
        assert_eq!((heard.done(), heard.receive, heard.exceptions, heard.length, heard.bad), (3, 1, 1, 1, 3));
        assert_eq!(printed.exit, None);
    }

    #[test]
    fn nothing_ends_it_but_nothing_at_all_for_too_long() {
        let late = |ns| Exchange { done_ns: WHOLE.done_ns + ns, ..lost(Loss::Timeout, 0) };
        let second = Duration::from_secs(1).as_nanos() as u64;
        assert_eq!(hear(&["-s", "1"], &[WHOLE, late(second)]).1.exit, Some(119));
        let (heard, printed) = hear(&["-s", "1", "-r"], &[WHOLE, late(second - 1), WHOLE]);
        assert_eq!((heard.done(), heard.bad, printed.exit), (3, 1, None));
    }

    #[test]
    fn progress_is_told_in_tenths_but_of_no_less_than_a_hundred() {
        let many = vec![WHOLE; 450];
        let err = |args: &[&str]| hear(args, &many).1.err;
        let hundreds = "Completed 100 requests\nCompleted 200 requests\nCompleted 300 requests\nCompleted 400 requests\n";
        assert_eq!(err(&["-n", "151"]), hundreds);
        assert_eq!(err(&["-n", "2000"]), "Completed 200 requests\nCompleted 400 requests\n");
        assert_eq!(err(&["-n", "150"]), "");
        assert_eq!(err(&["-n", "2000", "-q"]), "");
    }

    #[test]
    fn statuses_are_told_the_more_it_is_asked_for() {
        let not_found = Exchange { end: End::Answered { status: 404, keeps_alive: false }, ..WHOLE };
        let (heard, printed) = hear(&["-k", "-v", "3"], &[WHOLE, not_found]);
        assert_eq!((heard.non_2xx, heard.kept_alive), (1, 1));
        assert_eq!(printed.out, "LOG: Response code = 200\nWARNING: Response code not 2xx (404)\n");
        assert_eq!(hear(&["-v", "1"], &[WHOLE, not_found]).1.out, "");
    }
}
