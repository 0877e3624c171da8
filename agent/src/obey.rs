//! The side that obeys: reads requests from its input and nowhere else, answers each in a separate thread, and ends when its input ends.

use crate::error::shown_version;
use crate::heard::Heard;
use crate::message::MOST_HELLO_BYTES;
use crate::outbox::FrameOutbox;
use crate::{Broken, Hello, LinkError, MOST_FRAME_BYTES, MOST_REQUEST_BYTES, Message, SILENCE, now_ns, text};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::io::{BufReader, Read, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// What messages call the side that asks.
const ASKER: &str = "the drome that started this agent";

/// How long writing the last messages may take.
const LAST_WORDS: Duration = Duration::from_millis(500);

/// How often to check whether the other side has fallen silent.
const LOOK: Duration = Duration::from_millis(250);

/// The largest number of requests that run at once.
const MOST_REQUESTS: usize = 64;

/// The number of messages that may wait between the thread that reads and the one that obeys.
const WAITING: usize = 2;

/// Answers the requests whose names it knows.
pub trait Handler: Send + Sync {
    /// Answers a request; each call is in a separate thread. `None`: this handler does not know the request's name. The text of an error is
    /// shown to the user, on the side that asks.
    fn answer(&self, call: &Call<'_>) -> Option<Result<Value, String>>;

    /// Ends everything that requests have started, and returns when all of it is gone. It is called when the link is over and the stop flag
    /// of every request is set: once while requests may still run, and once more when none does.
    fn end(&self);
}

/// A request that is being answered.
pub struct Call<'a> {
    id: u64,
    name: String,
    json: Value,
    stop: Arc<AtomicBool>,
    shared: &'a Shared,
}

impl Call<'_> {
    /// The request's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The request's content. Fails if that does not have the form of `Q`, as when another build of drome sent it.
    pub fn question<Q: DeserializeOwned>(&self) -> Result<Q, String> {
        // From a reference, so that the value need not be cloned.
        Q::deserialize(&self.json).map_err(|error| {
            format!("`{}` can't be read here ({error}): install the same build on both machines", self.name)
        })
    }

    /// Sends an event before the answer. Waits while the other side does not read. Does nothing when the link is over, or if the event is
    /// too long for a frame.
    pub fn event<E: Serialize>(&self, event: &E) {
        if let Ok(json) = serde_json::to_value(event) {
            let frame = Message::Event { id: self.id, json }.frame();
            if frame.len() <= MOST_FRAME_BYTES {
                self.shared.outbox.send_frame(frame);
            }
        }
    }

    /// A flag that is set when the request must stop, and when the link is over.
    pub fn stop(&self) -> &Arc<AtomicBool> {
        &self.stop
    }
}

/// What all requests share.
struct Shared {
    outbox: FrameOutbox,
    running: Mutex<Vec<Arc<AtomicBool>>>,
}

/// Answers requests until the input ends, is silent for longer than [`SILENCE`], or has a goodbye. Then sets all stop flags, calls the
/// handlers' `end`, and returns when no request runs any more. An error says why the link did not end in order.
pub fn obey(
    own: &Hello,
    handlers: &[&dyn Handler],
    input: impl Read + Send + 'static,
    output: impl Write + Send + 'static,
) -> Result<(), LinkError> {
    let outbox = FrameOutbox::start(output);
    outbox.send_now(&Message::Hello(own.clone()));
    let shared = Shared { outbox, running: Mutex::default() };
    let result = std::thread::scope(|scope| {
        let heard = Heard::now();
        let messages = read_in_a_thread(heard.of(input));
        let result = greet(own, &messages, &heard).and_then(|()| {
            while let Some((message, came_ns)) = next(&messages, &heard)? {
                match message {
                    Message::Request { id, name, json } => {
                        let Some(stop) = shared.begin(id) else { continue };
                        let shared = &shared;
                        scope.spawn(move || answer(handlers, &Call { id, name, json, stop, shared }));
                    }
                    Message::Goodbye => break,
                    other => shared.note(&other, came_ns)?,
                }
            }
            Ok(())
        });
        shared.stop();
        // Requests that are sending an event stop waiting for room.
        shared.outbox.close();
        handlers.iter().for_each(|handler| handler.end());
        result
    });
    handlers.iter().for_each(|handler| handler.end());
    // The other side may still read why the link ended.
    shared.outbox.finish(LAST_WORDS);
    result
}

/// What the reading thread has read, and when, in ns of the monotonic clock.
type Received = (Result<Option<Message>, Broken>, u64);

/// Reads in a separate thread, because reading may block for ever on an input that nobody closes.
fn read_in_a_thread(input: impl Read + Send + 'static) -> Receiver<Received> {
    let (sender, messages) = sync_channel(WAITING);
    std::thread::spawn(move || {
        let mut input = BufReader::new(input);
        let mut most = MOST_HELLO_BYTES;
        loop {
            let read = Message::read(&mut input, most);
            let is_over = !matches!(read, Ok(Some(_)));
            if sender.send((read, now_ns())).is_err() || is_over {
                return;
            }
            most = MOST_REQUEST_BYTES;
        }
    });
    messages
}

