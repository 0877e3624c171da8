//! The client's side of a link to one agent on another machine. One thread reads, one writes, and one watches whether the agent is still
//! there.

mod core;

use self::core::{Core, News};
use crate::error::shown_version;
use crate::heard::Heard;
use crate::message::MOST_HELLO_BYTES;
use crate::outbox::FrameOutbox;
use crate::process::Process;
use crate::{Broken, Hello, LinkError, MOST_REQUEST_BYTES, Message, now_ns, text};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::io::{BufReader, Read, Write};
use std::process::Command;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::{Duration, Instant};

/// How long the other side may take to end after a goodbye.
const FAREWELL: Duration = Duration::from_secs(3);

/// How long a command that has closed its output may take to end.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// How long the other side's clock may take.
const SOON: Duration = Duration::from_mins(1);

/// No link is expected to be slower, in bytes per second: the time that a large request takes to arrive is no delay of its answer.
const LEAST_BYTES_PER_S: u64 = 4 << 10;

/// An agent on another machine. Handles are cheap to clone; when the last one is dropped, the agent ends.
#[derive(Clone)]
pub struct Link(Arc<Owner>);

/// The other side's clock against ours: `theirs = ours + offset_ns ± bound_ns`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, serde::Deserialize)]
pub struct ClockOffset {
    /// What is added to our clock to get theirs, in ns.
    pub offset_ns: i64,
    /// The largest possible error of the offset, in ns, however unequal the delays in the two directions are.
    pub bound_ns: u64,
    /// The shortest round trip, in ns.
    pub round_trip_ns: u64,
}

/// The first message or why there is none, and the bytes that came after it.
type First = (Result<Option<Message>, Broken>, Vec<u8>);

struct Owner {
    core: Arc<Core>,
    hello: Hello,
}

impl Link {
    /// Starts the command, whose standard input and output become the link, and exchanges hellos within `patience`. `name` is what messages
    /// call the machine. Fails if the command can't be started, sends no hello in time, or is another version of drome.
    pub fn start(
        name: &str,
        mut command: Command,
        own: &Hello,
        patience: Duration,
    ) -> Result<Self, LinkError> {
        let (process, input, output) = Process::start(name, &mut command)?;
        Self::shake_hands(name, output, input, Some(process), own, patience)
    }

    /// A link over any two streams: for tests.
    #[doc(hidden)]
    pub fn over(
        name: &str,
        input: impl Read + Send + 'static,
        output: impl Write + Send + 'static,
        own: &Hello,
        patience: Duration,
    ) -> Result<Self, LinkError> {
        Self::shake_hands(name, input, output, None, own, patience)
    }

    fn shake_hands(
        name: &str,
        input: impl Read + Send + 'static,
        output: impl Write + Send + 'static,
        process: Option<Process>,
        own: &Hello,
        patience: Duration,
    ) -> Result<Self, LinkError> {
        let heard = Heard::now();
        let mut input = BufReader::new(heard.of(input));
        let core = Arc::new(Core::new(name, FrameOutbox::start(output), heard, process));
        core.outbox.send_now(&Message::Hello(own.clone()));
        let (tell, told) = sync_channel(1);
        let of_thread = Arc::clone(&core);
        std::thread::spawn(move || {
            let first = Message::read(&mut input, MOST_HELLO_BYTES);
            // If the first message is no hello, it is text that a login printed, and the bytes after it are the rest of that text.
            let is_hello = matches!(first, Ok(Some(Message::Hello(_))));
            let rest = if is_hello { Vec::new() } else { input.buffer().to_vec() };
            if tell.send((first, rest)).is_ok() && is_hello {
                of_thread.read_all(&mut input);
            }
        });
        let hello = match told.recv_timeout(patience) {
            Ok((Ok(Some(Message::Hello(hello))), _)) => hello.cleaned(),
            other => return Err(core.no_hello(own, other.ok(), patience)),
        };
        if !hello.understands(own) {
            core.end(Duration::ZERO);
            let here = shown_version(&own.drome, own.protocol);
            let there = shown_version(&hello.drome, hello.protocol);
            return Err(LinkError::OtherVersion { name: name.to_owned(), here, there });
        }
        Core::watch(&core);
        Ok(Self(Arc::new(Owner { core, hello })))
    }

    /// What messages call the machine.
    pub fn name(&self) -> &str {
        &self.0.core.name
    }

    /// What the other side said about itself.
    pub fn hello(&self) -> &Hello {
        &self.0.hello
    }

    /// Makes one request and waits for its answer, no longer than `patience` (`None`: without limit) once the request can have arrived.
    /// `events` gets each event that comes before the answer. Fails at once when the link is lost, and when the other side refuses the
    /// request.
    pub fn ask<Q: Serialize, A: DeserializeOwned>(
        &self,
        name: &str,
        question: &Q,
        patience: Option<Duration>,
        events: &mut dyn FnMut(Value),
    ) -> Result<A, LinkError> {
        let unreadable = |error: serde_json::Error| LinkError::Unreadable {
            name: self.name().to_owned(),
            request: name.to_owned(),
            why: error.to_string(),
        };
        let json = serde_json::to_value(question).map_err(unreadable)?;
        let core = &self.0.core;
        let waiting = core.begin()?;
        let frame = Message::Request { id: waiting.id, name: name.to_owned(), json }.frame();
        let bytes = frame.len();
        if bytes > MOST_REQUEST_BYTES {
            return Err(LinkError::TooLong { request: name.to_owned(), bytes });
        }
        if !core.outbox.send_frame(frame) {
            core.lose("the other side accepts no more messages");
        }
        let arrival = Duration::from_secs(bytes as u64 / LEAST_BYTES_PER_S);
        let deadline = patience.map(|patience| (patience + arrival, Instant::now() + patience + arrival));
        loop {
            match self.next(&waiting.news, name, deadline)? {
                News::Event(json, bytes) => {
                    core.taken(bytes);
                    events(json);
                }
                News::Reply(json) => return serde_json::from_value(json).map_err(unreadable),
                News::Failed(text) => return Err(LinkError::Refused(text)),
                News::Clock { .. } => return Err(core.broken("it answered a request with its clock")),
            }
        }
    }

