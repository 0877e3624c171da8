//! HTTP/2: the same answers as over HTTP/1.1, on the streams of a connection.

use super::{Next, Responder};
use crate::answers::frames::{Body, translate};
use crate::answers::fresh::{Call, Fresh, MAX_SENT_BYTES};
use crate::answers::head::Context;
use crate::answers::log::Log;
use crate::answers::site::{Asked, Route, Site, Standard};
use crate::connections::out::{Each, Out};
use crate::connections::protocol::MAX_HELD_BYTES;
use crate::connections::streams::{Arriving, Http2Session, Work, held_bytes};
use crate::fault::{FaultyOutbox, Reached};
use crate::files::{Files, Reply, render};
use net::{Slot, clock};
use std::net::IpAddr;
use std::sync::Arc;
use wire::http2::server::{AnswerBody, BodyEnd, Routed, ServerEvent, ServerShared};
use wire::{MAX_TARGET_BYTES, RequestHead};

/// After how many bytes of a body those of all streams are counted.
const COUNTED_BYTES: usize = 16 * 1024;

/// What the sessions of a thread have in common.
#[derive(Debug)]
pub struct Http2Thread {
    shared: ServerShared<Chosen>,
    /// An answer as HTTP/1 writes it.
    draft: Out,
    block: Vec<u8>,
}

/// What a request is answered with.
#[derive(Clone, Debug)]
enum Chosen {
    Site(Asked),
    File(Reply),
    Call(Call),
}

/// One connection, for as long as it is looked at.
pub struct Http2Connection<'c, 'f> {
    pub session: &'c mut Http2Session,
    pub slot: Slot,
    pub peer: Option<IpAddr>,
    pub faults: Option<&'c mut FaultyOutbox<'f>>,
    pub out: &'c mut Out,
}

impl Chosen {
    /// Whether the answer waits for the request's body.
    fn waits_for_body(&self) -> bool {
        matches!(self, Self::Site(Asked::Fresh(Fresh::Echo)) | Self::Call(_))
    }
}

impl Http2Thread {
    /// Without anything in memory yet. `each`: that of the output.
    pub fn new(each: Each) -> Self {
        Self { shared: ServerShared::default(), draft: Out::new(each), block: Vec::new() }
    }
}

impl Responder {
    /// Answers the requests of `input`, until it or the output is exhausted, and sends what can be sent of earlier answers.
    #[inline]
    pub fn answer_http2(&mut self, connection: &mut Http2Connection<'_, '_>, input: &mut &[u8]) -> Next {
        while !connection.out.is_full() {
            let Self { site, files, log, clock, http2, .. } = self;
            let now_ns = clock.now_ns();
            let choose = |head: &RequestHead<'_>| choose(site, files.as_mut(), log.as_mut(), now_ns, head);
            let out = &mut connection.out.bytes;
            let next = match connection.session.next(&mut http2.shared, input, out, choose) {
                Err(_) => return Next::Linger,
                Ok(None) => break,
                Ok(Some(ServerEvent::Request { stream, route, has_body, expects_continue })) => {
                    if let Some(service) = &mut self.service {
                        service.run();
                    }
                    if has_body && route.waits_for_body() {
                        if expects_continue && input.is_empty() {
                            connection.session.say_continue(stream, &mut connection.out.bytes);
                        }
                        let line = self.log.as_mut().map(Log::take_request).unwrap_or_default();
                        let call = if let Chosen::Call(call) = route { Some(call) } else { None };
                        connection
                            .session
                            .hold(stream, Work::Arriving(Arriving { body: Vec::new(), line, call }));
                        continue;
                    }
                    self.answer_stream(connection, stream, &route, &[])
                }
                Ok(Some(ServerEvent::TooLong { stream })) => {
                    self.refuse_stream(connection, stream, Standard::HeadTooLong)
                }
                Ok(Some(ServerEvent::Body { stream, bytes, is_last })) => {
                    self.send_body_back(connection, stream, bytes, is_last)
                }
            };
            if next != Next::GoOn {
                return next;
            }
        }
        connection.send_bodies();
        if connection.session.is_over() { Next::Linger } else { Next::GoOn }
    }

