//! WebSocket: a connection of HTTP/1.1 is upgraded, and messages are sent back.

use super::{Next, Responder};
use crate::answers::fresh::MAX_SENT_BYTES;
use crate::connections::out::{Out, OutputKind};
use crate::connections::protocol::WebSocketEcho;
use std::net::IpAddr;
use wire::RequestParser;
use wire::websocket::{UpgradeAnswer, UpgradeRefusal};

impl Responder {
    /// Opens a WebSocket, or says why there is none.
    #[cold]
    pub(super) fn upgrade(
        &mut self,
        asked: Result<UpgradeAnswer, UpgradeRefusal>,
        parser: &RequestParser,
        peer: Option<IpAddr>,
        out: &mut Out,
    ) -> Next {
        // Frames would follow a body, which means nothing here.
        let answer =
            asked.and_then(|answer| parser.is_idle().then_some(answer).ok_or(UpgradeRefusal::Malformed));
        let (status, next) = match answer {
            Ok(answer) => {
                answer.write(&mut out.bytes);
                (101, Next::SpeakWebSocket)
            }
            Err(refusal) => {
                out.bytes.extend_from_slice(refusal.response());
                (refusal.status(), Next::Linger)
            }
        };
        if let Some(log) = &mut self.log {
            log.answered(peer, (status, 0));
        }
        next
    }

    /// Sends back the messages of `input`.
    #[inline]
    pub fn answer_websocket(&mut self, echo: &mut WebSocketEcho, input: &mut &[u8], out: &mut Out) -> Next {
        let WebSocketEcho { server, held } = echo;
        let sends_each_alone = out.sends_each_alone();
        // All of it, unless each is sent on its own: what waited would be copied again and again otherwise.
        while !sends_each_alone || !out.is_full() {
            let into = if sends_each_alone { &mut *held } else { &mut out.bytes };
            match server.echo_one(input, into) {
                Ok(true) => {
                    if let Some(service) = &mut self.service {
                        service.run();
                    }
                    if sends_each_alone {
                        out.append_as(OutputKind::Message, held);
                    }
                }
                Ok(false) => break,
                Err(_) => {
                    out.append_as(OutputKind::Aside, held);
                    return Next::Linger;
                }
            }
        }
        if held.len() > MAX_SENT_BYTES {
            return Next::Close;
        }
        if sends_each_alone && out.is_empty() && (server.is_idle() || server.is_closed()) {
            out.append_as(OutputKind::Aside, held);
        }
        if server.is_closed() { Next::Close } else { Next::GoOn }
    }
}
