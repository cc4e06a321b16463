//! The simulated W5500 network chip: its reaction to the bytes of its SPI bus, and to frames.

use std::collections::VecDeque;

/// The length that a frame takes on the wire in addition to its bytes \[B\]: preamble, check sequence, gap.
const AROUND: u64 = 8 + 4 + 12;
/// The duration of a byte on the wire at 100 Mbit/s \[ns\].
const WIRE_BYTE: u64 = 80;
const SHORTEST: u64 = 60;

/// The size of the chip's buffer memory in each direction \[B\].
const MEMORY: usize = 16 * 1024;

const COMMON: u8 = 0;
const REGISTERS: u8 = 1;
const TRANSMIT: u8 = 2;
const RECEIVE: u8 = 3;

const OPEN: u8 = 0x01;
const CLOSE: u8 = 0x10;
const SEND: u8 = 0x20;
const RECV: u8 = 0x40;

const MACRAW: u8 = 0x42;
const RECV_BIT: u8 = 0x04;
const SENDOK_BIT: u8 = 0x10;

/// The durations of the network chip's actions \[ns\].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timing {
    /// The time from the byte of a command until the chip has taken the command.
    pub command: u64,
    /// The time from when the chip has taken a command that opens a socket until the socket is open.
    pub opening: u64,
    /// The time from the end of a reset by the reset line, or of a power failure, until the chip answers.
    pub awake: u64,
    /// The time from when the chip answers after a reset, or from plugging the cable in, until there is a link.
    pub negotiation: u64,
}

impl Default for Timing {
    /// Returns assumed durations, none of them measured: a fast command, the reset time that drivers quote from the
    /// data sheet, a fast switch.
    fn default() -> Self {
        Self { command: 2_000, opening: 150_000, awake: 1_000_000, negotiation: 50_000_000 }
    }
}

/// The faults of the network chip that can be set.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Faults {
    /// The chip has no power: it drives no line and receives nothing.
    pub absent: bool,
    /// The chip takes no commands.
    pub deaf: bool,
    /// The chip sends no frames.
    pub mute: bool,
    /// All arriving frames are lost until a reset by line or power, without any indication.
    pub wedged: bool,
    /// The answers of the chip do not arrive: every byte of them reads as this value.
    pub stuck: Option<u8>,
    /// The chip sends but does not set its SENDOK bit.
    pub sends_in_silence: bool,
    /// The wrong values that replace the length fields of the next frames that arrive.
    pub lengths: VecDeque<u16>,
    /// The wrong values that the register with the number of received bytes shows next; each is used up when its low
    /// byte is read.
    pub received: VecDeque<u16>,
}

/// Counts of driver actions to which the chip's reaction is unknown, and of frames by what happened to them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Seen {
    /// Number of frames that did not fit into the receive buffer.
    pub dropped: u64,
    /// Number of frames that were discarded because they were sent to other hardware addresses.
    pub filtered: u64,
    /// Number of frames that were taken into the receive buffer.
    pub taken: u64,
    /// Number of SEND commands while the previous one was not finished.
    pub overlapping_sends: u64,
    /// Number of SEND commands with a length outside 14 to 1514 bytes.
    pub odd_sends: u64,
    /// Number of commands before the previous one was taken.
    pub early_commands: u64,
    /// Number of accesses to unknown registers, and of writes to read-only registers.
    pub odd_accesses: u64,
}

/// The bytes between two buffer pointers that are sent as one frame.
#[derive(Debug)]
struct Sending {
    from: u16,
    to: u16,
}

/// A simulated W5500 network chip. Times are in ns on its caller's clock and never go back.
#[derive(Debug)]
pub struct Chip {
    timing: Timing,
    /// The faults that are active from now on.
    pub faults: Faults,
    seen: Seen,
    now: u64,
    /// The value of the pointers when a socket is opened.
    origin: u16,
    common: [u8; 0x40],
    sockets: [[u8; 0x30]; 8],
    transmit: Vec<u8>,
    receive: Vec<u8>,
    state: u8,
    opening: Option<u64>,
    interrupts: u8,
    command: Option<(u8, u64)>,
    tx_read: u16,
    tx_write: u16,
    rx_read: u16,
    /// The read pointer as the driver has written it; it takes effect at the next RECV command.
    rx_read_written: u16,
    rx_write: u16,
    to_send: VecDeque<Sending>,
    on_wire: Option<(u64, Sending)>,
    arriving: VecDeque<(u64, Vec<u8>)>,
    leaving: VecDeque<(u64, Vec<u8>)>,
    plugged: bool,
    link_at: u64,
    held: bool,
    awake_at: u64,
    /// The number of bytes in the present access, its address and its control byte.
    access: (u64, u16, u8),
}

