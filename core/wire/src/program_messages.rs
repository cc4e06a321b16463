//! The messages between an Outrigger program on a controller and the computer it serves
//! (`core/docs/protocol/outrigger-programs.md`): whole numbers of four bytes, as URScript's sockets transmit them.
//!
//! ```
//! use outrigger_wire::program_messages::{Hello, HelloRepr, Kind, Order, OrderRepr, What};
//!
//! let mut sent = [0; Order::LEN];
//! OrderRepr { counter: 7, what: What::Values, cycles: 1, values: [100_000, 0, 0, 0, 0, -250_000] }.emit(&mut sent)?;
//! assert_eq!(Order::new_checked(&sent)?.repr().values[5], -250_000);
//!
//! let mut hello = [0; Hello::LEN];
//! HelloRepr { version: Hello::VERSION, kind: Kind::SpeedJ, token: 1 }.emit(&mut hello)?;
//! assert!(Hello::new_checked(&hello)?.repr().kind == Kind::SpeedJ);
//! # Ok::<(), outrigger_wire::WireError>(())
//! ```

use zerocopy::big_endian::I32;
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

use super::{WireError, WireErrorKind};
use crate::robot::wire_enum;

wire_enum! {
    /// The kind of an Outrigger program, which says how it uses the received values.
    Kind: i32 {
        SpeedJ = 1 "speedj" "Joint speeds, by a thread of `speedj`",
        ServoJ = 2 "servoj" "Joint positions, by a thread of `servoj`",
        Buffered = 3 "buffered" "Joint positions that wait in a ring, by a thread of `servoj`",
        Player = 4 "player" "Moves that the controller makes by itself (module `player`)",
        Torque = 5 "torque" "Joint torques, by a thread of `direct_torque`",
    }
}

wire_enum! {
    /// The kind of an order to an Outrigger program on the controller.
    What: i32 {
        Rest = 0 "rest" "Come to rest, and stay",
        Values = 1 "values" "These values, from the next control cycle on",
        End = 2 "end" "Come to rest and end",
        Keep = 3 "keep" "Go on as before",
        Move = 4 "move" "Make this move to one place, if it is newer than all before: of the player alone",
        Cancel = 5 "cancel" "Come to rest from this move, or do not begin it: of the player alone",
        Begin = 6 "begin" "Make this move along the legs that follow, if it is newer than all before: of the player alone",
        Leg = 7 "leg" "The next leg of this move: of the player alone",
        LastLeg = 8 "last leg" "The last leg of this move: of the player alone",
        Freedrive = 9 "freedrive" "Give way to a hand, as this move: of the player alone",
        Force = 10 "force" "Give way to a force, as this move: of the player alone",
        Line = 11 "line" "Move the tool on a straight line to this place, if it is newer than all before: of the player alone",
    }
}

wire_enum! {
    /// The reason why an Outrigger program on the controller has ended, or that it is still running.
    Ending: u8 {
        None = 0 "runs" "It goes on",
        Told = 1 "told to" "It was told to",
        Silence = 2 "silence" "Nothing came in time, or the connection ended",
        Order = 3 "order" "Another counter than the next, or something that it does not know",
        Speed = 4 "speed" "A joint speed above its limit",
        Position = 5 "position" "A joint would not stop before its position limit",
        Divergence = 6 "divergence" "A target too far from where the arm is, or a joint too far from where torques began",
        Version = 7 "version" "It was greeted by another version",
        Stale = 8 "stale" "A position waited for too long in the ring",
        Torque = 9 "torque" "A joint torque above its limit",
    }
}

/// The greeting, which is the first message that an Outrigger program sends after connecting.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
pub struct Hello {
    /// The constant [`Hello::MAGIC`], with which a greeting begins.
    magic: I32,
    /// The version of the protocol between program and computer.
    version: I32,
    /// The kind of Outrigger program, as the number of a [`Kind`].
    kind: I32,
    /// The token that was written into the program's text before it was sent: a number that differs for each text, by
    /// which programs of other owners, and earlier ones, are recognised.
    token: I32,
}

/// A program's greeting, [`Hello`], with its fields in host order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HelloRepr {
    /// The version of the protocol between program and computer; only [`Hello::VERSION`] is supported.
    pub version: i32,
    /// The kind of Outrigger program that sends the greeting.
    pub kind: Kind,
    /// The token that was written into the program's text before it was sent: a number that differs for each text, by
    /// which programs of other owners, and earlier ones, are recognised.
    pub token: i32,
}

