//! The part of the chip's address space that a bare MAC needs.
//!
//! Source: the drivers of WIZnet (`ioLibrary_Driver`, `w5500.h`) and of Linux (`w5100.c`), which agree.

/// A block of 64 KiB of the W5500's addresses, by its number in the control byte of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Block {
    Common = 0,
    /// The registers of socket 0, the only one that passes bare frames.
    Socket = 1,
    /// The W5500's memory block with the transmit buffer of socket 0.
    Transmit = 2,
    /// The W5500's memory block with the receive buffer of socket 0.
    Receive = 3,
}

/// Returns the header of an SPI access to the W5500 chip: address and control byte, for variable length framed by the
/// select line.
pub(crate) const fn header(block: u8, address: u16, write: bool) -> [u8; 3] {
    let [high, low] = address.to_be_bytes();
    [high, low, block << 3 | (write as u8) << 2]
}

/// Returns the number of the W5500's block with the registers of socket `number`, 0 to 7.
pub(crate) const fn socket(number: u8) -> u8 {
    1 + 4 * number
}

/// The addresses of the W5500's registers in [`Block::Common`].
pub(crate) mod common {
    /// The address of the register with the W5500's hardware address, six bytes.
    pub(crate) const ADDRESS: u16 = 0x0009;
    /// The address of the register with the mask of the sockets that may interrupt, one bit each.
    pub(crate) const SOCKET_INTERRUPTS: u16 = 0x0018;
    /// The address of the register with the transceiver's state; bit 0 is set if there is a link.
    pub(crate) const PHY: u16 = 0x002e;
    /// The address of the register with the version of the W5500 chip.
    pub(crate) const VERSION: u16 = 0x0039;
}

/// The addresses of the registers of the W5500's socket 0 in [`Block::Socket`].
pub(crate) mod of_socket {
    pub(crate) const MODE: u16 = 0x0000;
    pub(crate) const COMMAND: u16 = 0x0001;
    /// The address of the register with the events of socket 0, one bit each; writing a 1 clears an event.
    pub(crate) const INTERRUPTS: u16 = 0x0002;
    /// The address of the register with the state of socket 0.
    pub(crate) const STATE: u16 = 0x0003;
    /// The address of the register with the size of socket 0's receive buffer \[KiB\]; the size of its transmit buffer
    /// follows.
    pub(crate) const RECEIVE_BUFFER: u16 = 0x001e;
    /// The address of the register with the number of free bytes in socket 0's transmit buffer; the read pointer for
    /// transmission follows, two bytes each.
    pub(crate) const TRANSMIT_FREE: u16 = 0x0020;
    /// The address of the register with socket 0's write pointer for transmission, two bytes.
    pub(crate) const TRANSMIT_WRITE: u16 = 0x0024;
    /// The address of the register with the number of bytes that wait in socket 0's receive buffer, two bytes.
    pub(crate) const RECEIVED: u16 = 0x0026;
    /// The address of the register with socket 0's read pointer for received bytes, two bytes.
    pub(crate) const RECEIVE_READ: u16 = 0x0028;
    pub(crate) const INTERRUPT_MASK: u16 = 0x002c;
}

/// The value of [`common::VERSION`] in a W5500.
pub(crate) const VERSION: u8 = 4;
/// The bit of socket 0 in [`common::SOCKET_INTERRUPTS`].
pub(crate) const SOCKET_0: u8 = 1;
/// The value of [`of_socket::MODE`] for bare frames, filtered by hardware address; broadcasts and multicasts pass.
pub(crate) const BARE_FRAMES: u8 = 0x84;
/// The value of [`of_socket::STATE`] of a socket that is open for bare frames.
pub(crate) const OPEN: u8 = 0x42;
/// The bit of [`of_socket::INTERRUPTS`] that reports that a frame was received.
pub(crate) const RECEIVED: u8 = 1 << 2;
/// The bit of [`of_socket::INTERRUPTS`] that reports that a frame was sent (SENDOK).
pub(crate) const SENT: u8 = 1 << 4;
/// The size of the buffer of each direction \[KiB\]: all of the W5500's memory.
pub(crate) const BUFFER: u8 = 16;
/// The size of the W5500's transmit buffer and of its receive buffer \[B\].
pub(crate) const BUFFER_BYTES: u16 = BUFFER as u16 * 1024;

/// A command to the W5500's socket, by its value in the register Sn_CR.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[repr(u8)]
pub enum Command {
    /// The socket's command that opens it in its mode, with empty buffers (OPEN).
    Open = 0x01,
    /// The socket's command that closes it and empties its buffers (CLOSE).
    Close = 0x10,
    /// The socket's command that sends the bytes between the transmit pointers as one frame (SEND).
    Send = 0x20,
    /// The socket's command that frees the received bytes that were read (RECV).
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