impl Chip {
    /// Creates a chip that has been powered for a long time and has a cable. The socket's pointers begin at `origin`.
    #[must_use]
    pub fn new(timing: Timing, origin: u16) -> Self {
        let mut chip = Self {
            timing,
            faults: Faults::default(),
            seen: Seen::default(),
            now: 0,
            origin,
            common: [0; 0x40],
            sockets: [[0; 0x30]; 8],
            transmit: vec![0; MEMORY],
            receive: vec![0; MEMORY],
            state: 0,
            opening: None,
            interrupts: 0,
            command: None,
            tx_read: 0,
            tx_write: 0,
            rx_read: 0,
            rx_read_written: 0,
            rx_write: 0,
            to_send: VecDeque::new(),
            on_wire: None,
            arriving: VecDeque::new(),
            leaving: VecDeque::new(),
            plugged: true,
            link_at: 0,
            held: false,
            awake_at: 0,
            access: (0, 0, 0),
        };
        chip.clear();
        chip
    }

    /// Sets every register as after a reset.
    fn clear(&mut self) {
        self.common = [0; 0x40];
        self.common[0x19..0x1c].copy_from_slice(&[0x07, 0xd0, 0x08]);
        self.common[0x2e] = 0xb8;
        for socket in &mut self.sockets {
            *socket = [0; 0x30];
            (socket[0x1e], socket[0x1f], socket[0x2c]) = (2, 2, 0xff);
        }
        self.close();
        (self.interrupts, self.command) = (0, None);
    }

    fn close(&mut self) {
        (self.state, self.opening) = (0, None);
        (self.tx_read, self.tx_write) = (self.origin, self.origin);
        (self.rx_read, self.rx_read_written, self.rx_write) = (self.origin, self.origin, self.origin);
        self.to_send.clear();
        self.on_wire = None;
    }

    /// Returns the counts of the driver's actions and of frames so far.
    #[must_use]
    pub fn seen(&self) -> Seen {
        self.seen
    }

    /// Returns `true` if the chip pulls its interrupt line low.
    #[must_use]
    pub fn interrupts(&self) -> bool {
        let socket = self.interrupts & self.sockets[0][0x2c] != 0;
        self.answers() && socket && self.common[0x18] & 1 != 0
    }

    /// Returns `true` if the chip has a network link.
    #[must_use]
    pub fn has_link(&self) -> bool {
        self.answers() && self.plugged && self.now >= self.link_at
    }

    fn answers(&self) -> bool {
        !self.faults.absent && !self.held && self.now >= self.awake_at
    }

    /// Interrupts the power for a moment, after which the chip starts with its default settings.
    pub fn brown_out(&mut self) {
        self.clear();
        self.faults.wedged = false;
        self.awake_at = self.now + self.timing.awake;
        self.link_at = self.awake_at + self.timing.negotiation;
    }

    /// Holds the reset line low, or releases it.
    pub fn hold_reset(&mut self, at: u64, held: bool) {
        self.advance(at);
        if held {
            self.clear();
            self.faults.wedged = false;
        } else if self.held {
            self.awake_at = self.now + self.timing.awake;
            self.link_at = self.awake_at + self.timing.negotiation;
        }
        self.held = held;
    }

    /// Plugs the network cable in, or pulls it.
    pub fn plug(&mut self, at: u64, plugged: bool) {
        self.advance(at);
        if plugged && !self.plugged {
            self.link_at = self.link_at.max(self.now + self.timing.negotiation);
        }
        self.plugged = plugged;
    }

    /// Schedules the arrival of a frame, whose last bit arrives at this time.
    pub fn arrive(&mut self, at: u64, frame: Vec<u8>) {
        let place = self.arriving.partition_point(|(other, _)| *other <= at);
        self.arriving.insert(place, (at, frame));
    }

    /// Takes the next frame that has left the chip, and the time at which its last bit left.
    pub fn leave(&mut self) -> Option<(u64, Vec<u8>)> {
        self.leaving.pop_front()
    }

    /// Returns the time of the chip's next event; `None` if none is pending.
    #[must_use]
    pub fn next_event(&self) -> Option<u64> {
        let begins = [self.awake_at, self.link_at].into_iter().filter(|at| *at > self.now);
        let taken = self.command.filter(|_| !self.faults.deaf).map(|(_, at)| at);
        let arrives = self.arriving.front().map(|(at, _)| *at);
        let sent = self.on_wire.as_ref().map(|(at, _)| *at);
        begins.chain(self.opening).chain(taken).chain(arrives).chain(sent).min()
    }

