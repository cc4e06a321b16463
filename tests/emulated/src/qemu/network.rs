//! The board's network over Unix datagram sockets: one datagram is one Ethernet frame. This needs no privileges.

use std::collections::VecDeque;
use std::io::{self, ErrorKind};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixDatagram;
use std::path::PathBuf;

use super::Folder;
use super::command;

/// The size of a receive buffer \[B\], a little more than the largest frame.
const FRAME: usize = 2048;
/// The number of frames that wait while QEMU's queue is full; further frames are lost, as in a switch.
const WAITING: usize = 256;

/// The host's end of the board's network.
#[derive(Debug)]
pub struct Network {
    socket: UnixDatagram,
    board: PathBuf,
    peer: PathBuf,
    waiting: VecDeque<Vec<u8>>,
    lost: u64,
}

impl Network {
    /// Opens the host's end in `folder`, before QEMU starts.
    ///
    /// # Errors
    /// Returns the system's error if the socket cannot be opened.
    pub fn open(folder: &Folder) -> io::Result<Self> {
        let (board, peer) = (folder.file("board.net"), folder.file("peer.net"));
        let socket = UnixDatagram::bind(&peer)?;
        socket.set_nonblocking(true)?;
        Ok(Self { socket, board, peer, waiting: VecDeque::new(), lost: 0 })
    }

    /// Returns the network connection that QEMU must be given.
    #[must_use]
    pub fn mode(&self) -> command::Network {
        command::Network::Datagrams { board: self.board.clone(), peer: self.peer.clone() }
    }

    /// Returns the next frame from the board; `None` if there is none.
    pub fn receive(&self) -> Option<Vec<u8>> {
        let mut frame = vec![0; FRAME];
        let length = self.socket.recv(&mut frame).ok()?;
        frame.truncate(length);
        Some(frame)
    }

    /// Sends a frame to the board.
    pub fn send(&mut self, frame: Vec<u8>) {
        if self.waiting.len() < WAITING {
            self.waiting.push_back(frame);
        } else {
            self.lost += 1;
        }
        self.flush();
    }

    /// Sends the frames that wait for room in QEMU's queue, as far as QEMU accepts them. Returns `true` if any are
    /// left.
    pub fn flush(&mut self) -> bool {
        while let Some(frame) = self.waiting.front() {
            match self.socket.send_to(frame, &self.board) {
                Err(error) if error.kind() == ErrorKind::WouldBlock => return true,
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Ok(_) => {}
                // There is no board yet, or none any more: the cable has no device on it.
                Err(_) => self.lost += 1,
            }
            self.waiting.pop_front();
        }
        false
    }

    /// Returns the number of frames to the board that were lost between this program and QEMU.
    #[must_use]
    pub fn lost(&self) -> u64 {
        self.lost
    }
}

impl AsFd for Network {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}
