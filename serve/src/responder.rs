//! Answers requests, for one thread, without sockets. Answers to a pipeline are collected.

pub mod http2;
pub mod websocket;

use crate::answers::date::Clock;
use crate::answers::fresh::{self, Echo, Fresh, MAX_SENT_BYTES};
use crate::answers::head::Context;
use crate::answers::log::Log;
use crate::answers::site::{Asked, Site, Standard};
use crate::connections::out::Out;
use crate::files::Files;
use crate::files::render;
use crate::service::Service;
use http2::Http2Thread;
use std::net::IpAddr;
use wire::websocket::{UpgradeAnswer, UpgradeRefusal};
use wire::{RequestParser, WireError};

/// Everything that a thread needs to answer.
pub struct Responder {
    /// The site. Each thread has its own, because it writes the date into it.
    pub site: Site,
    /// The folder that is served instead of the site.
    pub files: Option<Files>,
    /// The writer of answers that depend on the request.
    pub fresh: fresh::Writer,
    pub clock: Clock,
    pub log: Option<Log>,
    pub service: Option<Service>,
    pub http2: Http2Thread,
    /// Whether every answer is its connection's last.
    pub is_stopping: bool,
    /// Whether the last request that was answered was HTTP/1.0.
    pub was_http10: bool,
}

/// What happens to the connection when everything that was collected has been sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// It is used for another request.
    GoOn,
    /// It is closed.
    Close,
    /// The end is announced, and it is closed when the peer has read that: otherwise bytes that the peer still sends would make its
    /// system discard the answer.
    Linger,
    /// It is reset.
    Reset,
    /// What came begins HTTP/2, of whose preface this number of bytes came before.
    SpeakHttp2(u8),
    /// What follows is a WebSocket.
    SpeakWebSocket,
}

impl Responder {
    /// Reads the clock; once a second, updates the date everywhere.
    #[inline]
    pub fn tick(&mut self) {
        if self.clock.tick() {
            self.site.set_date(self.clock.date());
            if let Some(log) = &mut self.log {
                log.tick(self.clock.date());
            }
        }
    }

    /// Answers the requests of `input` into `out`, until either is exhausted.
    #[inline]
    pub fn answer(
        &mut self,
        parser: &mut RequestParser,
        echo: &mut Option<Box<Echo>>,
        peer: Option<IpAddr>,
        input: &mut &[u8],
        out: &mut Out,
    ) -> Next {
        if self.files.is_some() {
            return self.answer_files(parser, peer, input, out);
        }
        while !out.is_full() {
            if echo.is_some() {
                match self.send_back(parser, echo, peer, input, out) {
                    Some(Next::GoOn) => continue,
                    Some(end) => return end,
                    None => return Next::GoOn,
                }
            }
            let (site, log, mut upgrade) = (&self.site, &mut self.log, Err(UpgradeRefusal::Required));
            let next = parser.next(input, |head| {
                if let Some(log) = log {
                    log.asked(head);
                }
                let asked = site.route(head.method, head.target);
                if matches!(asked, Asked::WebSocket(_)) {
                    upgrade = UpgradeAnswer::to(head);
                }
                asked
            });
            match next {
                Ok(Some(request)) => {
                    if let Some(service) = &mut self.service {
                        service.run();
                    }
                    let keep_alive = request.keep_alive && !self.is_stopping;
                    self.was_http10 = request.http10;
                    let (date, http10) = (self.clock.date(), request.http10);
                    let context = Context { date, keep_alive, http10 };
                    let account = match request.route {
                        Asked::Ready(route) => {
                            self.site.write(route, keep_alive, http10, &mut out.bytes);
                            self.log.is_some().then(|| self.site.account(route))
                        }
                        Asked::Fresh(Fresh::Json { number, head_only }) => {
                            Some(self.fresh.json(number, head_only, context, out))
                        }
                        Asked::Fresh(Fresh::Echo) => {
                            // A body that is on its way already needs no permission (RFC 9110 section 10.1.1).
                            if request.expects_continue && input.is_empty() {
                                out.say_continue();
                            }
                            let (body, keep_alive) = (Vec::new(), request.keep_alive);
                            *echo = Some(Box::new(Echo { body, keep_alive, http10 }));
                            continue;
                        }
                        Asked::WebSocket(_) => return self.upgrade(upgrade, parser, peer, out),
                    };
                    if let (Some(log), Some(account)) = (&mut self.log, account) {
                        log.answered(peer, account);
                    }
                    if !keep_alive {
                        return ending(parser);
                    }
                }
                Ok(None) => return Next::GoOn,
                Err(error) => return self.refuse_head(error, parser, peer, input, out),
            }
        }
        Next::GoOn
    }