    /// Processes all events of the chip up to this time.
    pub fn advance(&mut self, to: u64) {
        while let Some(at) = self.next_event().filter(|at| *at <= to) {
            self.now = self.now.max(at);
            if self.arriving.front().is_some_and(|(at, _)| *at <= self.now) {
                let frame = self.arriving.pop_front().map(|(_, frame)| frame);
                self.take(&frame.unwrap_or_default());
            }
            if let Some((command, _)) = self.command.take_if(|(_, at)| *at <= self.now && !self.faults.deaf) {
                self.carry_out(command);
            }
            if self.opening.take_if(|at| *at <= self.now).is_some() {
                self.state = MACRAW;
            }
            if let Some((at, sent)) = self.on_wire.take_if(|(at, _)| *at <= self.now) {
                self.sent(at, &sent);
            }
            self.begin_to_send();
        }
        self.now = self.now.max(to);
        self.begin_to_send();
    }

    /// Takes a frame that has arrived from the wire into the receive buffer, or discards it.
    fn take(&mut self, frame: &[u8]) {
        if !self.has_link() || self.state != MACRAW || self.faults.wedged {
            return;
        }
        let filters = self.sockets[0][0] & 0x80 != 0;
        let for_all = frame.first().is_some_and(|first| first & 1 != 0);
        if filters && !for_all && frame.get(..6) != Some(&self.common[0x09..0x0f]) {
            self.seen.filtered += 1;
            return;
        }
        let record = frame.len() + 2;
        if record > self.receive_size() - usize::from(self.received()) {
            self.seen.dropped += 1;
            return;
        }
        self.seen.taken += 1;
        let length = self.faults.lengths.pop_front().unwrap_or(record as u16);
        let (mask, mut at) = (self.receive_size() - 1, self.rx_write);
        for byte in length.to_be_bytes().iter().chain(frame) {
            self.receive[usize::from(at) & mask] = *byte;
            at = at.wrapping_add(1);
        }
        self.rx_write = at;
        self.interrupts |= RECV_BIT;
    }

    fn carry_out(&mut self, command: u8) {
        match command {
            OPEN => {
                self.close();
                self.opening = (self.sockets[0][0] & 0x0f == 4).then_some(self.now + self.timing.opening);
            }
            CLOSE => self.close(),
            SEND if self.state == MACRAW => {
                let from = self
                    .to_send
                    .back()
                    .map_or(self.on_wire.as_ref().map_or(self.tx_read, |(_, sending)| sending.to), |sending| {
                        sending.to
                    });
                let length = self.tx_write.wrapping_sub(from);
                self.seen.overlapping_sends += u64::from(self.on_wire.is_some() || !self.to_send.is_empty());
                self.seen.odd_sends += u64::from(!(14..=1514).contains(&length));
                self.to_send.push_back(Sending { from, to: self.tx_write });
            }
            RECV => self.rx_read = self.rx_read_written,
            _ => self.seen.odd_accesses += 1,
        }
    }

    fn begin_to_send(&mut self) {
        if self.on_wire.is_none()
            && self.has_link()
            && !self.faults.mute
            && let Some(sending) = self.to_send.pop_front()
        {
            let length = u64::from(sending.to.wrapping_sub(sending.from)).max(SHORTEST) + AROUND;
            self.on_wire = Some((self.now + length * WIRE_BYTE, sending));
        }
    }

    fn sent(&mut self, at: u64, sent: &Sending) {
        let mask = self.transmit_size() - 1;
        let length = sent.to.wrapping_sub(sent.from);
        let frame = (0..length).map(|byte| self.transmit[usize::from(sent.from.wrapping_add(byte)) & mask]).collect();
        self.tx_read = sent.to;
        if !self.faults.sends_in_silence {
            self.interrupts |= SENDOK_BIT;
        }
        if self.plugged {
            self.leaving.push_back((at, frame));
        }
    }

    fn received(&self) -> u16 {
        self.rx_write.wrapping_sub(self.rx_read)
    }

    /// Returns the size of the receive buffer \[B\]: the register's value in KiB, rounded up to a power of two, at most
    /// 16; 1 KiB if the register is 0.
    fn receive_size(&self) -> usize {
        usize::from(self.sockets[0][0x1e].min(16)).next_power_of_two() * 1024
    }

    fn transmit_size(&self) -> usize {
        usize::from(self.sockets[0][0x1f].min(16)).next_power_of_two() * 1024
    }

    /// Selects the chip on its bus: an access begins.
    pub fn select(&mut self, at: u64) {
        self.advance(at);
        self.access = (0, 0, 0);
    }

    /// Exchanges a byte with the chip at this time.
    pub fn exchange(&mut self, at: u64, byte: u8) -> u8 {
        self.advance(at);
        let answer = self.answer_to(byte);
        self.faults.stuck.unwrap_or(answer)
    }