    /// Answers with the body of the request, once it is whole.
    fn send_body_back(
        &mut self,
        connection: &mut Http2Connection<'_, '_>,
        stream: u32,
        bytes: &[u8],
        is_last: bool,
    ) -> Next {
        let Some(Work::Arriving(Arriving { body, .. })) = connection.session.work(stream) else {
            return Next::GoOn;
        };
        let (before, length) = (body.len(), body.len() + bytes.len());
        let refusal = if length > MAX_SENT_BYTES {
            Some(Standard::ContentTooLarge)
        } else {
            body.extend_from_slice(bytes);
            let is_counted = before / COUNTED_BYTES != length / COUNTED_BYTES;
            let is_too_much = || held_bytes(connection.session) > MAX_HELD_BYTES;
            (is_counted && is_too_much()).then_some(Standard::Unavailable)
        };
        if refusal.is_none() && !is_last {
            return Next::GoOn;
        }
        let Some(Work::Arriving(arriving)) = connection.session.work(stream) else { return Next::GoOn };
        let Arriving { body, line, call } = std::mem::take(arriving);
        if let Some(log) = &mut self.log {
            log.put_request(line);
        }
        let chosen = match (refusal, call) {
            (None, None) => Chosen::Site(Asked::Fresh(Fresh::Echo)),
            (None, Some(call)) => Chosen::Call(call),
            (Some(Standard::Unavailable), Some(_)) => Chosen::Call(Call::TooMuch),
            (Some(_), Some(_)) => Chosen::Call(Call::TooLarge),
            (Some(refusal), None) => return self.refuse_stream(connection, stream, refusal),
        };
        self.answer_stream(connection, stream, &chosen, &body)
    }

    /// Answers a request that is not looked at further. The rest of its body is passed over: a reset behind the answer, which RFC 9113
    /// section 8.1 allows, loses it in some clients.
    fn refuse_stream(
        &mut self,
        connection: &mut Http2Connection<'_, '_>,
        stream: u32,
        with: Standard,
    ) -> Next {
        self.answer_stream(connection, stream, &Chosen::Site(Asked::Ready(with.route(false))), &[])
    }

    /// Answers a request, whose body is `sent`.
    #[inline]
    fn answer_stream(
        &mut self,
        connection: &mut Http2Connection<'_, '_>,
        stream: u32,
        chosen: &Chosen,
        sent: &[u8],
    ) -> Next {
        let (account, next) = match chosen {
            Chosen::Site(Asked::Ready(route) | Asked::WebSocket(route)) if connection.faults.is_none() => {
                connection.answer_ready(&self.site, *route, stream);
                if self.log.is_none() {
                    return Next::GoOn;
                }
                (self.site.account(*route), Next::GoOn)
            }
            _ => {
                let account = self.draft(chosen, sent);
                // A message of gRPC says its own length, and curl looks for no trailers behind a body whose length is known. Without a
                // body, it has to know that.
                let keeps_length = !matches!(chosen, Chosen::Call(_)) || account.1 == 0;
                (account, connection.send_draft(&mut self.http2, stream, keeps_length))
            }
        };
        if let Some(log) = &mut self.log {
            log.answered(connection.peer, account);
        }
        next
    }

    /// Writes the answer as HTTP/1 does. Returns its account.
    fn draft(&mut self, chosen: &Chosen, sent: &[u8]) -> (u16, u64) {
        let context = Context { date: self.clock.date(), keep_alive: true, http10: false };
        let draft = &mut self.http2.draft;
        draft.clear();
        match chosen {
            // Only HTTP/1.1 can be upgraded.
            Chosen::Site(Asked::Ready(route) | Asked::WebSocket(route)) => {
                self.site.write(*route, true, false, &mut draft.bytes);
                self.site.account(*route)
            }
            Chosen::Site(Asked::Fresh(Fresh::Json { number, head_only })) => {
                self.fresh.json(*number, *head_only, context, draft)
            }
            Chosen::Site(Asked::Fresh(Fresh::Echo)) => self.fresh.echo(sent, context, draft),
            Chosen::Call(call) => self.fresh.call(*call, sent, context, draft),
            Chosen::File(reply) => render::write(reply, &self.site, context, draft),
        }
    }
}