    /// Answers with the body of the request, once it is whole. `None`: the rest has not arrived yet.
    fn send_back(
        &mut self,
        parser: &mut RequestParser,
        echo: &mut Option<Box<Echo>>,
        peer: Option<IpAddr>,
        input: &mut &[u8],
        out: &mut Out,
    ) -> Option<Next> {
        let waiting = echo.as_mut()?;
        let body = &mut waiting.body;
        let room = |body: &Vec<u8>| MAX_SENT_BYTES + 1 - body.len().min(MAX_SENT_BYTES);
        let is_whole =
            parser.body(input, |piece| body.extend_from_slice(&piece[..piece.len().min(room(body))]));
        match is_whole {
            Err(error) => return Some(self.refuse(error, peer, out)),
            Ok(_) if body.len() > MAX_SENT_BYTES => {
                return Some(self.turn_down(Standard::ContentTooLarge, peer, out));
            }
            Ok(false) => return None,
            Ok(true) => {}
        }
        let whole = echo.take()?;
        let keep_alive = whole.keep_alive && !self.is_stopping;
        let context = Context { date: self.clock.date(), keep_alive, http10: whole.http10 };
        let account = self.fresh.echo(&whole.body, context, out);
        if let Some(log) = &mut self.log {
            log.answered(peer, account);
        }
        Some(if keep_alive { Next::GoOn } else { ending(parser) })
    }

    fn answer_files(
        &mut self,
        parser: &mut RequestParser,
        peer: Option<IpAddr>,
        input: &mut &[u8],
        out: &mut Out,
    ) -> Next {
        let Self { site, files: Some(files), clock, log, service, is_stopping, was_http10, .. } = self else {
            return Next::Close;
        };
        while !out.is_full() {
            let next = parser.next(input, |head| {
                if let Some(log) = log {
                    log.asked(head);
                }
                files.reply(head, clock.now_ns())
            });
            match next {
                Ok(Some(request)) => {
                    if let Some(service) = service {
                        service.run();
                    }
                    let keep_alive = request.keep_alive && !*is_stopping;
                    *was_http10 = request.http10;
                    let context = Context { date: clock.date(), keep_alive, http10: request.http10 };
                    let account = render::write(&request.route, site, context, out);
                    if let Some(log) = log {
                        log.answered(peer, account);
                    }
                    if !keep_alive {
                        return ending(parser);
                    }
                }
                Ok(None) => return Next::GoOn,
                Err(error) => return self.refuse_head(error, parser, peer, input, out),
            }
        }
        Next::GoOn
    }

    /// Answers a head that can't be parsed, unless it is how HTTP/2 begins.
    #[cold]
    fn refuse_head(
        &mut self,
        error: WireError,
        parser: &RequestParser,
        peer: Option<IpAddr>,
        input: &[u8],
        out: &mut Out,
    ) -> Next {
        match parser.http2_preface(input) {
            Some(before) => Next::SpeakHttp2(before),
            None => self.refuse(error, peer, out),
        }
    }

    /// Answers what can't be parsed. Where the next request begins is unknown.
    fn refuse(&mut self, error: WireError, peer: Option<IpAddr>, out: &mut Out) -> Next {
        let standard = match error {
            WireError::HeadTooLong | WireError::TooManyFields => Standard::HeadTooLong,
            WireError::TargetTooLong => Standard::TargetTooLong,
            WireError::Version => Standard::VersionNotSupported,
            _ => Standard::BadRequest,
        };
        self.turn_down(standard, peer, out)
    }

    /// Sends the connection's last answer.
    fn turn_down(&mut self, standard: Standard, peer: Option<IpAddr>, out: &mut Out) -> Next {
        let route = standard.route(false);
        self.site.write(route, false, false, &mut out.bytes);
        if let Some(log) = &mut self.log {
            log.answered(peer, self.site.account(route));
        }
        Next::Linger
    }
}

/// What follows the last answer: more of this request may be arriving, if it has a body.
fn ending(parser: &RequestParser) -> Next {
    if parser.is_idle() { Next::Close } else { Next::Linger }
}
