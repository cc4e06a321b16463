//! An address at which a server that shows a session live listens: the page, or the server for Foxglove.

use std::net::{Ipv4Addr, SocketAddr, TcpListener};

use outrigger::exit::Failure;

/// An address at which a server that shows a session live listens, and its listener.
pub(crate) struct Bound {
    pub(crate) listener: TcpListener,
    pub(crate) address: SocketAddr,
}

impl Bound {
    /// Listens at `wanted`, else at the address `usual` or, if another process uses that, on a free port of the
    /// loopback. `option` is the option of the command that asks for the server.
    ///
    /// # Errors
    /// [`Failure::BadInput`] if the address is not available.
    pub(crate) fn at(option: &str, wanted: Option<SocketAddr>, usual: SocketAddr) -> Result<Self, Failure> {
        let bound = match wanted {
            Some(address) => TcpListener::bind(address),
            None => TcpListener::bind(usual).or_else(|_| TcpListener::bind((Ipv4Addr::LOCALHOST, 0))),
        };
        let failed = |error: std::io::Error| {
            let at = wanted.unwrap_or(usual);
            Failure::BadInput(format!(
                "{option}: cannot listen on {at}: {error}; check that the port is free and the address is this machine's"
            ))
        };
        let listener = bound.map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        listener.set_nonblocking(true).map_err(failed)?;
        Ok(Self { listener, address })
    }

    /// Returns the URL of the server with this scheme, without a path.
    pub(crate) fn url(&self, scheme: &str) -> String {
        let address = self.address;
        if address.ip().is_unspecified() {
            format!("{scheme}://THIS-MACHINE:{}", address.port())
        } else {
            format!("{scheme}://{address}")
        }
    }

    /// Returns the text that says who can read from the server.
    pub(crate) fn readers(&self) -> &'static str {
        if self.address.ip().is_loopback() {
            "reachable from this machine only"
        } else {
            "anyone who reaches this address can read it without a password"
        }
    }
}
