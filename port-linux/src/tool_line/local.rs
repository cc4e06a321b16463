//! The local end of the tool's serial line: a TCP port for one client at a time, or a pseudo-terminal.

use std::io::{self, ErrorKind};
use std::net::SocketAddr;

use rustix::net::sockopt::set_socket_keepalive;
use tokio::net::{TcpListener, TcpStream};

#[cfg(unix)]
use super::pty::Pty;
use super::{LocalEnd, Turn};
use crate::exit::Failure;

/// The open local end of the tool's serial line: a TCP port or a pseudo-terminal.
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
    /// Opens the local end at `place`.
    ///
    /// # Errors
    /// Returns [`Failure::BadInput`] if the port or the pseudo-terminal cannot be opened, with advice for the usual
    /// causes.
    pub(super) async fn make(place: &LocalEnd) -> Result<Self, Failure> {
        match place {
            LocalEnd::Tcp(at) => {
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
            LocalEnd::Pty(name) => Ok(Self::Pty(Pty::make(name)?)),
            #[cfg(not(unix))]
            LocalEnd::Pty(name) => Err(Failure::BadInput(format!(
                "cannot make the pseudo-terminal {}: this system has none; use --listen",
                name.display()
            ))),
        }
    }

    /// Returns a message for people with the address or the name of the local end.
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

    /// Waits for the next event at the local end. Waits for bytes of the client only if `reads` is `true`, and for
    /// room for bytes to the client only if `writes` is `true`. Dropping the future loses nothing.
    ///
    /// # Errors
    /// Returns [`Failure::BadInput`] if the port or the pseudo-terminal has failed.
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

    /// Reads bytes of the client without waiting. Returns their number, or 0 if the client has disconnected.
    pub(super) fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Tcp { client: Some((stream, _)), .. } => stream.try_read(room),
            Self::Tcp { client: None, .. } => Err(ErrorKind::WouldBlock.into()),
            #[cfg(unix)]
            Self::Pty(pty) => pty.read(room),
        }
    }

    /// Writes as many of the `bytes` to the client as find room, without waiting. Returns their number.
    pub(super) fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Tcp { client: Some((stream, _)), .. } => stream.try_write(bytes),
            Self::Tcp { client: None, .. } => Err(ErrorKind::WouldBlock.into()),
            #[cfg(unix)]
            Self::Pty(pty) => pty.write(bytes),
        }
    }

    /// Returns `true` if a client is connected. Always `true` for a pseudo-terminal, because its readers are
    /// unknown.
    pub(super) const fn has_client(&self) -> bool {
        match self {
            Self::Tcp { client, .. } => client.is_some(),
            #[cfg(unix)]
            Self::Pty(_) => true,
        }
    }

    /// Closes the client's connection, and returns its address. Does nothing to a pseudo-terminal.
    pub(super) fn hang_up(&mut self) -> Option<SocketAddr> {
        match self {
            Self::Tcp { client, .. } => client.take().map(|(_, who)| who),
            #[cfg(unix)]
            Self::Pty(_) => None,
        }
    }

    /// Closes every new connection and discards every byte written to a pseudo-terminal, until the future is
    /// dropped. A command that waited for the robot's connection would reach the tool much too late. Returns the
    /// failure of the local end if it fails.
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

/// Waits until the client's connection `stream` can be read, or written if `reads` is `false`. Never returns without a
/// stream, or if it is not `wanted`.
async fn side(stream: Option<&TcpStream>, wanted: bool, reads: bool) {
    match stream.filter(|_| wanted) {
        // An error of the socket shows in what is done next.
        Some(stream) if reads => drop(stream.readable().await),
        Some(stream) => drop(stream.writable().await),
        None => std::future::pending().await,
    }
}

/// Returns `true` if an error of `accept` concerns only one client, so that the port can still be used.
fn of_one_client(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::ConnectionAborted | ErrorKind::ConnectionReset | ErrorKind::Interrupted)
}

/// Enables TCP keep-alive, so that a peer that was switched off is detected.
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
