//! The accesses to the W5500 chip: setup, checks, frames. Every wait has a timeout.

use embassy_time::{Duration, Instant, Timer};
use embedded_hal::digital::OutputPin;
use embedded_hal::spi::{Error as _, Operation};
use embedded_hal_async::spi::SpiDevice;

use crate::chip_errors::{Setting, Tally, Trouble};
use crate::registers::{self, Block, Command, common, of_socket};
use crate::{LONGEST, SHORTEST};

/// The time for which the W5500's reset line is held low; the chip needs 500 µs.
const HELD: Duration = Duration::from_millis(1);

/// The time within which a W5500 must answer after a reset; it is specified to take 1 ms.
const AWAKE: Duration = Duration::from_millis(100);

/// The time limit for the W5500 to accept a command, and for its socket to open afterwards. The command register is
/// read nine times in a row, then every [`AGAIN`].
const TAKEN: Duration = Duration::from_millis(10);
const AT_ONCE: u32 = 8;
const AGAIN: Duration = Duration::from_micros(100);

/// The longest wait for the end of the transmission of one frame before the next is sent to the W5500: the longest
/// frame takes 123 µs on the wire.
const ON_THE_WIRE: Duration = Duration::from_micros(200);

/// The greatest number of times that the W5500's count of received bytes is read until two readings agree.
const SETTLES: u32 = 64;

/// The length of the prefix of every received frame \[B\]; it contains the length of prefix and frame.
const PREFIX: u16 = 2;

/// The length of an Ethernet header \[B\].
const HEADER: u16 = 14;

/// The greatest possible length of a frame with its prefix \[B\], with room for tags.
const RECORD: u16 = 2_048;

/// The W5500 chip on its SPI bus.
pub(crate) struct Chip<'d, SPI> {
    spi: SPI,
    tally: &'d Tally,
    address: [u8; 6],
    /// The start of the transmission that is in progress; `None` if there is none, as far as is known.
    pub(crate) sending: Option<Instant>,
}

/// The received frames that wait in the W5500 chip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Waiting {
    /// The number of bytes of the waiting frames, prefixes included. More may have arrived since.
    pub(crate) bytes: u16,
    /// The W5500's read pointer: the start of the first waiting frame in its receive buffer.
    pub(crate) at: u16,
}

/// The first of the received frames that wait in the W5500 chip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Received {
    /// A received frame of this length \[B\].
    Frame(usize),
    /// A received frame that is longer than the network stack takes.
    Oversized,
}

impl<'d, SPI: SpiDevice> Chip<'d, SPI> {
    pub(crate) fn new(spi: SPI, tally: &'d Tally, address: [u8; 6]) -> Self {
        Self { spi, tally, address, sending: None }
    }

    /// Resets the W5500 chip and sets it up.
    pub(crate) async fn start(&mut self, reset: &mut impl OutputPin) -> Result<(), Trouble> {
        reset.set_low().map_err(|_| Trouble::ResetPin)?;
        Timer::after(HELD).await;
        reset.set_high().map_err(|_| Trouble::ResetPin)?;
        let released = Instant::now();
        loop {
            Timer::after(HELD).await;
            let [version] = self.read(Block::Common, common::VERSION).await?;
            if version == registers::VERSION {
                break;
            }
            if released.elapsed() >= AWAKE {
                return Err(Trouble::NotThere { version });
            }
        }
        self.open().await
    }

    /// Closes the W5500's socket 0 and opens it: drops all frames in the chip and writes every setting.
    pub(crate) async fn open(&mut self) -> Result<(), Trouble> {
        self.command(Command::Close).await?;
        self.sending = None;
        self.write(Block::Common, common::ADDRESS, self.address).await?;
        // Socket 0 gets all of the memory.
        for number in 1..8 {
            let header = registers::header(registers::socket(number), of_socket::RECEIVE_BUFFER, true);
            let [high, low, control] = header;
            self.transfer(&mut [Operation::Write(&[high, low, control, 0, 0])]).await?;
        }
        self.write(Block::Socket, of_socket::RECEIVE_BUFFER, [registers::BUFFER; 2]).await?;
        self.write(Block::Socket, of_socket::MODE, [registers::BARE_FRAMES]).await?;
        self.write(Block::Socket, of_socket::INTERRUPT_MASK, [registers::RECEIVED]).await?;
        self.write(Block::Socket, of_socket::INTERRUPTS, [0xff]).await?;
        self.write(Block::Common, common::SOCKET_INTERRUPTS, [registers::SOCKET_0]).await?;
        self.command(Command::Open).await?;
        let taken = Instant::now();
        loop {
            let [state] = self.read(Block::Socket, of_socket::STATE).await?;
            // The chip accepts a command before it carries it out.
            if state == registers::OPEN || taken.elapsed() >= TAKEN {
                return self.check().await;
            }
            Timer::after(AGAIN).await;
        }
    }