impl Http2Connection<'_, '_> {
    /// Answers with what is ready.
    #[inline]
    fn answer_ready(&mut self, site: &Site, route: Route, stream: u32) {
        let ready = site.frames(route);
        let out = &mut self.out.bytes;
        if (ready.shared.is_empty() || ready.head_only) && self.session.take_whole(stream, ready.length) {
            return ready.frames.append(stream, ready.head_only, out);
        }
        let body =
            if ready.shared.is_empty() { Arc::from(ready.frames.body()) } else { Arc::clone(ready.shared) };
        let whole = AnswerBody { length: ready.length.into(), allowed: u64::MAX, end: BodyEnd::Nothing };
        self.session.answer(stream, ready.frames.block(), whole, Work::Sending(Body::Bytes(body)), out);
    }

    /// Answers with what HTTP/1 would, now or later.
    fn send_draft(&mut self, thread: &mut Http2Thread, stream: u32, keeps_length: bool) -> Next {
        let Http2Thread { draft, block, .. } = thread;
        if let Some(faults) = &mut self.faults {
            let reached = faults.befall(self.slot, stream, &draft.bytes, clock::now_ns());
            return self.reach(reached);
        }
        block.clear();
        let file = draft.take_file();
        let (bytes, end) = translate(&draft.bytes, keeps_length, block);
        let (body, length) = match file {
            Some((file, offset, length)) => (Body::File(file, offset), length),
            None => (Body::Bytes(Arc::from(bytes)), bytes.len() as u64),
        };
        let whole = AnswerBody { length, allowed: u64::MAX, end };
        self.session.answer(stream, block, whole, Work::Sending(body), &mut self.out.bytes);
        Next::GoOn
    }

    /// Sends what can be sent of the bodies of answers.
    #[inline]
    pub fn send_bodies(&mut self) {
        while !self.out.is_full()
            && let Some(part) = self.session.next_part(&mut self.out.bytes)
        {
            match &part.work {
                Work::Sending(Body::Bytes(bytes)) => {
                    let rest = bytes.get(part.offset as usize..).unwrap_or_default();
                    self.out.bytes.extend_from_slice(rest.get(..part.length).unwrap_or_default());
                }
                Work::Sending(Body::File(file, offset)) => {
                    self.out.file(file, offset + part.offset, part.length as u64);
                }
                Work::Arriving(_) | Work::Delayed => {}
            }
            part.append_end(&mut self.out.bytes);
        }
    }

    /// Carries out what has been reached of a faulty answer.
    pub fn reach(&mut self, reached: Reached) -> Next {
        let Self { session, faults: Some(faults), out, .. } = self else { return Next::GoOn };
        if faults.carry_out(self.slot, reached, session, &mut out.bytes) {
            return Next::Reset;
        }
        self.send_bodies();
        if self.session.is_over() { Next::Linger } else { Next::GoOn }
    }
}