    /// The other side's clock against ours, measured by `rounds` round trips. The shortest one decides, and half of it is the bound.
    pub fn clock(&self, rounds: usize) -> Result<ClockOffset, LinkError> {
        let core = &self.0.core;
        let mut best: Option<ClockOffset> = None;
        for _ in 0..rounds.max(1) {
            let waiting = core.begin()?;
            let asked_ns = now_ns();
            if !core.outbox.send_now(&Message::ClockAsk { id: waiting.id }) {
                core.lose("the other side accepts no more messages");
            }
            match self.next(&waiting.news, "its clock", Some((SOON, Instant::now() + SOON)))? {
                News::Clock { theirs_ns, came_ns } => {
                    let offset = ClockOffset::of(asked_ns, theirs_ns, came_ns);
                    best = Some(
                        best.filter(|best| best.round_trip_ns <= offset.round_trip_ns).unwrap_or(offset),
                    );
                }
                News::Failed(text) => return Err(LinkError::Refused(text)),
                _ => return Err(core.broken("it answered with something other than its clock")),
            }
        }
        best.ok_or_else(|| core.broken("it sent no reading of its clock"))
    }

    /// Asks the requests that are running there to stop; each still gives an answer, soon.
    pub fn stop(&self) {
        self.0.core.outbox.send_now(&Message::Stop);
    }

    /// Why the link is lost, if it is.
    pub fn lost(&self) -> Option<String> {
        self.0.core.lost()
    }

    fn next(
        &self,
        news: &Receiver<News>,
        request: &str,
        deadline: Option<(Duration, Instant)>,
    ) -> Result<News, LinkError> {
        let core = &self.0.core;
        let Some((patience, deadline)) = deadline else {
            return news.recv().map_err(|_| core.lost_error());
        };
        news.recv_timeout(deadline.saturating_duration_since(Instant::now())).map_err(|error| match error {
            RecvTimeoutError::Disconnected => core.lost_error(),
            RecvTimeoutError::Timeout => LinkError::Late {
                name: core.name.clone(),
                request: request.to_owned(),
                seconds: patience.as_secs().max(1),
            },
        })
    }
}

impl ClockOffset {
    /// The offset from one round trip. Their clock was read at an unknown moment between the two readings of ours, so the middle is off by
    /// at most half of the round trip, however unequal the delays in the two directions are.
    pub(crate) fn of(asked_ns: u64, theirs_ns: u64, came_ns: u64) -> Self {
        let round_trip_ns = came_ns.saturating_sub(asked_ns);
        let middle_ns = asked_ns.saturating_add(round_trip_ns / 2);
        let offset_ns = i128::from(theirs_ns) - i128::from(middle_ns);
        let offset_ns = offset_ns.clamp(i64::MIN.into(), i64::MAX.into()) as i64;
        Self { offset_ns, bound_ns: round_trip_ns.div_ceil(2), round_trip_ns }
    }
}

impl Drop for Owner {
    fn drop(&mut self) {
        self.core.outbox.send_now(&Message::Goodbye);
        self.core.end(FAREWELL);
    }
}

impl Core {
    /// Ends the command, and returns why it sent no hello. `first`: what came instead; `None`: nothing came in time.
    fn no_hello(&self, own: &Hello, first: Option<First>, patience: Duration) -> LinkError {
        let name = self.name.clone();
        let Some((first, rest)) = first else {
            self.end(Duration::ZERO);
            let said = self.process.as_ref().map(Process::said).filter(|said| !said.is_empty());
            let said = said.map_or_else(String::new, |said| format!(" and printed: {said}"));
            let why = format!(
                "drome did not answer there within {} s{said}; run the command by hand to see why",
                patience.as_secs()
            );
            return LinkError::Lost { name, why };
        };
        let start = match first {
            Ok(None) | Err(Broken::Io(_)) if self.process.is_some() => {
                self.outbox.discard();
                let why = |process: &Process| process.why_it_ended(&self.name, &own.drome, LAST_WORDS);
                return self.process.as_ref().map_or_else(|| self.lost_error(), why);
            }
            Ok(None) => {
                return LinkError::Lost { name, why: "the other side ended before it answered".to_owned() };
            }
            Err(Broken::Io(error)) => return LinkError::Io(error),
            Err(Broken::TooLong(length)) => (length as u32).to_le_bytes().to_vec(),
            Ok(Some(_)) | Err(Broken::Cut | Broken::Malformed(_)) => Vec::new(),
        };
        self.end(Duration::ZERO);
        let bytes: Vec<u8> = start.into_iter().chain(rest).take(100).collect();
        LinkError::NotDrome { name, first: text::line(&String::from_utf8_lossy(&bytes)) }
    }
}
