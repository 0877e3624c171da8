//! gRPC on real sockets: a call that fails, or says nothing of how it went, is not completed, although its answer is whole and 200.

use load::{Progress, run};
use model::{Ask, Expect, Load, Plan, Protocol, Tally, Target, Until};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use wire::http2::hpack::{write_field, write_status};
use wire::http2::server::{AnswerBody, BodyEnd, Routed, ServerEvent, ServerSession, ServerShared};

/// Answers every call with these trailers, which are a block, behind an empty message; `None`: with none.
fn serve(mut stream: TcpStream, trailers: Option<&'static [u8]>) -> Option<()> {
    let (mut session, mut shared) = (ServerSession::<()>::default(), ServerShared::default());
    let (mut buffer, mut out, mut block) = (vec![0; 65536], Vec::new(), Vec::new());
    session.open(&mut out);
    write_status(&mut block, 200);
    loop {
        stream.write_all(&out).ok()?;
        out.clear();
        let n = stream.read(&mut buffer).ok().filter(|n| *n > 0)?;
        let mut input = &buffer[..n];
        let route = |_: &wire::RequestHead<'_>| Routed { route: (), is_lasting: false };
        while let Some(event) = session.next(&mut shared, &mut input, &mut out, route).ok()? {
            match event {
                ServerEvent::Request { stream, .. } => session.hold(stream, ()),
                ServerEvent::Body { stream, is_last: true, .. } => {
                    let end = trailers.map_or(BodyEnd::Nothing, BodyEnd::Trailers);
                    session.answer(stream, &block, AnswerBody { length: 5, allowed: 5, end }, (), &mut out);
                }
                ServerEvent::Body { .. } | ServerEvent::TooLong { .. } => {}
            }
        }
        while let Some(part) = session.next_part(&mut out) {
            out.extend_from_slice(&[0; 5][..part.length]);
            part.append_end(&mut out);
        }
    }
}

fn called(trailers: Option<&str>) -> Tally {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let target = Target::resolve(&format!("http://{}/a.B/C", listener.local_addr().unwrap())).unwrap();
    let block = trailers.map(|status| {
        let mut block = Vec::new();
        write_field(&mut block, b"grpc-status", status.as_bytes());
        &*block.leak()
    });
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let stream = stream.unwrap();
            std::thread::spawn(move || serve(stream, block));
        }
    });
    let ask = Ask { expect: Expect { status: Some(200), ..Expect::default() }, ..Ask::get(&target) };
    let load = Load::Closed { connections: 3, per_connection: None };
    let plan = Plan::new(target, ask, load, Until::Answered(300));
    let plan = Plan { protocol: Protocol::Grpc, pipeline: 4, ..plan };
    run(&plan, &Progress::default(), &()).unwrap()
}

#[test]
fn only_status_0_completes_a_call() {
    // The status; completed, errors of status and of the protocol; the cause.
    let rows = [
        (Some("0"), (300, 0, 0), None),
        (Some("13"), (0, 300, 0), Some("status: grpc-status 13 (INTERNAL) instead of 0")),
        (None, (0, 0, 300), Some("protocol: gRPC: no grpc-status at the end of the answer")),
    ];
    for (status, expected, cause) in rows {
        let tally = called(status);
        let errors = tally.errors;
        assert_eq!((tally.completed, errors.status, errors.protocol), expected, "{:?}", tally.error_causes);
        assert_eq!((errors.total() + tally.completed, tally.sent), (300, 300));
        assert_eq!(tally.error_causes.keys().map(String::as_str).next(), cause, "{status:?}");
    }
}