/// The next message, and when it came (ns). `None`: the other side ended in order.
fn next(messages: &Receiver<Received>, heard: &Heard) -> Result<Option<(Message, u64)>, LinkError> {
    let lost = |why: String| LinkError::Lost { name: ASKER.to_owned(), why };
    loop {
        match messages.recv_timeout(LOOK) {
            Ok((Ok(message), came_ns)) => return Ok(message.map(|message| (message, came_ns))),
            Ok((Err(Broken::Io(error)), _)) => return Err(LinkError::Io(error)),
            Ok((Err(error), _)) => return Err(lost(error.to_string())),
            Err(RecvTimeoutError::Disconnected) => return Ok(None),
            Err(RecvTimeoutError::Timeout) if heard.is_silent() => {
                return Err(lost(format!("nothing came for {} s", SILENCE.as_secs())));
            }
            Err(RecvTimeoutError::Timeout) => {}
        }
    }
}

/// Waits for the other side's hello, and fails if that side is no drome or another version.
fn greet(own: &Hello, messages: &Receiver<Received>, heard: &Heard) -> Result<(), LinkError> {
    let name = ASKER.to_owned();
    let first = loop {
        match messages.recv_timeout(LOOK) {
            Ok((first, _)) => break first,
            Err(RecvTimeoutError::Timeout) if !heard.is_silent() => {}
            Err(_) => {
                let why = "nothing came: drome on another machine starts an agent, as `drome agent --check 'ssh HOST'` does".to_owned();
                return Err(LinkError::Lost { name, why });
            }
        }
    };
    let hello = match first {
        Ok(Some(Message::Hello(hello))) => hello.cleaned(),
        Ok(None) => return Ok(()),
        Err(Broken::Io(error)) => return Err(LinkError::Io(error)),
        Ok(Some(_)) | Err(Broken::Cut | Broken::Malformed(_)) => {
            return Err(LinkError::NotDrome { name, first: String::new() });
        }
        Err(Broken::TooLong(length)) => {
            let first = text::line(&String::from_utf8_lossy(&(length as u32).to_le_bytes()));
            return Err(LinkError::NotDrome { name, first });
        }
    };
    if hello.understands(own) {
        return Ok(());
    }
    // The other side has this side's hello and says the same.
    let here = shown_version(&own.drome, own.protocol);
    Err(LinkError::OtherVersion { name, here, there: shown_version(&hello.drome, hello.protocol) })
}

fn answer(handlers: &[&dyn Handler], call: &Call<'_>) {
    let answers = || handlers.iter().find_map(|handler| handler.answer(call));
    let result = match catch_unwind(AssertUnwindSafe(answers)) {
        Ok(Some(result)) => result,
        Ok(None) => {
            Err(format!("drome there does not know `{}`: install the same build on both machines", call.name))
        }
        Err(_) => Err(format!("drome there failed at `{}` because of a bug: please report it", call.name)),
    };
    let reply = match result {
        Ok(json) => Message::Reply { id: call.id, json },
        Err(text) => Message::Failed { id: call.id, text: text::cleaned(&text) },
    };
    let frame = reply.frame();
    let shared = call.shared;
    shared.running().retain(|stop| !Arc::ptr_eq(stop, &call.stop));
    if frame.len() <= MOST_FRAME_BYTES {
        shared.outbox.send_frame(frame);
    } else {
        let text = format!(
            "the answer to `{}` has {} bytes, more than the link carries: ask for less at once",
            call.name,
            frame.len()
        );
        shared.outbox.send(&Message::Failed { id: call.id, text });
    }
}

impl Shared {
    /// Registers a running request and returns its stop flag. `None`: too many are running, and the other side was told so.
    fn begin(&self, id: u64) -> Option<Arc<AtomicBool>> {
        let mut running = self.running();
        if running.len() >= MOST_REQUESTS {
            let text = format!("{MOST_REQUESTS} requests run already: wait for their end");
            self.outbox.send_now(&Message::Failed { id, text });
            return None;
        }
        let stop = Arc::new(AtomicBool::new(false));
        running.push(Arc::clone(&stop));
        Some(stop)
    }

    /// Handles every message other than requests and goodbye.
    fn note(&self, message: &Message, came_ns: u64) -> Result<(), LinkError> {
        match message {
            Message::Beat => {}
            Message::Stop => self.stop(),
            Message::ClockAsk { id } => {
                self.outbox.send_now(&Message::ClockAnswer { id: *id, ns: came_ns });
            }
            _ => {
                let why = "it sent a message that only an agent may send".to_owned();
                return Err(LinkError::Lost { name: ASKER.to_owned(), why });
            }
        }
        Ok(())
    }

    fn stop(&self) {
        self.running().iter().for_each(|stop| stop.store(true, Ordering::Relaxed));
    }

    fn running(&self) -> MutexGuard<'_, Vec<Arc<AtomicBool>>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
