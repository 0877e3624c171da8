//! The threads of a server. All of them serve, or none: a server with fewer threads than it was asked for would be taken for a slower machine.

use crate::turnstile::Turnstile;
use crate::worker::{self, Ends, Task};
use crate::{BackEnd, Server, Site};
use std::io::{Error, Result};
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{SyncSender, channel, sync_channel};
use std::thread::{Builder, ScopedJoinHandle};

/// What tests refuse to a thread, by its index.
#[derive(Clone, Copy, Debug)]
pub struct Means {
    /// Fails where a thread is to get no back end.
    pub admit: fn(usize, BackEnd) -> Result<()>,
    /// Makes the builder of a thread.
    pub thread: fn(usize) -> Builder,
}

impl Default for Means {
    fn default() -> Self {
        Self { admit: |_, _| Ok(()), thread: |_| Builder::new() }
    }
}

/// Why the threads ended.
pub enum Failure {
    /// One of them could not begin, so none did.
    NotBegun(Error),
    /// One of them failed, so all ended.
    Later(Error),
}

impl Failure {
    /// What the system said.
    pub fn cause(self) -> Error {
        match self {
            Self::NotBegun(error) | Self::Later(error) => error,
        }
    }
}

/// Ends the other threads when it is dropped: when this one has ended, for whatever reason.
struct EndsOthers<'a>(&'a AtomicBool);

impl Drop for EndsOthers<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

type Member<'s> = (ScopedJoinHandle<'s, Result<()>>, SyncSender<()>);

