//! What ab counts of each finished request, in the order in which requests end; and when it gives up.

use super::options::Options;
use super::times::Times;
use crate::Said;
use model::{End, Exchange, Loss};

/// The messages of the system or of APR for errors that end a run, and ab's exit codes: the same numbers, cut to a
/// byte.
const RESET: (&str, u8) = ("apr_socket_recv: Connection reset by peer (104)\n", 104);
const REFUSED: (&str, u8) = ("apr_socket_recv: Connection refused (111)\n", 111);
pub const TIMED_OUT: (&str, u8) = ("apr_pollset_poll: The timeout specified has expired (70007)\n", 119);

/// The counts of a run.
#[derive(Clone, Debug, Default)]
pub struct Heard {
    /// Requests that ended, in whatever way; one for each entry of `times`.
    pub times: Vec<Times>,
    /// Reasons for failed requests; a request may have several.
    pub bad: u64,
    pub receive: u64,
    pub length: u64,
    pub exceptions: u64,
    pub write: u64,
    pub non_2xx: u64,
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
    pub fn take(&mut self, exchange: &Exchange, options: &Options) -> Said {
        let mut said = Said::default();
        if self.aborted.is_some() {
            return said;
        }
        match exchange.end {
            End::Answered { status, keeps_alive } => {
                self.answered(status, options, &mut said);
                self.kept_alive += u64::from(options.keeps_alive && keeps_alive);
                self.finish(exchange, true, options, &mut said);
            }
            End::Lost(Loss::Receive) if !options.goes_on => return self.abort(RESET),
            End::Lost(Loss::Connect) if !options.goes_on => return self.abort(REFUSED),
            End::Lost(Loss::Receive | Loss::Connect) => {
                // ab counts such an end twice: as an error of reading, and as an exception of the socket.
                self.receive += 1;
                self.exceptions += 1;
                self.bad += 2;
                self.finish(exchange, false, options, &mut said);
            }
            End::Lost(Loss::Timeout) => {
                // Other requests in flight keep ab from giving up.
                let still_ns = exchange.done_ns.saturating_sub(self.moved_ns);
                if u128::from(still_ns) >= options.timeout.as_nanos() {
                    return self.abort(TIMED_OUT);
                }
                self.finish(exchange, false, options, &mut said);
            }
            End::Lost(Loss::Send) => {
                self.write += 1;
                said.out.push_str("Send request failed!\n");
                self.finish(exchange, false, options, &mut said);
            }
            End::Lost(Loss::Handshake) => {
                said.err.push_str("SSL handshake failed (1).\n");
                self.finish(exchange, false, options, &mut said);
            }
            // To ab, the end of a connection always ends an answer.
            End::Lost(Loss::Ended | Loss::Protocol) => self.finish(exchange, true, options, &mut said),
            // The load engine stops by itself and reports why.
            End::Lost(Loss::Local) => {}
        }
        said
    }

    fn answered(&mut self, status: u16, options: &Options, said: &mut Said) {
        let is_fine = status / 100 == 2;
        self.non_2xx += u64::from(!is_fine);
        if !is_fine && options.verbosity >= 2 {
            said.out.push_str(&format!("WARNING: Response code not 2xx ({status})\n"));
        } else if is_fine && options.verbosity >= 3 {
            said.out.push_str(&format!("LOG: Response code = {status}\n"));
        }
    }

    fn finish(&mut self, exchange: &Exchange, is_whole: bool, options: &Options, said: &mut Said) {
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
            said.err.push_str(&format!("Completed {done} requests\n"));
        }
    }

    fn abort(&mut self, (why, code): (&str, u8)) -> Said {
        self.aborted = Some(code);
        let done = self.done();
        let out = if done > 0 { format!("Total of {done} requests completed\n") } else { String::new() };
        Said { out, err: why.to_owned(), ..Said::default() }.exit(code)
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

    fn hear(args: &[&str], exchanges: &[Exchange]) -> (Heard, Said) {
        let options = Options::parse(&Call::new("ab", &[args, &["http://a/"]].concat())).unwrap();
        let mut heard = Heard::default();
        let mut all = Said::default();
        for exchange in exchanges {
            let said = heard.take(exchange, &options);
            all.out += &said.out;
            all.err += &said.err;
            all.exit = all.exit.or(said.exit);
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
        let (heard, said) = hear(&[], &exchanges);
        assert_eq!((heard.done(), heard.bad, heard.length, heard.document_bytes), (4, 2, 2, Some(12)));
        assert_eq!(said, Said::default());
        assert_eq!(hear(&["-l"], &exchanges).0.bad, 0);
    }

    #[test]
    fn a_reset_ends_it_or_counts_twice() {
        let exchanges = [WHOLE, lost(Loss::Receive, 0), WHOLE];
        let (heard, said) = hear(&[], &exchanges);
        assert_eq!((heard.done(), said.exit, heard.aborted), (1, Some(104), Some(104)));
        assert_eq!(said.out, "Total of 1 requests completed\n");
        assert_eq!(said.err, RESET.0);
        assert_eq!(hear(&[], &exchanges[1..]).1.out, "");
        let (heard, said) = hear(&["-r"], &exchanges);
        assert_eq!((heard.done(), heard.receive, heard.exceptions, heard.length, heard.bad), (3, 1, 1, 1, 3));
        assert_eq!(said.exit, None);
    }

    #[test]
    fn nothing_ends_it_but_nothing_at_all_for_too_long() {
        let late = |ns| Exchange { done_ns: WHOLE.done_ns + ns, ..lost(Loss::Timeout, 0) };
        let second = Duration::from_secs(1).as_nanos() as u64;
        assert_eq!(hear(&["-s", "1"], &[WHOLE, late(second)]).1.exit, Some(119));
        let (heard, said) = hear(&["-s", "1", "-r"], &[WHOLE, late(second - 1), WHOLE]);
        assert_eq!((heard.done(), heard.bad, said.exit), (3, 1, None));
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
        let (heard, said) = hear(&["-k", "-v", "3"], &[WHOLE, not_found]);
        assert_eq!((heard.non_2xx, heard.kept_alive), (1, 1));
        assert_eq!(said.out, "LOG: Response code = 200\nWARNING: Response code not 2xx (404)\n");
        assert_eq!(hear(&["-v", "1"], &[WHOLE, not_found]).1.out, "");
    }
}
