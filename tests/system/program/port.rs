//! UDP ports for tests that run side by side.

use std::net::{Ipv4Addr, UdpSocket};
use std::sync::atomic::{AtomicU16, Ordering};

/// The first port. The range is below the kernel's ephemeral ports, so that no other process is likely to take a port
/// between the check and its use.
const FIRST: u16 = 20_000;
const COUNT: u16 = 12_000;

/// Returns a free port of the loopback interface. Within this process each port is returned only once.
pub(crate) fn free() -> u16 {
    static NEXT: AtomicU16 = AtomicU16::new(0);
    let begin = (std::process::id() % 997) as u16 * 12;
    for _ in 0..COUNT {
        let port = FIRST + begin.wrapping_add(NEXT.fetch_add(1, Ordering::Relaxed)) % COUNT;
        if UdpSocket::bind((Ipv4Addr::LOCALHOST, port)).is_ok() {
            return port;
        }
    }
    panic!("no port is free");
}
