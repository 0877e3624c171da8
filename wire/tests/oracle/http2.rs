//! What must hold for any bytes that a server of HTTP/2 may send, cut anywhere, and for any blocks of header fields.

use super::cuts;
use wire::http2::frame::{ErrorCode, FrameHead, PREFACE, Parameter, append_settings, kind};
use wire::http2::hpack::{HpackDecoder, HpackError, write_field};
use wire::http2::{Http2, Http2Shared};
use wire::{ClientSession, Event, Grpc, GrpcStatus, Head, Hearer, RequestBytes, WireError};

/// What came of a connection: the events, joined so that cuts don't show; how it ended; what the client wrote.
#[derive(Debug, Default, PartialEq)]
pub struct Talk {
    pub events: Vec<Told>,
    pub error: Option<WireError>,
    pub closed: Option<Result<bool, WireError>>,
    pub written: Vec<u8>,
}

/// An event that owns its bytes.
#[derive(Debug, PartialEq)]
pub enum Told {
    Head(usize, Head),
    Field(usize, Vec<u8>, Vec<u8>),
    Body(usize, Vec<u8>),
    End(usize, bool, bool, Option<GrpcStatus>),
    Refused(usize),
    Reset(usize, ErrorCode),
    Malformed(usize, WireError),
}

/// Hears fields, or does not; the requests at their places, of which some are HEADs.
struct Ears<const HEARS: bool> {
    is_head: Vec<bool>,
    fields: Vec<Told>,
}

impl<const HEARS: bool> Hearer for Ears<HEARS> {
    const HEARS_FIELDS: bool = HEARS;

    fn is_head(&self, place: usize) -> bool {
        self.is_head[place]
    }

    fn field(&mut self, place: usize, name: &[u8], value: &[u8]) {
        assert!(HEARS && place < self.is_head.len());
        assert!(
            !name.is_empty() && value.trim_ascii() == value,
            "a name, and no white space around the value"
        );
        self.fields.push(Told::Field(place, name.to_vec(), value.to_vec()));
    }
}

/// The length of the POST's body.
pub const BODY_BYTES: usize = 70_000;

/// A session whose frames are those of HTTP/2.
pub trait Session: for<'p> ClientSession<'p, Shared = Http2Shared> {}

impl Session for Http2 {}
impl Session for Grpc {}

/// A GET, a HEAD and a POST of more bytes than the window that a connection has at first.
pub fn shared<S: Session>() -> Http2Shared {
    let body = "x".repeat(BODY_BYTES);
    let post = format!("POST /upload HTTP/1.1\r\nHost: host\r\nContent-Length: {BODY_BYTES}\r\n\r\n{body}");
    let requests = ["GET / HTTP/1.1\r\nHost: host\r\n\r\n", "HEAD /x HTTP/1.1\r\nHost: host\r\n\r\n", &post];
    let requests = requests.map(str::as_bytes);
    let requests = requests.map(|request| RequestBytes { request, last: request, is_encrypted: false });
    S::shared(requests.into()).unwrap()
}

/// Lets a client that has begun these requests read these pieces.
pub fn talk<S: Session, const HEARS: bool>(
    asks: &[usize],
    pieces: &[&[u8]],
    shared: &mut Http2Shared,
) -> Talk {
    let (mut client, mut talk) = (S::default(), Talk::default());
    let mut ears = Ears::<HEARS> { is_head: Vec::new(), fields: Vec::new() };
    client.open(shared, &mut talk.written);
    for ask in asks {
        assert!(client.room() > 0);
        client.begin(shared, *ask, false, &mut talk.written);
        ears.is_head.push(*ask == 1);
    }
    let mut has_head = vec![false; asks.len()];
    for piece in pieces {
        let mut input = *piece;
        loop {
            let before = input.len();
            let event = client.next(shared, &mut input, &mut talk.written, &mut ears);
            assert!(
                input.len() <= before && piece.ends_with(input),
                "what is left is the end of what was given"
            );
            talk.events.append(&mut ears.fields);
            match event {
                Ok(Some(event)) => talk.take(event, &mut ears.is_head, &mut has_head),
                Ok(None) => {
                    assert!(input.is_empty(), "a session that wants more has used all it was given");
                    break;
                }
                Err(error) => {
                    talk.error = Some(error);
                    return talk;
                }
            }
            assert!(client.room() == 0 || !client.is_closing());
        }
    }
    talk.closed = Some(client.closed().map(|event| event.is_some()));
    assert_eq!(talk.closed == Some(Ok(false)), has_head.is_empty(), "closed between answers: none is open");
    talk
}

