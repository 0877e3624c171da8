//! What a link's threads share: the requests that wait, why the link was lost, and whether it was ended.

use crate::heard::Heard;
use crate::outbox::FrameOutbox;
use crate::process::Process;
use crate::{Broken, LinkError, MOST_FRAME_BYTES, Message, SILENCE, now_ns, text};
use serde_json::Value;
use std::collections::HashMap;
use std::io::Read;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How often the watching thread checks for silence.
const LOOK: Duration = Duration::from_millis(250);

/// The largest total size of the events that wait to be taken, in bytes.
const MOST_EVENT_BYTES: usize = 64 << 20;

/// What arrives for a waiting request.
pub enum News {
    /// An event, and its approximate size in bytes.
    Event(Value, usize),
    Reply(Value),
    Failed(String),
    Clock {
        theirs_ns: u64,
        came_ns: u64,
    },
}

/// The shared part of a link.
pub struct Core {
    pub name: String,
    pub outbox: FrameOutbox,
    pub process: Option<Process>,
    heard: Heard,
    state: Mutex<State>,
    /// Notified when the link is over, because it was lost or because it was ended.
    over: Condvar,
    /// The total size of the events that wait to be taken, in bytes.
    waiting_bytes: AtomicUsize,
    is_ended: AtomicBool,
}

#[derive(Default)]
struct State {
    waiting: HashMap<u64, Sender<News>>,
    last_id: u64,
    lost: Option<String>,
}

/// A request that waits for its answer. Dropping this ends the waiting.
pub struct Waiting<'a> {
    pub id: u64,
    pub news: Receiver<News>,
    core: &'a Core,
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.core.state().waiting.remove(&self.id);
        while let Ok(news) = self.news.try_recv() {
            if let News::Event(_, bytes) = news {
                self.core.taken(bytes);
            }
        }
    }
}

impl Core {
    pub fn new(name: &str, outbox: FrameOutbox, heard: Heard, process: Option<Process>) -> Self {
        Self {
            name: name.to_owned(),
            outbox,
            process,
            heard,
            state: Mutex::default(),
            over: Condvar::new(),
            waiting_bytes: AtomicUsize::new(0),
            is_ended: AtomicBool::new(false),
        }
    }

    /// Starts the thread that notices when the other side is silent.
    pub fn watch(core: &Arc<Self>) {
        let core = Arc::clone(core);
        std::thread::spawn(move || {
            let mut state = core.state();
            while state.lost.is_none() {
                state = core.over.wait_timeout(state, LOOK).unwrap_or_else(PoisonError::into_inner).0;
                if core.heard.is_silent() {
                    drop(state);
                    core.lose(&format!(
                        "nothing came for {} s; check the network and the machine",
                        SILENCE.as_secs()
                    ));
                    return;
                }
            }
        });
    }

    /// Begins a request: its number, and the channel of what will arrive for it. Fails if the link is lost.
    pub fn begin(&self) -> Result<Waiting<'_>, LinkError> {
        let (sender, news) = channel();
        let mut state = self.state();
        if state.lost.is_some() {
            drop(state);
            return Err(self.lost_error());
        }
        state.last_id += 1;
        let id = state.last_id;
        state.waiting.insert(id, sender);
        Ok(Waiting { id, news, core: self })
    }

    /// Notes that a waiting event of this size was taken.
    pub fn taken(&self, bytes: usize) {
        self.waiting_bytes.fetch_sub(bytes, Ordering::Relaxed);
    }

    /// Reads until the link is over.
    pub fn read_all(&self, input: &mut impl Read) {
        loop {
            match Message::read(input, MOST_FRAME_BYTES) {
                Ok(Some(Message::Goodbye) | None) => return self.lose("drome there ended"),
                Ok(Some(message)) => {
                    if let Err(why) = self.deliver(message) {
                        return self.lose(&why);
                    }
                }
                Err(Broken::Io(error)) => return self.lose(&error.to_string()),
                Err(error) => return self.lose(&format!("{error}; install the same build on both machines")),
            }
        }
    }

    /// Passes the message to the request that waits for it. If that request no longer waits, the message is dropped.
    fn deliver(&self, message: Message) -> Result<(), String> {
        let came_ns = now_ns();
        let (id, news) = match message {
            Message::Beat => return Ok(()),
            Message::Event { id, mut json } => {
                text::clean_json(&mut json);
                let bytes = size(&json);
                if self.waiting_bytes.fetch_add(bytes, Ordering::Relaxed) + bytes > MOST_EVENT_BYTES {
                    return Err("it sends events faster than they are taken".to_owned());
                }
                (id, News::Event(json, bytes))
            }
            Message::Reply { id, mut json } => {
                text::clean_json(&mut json);
                (id, News::Reply(json))
            }
            Message::Failed { id, text } => (id, News::Failed(text::cleaned(&text))),
            Message::ClockAnswer { id, ns } => (id, News::Clock { theirs_ns: ns, came_ns }),
            _ => return Err("it sent a message that only the side that asks may send".to_owned()),
        };
        let state = self.state();
        let refused = match state.waiting.get(&id) {
            Some(waiting) => waiting.send(news).err().map(|refused| refused.0),
            None => Some(news),
        };
        if let Some(News::Event(_, bytes)) = refused {
            self.taken(bytes);
        }
        Ok(())
    }

    /// Marks the link as lost, and wakes all waiting requests. The first reason is kept.
    pub fn lose(&self, why: &str) {
        let mut state = self.state();
        if state.lost.is_none() {
            state.lost = Some(why.to_owned());
        }
        state.waiting.clear();
        drop(state);
        self.over.notify_all();
        self.outbox.discard();
    }

    pub fn lost(&self) -> Option<String> {
        self.state().lost.clone()
    }

    /// The error of a lost link, with what the command printed, if it printed anything.
    pub fn lost_error(&self) -> LinkError {
        let why = self.lost().unwrap_or_else(|| "it is over".to_owned());
        let said = self.process.as_ref().map(Process::said).filter(|said| !said.is_empty());
        let why = said.map_or_else(|| why.clone(), |said| format!("{why} (it printed: {said})"));
        LinkError::Lost { name: self.name.clone(), why }
    }

    /// Gives up the link because the other side has violated the protocol, and returns the error.
    pub fn broken(&self, why: &str) -> LinkError {
        self.lose(why);
        self.lost_error()
    }

    /// Ends the link and its command, which gets `patience` to end by itself.
    pub fn end(&self, patience: Duration) {
        if self.is_ended.swap(true, Ordering::Relaxed) {
            return;
        }
        let is_lost = self.lost().is_some();
        self.outbox.close();
        if let Some(process) = &self.process {
            process.end(if is_lost { Duration::ZERO } else { patience });
        }
        self.lose("it is over");
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The approximate size of a JSON value in memory, in bytes.
fn size(json: &Value) -> usize {
    let own = size_of::<Value>();
    match json {
        Value::String(text) => own + text.len(),
        Value::Array(items) => own + items.iter().map(size).sum::<usize>(),
        Value::Object(fields) => {
            own + fields.iter().map(|(name, value)| name.len() + size(value)).sum::<usize>()
        }
        _ => own,
    }
}
