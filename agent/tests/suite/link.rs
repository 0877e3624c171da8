//! Both sides in one process, over pipes.

use agent::{
    Call, Handler, Hello, Link, LinkError, MOST_REQUEST_BYTES, Message, SILENCE, hello, now_ns, obey,
};
use serde_json::{Value, json};
use std::io::{PipeReader, PipeWriter, Read, Write, pipe};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{JoinHandle, sleep, spawn};
use std::time::{Duration, Instant};

/// Longer than anything takes.
const PATIENCE: Duration = Duration::from_mins(1);

/// Both sides are clean within this time of a loss.
const CLEAN: Duration = Duration::from_secs(10);

/// How far the clock over there is ahead.
const AHEAD_NS: u64 = 3_000_000_000;

pub fn own() -> Hello {
    hello("0.1.0 test")
}

/// What the tests ask for.
#[derive(Default)]
struct Toy {
    ended: Arc<AtomicUsize>,
}

impl Handler for Toy {
    fn answer(&self, call: &Call<'_>) -> Option<Result<Value, String>> {
        Some(match call.name() {
            "double" => call.question::<u64>().map(|n| json!(n * 2)),
            "count" => {
                (0..1000).for_each(|n| call.event(&n));
                Ok(json!("\u{1b}[31mdone"))
            }
            "wait" => {
                call.event(&"begun");
                while !call.stop().load(Ordering::Relaxed) {
                    sleep(Duration::from_millis(5));
                }
                Ok(json!("stopped"))
            }
            "sum" => call
                .question::<String>()
                .map(|text| json!([text.len(), text.bytes().map(u64::from).sum::<u64>()])),
            "refuse" => Err(format!("\u{1b}]0;title\u{7}no\r room{}", "!".repeat(10_000))),
            "large" => Ok(json!("x".repeat(20 << 20))),
            "panic" => panic!("a test"),
            _ => return None,
        })
    }

    fn end(&self) {
        self.ended.fetch_add(1, Ordering::Relaxed);
    }
}

/// An agent in a thread, and the link to it.
struct Pair {
    link: Link,
    agent: JoinHandle<Result<(), LinkError>>,
    ended: Arc<AtomicUsize>,
}

fn pair() -> Pair {
    pair_over(|there| there)
}

/// The agent reads its input through `way`.
fn pair_over<R: Read + Send + 'static>(way: impl FnOnce(PipeReader) -> R) -> Pair {
    let ((there, to), (from, here)) = (pipe().unwrap(), pipe().unwrap());
    let toy = Toy::default();
    let (ended, there) = (Arc::clone(&toy.ended), way(there));
    let agent = spawn(move || obey(&own(), &[&toy], there, here));
    let link = Link::over("board", from, to, &own(), PATIENCE).unwrap();
    Pair { link, agent, ended }
}

fn ask(link: &Link, name: &str, question: &Value) -> Result<Value, LinkError> {
    link.ask(name, question, Some(PATIENCE), &mut |_| {})
}

#[test]
fn requests_are_answered_at_the_same_time_and_events_come_in_order() {
    let Pair { link, agent, ended } = pair();
    let others: Vec<_> = (0..8)
        .map(|n| (n, link.clone()))
        .map(|(n, link)| spawn(move || assert_eq!(ask(&link, "double", &json!(n)).unwrap(), json!(2 * n))))
        .collect();
    let mut events = Vec::new();
    let answer: String = link.ask("count", &(), Some(PATIENCE), &mut |event| events.push(event)).unwrap();
    assert_eq!(answer, "done", "without the escape");
    assert_eq!(events, (0..1000).map(|n| json!(n)).collect::<Vec<_>>());
    others.into_iter().for_each(|other| other.join().unwrap());
    assert_eq!(link.lost(), None);
    drop(link);
    agent.join().unwrap().unwrap();
    assert!(ended.load(Ordering::Relaxed) > 0);
}

#[test]
fn what_is_refused_is_told_without_escapes_and_the_link_goes_on() {
    let Pair { link, .. } = pair();
    let told = |name: &str| ask(&link, name, &json!("x")).unwrap_err().to_string();
    let refused = told("refuse");
    assert!(refused.starts_with("no room!!!") && refused.len() <= 4096, "{refused}");
    assert!(told("unheard").contains("does not know `unheard`"));
    assert!(told("double").contains("can't be read here"));
    assert!(told("panic").contains("because of a bug"));
    assert!(told("large").contains("ask for less"));
    assert!(matches!(
        // As JSON, such a character has six bytes.
        link.ask::<_, Value>("double", &"\u{1}".repeat(MOST_REQUEST_BYTES / 6), None, &mut |_| {}),
        Err(LinkError::TooLong { .. })
    ));
    let unreadable = link.ask::<_, String>("double", &2, Some(PATIENCE), &mut |_| {});
    assert!(matches!(unreadable, Err(LinkError::Unreadable { .. })));
    assert_eq!(ask(&link, "double", &json!(4)).unwrap(), json!(8));
}

/// An input over which a byte takes its time.
struct Slow(PipeReader);

impl Read for Slow {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let count = self.0.read(buffer)?;
        sleep(BYTE * count as u32);
        Ok(count)
    }
}

/// With this, 32 MiB take 6.7 s: longer than either side may be silent.
const BYTE: Duration = Duration::from_nanos(200);