    /// Checks that each register of the W5500 in [`Setting`] has its expected value. Reads them again if one differs: a
    /// single wrong byte on the bus is no reason for a reset.
    pub(crate) async fn check(&mut self) -> Result<(), Trouble> {
        match self.compare().await {
            Err(Trouble::Forgotten { .. }) => self.compare().await,
            result => result,
        }
    }

    async fn compare(&mut self) -> Result<(), Trouble> {
        let [version] = self.read(Block::Common, common::VERSION).await?;
        let address: [u8; 6] = self.read(Block::Common, common::ADDRESS).await?;
        let [interrupts] = self.read(Block::Common, common::SOCKET_INTERRUPTS).await?;
        let [mode, _, _, state] = self.read(Block::Socket, of_socket::MODE).await?;
        let [mask] = self.read(Block::Socket, of_socket::INTERRUPT_MASK).await?;
        let buffers: [u8; 2] = self.read(Block::Socket, of_socket::RECEIVE_BUFFER).await?;
        let own = self.address.iter().zip(&address).map(|(own, found)| (Setting::Address, *own, *found));
        let sizes = buffers.iter().map(|found| (Setting::Buffers, registers::BUFFER, *found));
        let others = [
            (Setting::Version, registers::VERSION, version),
            (Setting::Interrupts, registers::SOCKET_0, interrupts),
            (Setting::Mode, registers::BARE_FRAMES, mode),
            (Setting::State, registers::OPEN, state),
            (Setting::InterruptMask, registers::RECEIVED, mask),
        ];
        match others.into_iter().chain(own).chain(sizes).find(|(_, expected, found)| expected != found) {
            Some((setting, expected, found)) => Err(Trouble::Forgotten { setting, expected, found }),
            None => Ok(()),
        }
    }

    /// Returns `true` if the W5500 chip has an Ethernet link.
    pub(crate) async fn link(&mut self) -> Result<bool, Trouble> {
        let [phy] = self.read(Block::Common, common::PHY).await?;
        Ok(phy & 1 != 0)
    }

    /// Clears the W5500's interrupt. A frame that arrives afterwards interrupts again.
    pub(crate) async fn acknowledge(&mut self) -> Result<(), Trouble> {
        self.write(Block::Socket, of_socket::INTERRUPTS, [registers::RECEIVED]).await
    }

    /// Returns the number of bytes and the position of the received frames that wait in the W5500 chip.
    pub(crate) async fn waiting(&mut self) -> Result<Waiting, Trouble> {
        let mut reading: [u8; 4] = self.read(Block::Socket, of_socket::RECEIVED).await?;
        for _ in 0..SETTLES {
            let [high, low, to, from] = reading;
            let waiting = Waiting { bytes: u16::from_be_bytes([high, low]), at: u16::from_be_bytes([to, from]) };
            // A later arrival interrupts again, so none is missed.
            if waiting.bytes == 0 {
                return Ok(waiting);
            }
            let next: [u8; 4] = self.read(Block::Socket, of_socket::RECEIVED).await?;
            // The number only grows: if it changed between its two bytes, the next reading has another first byte.
            if next[0] == high && next[2..] == reading[2..] {
                if waiting.bytes > registers::BUFFER_BYTES {
                    return Err(Trouble::Length { frame: 0, waiting: waiting.bytes });
                }
                return Ok(waiting);
            }
            reading = next;
        }
        Err(Trouble::Unsettled)
    }

    /// Reads the first waiting frame into `frame`, and removes it from the chip and from `waiting`. A frame that is too
    /// long is only removed. At least one frame must wait.
    pub(crate) async fn receive(&mut self, waiting: &mut Waiting, frame: &mut [u8]) -> Result<Received, Trouble> {
        let prefix: [u8; 2] = self.read(Block::Receive, waiting.at).await?;
        let record = u16::from_be_bytes(prefix);
        if record < PREFIX + HEADER || record > waiting.bytes || record > RECORD {
            return Err(Trouble::Length { frame: record, waiting: waiting.bytes });
        }
        let length = usize::from(record - PREFIX);
        let received = match frame.get_mut(..length) {
            Some(bytes) => {
                // The chip wraps at the end of its buffer.
                let header = registers::header(Block::Receive as u8, waiting.at.wrapping_add(PREFIX), false);
                self.transfer(&mut [Operation::Write(&header), Operation::Read(bytes)]).await?;
                Received::Frame(length)
            }
            None => Received::Oversized,
        };
        let next = Waiting { bytes: waiting.bytes - record, at: waiting.at.wrapping_add(record) };
        self.write(Block::Socket, of_socket::RECEIVE_READ, next.at.to_be_bytes()).await?;
        self.command(Command::Receive).await?;
        *waiting = next;
        Ok(received)
    }

