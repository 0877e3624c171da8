//! rustls's unbuffered connections, which keep no buffers of their own, the same for both sides: one step at a
//! time, with input and output where the caller wants them.

use super::buffers::Outgoing;
use rustls::client::UnbufferedClientConnection;
use rustls::server::UnbufferedServerConnection;
use rustls::unbuffered::{ConnectionState, UnbufferedStatus};
use rustls::{CommonState, Error};

/// The task of rustls when it can make progress.
#[derive(Clone, Copy)]
pub enum Job<'a> {
    Read,
    Write(&'a [u8]),
    Close,
}

/// The result of one step.
pub enum Step {
    /// There is something else to do.
    On,
    /// It needs more bytes from the peer.
    Blocked,
    /// The task is done; for `Read`: everything that was there is read.
    Done,
    PeerClosed,
}

/// A connection of either side.
pub enum Connection {
    Client(UnbufferedClientConnection),
    Server(UnbufferedServerConnection),
}

impl Connection {
    /// The part that both sides have in common.
    pub fn common(&self) -> &CommonState {
        match self {
            Self::Client(connection) => connection,
            Self::Server(connection) => connection,
        }
    }

    /// Takes one step; returns its result and how many bytes of `incoming` were used.
    #[inline]
    pub fn advance(
        &mut self,
        incoming: &mut [u8],
        job: Job,
        plain: &mut Vec<u8>,
        out: &mut Outgoing,
    ) -> (usize, Result<Step, Error>) {
        match self {
            Self::Client(connection) => apply(connection.process_tls_records(incoming), job, plain, out),
            Self::Server(connection) => apply(connection.process_tls_records(incoming), job, plain, out),
        }
    }
}

#[inline]
fn apply<Data>(
    status: UnbufferedStatus<'_, '_, Data>,
    job: Job,
    plain: &mut Vec<u8>,
    out: &mut Outgoing,
) -> (usize, Result<Step, Error>) {
    let UnbufferedStatus { mut discard, state, .. } = status;
    let step = match state {
        Err(error) => Err(error),
        Ok(ConnectionState::EncodeTlsData(mut data)) => {
            out.put(|room| Ok(data.encode(room)?)).map(|()| Step::On)
        }
        // What is in `out` is sent before anything else is.
        Ok(ConnectionState::TransmitTlsData(data)) => {
            data.done();
            Ok(Step::On)
        }
        Ok(ConnectionState::ReadTraffic(mut traffic)) => loop {
            match traffic.next_record() {
                None => break Ok(Step::On),
                Some(Err(error)) => break Err(error),
                Some(Ok(record)) => {
                    plain.extend_from_slice(record.payload);
                    discard += record.discard;
                }
            }
        },
        Ok(ConnectionState::PeerClosed) => Ok(Step::PeerClosed),
        Ok(ConnectionState::WriteTraffic(mut traffic)) => match job {
            Job::Read => Ok(Step::Done),
            Job::Write(bytes) => out.put(|room| Ok(traffic.encrypt(bytes, room)?)).map(|()| Step::Done),
            Job::Close => out.put(|room| Ok(traffic.queue_close_notify(room)?)).map(|()| Step::Done),
        },
        Ok(_) => Ok(Step::Blocked),
    };
    (discard, step)
}
