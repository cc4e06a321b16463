//! A network of a run's own on this machine: a namespace with a tap interface, on which the kernel's TCP answers.

use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::process::{self, Command};
use std::sync::atomic::{AtomicU32, Ordering};

use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};

use super::command;

/// The tap's name: every namespace has its own.
const TAP: &str = "tap0";

/// A network namespace; it is removed, with its tap, when this is dropped. What runs in it is to be ended before.
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
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let name = format!("outrigger-{}-{}", process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        ip(&["netns", "add", &name])?;
        // From here on there is something to remove.
        let namespace = Self { name };
        let name = &namespace.name;
        ip(&["-n", name, "link", "set", "lo", "up"])?;
        ip(&["-n", name, "tuntap", "add", "dev", TAP, "mode", "tap"])?;
        ip(&["-n", name, "address", "add", address, "dev", TAP])?;
        ip(&["-n", name, "link", "set", TAP, "up"])?;
        Ok(namespace)
    }

    /// What QEMU is to be connected to, if it is called [within](Self::within).
    #[must_use]
    pub fn mode(&self) -> command::Network {
        command::Network::Tap(TAP.into())
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
