//! The board's network interface: an `embassy-net-driver` whose frames wait in memory.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::net::Ipv4Addr;
use std::rc::Rc;
use std::task::{Context, Waker};

use embassy_net::{Config, Ipv4Cidr, StaticConfigV4};
use embassy_net_driver::{Capabilities, Driver, HardwareAddress, LinkState, RxToken, TxToken};

/// The board's Ethernet address.
pub(super) const MAC: [u8; 6] = [2, 0, 0, 0, 0, 15];
const ADDRESS: Ipv4Addr = Ipv4Addr::new(10, 0, 2, 15);
/// The size of the largest frame, with its Ethernet header \[B\].
const LARGEST: usize = 1514;

/// Returns the network configuration of the board's stack: its own static address in a network of 24 bits.
pub(super) fn address() -> Config {
    let address = Ipv4Cidr::new(ADDRESS, 24);
    Config::ipv4_static(StaticConfigV4 { address, gateway: None, dns_servers: Default::default() })
}

#[derive(Default)]
struct Queues {
    incoming: VecDeque<Vec<u8>>,
    /// The number of bytes that `incoming` may hold; `used` is the number that it holds.
    room: usize,
    used: usize,
    outgoing: VecDeque<Vec<u8>>,
    unplugged: bool,
    waker: Option<Waker>,
}

/// Returns the number of bytes that a frame takes in the interface's memory: with its check sequence, in whole words
/// of 4 bytes.
fn size(frame: &[u8]) -> usize {
    (frame.len() + 4).next_multiple_of(4)
}

/// The cable between the board's network stack and the test. Both ends share it: the stack uses it as a driver, the
/// test calls its methods.
#[derive(Clone)]
pub(super) struct Cable(Rc<RefCell<Queues>>);

impl Cable {
    /// Creates the cable to an interface that holds at most `room` bytes of frames until the board takes them.
    pub(super) fn new(room: usize) -> Self {
        Self(Rc::new(RefCell::new(Queues { room, ..Queues::default() })))
    }

    /// Delivers a frame to the board. The frame is lost if the interface has no room for it.
    pub(super) fn deliver(&self, frame: Vec<u8>) {
        let mut queues = self.0.borrow_mut();
        if !queues.unplugged && queues.used + size(&frame) <= queues.room {
            queues.used += size(&frame);
            queues.incoming.push_back(frame);
            queues.waker.take().into_iter().for_each(Waker::wake);
        }
    }

    /// Takes the next frame that the board has sent.
    pub(super) fn take(&self) -> Option<Vec<u8>> {
        self.0.borrow_mut().outgoing.pop_front()
    }

    /// Sets whether the interface has a link. Without a link it discards the frames that the board sends, as most
    /// interfaces do.
    pub(super) fn plug(&self, plugged: bool) {
        let mut queues = self.0.borrow_mut();
        queues.unplugged = !plugged;
        queues.waker.take().into_iter().for_each(Waker::wake);
    }
}

impl Driver for Cable {
    type RxToken<'a> = Incoming;
    type TxToken<'a> = Outgoing<'a>;

    fn receive(&mut self, context: &mut Context<'_>) -> Option<(Incoming, Outgoing<'_>)> {
        let mut queues = self.0.borrow_mut();
        queues.waker = Some(context.waker().clone());
        let frame = queues.incoming.pop_front()?;
        queues.used -= size(&frame);
        drop(queues);
        Some((Incoming(frame), Outgoing(self)))
    }

    fn transmit(&mut self, _: &mut Context<'_>) -> Option<Outgoing<'_>> {
        Some(Outgoing(self))
    }

    fn link_state(&mut self, context: &mut Context<'_>) -> LinkState {
        let mut queues = self.0.borrow_mut();
        queues.waker = Some(context.waker().clone());
        if queues.unplugged { LinkState::Down } else { LinkState::Up }
    }

    fn capabilities(&self) -> Capabilities {
        let mut capabilities = Capabilities::default();
        capabilities.max_transmission_unit = LARGEST;
        capabilities
    }

    fn hardware_address(&self) -> HardwareAddress {
        HardwareAddress::Ethernet(MAC)
    }
}

/// A frame that the stack is about to read.
pub(super) struct Incoming(Vec<u8>);

impl RxToken for Incoming {
    fn consume<R, F: FnOnce(&mut [u8]) -> R>(mut self, read: F) -> R {
        read(&mut self.0)
    }
}

/// Room for a frame that the stack is about to write.
pub(super) struct Outgoing<'a>(&'a Cable);

impl TxToken for Outgoing<'_> {
    fn consume<R, F: FnOnce(&mut [u8]) -> R>(self, length: usize, write: F) -> R {
        let mut frame = vec![0; length];
        let result = write(&mut frame);
        let mut queues = self.0.0.borrow_mut();
        if !queues.unplugged {
            queues.outgoing.push_back(frame);
        }
        result
    }
}
