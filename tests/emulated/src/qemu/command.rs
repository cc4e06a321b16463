//! The command line of QEMU.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The name of the emulator's program.
pub(super) const PROGRAM: &str = "qemu-system-arm";

/// The machine that QEMU emulates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Machine {
    /// `mps2-an386`: Cortex-M4F.
    #[default]
    An386,
    /// `mps2-an500`: Cortex-M7.
    An500,
    /// `mps2-an505`: Cortex-M33 with TrustZone, entirely in the secure state.
    An505,
}

impl Machine {
    /// Each machine with the name that the command line has for it.
    pub const NAMED: [(Self, &'static str); 3] =
        [(Self::An386, "an386"), (Self::An500, "an500"), (Self::An505, "an505")];

    /// Returns the machine with this name; `None` if there is none.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::NAMED.into_iter().find(|(_, known)| *known == name).map(|(machine, _)| machine)
    }

    /// Returns the name of the machine on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::An386 => "an386",
            Self::An500 => "an500",
            Self::An505 => "an505",
        }
    }

    /// Returns the processor of the machine, such as Cortex-M4F.
    #[must_use]
    pub const fn processor(self) -> &'static str {
        match self {
            Self::An386 => "Cortex-M4F",
            Self::An500 => "Cortex-M7",
            Self::An505 => "Cortex-M33",
        }
    }

    /// Returns the compiler's target for the machine.
    #[must_use]
    pub const fn target(self) -> &'static str {
        match self {
            Self::An386 | Self::An500 => "thumbv7em-none-eabihf",
            Self::An505 => "thumbv8m.main-none-eabihf",
        }
    }
}

/// The connection of the board's network controller to the host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Network {
    /// A pair of Unix datagram sockets, one datagram per frame: QEMU's own, and the other end's.
    Datagrams {
        /// The path of the socket on which QEMU receives frames.
        board: PathBuf,
        /// The path of the socket to which QEMU sends frames; it must be bound before QEMU starts.
        peer: PathBuf,
    },
    /// A connection to the tap interface with this name.
    Tap(String),
    /// The address translation of QEMU: the host is 10.0.2.2. It needs no privileges, and its timing is not reliable.
    User,
}

/// The connection of one of the board's serial lines to the host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Serial {
    /// A Unix stream socket that listens before QEMU starts.
    Socket(PathBuf),
    /// A character device in QEMU's notation, for example `unix:PATH,server=on,wait=off`.
    Device(String),
    /// No connection of the serial line.
    Nothing,
}

/// A call of QEMU with all its settings.
#[derive(Clone, Debug)]
pub struct Command {
    /// The machine that QEMU emulates.
    pub machine: Machine,
    /// The path of the firmware.
    pub elf: PathBuf,
    /// The connection of the board's network controller.
    pub network: Network,
    /// The connection of the board's serial line.
    pub serial: Serial,
    /// The connection of the serial line for settings.
    pub bench: Serial,
    /// The connection of the serial line that represents the board's contact for the release of the arm's brakes: `1`
    /// closes the contact, any other byte opens it.
    pub contact: Serial,
    /// The options that are passed to the firmware, each `KEY=VALUE`.
    pub options: Vec<String>,
    /// Further arguments for QEMU.
    pub more: Vec<String>,
    /// The longest time that QEMU runs; it is ended then, even if this program no longer runs.
    pub limit: Option<Duration>,
    /// The command prefix for QEMU, for example `ip netns exec NAME`.
    pub within: Vec<String>,
}

impl Command {
    /// Creates a call of QEMU with this firmware on this machine, with a network through QEMU's address translation and
    /// no serial lines.
    #[must_use]
    pub fn new(machine: Machine, elf: &Path) -> Self {
        Self {
            machine,
            elf: elf.to_owned(),
            network: Network::User,
            serial: Serial::Nothing,
            bench: Serial::Nothing,
            contact: Serial::Nothing,
            options: vec![],
            more: vec![],
            limit: None,
            within: vec![],
        }
    }

    /// Returns the words of the command line: the prefix [`within`](Self::within), then `timeout` if there is a limit,
    /// then QEMU with its arguments.
    #[must_use]
    pub fn words(&self) -> Vec<OsString> {
        let mut words: Vec<OsString> = self.within.iter().map(OsString::from).collect();
        if let Some(limit) = self.limit {
            let seconds = format!("{}", limit.as_secs_f64());
            words.extend(["timeout", "--foreground", "--kill-after=2", &seconds].map(OsString::from));
        }
        words.push(PROGRAM.into());
        let mut put = |word: String| words.push(word.into());
        for word in ["-machine", &format!("mps2-{}", self.machine.name()), "-display", "none", "-monitor", "none"] {
            put(word.into());
        }
        put("-netdev".into());
        put(match &self.network {
            Network::Datagrams { board, peer } => format!(
                "dgram,id=net,local.type=unix,local.path={},remote.type=unix,remote.path={}",
                board.display(),
                peer.display()
            ),
            Network::Tap(interface) => format!("tap,id=net,ifname={interface},script=no,downscript=no"),
            Network::User => "user,id=net".into(),
        });
        put("-net".into());
        put("nic,netdev=net,model=lan9118".into());
        // QEMU numbers its serial lines in the order in which they are named.
        for (name, serial) in [("uart0", &self.serial), ("uart1", &self.bench), ("uart2", &self.contact)] {
            match serial {
                Serial::Socket(path) => {
                    put("-chardev".into());
                    put(format!("socket,id={name},path={}", path.display()));
                    put("-serial".into());
                    put(format!("chardev:{name}"));
                }
                Serial::Device(device) => {
                    put("-serial".into());
                    put(device.clone());
                }
                Serial::Nothing => {
                    put("-serial".into());
                    put("null".into());
                }
            }
        }
        let arguments: String = self.options.iter().map(|option| format!(",arg={option}")).collect();
        put("-semihosting-config".into());
        put(format!("enable=on,target=native{arguments}"));
        put("-kernel".into());
        words.push(self.elf.clone().into());
        words.extend(self.more.iter().map(OsString::from));
        words
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_ends_qemu_from_outside_and_options_reach_the_firmware() {
        let mut command = Command::new(Machine::An500, Path::new("firmware.elf"));
        command.limit = Some(Duration::from_millis(2500));
        command.options = vec!["seconds=3".into(), "wrap=1".into()];
        let words: Vec<String> = command.words().into_iter().map(|word| word.into_string().unwrap()).collect();
        let line = words.join(" ");
        assert!(
            line.starts_with("timeout --foreground --kill-after=2 2.5 qemu-system-arm -machine mps2-an500 "),
            "{line}"
        );
        assert!(line.contains("enable=on,target=native,arg=seconds=3,arg=wrap=1 -kernel firmware.elf"), "{line}");
    }
}