impl Talk {
    fn take(&mut self, event: Event<'_>, is_head: &mut Vec<bool>, has_head: &mut Vec<bool>) {
        let mut ends = |place: usize| (is_head.remove(place), has_head.remove(place));
        let told = match event {
            Event::Head(place, head) => {
                assert!(!std::mem::replace(&mut has_head[place], true), "one head");
                Told::Head(place, head)
            }
            Event::Body(place, bytes) => {
                assert!(has_head[place] && !is_head[place] && !bytes.is_empty());
                match self.events.last_mut() {
                    Some(Told::Body(last, before)) if *last == place => {
                        return before.extend_from_slice(bytes);
                    }
                    _ => Told::Body(place, bytes.to_vec()),
                }
            }
            Event::End { place, keep_alive, is_early, failure } => {
                assert!(ends(place).1, "an answer has a head");
                Told::End(place, keep_alive, is_early, failure)
            }
            Event::Refused(place) => {
                ends(place);
                Told::Refused(place)
            }
            Event::Reset(place, code) => {
                ends(place);
                Told::Reset(place, ErrorCode(code))
            }
            Event::Malformed(place, error) => {
                ends(place);
                Told::Malformed(place, error)
            }
        };
        self.events.push(told);
    }
}

/// What a server sends, in every way of cutting it that is tried: all must say the same, to HTTP/2 and to gRPC.
pub fn check_http2(bytes: &[u8]) {
    check_session::<Http2>(bytes);
    check_session::<Grpc>(bytes);
}

fn check_session<S: Session>(bytes: &[u8]) {
    let mut settings = Vec::new();
    append_settings(&mut settings, &[Parameter::InitialWindowSize(65_540)]);
    for bytes in [bytes, &[&settings, bytes].concat()] {
        let asks = [0, 1, 2, 0];
        let whole = talk::<S, true>(&asks, &[bytes], &mut shared::<S>());
        let mut last = shared::<S>();
        for pieces in cuts(bytes) {
            assert_eq!(whole, talk::<S, true>(&asks, &pieces, &mut last));
        }
        let mut deaf = whole;
        deaf.events.retain(|told| !matches!(told, Told::Field(..)));
        join(&mut deaf.events);
        // The second time heads may be known.
        for _ in 0..2 {
            assert_eq!(
                deaf,
                talk::<S, false>(&asks, &[bytes], &mut last),
                "heads that are known are the same"
            );
        }
        check_written(&deaf);
    }
}

/// Joins bodies between which fields were.
fn join(events: &mut Vec<Told>) {
    events.dedup_by(|next, told| match (told, next) {
        (Told::Body(place, bytes), Told::Body(other, more)) if place == other => {
            bytes.append(more);
            true
        }
        _ => false,
    });
}

/// The frames that a client wrote: heads and payloads.
pub fn written_frames(written: &[u8]) -> Vec<(FrameHead, &[u8])> {
    let (mut rest, mut frames) = (written.strip_prefix(PREFACE).unwrap_or(written), Vec::new());
    while let Some((head, behind)) = rest.split_first_chunk() {
        let head = FrameHead::from_bytes(*head);
        let (payload, behind) = behind.split_at(head.length);
        frames.push((head, payload));
        rest = behind;
    }
    assert!(rest.is_empty(), "whole frames");
    frames
}

/// Checks that a client writes no more than it has, blocks that need no dynamic table, and GOAWAY with an error only.
fn check_written(talk: &Talk) {
    let frames = written_frames(&talk.written);
    assert!(talk.written.starts_with(PREFACE) && frames[0].0.kind == kind::SETTINGS);
    let sent = frames.iter().filter(|(head, _)| head.kind == kind::DATA).map(|(head, _)| head.length);
    // Four requests of gRPC have a prefix each.
    assert!(sent.sum::<usize>() <= BODY_BYTES + 4 * 5);
    for (head, payload) in &frames {
        match head.kind {
            kind::GOAWAY => assert!(matches!(talk.error, Some(WireError::Frame(_)))),
            kind::HEADERS => {
                assert!(HpackDecoder::with_limit(0).decode(payload, &mut Vec::new(), |_, _| {}).is_ok());
            }
            _ => {}
        }
    }
}

/// A name and a value.
pub type Field = (Vec<u8>, Vec<u8>);

/// The fields of one block.
pub fn decode(decoder: &mut HpackDecoder, block: &[u8]) -> Result<(Vec<Field>, bool), HpackError> {
    let mut fields = Vec::new();
    let mut scratch = b"something".to_vec();
    let whole =
        decoder.decode(block, &mut scratch, |name, value| fields.push((name.to_vec(), value.to_vec())))?;
    Ok((fields, whole.is_fixed))
}

/// Blocks of header fields: each is preceded by its length, in one byte.
pub fn check_hpack(mut bytes: &[u8]) {
    let mut decoder = HpackDecoder::default();
    while let Some((&length, rest)) = bytes.split_first() {
        let (block, rest) = rest.split_at(rest.len().min(usize::from(length)));
        bytes = rest;
        let Ok((fields, is_fixed)) = decode(&mut decoder, block) else { return };
        let size: usize = fields.iter().map(|(name, value)| name.len() + value.len() + 32).sum();
        assert!(size <= wire::MAX_HEAD_BYTES && fields.len() <= wire::MAX_HEAD_FIELDS);
        let mut encoded = Vec::new();
        fields.iter().for_each(|(name, value)| write_field(&mut encoded, name, value));
        assert_eq!(decode(&mut HpackDecoder::with_limit(0), &encoded), Ok((fields.clone(), true)));
        if is_fixed {
            assert_eq!(decode(&mut HpackDecoder::default(), block), Ok((fields, true)));
        }
    }
}