    /// Sends an Ethernet frame, padded with zeros to the minimum length. Returns `false` if the frame before it is
    /// still being sent.
    pub(crate) async fn transmit(&mut self, frame: &[u8]) -> Result<bool, Trouble> {
        let length = frame.len().clamp(SHORTEST, LONGEST);
        let Some(at) = self.room(length as u16).await? else { return Ok(false) };
        let header = registers::header(Block::Transmit as u8, at, true);
        let filling = &[0; SHORTEST][..length.saturating_sub(frame.len())];
        match filling {
            [] => self.transfer(&mut [Operation::Write(&header), Operation::Write(frame)]).await?,
            filling => {
                let operations = &mut [Operation::Write(&header), Operation::Write(frame), Operation::Write(filling)];
                self.transfer(operations).await?;
            }
        }
        self.write(Block::Socket, of_socket::TRANSMIT_WRITE, at.wrapping_add(length as u16).to_be_bytes()).await?;
        self.command(Command::Send).await?;
        self.sending = Some(Instant::now());
        Ok(true)
    }

    /// Returns the W5500's write pointer for a frame of this length once no transmission is in progress; `None` while
    /// one is.
    async fn room(&mut self, length: u16) -> Result<Option<u16>, Trouble> {
        let asked = Instant::now();
        loop {
            let pointers: [u8; 6] = self.read(Block::Socket, of_socket::TRANSMIT_FREE).await?;
            let [free, read, write] = [0, 2, 4].map(|at| u16::from_be_bytes([pointers[at], pointers[at + 1]]));
            if self.sending.is_some() {
                // The read pointer reaches the write pointer when all is sent. SENDOK is not always set
                // (WIZnet/ioLibrary_Driver issue 168).
                let sent = read == write || self.is_sent().await?;
                if sent {
                    self.write(Block::Socket, of_socket::INTERRUPTS, [registers::SENT]).await?;
                    self.sending = None;
                }
            }
            if self.sending.is_none() && free >= length {
                return Ok(Some(write));
            }
            if asked.elapsed() >= ON_THE_WIRE {
                return Ok(None);
            }
        }
    }

    async fn is_sent(&mut self) -> Result<bool, Trouble> {
        let [interrupts] = self.read(Block::Socket, of_socket::INTERRUPTS).await?;
        Ok(interrupts & registers::SENT != 0)
    }

    /// Writes a command for the W5500's socket, and waits until the chip accepts it.
    async fn command(&mut self, command: Command) -> Result<(), Trouble> {
        self.write(Block::Socket, of_socket::COMMAND, [command as u8]).await?;
        let given = Instant::now();
        for asked in 0_u32.. {
            let [left] = self.read(Block::Socket, of_socket::COMMAND).await?;
            if left == 0 {
                break;
            }
            if given.elapsed() >= TAKEN {
                return Err(Trouble::NotTaken(command));
            }
            if asked >= AT_ONCE {
                Timer::after(AGAIN).await;
            }
        }
        Ok(())
    }

    /// Reads up to eight bytes of the W5500 chip in one operation of the bus, because each operation costs a DMA
    /// transfer and an interrupt.
    async fn read<const N: usize>(&mut self, block: Block, address: u16) -> Result<[u8; N], Trouble> {
        let mut bytes = [0; 11];
        bytes[..3].copy_from_slice(&registers::header(block as u8, address, false));
        let (bytes, _) = bytes.split_at_mut(3 + N);
        self.transfer(&mut [Operation::TransferInPlace(bytes)]).await?;
        let mut read = [0; N];
        read.copy_from_slice(&bytes[3..]);
        Ok(read)
    }

    /// Writes up to eight bytes to the W5500 chip in one operation of the bus.
    async fn write<const N: usize>(&mut self, block: Block, address: u16, bytes: [u8; N]) -> Result<(), Trouble> {
        let mut written = [0; 11];
        written[..3].copy_from_slice(&registers::header(block as u8, address, true));
        written[3..3 + N].copy_from_slice(&bytes);
        self.transfer(&mut [Operation::Write(&written[..3 + N])]).await
    }

    async fn transfer(&mut self, operations: &mut [Operation<'_, u8>]) -> Result<(), Trouble> {
        self.tally.one(|counts| &mut counts.accesses);
        self.spi.transaction(operations).await.map_err(|error| Trouble::Bus(error.kind()))
    }
}
