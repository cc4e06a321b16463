//! An isolated network on this machine: a network namespace with a tap or tun interface, on which the kernel's TCP
//! stack answers.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd};
use std::process::{self, Command};
use std::sync::atomic::{AtomicU32, Ordering};

use rustix::process::{PidfdFlags, PidfdGetfdFlags, getpid, pidfd_getfd, pidfd_open};
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};
use smoltcp::phy::{Medium, TunTapInterface};

/// The name of the tap interface. Every namespace has its own interfaces.
const TAP: &str = "tap0";
/// The name of the tun interface. Every namespace has its own interfaces.
const TUN: &str = "tun0";

/// A network namespace. It is removed with its interface when this is dropped; programs in it must be ended before.
#[derive(Debug)]
pub struct Namespace {
    name: String,
}

impl Namespace {
    /// Creates a namespace whose end of a tap has this address with prefix. Requires root and the program `ip`.
    ///
    /// # Errors
    /// Returns the error of `ip`.
    pub fn new(address: &str) -> io::Result<Self> {
        Self::with(TAP, "tap", address)
    }

    /// Creates a namespace with a tun, and this program's end of it. Each read returns a packet that the kernel sends
    /// to another address of that network; each write passes a packet to the kernel. Reading does not block.
    ///
    /// # Errors
    /// Returns the error of `ip` or of the system.
    pub fn of_packets(address: &str) -> io::Result<(Self, File)> {
        let namespace = Self::with(TUN, "tun", address)?;
        let tun = namespace.inside(|| {
            let opened = TunTapInterface::new(TUN, Medium::Ip)?;
            // The interface provides no descriptor that can be polled: a second descriptor of the same file is opened.
            let this = pidfd_open(getpid(), PidfdFlags::empty())?;
            Ok(pidfd_getfd(this, opened.as_raw_fd(), PidfdGetfdFlags::empty())?.into())
        })?;
        Ok((namespace, tun))
    }

    /// Creates two namespaces as two computers with two cables between them: the first has the addresses 10.77.1.1 and
    /// 10.77.2.1 on Ethernet interfaces (veth), the second 10.77.1.2 and 10.77.2.2.
    ///
    /// # Errors
    /// Returns the error of `ip`.
    pub fn two_computers() -> io::Result<[Self; 2]> {
        let computers = [Self::empty()?, Self::empty()?];
        for cable in ["1", "2"] {
            let (name, [here, there]) = (format!("cable{cable}"), &computers);
            ip(&["-n", &here.name, "link", "add", &name, "type", "veth", "peer", &name, "netns", &there.name])?;
            for (computer, number) in computers.iter().zip(1..) {
                let address = format!("10.77.{cable}.{number}/24");
                ip(&["-n", &computer.name, "address", "add", &address, "dev", &name])?;
                ip(&["-n", &computer.name, "link", "set", &name, "up"])?;
            }
        }
        Ok(computers)
    }

    fn with(interface: &str, mode: &str, address: &str) -> io::Result<Self> {
        let namespace = Self::empty()?;
        let name = &namespace.name;
        ip(&["-n", name, "tuntap", "add", "dev", interface, "mode", mode])?;
        ip(&["-n", name, "address", "add", address, "dev", interface])?;
        ip(&["-n", name, "link", "set", interface, "up"])?;
        Ok(namespace)
    }

    /// Creates a namespace with only the loopback interface.
    fn empty() -> io::Result<Self> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let name = format!("outrigger-{}-{}", process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        ip(&["netns", "add", &name])?;
        // From here on the namespace is removed on drop.
        let namespace = Self { name };
        ip(&["-n", &namespace.name, "link", "set", "lo", "up"])?;
        Ok(namespace)
    }

    /// Returns the name of the tap interface that QEMU can use, if QEMU is started [within](Self::within) the
    /// namespace.
    #[must_use]
    pub fn tap(&self) -> String {
        TAP.into()
    }

    /// Returns the command prefix that runs a program in the namespace.
    #[must_use]
    pub fn within(&self) -> Vec<String> {
        ["ip", "netns", "exec", &self.name].map(String::from).into()
    }

    /// Returns what `make` returns when it runs inside the namespace; a socket remains in the namespace in which it was
    /// made.
    ///
    /// # Errors
    /// Returns the error of the system or of `make`.
    pub fn inside<T: Send>(&self, make: impl FnOnce() -> io::Result<T> + Send) -> io::Result<T> {
        let namespace = File::open(format!("/run/netns/{}", self.name))?;
        // Runs in a separate thread, because a thread that has moved into a namespace does not return.
        let moved = || {
            move_into_link_name_space(namespace.as_fd(), Some(LinkNameSpaceType::Network))?;
            make()
        };
        std::thread::scope(|scope| scope.spawn(moved).join()).unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }
}

impl Drop for Namespace {
    fn drop(&mut self) {
        // A namespace that cannot be removed is named, and remains for the user to remove.
        if let Err(error) = ip(&["netns", "delete", &self.name]) {
            eprintln!("{error}");
        }
    }
}

fn ip(arguments: &[&str]) -> io::Result<()> {
    let output = Command::new("ip").args(arguments).output()?;
    let said = || format!("ip {}: {}", arguments.join(" "), String::from_utf8_lossy(&output.stderr).trim());
    output.status.success().then_some(()).ok_or_else(|| io::Error::other(said()))
}