/// Chooses the answer.
#[inline]
fn choose(
    site: &Site,
    files: Option<&mut Files>,
    log: Option<&mut Log>,
    now_ns: u64,
    head: &RequestHead<'_>,
) -> Routed<Chosen> {
    let is_logged = log.is_some();
    if let Some(log) = log {
        log.asked(head);
    }
    if head.target.len() > MAX_TARGET_BYTES {
        let refusal = Standard::TargetTooLong.route(head.method == "HEAD");
        return Routed { route: Chosen::Site(Asked::Ready(refusal)), is_lasting: false };
    }
    if let Some(files) = files {
        return Routed { route: Chosen::File(files.reply(head, now_ns)), is_lasting: false };
    }
    if let Some(call) = Call::from_head(head) {
        return Routed { route: Chosen::Call(call), is_lasting: false };
    }
    let asked = site.route(head.method, head.target);
    let is_lasting = !is_logged && matches!(asked, Asked::Ready(_));
    Routed { route: Chosen::Site(asked), is_lasting }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Config, Faults, Listen, Messages, Server};
    use std::time::Duration;
    use wire::http2::frame::{FrameHead, PREFACE, append_block, append_data, append_settings, kind};
    use wire::http2::hpack::{HpackDecoder, write_field};

    fn responder() -> Responder {
        let config = Config {
            listen: Listen::Tcp(([127, 0, 0, 1], 0).into()),
            threads: 1,
            root: None,
            idle_timeout: Duration::from_mins(1),
            access_log: None,
            spin: Duration::ZERO,
            messages: Messages::default(),
            faults: Faults::default(),
            io: None,
            tls: None,
        };
        let mut site = Site::new();
        site.echo("/echo");
        Server::bind(config).unwrap().responder(&site).unwrap()
    }

    /// The statuses of answers, by stream.
    fn statuses(mut bytes: &[u8]) -> Vec<(u32, u16)> {
        let mut all = Vec::new();
        while let Some((head, rest)) = bytes.split_first_chunk() {
            let head = FrameHead::from_bytes(*head);
            let (payload, rest) = rest.split_at(head.length);
            bytes = rest;
            if head.kind == kind::HEADERS {
                let status = |name: &[u8], value: &[u8]| {
                    if name == b":status" {
                        all.push((head.stream, str::from_utf8(value).unwrap().parse().unwrap()));
                    }
                };
                HpackDecoder::default().decode(payload, &mut Vec::new(), status).unwrap();
            }
        }
        all
    }

    #[test]
    fn bodies_of_one_connection_are_held_up_to_a_bound_and_then_refused() {
        let (mut responder, mut session) = (responder(), Http2Session::default());
        let (mut out, mut said) = (Out::new(Each::Gathered), Vec::new());
        let mut say = |bytes: &[u8], session: &mut Http2Session| {
            let mut input = bytes;
            while !input.is_empty() {
                let mut connection =
                    Http2Connection { session, slot: 0, peer: None, faults: None, out: &mut out };
                assert_eq!(responder.answer_http2(&mut connection, &mut input), Next::GoOn);
                assert!(held_bytes(session) < MAX_HELD_BYTES + MAX_SENT_BYTES);
                said.append(&mut out.bytes);
            }
        };
        let mut block = Vec::new();
        for (name, value) in
            [(":method", "POST"), (":scheme", "http"), (":path", "/echo"), (":authority", "h")]
        {
            write_field(&mut block, name.as_bytes(), value.as_bytes());
        }
        let mut bytes = PREFACE.to_vec();
        append_settings(&mut bytes, &[]);
        let streams: Vec<u32> = (0..24).map(|at| 2 * at + 1).collect();
        streams.iter().for_each(|stream| append_block(&mut bytes, *stream, &block, false));
        say(&bytes, &mut session);
        // All but the last piece of each body, in turns: 96 MB.
        for _ in 0..255 {
            for stream in &streams {
                let mut piece = Vec::new();
                append_data(&mut piece, *stream, &[b'x'; 16 * 1024], false);
                say(&piece, &mut session);
            }
        }
        for stream in &streams {
            let mut end = Vec::new();
            append_data(&mut end, *stream, b"end", true);
            say(&end, &mut session);
        }
        let statuses = statuses(&said);
        let refused = statuses.iter().filter(|(_, status)| *status == 503).count();
        assert_eq!(statuses.len(), streams.len(), "each is answered: {statuses:?}");
        assert!(refused > 0 && refused <= 16, "{refused} are refused: {statuses:?}");
        assert!(statuses.iter().all(|(_, status)| [200, 503].contains(status)), "{statuses:?}");
    }
}
