//! The local end: a TCP port for one client at a time, or a pseudo-terminal.

use std::io::{self, ErrorKind};
use std::net::SocketAddr;

use rustix::net::sockopt::set_socket_keepalive;
use tokio::net::{TcpListener, TcpStream};

#[cfg(unix)]
use super::pty::Pty;
use super::{Place, Turn};
use crate::exit::Failure;

/// The local end, open.
#[derive(Debug)]
pub(super) enum Local {
    Tcp {
        listener: TcpListener,
        client: Option<(TcpStream, SocketAddr)>,
    },
    #[cfg(unix)]
    Pty(Pty),
}

impl Local {
    /// Makes the local end.
    ///
    /// # Errors
    /// [`Failure::BadInput`] with what to do, where it cannot be made.
    pub(super) async fn make(place: &Place) -> Result<Self, Failure> {
        match place {
            Place::Tcp(at) => {
                let listener = TcpListener::bind(at).await.map_err(|error| {
                    let next = match error.kind() {
                        ErrorKind::AddrInUse => "; another program has this port: end that, or choose another",
                        ErrorKind::AddrNotAvailable => "; no interface of this machine has that address",
                        ErrorKind::PermissionDenied => "; ports below 1024 need privileges: choose a higher one",
                        _ => "",
                    };
                    Failure::BadInput(format!("cannot listen on {at}: {error}{next}"))
                })?;
                Ok(Self::Tcp { listener, client: None })
            }
            #[cfg(unix)]
            Place::Pty(name) => Ok(Self::Pty(Pty::make(name)?)),
            #[cfg(not(unix))]
            Place::Pty(name) => Err(Failure::BadInput(format!(
                "cannot make the pseudo-terminal {}: this system has none; use --listen",
                name.display()
            ))),
        }
    }

    /// Says where it is, for people.
    pub(super) fn ready(&self) -> String {
        match self {
            Self::Tcp { listener, .. } => match listener.local_addr() {
                Ok(at) => format!("Listening on {at}, for one client at a time"),
                Err(error) => format!("Listening, for one client at a time ({error})"),
            },
            #[cfg(unix)]
            Self::Pty(pty) => pty.ready(),
        }
    }

    /// Waits for something to do: `reads` where the client may send, `writes` where there is something for it. Dropping the future
    /// loses nothing.
    ///
    /// # Errors
    /// [`Failure::BadInput`] where the end itself is broken.
    pub(super) async fn turn(&mut self, reads: bool, writes: bool) -> Result<Turn, Failure> {
        match self {
            Self::Tcp { listener, client } => {
                let present = client.as_ref().map(|(stream, _)| stream);
                let turn = tokio::select! {
                    accepted = listener.accept() => Err(accepted),
                    () = side(present, reads, true) => Ok(Turn::Readable),
                    () = side(present, writes, false) => Ok(Turn::Writable),
                };
                Ok(match turn {
                    Ok(turn) => turn,
                    // Closed at once where there is one already.
                    Err(Ok((_, who))) if client.is_some() => Turn::Refused(who),
                    Err(Ok((stream, who))) => {
                        if stream.set_nodelay(true).and_then(|()| watch(&stream)).is_ok() {
                            *client = Some((stream, who));
                        }
                        Turn::Came(who)
                    }
                    Err(Err(error)) if of_one_client(&error) => Turn::Nothing,
                    Err(Err(error)) => return Err(Failure::BadInput(format!("cannot accept a client: {error}"))),
                })
            }
            #[cfg(unix)]
            Self::Pty(pty) => pty.turn(reads, writes).await,
        }
    }

    /// Reads what is there; 0 where the client is gone.
    pub(super) fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Tcp { client: Some((stream, _)), .. } => stream.try_read(room),
            Self::Tcp { client: None, .. } => Err(ErrorKind::WouldBlock.into()),
            #[cfg(unix)]
            Self::Pty(pty) => pty.read(room),
        }
    }

    /// Writes what finds room.
    pub(super) fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Tcp { client: Some((stream, _)), .. } => stream.try_write(bytes),
            Self::Tcp { client: None, .. } => Err(ErrorKind::WouldBlock.into()),
            #[cfg(unix)]
            Self::Pty(pty) => pty.write(bytes),
        }
    }

    /// Returns whether somebody would get what the tool sends; of a pseudo-terminal nobody knows.
    pub(super) const fn has_client(&self) -> bool {
        match self {
            Self::Tcp { client, .. } => client.is_some(),
            #[cfg(unix)]
            Self::Pty(_) => true,
        }
    }

    /// Closes the client's connection; returns whose it was. A pseudo-terminal stays.
    pub(super) fn hang_up(&mut self) -> Option<SocketAddr> {
        match self {
            Self::Tcp { client, .. } => client.take().map(|(_, who)| who),
            #[cfg(unix)]
            Self::Pty(_) => None,
        }
    }

    /// Closes whoever connects and drops whatever is written, until the future is dropped: an order that waits for the robot would
    /// reach the tool much too late.
    pub(super) async fn refuse_all(&mut self, tell: &mut impl FnMut(&str)) -> Failure {
        let mut room = [0; 1024];
        loop {
            match self.turn(true, false).await {
                Ok(Turn::Came(who)) => {
                    self.hang_up();
                    tell(&format!("Refused {who}: there is no connection to the robot"));
                }
                Ok(Turn::Readable) => drop(self.read(&mut room)),
                Ok(_) => {}
                Err(failed) => return failed,
            }
        }
    }
}

/// Waits until the stream can be read or written, where that is wanted.
async fn side(stream: Option<&TcpStream>, wanted: bool, reads: bool) {
    match stream.filter(|_| wanted) {
        // An error of the socket shows in what is done next.
        Some(stream) if reads => drop(stream.readable().await),
        Some(stream) => drop(stream.writable().await),
        None => std::future::pending().await,
    }
}

/// Returns whether an error of `accept` was of that client alone.
fn of_one_client(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::ConnectionAborted | ErrorKind::ConnectionReset | ErrorKind::Interrupted)
}

/// Has the kernel look for a peer that was switched off without a word.
pub(super) fn watch(stream: &TcpStream) -> io::Result<()> {
    set_socket_keepalive(stream, true)?;
    #[cfg(target_os = "linux")]
    {
        use rustix::net::sockopt::{set_tcp_keepcnt, set_tcp_keepidle, set_tcp_keepintvl};
        set_tcp_keepidle(stream, std::time::Duration::from_secs(5))?;
        set_tcp_keepintvl(stream, std::time::Duration::from_secs(2))?;
        set_tcp_keepcnt(stream, 3)?;
    }
    Ok(())
}
