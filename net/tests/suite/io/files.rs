//! Files between bytes, ends on purpose, and listeners that stop.

use super::*;

/// A file with these bytes.
pub fn file(bytes: &[u8]) -> Arc<OwnedFd> {
    let mut file = tempfile::tempfile().unwrap();
    std::io::Write::write_all(&mut file, bytes).unwrap();
    Arc::new(file.into())
}

pub fn counted(bytes: usize) -> Vec<u8> {
    (0..bytes).map(|i| (i % 251) as u8).collect()
}

/// Until the client has all of this on slot 0. True: the server was told that all was taken.
pub fn arrives<I: BackEnd>(server: &mut Side<I>, client: &mut Side<I>, expected: &[u8]) -> bool {
    let deadline = Instant::now() + PATIENCE;
    let mut is_drained = false;
    while client.received[0].len() < expected.len() {
        is_drained |= server.turn().contains(&Completion { slot: 0, event: Event::Drained });
        client.turn();
        assert!(Instant::now() < deadline, "{} of {}", client.received[0].len(), expected.len());
    }
    assert!(client.received[0] == expected, "the bytes are not those that were sent");
    is_drained
}

pub fn pieces_of_files_keep_their_place_between_bytes<I: BackEnd>() {
    let (mut server, mut client, _) = connected::<I>();
    let bytes = counted(1000);
    let file = file(&bytes);
    assert!(server.io.send_more(0, b"head "));
    assert!(server.io.send_file(0, &file, 10, 20));
    assert!(server.io.send_file(0, &file, 990, 10));
    assert!(server.io.send_file(0, &file, 5, 0));
    assert!(server.io.send(0, b" tail"));
    let expected = [b"head ", &bytes[10..30], &bytes[990..], b" tail"].concat();
    arrives(&mut server, &mut client, &expected);
}

pub fn files_larger_than_the_socket_wait_their_turn_and_arrive_whole<I: BackEnd>() {
    let (mut server, mut client, _) = connected::<I>();
    let bytes = counted(30_000_000);
    let file = file(&bytes);
    server.io.send_more(0, b"<");
    assert!(!server.io.send_file(0, &file, 0, 30_000_000), "no socket buffer holds 30 MB");
    assert!(!server.io.send(0, b"|"), "what is sent later waits behind");
    assert!(!server.io.send_file(0, &file, 29_000_000, 1_000_000));
    assert!(!server.io.send(0, b">"));
    let expected = [b"<", &bytes[..], b"|", &bytes[29_000_000..], b">"].concat();
    assert!(arrives(&mut server, &mut client, &expected));
}

/// Small sends may go another way than files do.
pub fn files_come_after_what_was_sent_before_and_before_what_is_sent_later<I: BackEnd>() {
    let (mut server, mut client, _) = connected::<I>();
    let (bytes, mut expected) = (counted(300_000), Vec::new());
    let file = file(&bytes);
    for i in 0..100_usize {
        let (start, length) = (i * 997, (i * i * 31) % 100_000);
        let text = format!("[{i}]");
        server.io.send(0, text.as_bytes());
        server.io.send_file(0, &file, start as u64, length as u64);
        if i % 3 == 0 {
            server.io.send_more(0, b"more");
        }
        expected.extend_from_slice(text.as_bytes());
        expected.extend_from_slice(&bytes[start..start + length]);
        expected.extend_from_slice(if i % 3 == 0 { b"more" } else { b"" });
        if i % 7 == 0 {
            server.turn();
        }
    }
    server.io.send(0, b"end");
    expected.extend_from_slice(b"end");
    arrives(&mut server, &mut client, &expected);
}

pub fn a_file_that_has_become_shorter_fails<I: BackEnd>() {
    let (mut server, _client, _) = connected::<I>();
    server.io.send_file(0, &file(b"short"), 0, 100);
    server.until(0, Event::Failed(Operation::Send, Errno::IO));
}

/// However much of it has left by then: it can be closed, and the peer hears the end.
pub fn a_file_that_becomes_shorter_while_it_is_sent_fails_and_can_be_closed<I: BackEnd>() {
    let (mut server, mut client, _) = connected::<I>();
    let file = file(&counted(30_000_000));
    assert!(!server.io.send_file(0, &file, 0, 30_000_000));
    rustix::fs::ftruncate(&*file, 10).unwrap();
    let deadline = Instant::now() + PATIENCE;
    while !server.seen.contains(&Completion { slot: 0, event: Event::Failed(Operation::Send, Errno::IO) }) {
        client.turn();
        server.turn();
        assert!(Instant::now() < deadline, "it never failed");
    }
    server.io.close(0);
    server.turn();
    client.until(0, Event::Ended);
}

pub fn a_closed_connection_lets_go_of_its_files<I: BackEnd>() {
    let (mut server, mut client, _) = connected::<I>();
    let file = file(&counted(30_000_000));
    assert!(!server.io.send_file(0, &file, 0, 30_000_000));
    server.io.reset(0);
    server.turn();
    client.until(0, Event::Failed(Operation::Receive, Errno::CONNRESET));
    assert_eq!(Arc::strong_count(&file), 1);
}

pub fn after_a_shut_down_the_peer_is_still_heard<I: BackEnd>() {
    let (mut server, mut client, _) = connected::<I>();
    server.io.send(0, b"last words");
    server.io.shut_down(0);
    server.turn();
    server.turn();
    client.until(0, Event::Ended);
    assert_eq!(client.received[0], b"last words");
    client.io.send(0, b"thanks");
    client.turn();
    server.until_received(0, 6);
}

pub fn a_shut_down_comes_after_all_that_was_sent<I: BackEnd>() {
    let (mut server, mut client, _) = connected::<I>();
    let bytes = counted(3_000_000);
    assert!(server.io.send(0, b"<"));
    let mut is_sent = server.io.send_file(0, &file(&bytes), 0, 3_000_000);
    while !is_sent {
        is_sent = server.turn().contains(&Completion { slot: 0, event: Event::Drained });
        client.turn();
    }
    server.io.send(0, b">");
    server.io.shut_down(0);
    arrives(&mut server, &mut client, &[b"<", &bytes[..], b">"].concat());
    server.turn();
    client.until(0, Event::Ended);
}

pub fn who_does_not_listen_any_more_refuses<I: BackEnd>() {
    let (mut server, mut client, address) = connected::<I>();
    let Endpoint::Tcp { to, .. } = &address else { unreachable!() };
    assert_eq!(server.io.peer(0), Some(to.ip()));
    server.io.stop_listening();
    server.turn();
    server.turn();
    client.io.connect(1, &address);
    client.until(1, Event::Failed(Operation::Connect, Errno::CONNREFUSED));
    client.io.send(0, b"still here");
    client.turn();
    server.until_received(0, 10);
    server.io.send(0, b"bye");
    server.io.close(0);
    server.turn();
    server.turn();
    client.until(0, Event::Ended);
    assert_eq!(client.received[0], b"bye");
}