impl Hello {
    /// The constant with which a greeting begins: the bytes `OUTR`.
    pub const MAGIC: i32 = 0x4F55_5452;
    /// The supported version of the protocol between program and computer.
    pub const VERSION: i32 = 1;
    /// The size of a program's greeting \[B\].
    pub const LEN: usize = size_of::<Self>();

    /// Returns the program's greeting in `bytes`, which must contain nothing else.
    ///
    /// # Errors
    /// `BadLength` at 0 if the size differs; `BadType` at 0 if the magic number differs.
    pub fn new_checked(bytes: &[u8]) -> Result<&Self, WireError> {
        let hello = exactly::<Self>(bytes)?;
        if hello.magic.get() == Self::MAGIC { Ok(hello) } else { Err(WireError::new(WireErrorKind::BadType, 0, 0, 0)) }
    }

    /// Returns the program's greeting with its fields in host order.
    #[must_use]
    pub const fn repr(&self) -> HelloRepr {
        let (version, kind, token) = (self.version.get(), Kind::from_raw(self.kind.get()), self.token.get());
        HelloRepr { version, kind, token }
    }
}

impl HelloRepr {
    /// Writes the program's greeting to the start of `out` and returns its size \[B\].
    ///
    /// # Errors
    /// `BufferTooSmall` if `out` is shorter than the greeting.
    pub fn emit(&self, out: &mut [u8]) -> Result<usize, WireError> {
        let (magic, version) = (I32::new(Hello::MAGIC), I32::new(self.version));
        put(&Hello { magic, version, kind: I32::new(self.kind.raw()), token: I32::new(self.token) }, out)
    }
}

/// An order, which the computer sends to the Outrigger program on the controller in each cycle.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
pub struct Order {
    /// The counter of the orders: increases by one with each order; 65 535 is followed by 0.
    counter: I32,
    /// The kind of order, as the number of a [`What`], plus 65 536 times the number of further control cycles that the
    /// values cover.
    what: I32,
    /// The values for the joints: speeds \[µrad/s\], positions \[µrad\] or torques \[µNm\], by the kind of program.
    values: [I32; 6],
}

/// An order to a program, [`Order`], with its fields in host order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OrderRepr {
    /// The counter of the orders: increases by one with each order; 65 535 is followed by 0.
    pub counter: u16,
    /// The kind of order to the program.
    pub what: What,
    /// The number of control cycles from the previous order's joint values to these, 1 to 32 768. More than one only if
    /// states of the robot were missed.
    pub cycles: u16,
    /// The values for the joints: speeds \[µrad/s\], positions \[µrad\] or torques \[µNm\], by the kind of program.
    pub values: [i32; 6],
}

impl Order {
    /// The size of an order to a program \[B\].
    pub const LEN: usize = size_of::<Self>();

    /// Returns the order to a program in `bytes`, which must contain nothing else.
    ///
    /// # Errors
    /// `BadLength` at 0 if the size differs; `BadValue` at 0 if the counter does not fit 16 bits, at 4 if the kind of
    /// order is negative.
    pub fn new_checked(bytes: &[u8]) -> Result<&Self, WireError> {
        let order = exactly::<Self>(bytes)?;
        let counted = u16::try_from(order.counter.get()).is_ok();
        let at = if counted { 4 } else { 0 };
        let sound = counted && order.what.get() >= 0;
        if sound { Ok(order) } else { Err(WireError::new(WireErrorKind::BadValue, at, 0, 0)) }
    }

    /// Returns the order to a program with its fields in host order.
    #[must_use]
    pub fn repr(&self) -> OrderRepr {
        OrderRepr {
            counter: u16::try_from(self.counter.get()).unwrap_or_default(),
            what: What::from_raw(self.what.get() & 0xFFFF),
            cycles: ((self.what.get().cast_unsigned() >> 16) as u16).saturating_add(1),
            values: self.values.map(I32::get),
        }
    }
}

impl OrderRepr {
    /// Writes the order to a program to the start of `out` and returns its size \[B\].
    ///
    /// # Errors
    /// `BufferTooSmall` if `out` is shorter than the order.
    pub fn emit(&self, out: &mut [u8]) -> Result<usize, WireError> {
        let further = i32::from(self.cycles.clamp(1, 32_768).saturating_sub(1));
        let (counter, what) = (I32::new(self.counter.into()), I32::new((self.what.raw() & 0xFFFF) | further << 16));
        put(&Order { counter, what, values: self.values.map(I32::new) }, out)
    }
}

