//! The network between the program and a controller. Every packet of both passes through this relay, which may lose,
//! delay, repeat or damage it.
//!
//! Both ends are sockets of the kernel in one namespace. The program sends to an address in the tun's network that no
//! interface has, so the kernel passes its packets to the tun. The relay swaps source and destination, and the kernel
//! accepts the packets as those of another host. Checksums over the headers stay valid, because they do not depend on
//! the order of the addresses. The kernel's TCP retransmits lost packets on both sides, as it would on a cable.

use std::fs::File;
use std::io::{Read, Write};
use std::ops::RangeInclusive;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use outrigger_emulated::clock::Clock;
use outrigger_emulated::priority::Priority;
use outrigger_emulated::wire::{Conditions, Counts, Wire};
use rustix::event::{PollFd, PollFlags, Timespec, poll};

/// The ports of a simulated controller. A packet to one of them was sent by `outrigger run`.
pub(super) const CONTROLLER: RangeInclusive<u16> = 29_999..=30_020;
/// The size of the relay's buffer \[bytes\], larger than any packet of the tun interface.
const PACKET: usize = 2048;
/// The longest delay until the relay's thread notices that it has to end.
const TURN: Duration = Duration::from_millis(50);

/// A running relay of packets between `outrigger run` and a simulated controller.
pub(super) struct Relay {
    shared: Arc<Shared>,
    clock: Clock,
    thread: Option<JoinHandle<()>>,
}

struct Shared {
    end: AtomicBool,
    wires: Mutex<Wires>,
}

/// The two simulated network paths: to the controller, and from it.
struct Wires {
    up: Wire,
    down: Wire,
}

impl Shared {
    fn wires(&self) -> MutexGuard<'_, Wires> {
        self.wires.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Relay {
    pub(super) fn start(tun: File, clock: Clock, seed: u64, conditions: Conditions) -> Self {
        let wires = Wires { up: Wire::under(seed, conditions), down: Wire::under(seed + 1, conditions) };
        let shared = Arc::new(Shared { end: AtomicBool::new(false), wires: Mutex::new(wires) });
        let theirs = Arc::clone(&shared);
        let thread = std::thread::Builder::new().name("relay".into()).spawn(move || theirs.carry(&tun, clock));
        Self { shared, clock, thread: Some(thread.expect("a thread")) }
    }

    /// Applies these conditions to packets that are sent from now on, in both directions.
    pub(super) fn set(&self, conditions: Conditions) {
        let mut wires = self.shared.wires();
        wires.up.set(conditions);
        wires.down.set(conditions);
    }

    /// Loses every packet for this span from now on, in both directions.
    pub(super) fn cut(&self, span: Duration) {
        let (from, mut wires) = (self.clock.now(), self.shared.wires());
        wires.up.cut(from, from + span);
        wires.down.cut(from, from + span);
    }

    /// Returns the counts of packets so far, both directions together.
    pub(super) fn counts(&self) -> Counts {
        let wires = self.shared.wires();
        let (up, down) = (wires.up.counts(), wires.down.counts());
        Counts {
            sent: up.sent + down.sent,
            lost: up.lost + down.lost,
            duplicated: up.duplicated + down.duplicated,
            reordered: up.reordered + down.reordered,
            corrupted: up.corrupted + down.corrupted,
        }
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.shared.end.store(true, Ordering::Relaxed);
        let ended = self.thread.take().map(JoinHandle::join);
        assert!(matches!(ended, Some(Ok(()))) || std::thread::panicking(), "the relay panicked");
    }
}

impl Shared {
    fn carry(&self, mut tun: &File, clock: Clock) {
        let _priority = Priority::above();
        let mut buffer = [0; PACKET];
        while !self.end.load(Ordering::Relaxed) {
            let next = {
                let mut wires = self.wires();
                while let Ok(length) = tun.read(&mut buffer) {
                    let packet = &mut buffer[..length];
                    match turned(packet) {
                        Some(true) => wires.up.send(clock.now(), packet),
                        Some(false) => wires.down.send(clock.now(), packet),
                        None => {}
                    }
                }
                let now = clock.now();
                let Wires { up, down } = &mut *wires;
                for wire in [&mut *up, &mut *down] {
                    while let Some(packet) = wire.receive(now) {
                        // If the kernel's queue is full, the packet is lost, as on any network.
                        let _ = tun.write(&packet);
                    }
                }
                up.next_event().min(down.next_event()).since(now)
            };
            let left = next.min(TURN);
            let left = Timespec { tv_sec: 0, tv_nsec: i64::from(left.subsec_nanos()) };
            // The next turn looks at everything, even after an interrupted wait.
            let _ = poll(&mut [PollFd::new(tun, PollFlags::IN)], Some(&left));
        }
    }
}

/// Swaps source and destination. Returns `true` if the packet is for the controller. `None` if it is not a packet of
/// TCP or UDP over IPv4.
fn turned(packet: &mut [u8]) -> Option<bool> {
    let words = packet.first().filter(|first| **first >> 4 == 4)? & 0x0f;
    if !matches!(packet.get(9), Some(6 | 17)) {
        return None;
    }
    let ports = usize::from(words) * 4;
    let to = packet.get(ports + 2..ports + 4)?;
    let to = u16::from_be_bytes([to[0], to[1]]);
    let (from_address, to_address) = packet.get_mut(12..20)?.split_at_mut(4);
    from_address.swap_with_slice(to_address);
    Some(CONTROLLER.contains(&to))
}
