//! The other half of the accounts: requests that are lost, spoiled or taken back.

use super::Accounts;
use crate::connection::Connection;
use crate::request_end::LossCause;
use model::{End, Loss, Tally};
use wire::Ending;

/// The largest number of different causes of errors that a worker tells apart.
const MOST_CAUSES: usize = 64;

impl Accounts {
    /// Counts all requests of this connection as lost: they will have no answer.
    #[cold]
    pub fn lost(&mut self, connection: &mut Connection, now_ns: u64, cause: LossCause<'_>) {
        let LossCause { loss, why, behind, is_overdue } = cause;
        let (sent, unsent) = (connection.sent() as u64, connection.unsent() as u64);
        self.in_flight -= sent;
        self.unsent -= unsent;
        let tally = &mut self.counted.tally;
        let others = if behind.is_some() { sent.saturating_sub(1) } else { 0 };
        let errors = &mut tally.errors;
        match loss {
            // They never left this machine.
            Loss::Local => {
                tally.sent = tally.sent.saturating_sub(sent);
                errors.local += sent;
            }
            Loss::Send => errors.send += sent - others,
            Loss::Timeout => errors.timeout += sent - others,
            Loss::Protocol => errors.protocol += sent - others,
            // With TLS 1.3, a certificate is refused when requests have been sent.
            Loss::Connect | Loss::Handshake | Loss::Receive | Loss::Ended => errors.receive += sent - others,
        }
        errors.receive += others;
        match loss {
            Loss::Local => errors.local += unsent,
            _ => errors.connect += unsent,
        }
        blame(tally, &format!("{}: {why}", loss.word()), sent - others + unsent);
        if let Some(behind) = behind {
            blame(tally, &format!("receive: {behind}"), others);
        }
        if is_overdue {
            // In closed load a request that was not sent has not begun to wait.
            let counted = if self.is_open_load { connection.begun() } else { connection.sent() };
            let flights = connection.flights().take(counted);
            let ages = self.counted.ages.get_or_insert_default();
            for flight in flights {
                let age_ns = now_ns.saturating_sub(flight.due_ns);
                tally.latency.record(age_ns);
                ages.record(age_ns);
                tally.unanswered += 1;
            }
        }
        if let Some(log) = &mut self.log {
            connection.flights().for_each(|flight| log.write(connection, flight, now_ns, End::Lost(loss)));
        }
        if let Some(since_ns) = out_of_service_ns(connection, is_overdue, now_ns) {
            connection.outage.begin(since_ns);
        }
        connection.outage.lose(now_ns);
        self.heard.lose(connection, now_ns);
        connection.lose_all();
        self.check();
    }

    /// Counts the last answer on a connection as wrong, because more bytes followed than belong to it. It was counted before, so that the
    /// next request could leave at once; whether the bytes come with the answer or later makes no difference.
    #[cold]
    pub fn spoil(&mut self, connection: &mut Connection, ending: Ending) {
        let Some(answered) = connection.last.take() else { return };
        if answered.period != self.period {
            return self.unasked(&ending.to_string());
        }
        if !answered.is_right {
            return;
        }
        let tally = &mut self.counted.tally;
        tally.completed -= 1;
        tally.errors.body += 1;
        blame(tally, &format!("body: {ending}"), 1);
        if let Some(latency_ns) = answered.latency_ns {
            tally.latency.take_back(latency_ns);
        }
        tally.first_byte.take_back(answered.first_byte_ns);
        if self.is_open_load {
            tally.service.take_back(answered.service_ns);
            tally.carried_in = tally.carried_in.map(|n| n.saturating_sub(answered.is_carried_in.into()));
        }
        self.check();
    }

    /// Counts the request at this place as lost, whatever becomes of the others on its connection.
    #[cold]
    pub fn lose_one(
        &mut self,
        connection: &mut Connection,
        place: usize,
        now_ns: u64,
        loss: Loss,
        why: &str,
    ) {
        let Some(flight) = connection.lose(place) else { return };
        self.in_flight -= 1;
        let tally = &mut self.counted.tally;
        match loss {
            Loss::Timeout => {
                tally.errors.timeout += 1;
                let age_ns = now_ns.saturating_sub(flight.due_ns);
                tally.latency.record(age_ns);
                self.counted.ages.get_or_insert_default().record(age_ns);
                tally.unanswered += 1;
            }
            Loss::Protocol => tally.errors.protocol += 1,
            _ => tally.errors.receive += 1,
        }
        blame(tally, &format!("{}: {why}", loss.word()), 1);
        if let Some(log) = &mut self.log {
            log.write(connection, &flight, now_ns, End::Lost(loss));
        }
        self.check();
    }

    /// Takes back the sends of a connection, whose requests are to be sent again.
    #[cold]
    pub fn unsend_all(&mut self, connection: &mut Connection) {
        self.unsent(connection.sent() as u64);
        connection.unsend_all();
        self.check();
    }

    /// Takes back the send of the request at this place, which is to be sent again.
    #[cold]
    pub fn unsend(&mut self, connection: &mut Connection, place: usize) {
        self.unsent(1);
        connection.unsend(place);
        self.check();
    }

    fn unsent(&mut self, requests: u64) {
        self.in_flight -= requests;
        self.unsent += requests;
        self.counted.tally.sent = self.counted.tally.sent.saturating_sub(requests);
    }

    /// Takes back the requests of this connection, as if they had not been begun.
    #[cold]
    pub fn take_back(&mut self, connection: &mut Connection) {
        let (sent, unsent) = (connection.sent() as u64, connection.unsent() as u64);
        self.in_flight -= sent;
        self.unsent -= unsent;
        self.begun = self.begun.saturating_sub(sent + unsent);
        self.counted.tally.sent -= sent;
        connection.withdraw_all();
        self.check();
    }

    /// Counts bytes that no request asked for.
    #[cold]
    pub fn unasked(&mut self, cause: &str) {
        self.counted.tally.errors.unasked += 1;
        blame(&mut self.counted.tally, &format!("protocol: {cause}"), 1);
    }
}

/// Since when a connection that loses its requests was without service; `None`: it is opened again at once, because it has brought answers,
/// or it was never answered and is only late, because some servers serve only a few connections at a time.
fn out_of_service_ns(connection: &Connection, is_overdue: bool, now_ns: u64) -> Option<u64> {
    if is_overdue && connection.is_open() {
        let oldest = connection.in_flight().next()?;
        return connection.has_heard().then_some(oldest.sent_ns);
    }
    (connection.answered() == 0).then_some(now_ns)
}

pub(super) fn blame(tally: &mut Tally, cause: &str, times: u64) {
    if times > 0 {
        // Causes that name lengths may differ every time.
        let is_full = tally.error_causes.len() >= MOST_CAUSES && !tally.error_causes.contains_key(cause);
        let kind = || cause.split_once(':').map_or(cause, |(kind, _)| kind);
        let cause = if is_full { &format!("{}: other causes", kind()) } else { cause };
        *tally.error_causes.entry(cause.to_owned()).or_default() += times;
    }
}
