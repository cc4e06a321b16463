//! The network between the program and a controller: every packet of both passes here, and may be hurt.
//!
//! Both ends are the kernel's, in one namespace. The program writes to an address of the tun's network that nobody has, so
//! the kernel hands its packets over; here source and destination change places, and the kernel takes them as a stranger's.
//! Sums over the headers stay right, for they do not depend on the order. What is lost is repeated by the kernel's TCP, on
//! both sides, as it would be on a cable.

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

/// Ports of a controller; a packet to one of them comes from the program.
pub(super) const CONTROLLER: RangeInclusive<u16> = 29_999..=30_020;
/// More than a packet of the tun.
const PACKET: usize = 2048;
/// How soon it is seen that this is to end.
const TURN: Duration = Duration::from_millis(50);

/// A relay at work.
pub(super) struct Relay {
    shared: Arc<Shared>,
    clock: Clock,
    thread: Option<JoinHandle<()>>,
}

struct Shared {
    end: AtomicBool,
    wires: Mutex<Wires>,
}

/// To the controller, and from it.
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

    /// Holds for packets that are sent from now on, both ways.
    pub(super) fn set(&self, conditions: Conditions) {
        let mut wires = self.shared.wires();
        wires.up.set(conditions);
        wires.down.set(conditions);
    }

    /// From now on nothing arrives for so long, either way.
    pub(super) fn cut(&self, span: Duration) {
        let (from, mut wires) = (self.clock.now(), self.shared.wires());
        wires.up.cut(from, from + span);
        wires.down.cut(from, from + span);
    }

    /// What became of the packets so far, both ways together.
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
                        // A full queue of the kernel loses what comes, as any other does.
                        let _ = tun.write(&packet);
                    }
                }
                up.next_event().min(down.next_event()).since(now)
            };
            let left = next.min(TURN);
            let left = Timespec { tv_sec: 0, tv_nsec: i64::from(left.subsec_nanos()) };
            // Interrupted or not, the next turn looks at everything.
            let _ = poll(&mut [PollFd::new(tun, PollFlags::IN)], Some(&left));
        }
    }
}

/// Lets source and destination change places; whether the packet is for the controller. `None` for what is no packet of TCP
/// or UDP over IPv4.
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