impl Server {
    /// Serves with a thread for each listener until `stop` is set. `begun` is called when all threads are ready, before any answers.
    pub(crate) fn serve(
        &self,
        site: &Site,
        stop: &AtomicBool,
        listeners: Vec<OwnedFd>,
        begun: impl FnOnce(),
    ) -> std::result::Result<(), Failure> {
        let (origin_ns, numbers, is_over) = (net::clock::now_ns(), AtomicU64::new(0), AtomicBool::new(false));
        let (all, ends, numbers) = (listeners.len(), Ends { stop, is_over: &is_over }, &numbers);
        std::thread::scope(|scope| {
            let (tell, ready) = channel();
            let (mut members, mut refused): (Vec<Member<'_>>, _) = (Vec::with_capacity(all), None);
            for (index, listener) in listeners.into_iter().enumerate() {
                let (open, opens) = sync_channel(1);
                let turnstile = Turnstile { ready: tell.clone(), opens };
                let work = move || {
                    let _others = EndsOthers(ends.is_over);
                    (self.means.admit)(index, self.back_end)?;
                    let task = Task {
                        config: &self.config,
                        ends,
                        origin_ns,
                        listener,
                        back_end: self.back_end,
                        turnstile,
                    };
                    worker::run(task, self.responder(site)?, self.outbox(numbers))
                };
                match (self.means.thread)(index).spawn_scoped(scope, work) {
                    Ok(thread) => members.push((thread, open)),
                    Err(error) => {
                        refused = Some(Error::other(format!(
                            "thread {} of {all} can't be started: {error}",
                            index + 1
                        )));
                        break;
                    }
                }
            }
            drop(tell);
            let is_whole = refused.is_none() && ready.iter().count() == all;
            if is_whole {
                begun();
                for (_, open) in &members {
                    let _ = open.send(());
                }
            }
            // Where one is missing, dropping the other sides of the turnstiles sends the others home.
            let threads: Vec<_> = members.into_iter().map(|(thread, _)| thread).collect();
            let died = || Err(Error::other("a thread of the server died"));
            let ended: Vec<_> =
                threads.into_iter().map(|thread| thread.join().unwrap_or_else(|_| died())).collect();
            let failed = refused.or_else(|| ended.into_iter().find_map(Result::err));
            match failed {
                None => Ok(()),
                Some(error) if is_whole => Err(Failure::Later(error)),
                Some(error) => Err(Failure::NotBegun(error)),
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Config, Faults, Listen, Messages};
    use std::io::{Read, Write};
    use std::net::TcpStream;
    use std::time::Duration;

    const THREADS: usize = 3;

    fn bound(io: Option<BackEnd>, means: Means) -> Server {
        let config = Config {
            listen: Listen::Tcp(([127, 0, 0, 1], 0).into()),
            threads: THREADS,
            root: None,
            idle_timeout: Duration::from_mins(1),
            access_log: None,
            spin: Duration::ZERO,
            messages: Messages::default(),
            faults: Faults::new(&[], 0).unwrap(),
            io,
            tls: None,
        };
        Server { means, ..Server::bind(config).unwrap() }
    }

    /// Serves until `begun` has been called, or until it fails; fails if that takes long. Returns what it served with.
    fn served(server: Server, asks: bool) -> std::io::Result<Option<BackEnd>> {
        let (to, ended) = channel();
        std::thread::spawn(move || {
            let (stop, mut used) = (AtomicBool::new(false), None);
            let address = server.place();
            let result = server.run(&Site::new(), &stop, |server| {
                used = Some(server.back_end);
                // Nothing answers before all threads are ready.
                if asks {
                    let at = address.trim_start_matches("http://").trim_end_matches('/');
                    let mut stream = TcpStream::connect(at).unwrap();
                    stream.write_all(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n").unwrap();
                    stream.set_read_timeout(Some(Duration::from_millis(20))).unwrap();
                    assert!(stream.read(&mut [0; 9]).is_err());
                }
                stop.store(true, Ordering::Relaxed);
            });
            to.send(result.map(|()| used))
        });
        ended.recv_timeout(Duration::from_mins(1)).expect("the server ends")
    }

    fn refuses<const AT: usize>(index: usize, _: BackEnd) -> Result<()> {
        if index == AT { Err(Error::from_raw_os_error(12)) } else { Ok(()) }
    }

    fn refuses_a_ring<const AT: usize>(index: usize, back_end: BackEnd) -> Result<()> {
        if back_end == BackEnd::Uring { refuses::<AT>(index, back_end) } else { Ok(()) }
    }

    fn panics<const AT: usize>(index: usize, back_end: BackEnd) -> Result<()> {
        assert!(index != AT, "a thread panics in this test");
        refuses::<THREADS>(index, back_end)
    }

    /// A thread whose stack has no room in the address space can't be started.
    fn no_thread<const AT: usize>(index: usize) -> Builder {
        if index == AT { Builder::new().stack_size(1 << 60) } else { Builder::new() }
    }

    #[test]
    fn a_server_whose_threads_are_all_ready_serves() {
        assert_eq!(
            served(bound(Some(BackEnd::Epoll), Means::default()), true).unwrap(),
            Some(BackEnd::Epoll)
        );
    }

    #[test]
    fn a_server_that_lacks_one_thread_does_not_serve_with_the_others() {
        let thread = Means::default().thread;
        let admits = [refuses::<0>, refuses::<1>, refuses::<2>, panics::<0>, panics::<2>];
        let means = admits.into_iter().map(|admit| Means { admit, thread });
        let threads = [no_thread::<0>, no_thread::<1>, no_thread::<2>];
        for means in means.chain(threads.map(|thread| Means { thread, ..Means::default() })) {
            let error = served(bound(Some(BackEnd::Epoll), means), false).unwrap_err().to_string();
            assert!(
                ["Cannot allocate", "can't be started", "died"].iter().any(|cause| error.contains(cause)),
                "{error}"
            );
        }
    }

    #[test]
    fn a_ring_that_one_thread_lacks_is_used_by_none() {
        let thread = Means::default().thread;
        for admit in [refuses_a_ring::<0>, refuses_a_ring::<1>, refuses_a_ring::<2>] {
            let server = bound(None, Means { admit, thread });
            assert_eq!(served(server, false).unwrap(), Some(BackEnd::Epoll));
            let named =
                Server { back_end: BackEnd::Uring, ..bound(Some(BackEnd::Uring), Means { admit, thread }) };
            assert!(served(named, false).is_err(), "who asks for rings by name gets rings or nothing");
        }
    }
}