#[test]
fn a_large_request_arrives_whole_however_long_it_takes() {
    let Pair { link, agent, .. } = pair_over(Slow);
    let text: String = (0..32 << 20).map(|n: u32| char::from(b'0' + (n % 75) as u8)).collect();
    let sum: u64 = text.bytes().map(u64::from).sum();
    let began = Instant::now();
    // It is in time for its answer, too.
    let answer: Value = link.ask("sum", &text, Some(Duration::from_secs(1)), &mut |_| {}).unwrap();
    assert_eq!(answer, json!([32 << 20, sum]));
    assert!(began.elapsed() > SILENCE && link.lost().is_none(), "{:?} {:?}", began.elapsed(), link.lost());
    assert_eq!(ask(&link, "sum", &json!("")).unwrap(), json!([0, 0]));
    drop(link);
    agent.join().unwrap().unwrap();
}

#[test]
fn requests_that_run_are_stopped_and_a_late_one_is_given_up() {
    let Pair { link, .. } = pair();
    let late = link.ask::<_, Value>("wait", &(), Some(Duration::from_millis(50)), &mut |_| {});
    assert!(matches!(late, Err(LinkError::Late { .. })));
    let of_stop = link.clone();
    let answer: String = link.ask("wait", &(), Some(PATIENCE), &mut |_| of_stop.stop()).unwrap();
    assert_eq!(answer, "stopped");
}

#[test]
fn a_link_that_is_lost_ends_requests_on_both_sides_at_once() {
    let ((there, to), (from, here)) = (pipe().unwrap(), pipe().unwrap());
    let toy = Toy::default();
    let ended = Arc::clone(&toy.ended);
    let agent = spawn(move || obey(&own(), &[&toy], there, here));
    let mut to = to;
    to.write_all(&Message::Hello(own()).frame()).unwrap();
    to.write_all(&Message::Request { id: 1, name: "wait".to_owned(), json: Value::Null }.frame()).unwrap();
    drop(to);
    let began = Instant::now();
    agent.join().unwrap().unwrap();
    assert!(began.elapsed() < CLEAN && ended.load(Ordering::Relaxed) == 2);
    drop(from);

    let (link, mut peer) = scripted();
    let asking = spawn(move || ask(&link, "wait", &Value::Null));
    while !matches!(peer.next(), Message::Request { .. }) {}
    drop(peer);
    let told = asking.join().unwrap().unwrap_err().to_string();
    assert!(told.contains("the link to board is lost"), "{told}");
}

/// The other side of a link, which a test plays.
struct Peer {
    input: PipeReader,
    output: PipeWriter,
}

impl Peer {
    fn next(&mut self) -> Message {
        Message::read(&mut self.input, usize::MAX).unwrap().unwrap()
    }

    fn say(&mut self, message: &Message) {
        self.output.write_all(&message.frame()).unwrap();
    }
}

fn scripted() -> (Link, Peer) {
    let ((input, to), (from, output)) = (pipe().unwrap(), pipe().unwrap());
    let mut peer = Peer { input, output };
    peer.say(&Message::Hello(own()));
    (Link::over("board", from, to, &own(), PATIENCE).unwrap(), peer)
}

#[test]
fn a_side_that_is_silent_is_gone() {
    let (link, peer) = scripted();
    let ((there, to), (_from, here)) = (pipe().unwrap(), pipe().unwrap());
    let toy = Toy::default();
    let ended = Arc::clone(&toy.ended);
    (&to).write_all(&Message::Hello(own()).frame()).unwrap();
    let began = Instant::now();
    let agent = spawn(move || obey(&own(), &[&toy], there, here));
    let told = ask(&link, "wait", &Value::Null).unwrap_err().to_string();
    assert!(told.contains("nothing came for 5 s"), "{told}");
    assert_eq!(link.lost().unwrap(), "nothing came for 5 s; check the network and the machine");
    let told = agent.join().unwrap().unwrap_err().to_string();
    assert!(told.contains("nothing came for 5 s"), "{told}");
    assert!(began.elapsed() < CLEAN && ended.load(Ordering::Relaxed) == 2);
    drop(peer);
}

#[test]
fn a_side_that_beats_is_there() {
    let Pair { link, agent, .. } = pair();
    sleep(Duration::from_millis(6500));
    assert_eq!(ask(&link, "double", &json!(1)).unwrap(), json!(2));
    drop(link);
    agent.join().unwrap().unwrap();
}

#[test]
fn a_side_that_asks_or_tells_what_it_may_not_is_left() {
    let (link, mut peer) = scripted();
    peer.say(&Message::Request { id: 1, name: "x".to_owned(), json: Value::Null });
    let told = ask(&link, "double", &json!(1)).unwrap_err().to_string();
    assert!(told.contains("only the side that asks"), "{told}");
    let bytes = [Message::Hello(own()).frame(), Message::Reply { id: 1, json: Value::Null }.frame()].concat();
    let told = obey(&own(), &[], std::io::Cursor::new(bytes), std::io::sink()).unwrap_err().to_string();
    assert!(told.contains("only an agent"), "{told}");
}

#[test]
fn the_clock_over_there_is_within_the_bound_however_unequal_the_ways_are() {
    let (link, mut peer) = scripted();
    let answering = spawn(move || {
        let mut answered = 0;
        while answered < 5 {
            if let Message::ClockAsk { id } = peer.next() {
                // The way there is slow, the way back is not.
                sleep(Duration::from_millis(20));
                peer.say(&Message::ClockAnswer { id, ns: now_ns() + AHEAD_NS });
                answered += 1;
            }
        }
        peer
    });
    let clock = link.clock(5).unwrap();
    assert!(clock.offset_ns.abs_diff(AHEAD_NS as i64) <= clock.bound_ns, "{clock:?}");
    assert!(clock.round_trip_ns >= 20_000_000 && clock.bound_ns <= clock.round_trip_ns / 2 + 1, "{clock:?}");
    drop(answering.join().unwrap());
}