    fn answer_to(&mut self, byte: u8) -> u8 {
        if self.faults.absent {
            return 0xff;
        }
        if !self.answers() {
            return 0;
        }
        let (passed, address, control) = self.access;
        self.access.0 += 1;
        match passed {
            0 => {
                self.access.1 = u16::from_be_bytes([byte, 0]);
                1
            }
            1 => {
                self.access.1 = address | u16::from(byte);
                2
            }
            2 => {
                self.access.2 = byte;
                3
            }
            _ => {
                self.access.1 = address.wrapping_add(1);
                let block = control >> 3;
                if control & 3 != 0 {
                    self.seen.odd_accesses += 1;
                    return 0;
                }
                if control & 4 == 0 {
                    return self.read(block, address);
                }
                self.write(block, address, byte);
                0
            }
        }
    }

    fn read(&mut self, block: u8, address: u16) -> u8 {
        let of = |number: u16, byte: u16| number.to_be_bytes()[usize::from(byte & 1)];
        match (block, address) {
            (COMMON, 0x17) => u8::from(self.interrupts & self.sockets[0][0x2c] != 0),
            (COMMON, 0x2e) => self.common[0x2e] & 0xf8 | if self.has_link() { 7 } else { 0 },
            (COMMON, 0x39) => 4,
            (COMMON, 0..0x39) => self.common[usize::from(address)],
            (REGISTERS, 0x01) => self.command.map_or(0, |(command, _)| command),
            (REGISTERS, 0x02) => self.interrupts,
            (REGISTERS, 0x03) => self.state,
            (REGISTERS, 0x20 | 0x21) => {
                of((self.transmit_size() as u16).wrapping_sub(self.tx_write_sent().wrapping_sub(self.tx_read)), address)
            }
            (REGISTERS, 0x22 | 0x23) => of(self.tx_read, address),
            (REGISTERS, 0x24 | 0x25) => of(self.tx_write, address),
            (REGISTERS, 0x26 | 0x27) => {
                let number = self.faults.received.front().copied().unwrap_or_else(|| self.received());
                if address == 0x27 {
                    self.faults.received.pop_front();
                }
                of(number, address)
            }
            (REGISTERS, 0x28 | 0x29) => of(self.rx_read_written, address),
            (REGISTERS, 0x2a | 0x2b) => of(self.rx_write, address),
            (REGISTERS, 0..0x30) => self.sockets[0][usize::from(address)],
            (TRANSMIT, _) => self.transmit[usize::from(address) & (self.transmit_size() - 1)],
            (RECEIVE, _) => self.receive[usize::from(address) & (self.receive_size() - 1)],
            _ if block & 3 == 1 => self.sockets[usize::from(block >> 2)][usize::from(address).min(0x2f)],
            _ => {
                self.seen.odd_accesses += 1;
                0
            }
        }
    }

    /// Returns the pointer after the last byte that the chip has been commanded to send.
    fn tx_write_sent(&self) -> u16 {
        let last = self.to_send.back().or(self.on_wire.as_ref().map(|(_, sending)| sending));
        last.map_or(self.tx_read, |sending| sending.to)
    }

    fn write(&mut self, block: u8, address: u16, byte: u8) {
        let put = |number: &mut u16| {
            let mut bytes = number.to_be_bytes();
            bytes[usize::from(address & 1)] = byte;
            *number = u16::from_be_bytes(bytes);
        };
        match (block, address) {
            (COMMON, 0x00) if byte & 0x80 != 0 => self.clear(),
            (COMMON, 0x15) => self.common[0x15] &= !byte,
            (COMMON, 0x17 | 0x39..) => self.seen.odd_accesses += 1,
            (COMMON, _) => self.common[usize::from(address)] = byte,
            (REGISTERS, 0x01) => {
                if let Some((command, _)) = self.command.take_if(|_| !self.faults.deaf) {
                    self.seen.early_commands += 1;
                    self.carry_out(command);
                }
                self.command = Some((byte, self.now + self.timing.command));
            }
            (REGISTERS, 0x02) => self.interrupts &= !byte,
            (REGISTERS, 0x24 | 0x25) => put(&mut self.tx_write),
            (REGISTERS, 0x28 | 0x29) => put(&mut self.rx_read_written),
            (REGISTERS, 0x03 | 0x20..=0x23 | 0x26 | 0x27 | 0x2a | 0x2b | 0x30..) => self.seen.odd_accesses += 1,
            (REGISTERS, _) => self.sockets[0][usize::from(address)] = byte,
            (TRANSMIT, _) => {
                let mask = self.transmit_size() - 1;
                self.transmit[usize::from(address) & mask] = byte;
            }
            _ if block & 3 == 1 && address < 0x30 => self.sockets[usize::from(block >> 2)][usize::from(address)] = byte,
            _ => self.seen.odd_accesses += 1,
        }
    }
}
