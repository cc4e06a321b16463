//! A network of a run's own on this machine: a namespace with a tap or a tun interface, on which the kernel's TCP answers.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd};
use std::process::{self, Command};
use std::sync::atomic::{AtomicU32, Ordering};

use rustix::process::{PidfdFlags, PidfdGetfdFlags, getpid, pidfd_getfd, pidfd_open};
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};
use smoltcp::phy::{Medium, TunTapInterface};

/// Their names: every namespace has its own.
const TAP: &str = "tap0";
const TUN: &str = "tun0";

/// A network namespace; it is removed, with its interface, when this is dropped. What runs in it is to be ended before.
#[derive(Debug)]
pub struct Namespace {
    name: String,
}

impl Namespace {
    /// Makes one whose end of the tap has this address, with prefix. This takes root and the program `ip`.
    ///
    /// # Errors
    /// What `ip` says.
    pub fn new(address: &str) -> io::Result<Self> {
        Self::with(TAP, "tap", address)
    }

    /// Makes one with a tun instead, and this program's end of it: each read takes a packet that the kernel sends to an
    /// address of that network other than its own, each write gives it one. Reading does not wait.
    ///
    /// # Errors
    /// What `ip` or the system says.
    pub fn of_packets(address: &str) -> io::Result<(Self, File)> {
        let namespace = Self::with(TUN, "tun", address)?;
        let tun = namespace.inside(|| {
            let opened = TunTapInterface::new(TUN, Medium::Ip)?;
            // It lends no descriptor that can be waited for: another one of the same.
            let this = pidfd_open(getpid(), PidfdFlags::empty())?;
            Ok(pidfd_getfd(this, opened.as_raw_fd(), PidfdGetfdFlags::empty())?.into())
        })?;
        Ok((namespace, tun))
    }

    /// Makes two, as two computers with two cables between them: the first has the addresses 10.77.1.1 and 10.77.2.1 on Ethernet
    /// interfaces (veth), the second 10.77.1.2 and 10.77.2.2.
    ///
    /// # Errors
    /// What `ip` says.
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

    /// One with the loopback interface alone.
    fn empty() -> io::Result<Self> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let name = format!("outrigger-{}-{}", process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        ip(&["netns", "add", &name])?;
        // From here on there is something to remove.
        let namespace = Self { name };
        ip(&["-n", &namespace.name, "link", "set", "lo", "up"])?;
        Ok(namespace)
    }

    /// The tap that QEMU is to be connected to, if it is called [within](Self::within).
    #[must_use]
    pub fn tap(&self) -> String {
        TAP.into()
    }

    /// What a program is called by to run in it.
    #[must_use]
    pub fn within(&self) -> Vec<String> {
        ["ip", "netns", "exec", &self.name].map(String::from).into()
    }

    /// What `make` returns, made inside: a socket stays in the namespace that it was made in.
    ///
    /// # Errors
    /// What the system says, or `make`.
    pub fn inside<T: Send>(&self, make: impl FnOnce() -> io::Result<T> + Send) -> io::Result<T> {
        let namespace = File::open(format!("/run/netns/{}", self.name))?;
        // A thread of its own, for a thread that has moved does not come back.
        let moved = || {
            move_into_link_name_space(namespace.as_fd(), Some(LinkNameSpaceType::Network))?;
            make()
        };
        std::thread::scope(|scope| scope.spawn(moved).join()).unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }
}

impl Drop for Namespace {
    fn drop(&mut self) {
        // What cannot be removed is named, and left to whoever runs this.
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
