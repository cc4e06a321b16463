//! The chip's address space, as far as a bare MAC needs it.
//!
//! Of the drivers by the maker (`ioLibrary_Driver`, w5500.h) and in Linux (w5100.c), which agree.

/// A block of 64 KiB that addresses count in: the number that stands in an access's control byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Block {
    Common = 0,
    /// Registers of socket 0, the only one that hands over bare frames.
    Socket = 1,
    /// What socket 0 sends.
    Transmit = 2,
    /// What socket 0 has received.
    Receive = 3,
}

/// What precedes the bytes of an access: address and control byte, of variable length, framed by the chip's select.
pub(crate) const fn header(block: u8, address: u16, write: bool) -> [u8; 3] {
    let [high, low] = address.to_be_bytes();
    [high, low, block << 3 | (write as u8) << 2]
}

/// The block of the registers of socket `number`, 0 to 7.
pub(crate) const fn socket(number: u8) -> u8 {
    1 + 4 * number
}

/// In [`Block::Common`].
pub(crate) mod common {
    /// Own hardware address, six bytes.
    pub(crate) const ADDRESS: u16 = 0x0009;
    /// Sockets that may interrupt, one bit each.
    pub(crate) const SOCKET_INTERRUPTS: u16 = 0x0018;
    /// Bit 0: link.
    pub(crate) const PHY: u16 = 0x002e;
    pub(crate) const VERSION: u16 = 0x0039;
}

/// In [`Block::Socket`].
pub(crate) mod of_socket {
    pub(crate) const MODE: u16 = 0x0000;
    pub(crate) const COMMAND: u16 = 0x0001;
    /// What has happened, one bit each; a one that is written clears it.
    pub(crate) const INTERRUPTS: u16 = 0x0002;
    pub(crate) const STATE: u16 = 0x0003;
    /// KiB of its buffer for reception; the one for transmission follows.
    pub(crate) const RECEIVE_BUFFER: u16 = 0x001e;
    /// Free bytes for transmission, then read and write pointer, two bytes each.
    pub(crate) const TRANSMIT_FREE: u16 = 0x0020;
    pub(crate) const TRANSMIT_WRITE: u16 = 0x0024;
    /// Bytes that were received, then the pointer where they begin, two bytes each.
    pub(crate) const RECEIVED: u16 = 0x0026;
    pub(crate) const RECEIVE_READ: u16 = 0x0028;
    pub(crate) const INTERRUPT_MASK: u16 = 0x002c;
}

/// What [`common::VERSION`] says.
pub(crate) const VERSION: u8 = 4;
/// [`common::SOCKET_INTERRUPTS`]: socket 0.
pub(crate) const SOCKET_0: u8 = 1;
/// [`of_socket::MODE`]: bare frames, of others only broadcasts and what is for groups.
pub(crate) const BARE_FRAMES: u8 = 0x84;
/// [`of_socket::STATE`] in that mode.
pub(crate) const OPEN: u8 = 0x42;
/// [`of_socket::INTERRUPTS`]: a frame was received.
pub(crate) const RECEIVED: u8 = 1 << 2;
/// [`of_socket::INTERRUPTS`]: what was to be sent is.
pub(crate) const SENT: u8 = 1 << 4;
/// KiB for each direction, all that there is.
pub(crate) const BUFFER: u8 = 16;
/// The same in bytes.
pub(crate) const BUFFER_BYTES: u16 = BUFFER as u16 * 1024;

/// What the socket is told to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[repr(u8)]
pub enum Command {
    /// The socket takes up its mode, with empty buffers.
    Open = 0x01,
    /// The socket ends; its buffers are empty.
    Close = 0x10,
    /// What stands between the pointers of transmission is sent as one frame.
    Send = 0x20,
    /// What was read makes room.
    Receive = 0x40,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_bytes_are_those_of_the_makers_driver() {
        let of = |block: Block, write| header(block as u8, 0x1234, write);
        assert_eq!(of(Block::Common, false), [0x12, 0x34, 0x00]);
        assert_eq!(of(Block::Common, true), [0x12, 0x34, 0x04]);
        assert_eq!(of(Block::Socket, true), [0x12, 0x34, 0x0c]);
        assert_eq!(of(Block::Transmit, true), [0x12, 0x34, 0x14]);
        assert_eq!(of(Block::Receive, false), [0x12, 0x34, 0x18]);
        assert_eq!((socket(0), socket(7)), (Block::Socket as u8, 29));
    }
}
