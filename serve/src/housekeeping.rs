//! Ends connections that do not end by themselves: idle ones now and then, all of them at a stop.

use crate::connections::out::OutputKind;
use crate::connections::protocol::ProtocolState;
use crate::responder::Next;
use crate::worker::{Connection, LOOK_UP, Worker};
use net::{Io, Slot, clock};
use std::time::Duration;

/// How often idle connections are looked for; more often where the timeout is short.
const SWEEP_NS: u64 = 1_000_000_000;

/// How long a peer that has been sent its last answer may take to read it and close.
const LINGER_NS: u64 = 2_000_000_000;

/// At a stop: the longest time in which connections that are already established are still accepted.
const LAST_CALL_NS: u64 = 100_000_000;

/// At a stop: how long a peer that has been answered in part may take to read the rest.
const GRACE_NS: u64 = 5_000_000_000;

/// How many turns without a completion show that nothing is left: a back end hands over in one turn what it was asked for in the
/// last, and reports it in the next.
const QUIET_TURNS: usize = 3;

impl<I: Io> Worker<'_, I> {
    /// Closes connections that have had no answer for too long. A peer that does not read is not idle; when it stops reading for
    /// good, its connection fails by itself.
    pub fn sweep(&mut self) {
        let idle_ns = clock::ns_of(self.config.idle_timeout);
        let now_ns = self.responder.clock.now_ns();
        if now_ns - self.swept_ns < SWEEP_NS.min(idle_ns / 4) {
            return;
        }
        self.swept_ns = now_ns;
        self.close_those(|connection| {
            let longest_ns = if connection.last.is_some() { LINGER_NS.min(idle_ns) } else { idle_ns };
            !connection.is_held() && now_ns.saturating_sub(connection.stamp_ns) > longest_ns
        });
    }

    /// Stops without breaking off: accepts the connections that are already established, answers the requests that have arrived, closes
    /// connections that wait for nothing, and gives the rest a little time.
    pub fn end(&mut self) -> std::io::Result<()> {
        self.responder.is_stopping = true;
        self.announce_end();
        let start_ns = self.responder.clock.now_ns();
        self.turn_until_quiet(start_ns + LAST_CALL_NS)?;
        self.stop_listening();
        self.turn_until_quiet(start_ns + GRACE_NS)?;
        let is_idle = |c: &Connection| match &c.protocol {
            ProtocolState::Http1(_) => c.parser.is_idle(),
            ProtocolState::Http2(session) => session.is_idle(),
            ProtocolState::WebSocket(echo) => echo.server.is_idle(),
        };
        let waits_for_nothing =
            |c: &Connection| !c.is_blocked && c.last.is_none() && c.waiting.is_empty() && is_idle(c);
        while self.close_those(waits_for_nothing) > 0 {
            if self.responder.clock.now_ns() - start_ns > GRACE_NS {
                break;
            }
            self.turn(LOOK_UP)?;
            self.sweep();
        }
        self.turn_until_quiet(start_ns + GRACE_NS)
    }

    /// Handles everything that has completed, without waiting for more: what is sent leaves with the turn after.
    fn turn_until_quiet(&mut self, until_ns: u64) -> std::io::Result<()> {
        let mut quiet_turns = 0;
        while quiet_turns < QUIET_TURNS && self.responder.clock.now_ns() < until_ns {
            quiet_turns = if self.turn(Duration::ZERO)? { 0 } else { quiet_turns + 1 };
        }
        Ok(())
    }

    /// Closes the open connections for which `is_over` is true. Returns the number of the others.
    fn close_those(&mut self, is_over: impl Fn(&Connection) -> bool) -> usize {
        let mut others = 0;
        for slot in 0..self.connections.len() {
            let connection = &self.connections[slot];
            match connection.is_open {
                true if is_over(connection) => {
                    self.say_goodbye(slot);
                    self.close(slot as Slot);
                }
                true => others += 1,
                false => {}
            }
        }
        others
    }
    /// Announces to peers that speak HTTP/2 that their connections will end.
    fn announce_end(&mut self) {
        for slot in 0..self.connections.len() {
            let connection = &self.connections[slot];
            let session =
                connection.protocol.http2().filter(|_| connection.is_open && connection.last.is_none());
            if let Some(session) = session {
                session.announce_end(&mut self.out.bytes);
                self.send(slot as Slot, Next::GoOn);
            }
        }
    }

    /// Says to a peer that speaks HTTP/2 which of its requests were the last ones that were looked at, and to one of a WebSocket that it ends.
    fn say_goodbye(&mut self, slot: usize) {
        let connection = &mut self.connections[slot];
        match &mut connection.protocol {
            _ if connection.last.is_some() => {}
            ProtocolState::Http1(_) => {}
            ProtocolState::Http2(session) => {
                session.end(true, &mut self.out.bytes);
                self.send(slot as Slot, Next::GoOn);
            }
            ProtocolState::WebSocket(echo) => {
                echo.server.end(&mut echo.held);
                self.out.append_as(OutputKind::Aside, &mut echo.held);
                self.send(slot as Slot, Next::GoOn);
            }
        }
    }
}