/// A report, which the Outrigger program on the controller sends after each order and when it ends. It is one number,
/// `counter + 65 536 × (ending + 16 × lag)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Report {
    /// The counter of the newest order that the program has accepted.
    pub counter: u16,
    /// The reason why the program has ended, or that it is still running.
    pub ending: Ending,
    /// The number of joint positions, or of legs of a trajectory, that wait in the program's ring buffer, 0 to 2 047; 0
    /// if the program has none.
    pub lag: u16,
}

impl Report {
    /// The size of a program's report \[B\].
    pub const LEN: usize = 4;

    /// Converts the four bytes of a program's report, as received, into the report.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; Self::LEN]) -> Self {
        let [high, low, first, second] = bytes;
        let above = u16::from_be_bytes([high, low]);
        Self {
            counter: u16::from_be_bytes([first, second]),
            ending: Ending::from_raw((above & 15) as u8),
            lag: above >> 4,
        }
    }

    /// Returns the four bytes that transmit the program's report.
    #[must_use]
    pub const fn to_bytes(self) -> [u8; Self::LEN] {
        let above = (self.lag & 0xFFF) << 4 | (self.ending.raw() & 15) as u16;
        let ([high, low], [first, second]) = (above.to_be_bytes(), self.counter.to_be_bytes());
        [high, low, first, second]
    }
}

/// Returns `bytes`, which must have exactly the size of `T`, as a reference to one `T`.
fn exactly<T: FromBytes + KnownLayout + Immutable + Unaligned>(bytes: &[u8]) -> Result<&T, WireError> {
    T::ref_from_bytes(bytes).map_err(|_| WireError::new(WireErrorKind::BadLength, 0, size_of::<T>(), bytes.len()))
}

fn put<T: IntoBytes + Immutable>(value: &T, out: &mut [u8]) -> Result<usize, WireError> {
    let (need, have) = (size_of::<T>(), out.len());
    let written = value.write_to_prefix(out).map(|()| need);
    written.map_err(|_| WireError::new(WireErrorKind::BufferTooSmall, 0, need, have))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn what_is_written_is_read(counter: u16, what: u16, cycles in 1_u16..=32_768, values: [i32; 6], token: i32, version: i32, lag in 0_u16..4_096, ending in 0_u8..16) {
            let order = OrderRepr { counter, what: What::from_raw(what.into()), cycles, values };
            let mut bytes = [0; Order::LEN];
            prop_assert_eq!(order.emit(&mut bytes), Ok(Order::LEN));
            prop_assert_eq!(Order::new_checked(&bytes).map(Order::repr), Ok(order));
            let hello = HelloRepr { version, kind: Kind::from_raw(what.into()), token };
            let mut bytes = [0; Hello::LEN];
            prop_assert_eq!(hello.emit(&mut bytes), Ok(Hello::LEN));
            prop_assert_eq!(Hello::new_checked(&bytes).map(Hello::repr), Ok(hello));
            let report = Report { counter, ending: Ending::from_raw(ending), lag };
            prop_assert_eq!(Report::from_bytes(report.to_bytes()), report);
        }

        #[test]
        fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..40)) {
            if let Ok(order) = Order::new_checked(&bytes) {
                let mut again = [0; Order::LEN];
                prop_assert_eq!(order.repr().emit(&mut again), Ok(Order::LEN));
                prop_assert_eq!(&again[..], &bytes[..]);
            }
            let _ = Hello::new_checked(&bytes);
        }
    }

    #[test]
    fn what_is_no_message_is_named() {
        let error = Hello::new_checked(&[0; 15]).unwrap_err();
        assert_eq!((error.kind, error.need, error.have), (WireErrorKind::BadLength, 16, 15));
        assert_eq!(Hello::new_checked(&[0; 16]).unwrap_err().kind, WireErrorKind::BadType);
        let mut order = [0; Order::LEN];
        order[4..6].copy_from_slice(&[0x7F, 0xFF]);
        assert_eq!(Order::new_checked(&order).map(|order| order.repr().cycles), Ok(32_768), "as many as can be said");
        order[1] = 1;
        assert_eq!(Order::new_checked(&order).unwrap_err().kind, WireErrorKind::BadValue);
        let order = OrderRepr { counter: 0, what: What::End, cycles: 1, values: [0; 6] };
        assert_eq!(order.emit(&mut [0; 31]).unwrap_err().kind, WireErrorKind::BufferTooSmall);
    }
}
