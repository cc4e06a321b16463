//! Sends a simulated sensor's bytes without ever waiting: a message that finds no room is dropped and counted, and
//! the rest of a message that fitted in part is sent before any other.

use std::fs::File;
use std::io::{self, ErrorKind, IsTerminal as _, Read as _, Write as _};
use std::net::{SocketAddr, UdpSocket};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::net::sockopt::set_socket_send_buffer_size;

use super::args::Uart;
use outrigger::exit::Failure;
use outrigger::host::os::{self, Standard, local, serial};

/// The number of bytes that may wait for the reader of a Unix socket \[B\]; the kernel makes it somewhat larger.
const SOCKET_ROOM: usize = 2_048;

/// The opened destination of a simulated sensor's readings.
#[derive(Debug)]
enum End {
    Device(File),
    /// A pseudo terminal, with the name that was created for it and is removed with it.
    Pseudo(File, PathBuf),
    Socket(local::Client),
    Datagrams(UdpSocket),
    Output(io::Stdout),
}

/// The result of sending a message of a simulated sensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Offered {
    /// The message was sent, or is queued to be sent.
    Taken,
    /// The message was dropped, because the destination has no room or an earlier one has not been sent completely.
    Full,
    /// The message was dropped, because no program receives at the destination.
    Unheard,
}

/// An opened destination for sensor readings, with the unsent rest of a message.
#[derive(Debug)]
pub(super) struct Wire {
    end: End,
    /// The unsent rest of a message of which only the beginning could be sent.
    rest: Vec<u8>,
}

impl Wire {
    /// Opens a serial line as the destination of a simulated sensor's readings.
    ///
    /// # Errors
    /// [`Failure::Connection`] with a remedy.
    pub(super) fn serial(uart: &Uart, baud: u32) -> Result<Self, Failure> {
        let end = match uart {
            Uart::Device(path) => serial::open_to_write(path, baud)
                .map(End::Device)
                .map_err(|error| Failure::Connection(device_problem(path, baud, &error)))?,
            Uart::Socket(path) => {
                let socket = local::dial(path).and_then(|socket| {
                    socket.set_nonblocking(true)?;
                    set_socket_send_buffer_size(&socket, SOCKET_ROOM)?;
                    Ok(socket)
                });
                End::Socket(socket.map_err(|error| Failure::Connection(socket_problem(path, &error)))?)
            }
            Uart::Pseudo(path) => {
                let failed = |error| Failure::Connection(format!("cannot create a pseudo terminal: {error}"));
                let (end, device) = serial::pseudo(baud).map_err(failed)?;
                serial::name(&device, path).map_err(|error| {
                    let next = match error.kind() {
                        ErrorKind::AlreadyExists => "; remove that file, or choose another name",
                        ErrorKind::NotFound => "; the directory does not exist",
                        _ => "",
                    };
                    Failure::Connection(format!(
                        "cannot create the link {} to {}: {error}{next}",
                        path.display(),
                        device.display()
                    ))
                })?;
                End::Pseudo(end, path.clone())
            }
        };
        Ok(Self { end, rest: Vec::new() })
    }

    /// Opens a socket for datagrams to this address, from any port.
    ///
    /// # Errors
    /// [`Failure::Connection`] with the kernel's error.
    pub(super) fn datagrams(to: SocketAddr) -> Result<Self, Failure> {
        let any = if to.is_ipv4() { "0.0.0.0:0" } else { "[::]:0" };
        let socket = UdpSocket::bind(any).and_then(|socket| {
            // A connected socket receives the error that nothing listens there.
            socket.connect(to)?;
            socket.set_nonblocking(true)?;
            Ok(socket)
        });
        let socket = socket.map_err(|error| {
            Failure::Connection(format!(
                "cannot send to {to}: {error}; check this machine's networks (ip route get {})",
                to.ip()
            ))
        })?;
        Ok(Self { end: End::Datagrams(socket), rest: Vec::new() })
    }

    /// Creates a destination that writes sensor readings to standard output.
    pub(super) fn output() -> Self {
        Self { end: End::Output(io::stdout()), rest: Vec::new() }
    }

    /// Returns `true` if the destination is standard output and that is a terminal.
    pub(super) fn is_a_terminal(&self) -> bool {
        matches!(&self.end, End::Output(output) if output.is_terminal())
    }

    /// Returns `true` if a part of an earlier message has not been sent yet, so that no other message can begin.
    pub(super) fn is_in_a_message(&self) -> bool {
        !self.rest.is_empty()
    }

    /// Sends `message` to the destination without waiting, or drops it if the destination has no room or no receiver.
    ///
    /// # Errors
    /// The kernel's errors that end the sensor: a device that is gone, a connection that was closed.
    pub(super) fn offer(&mut self, message: &[u8]) -> io::Result<Offered> {
        self.go_on()?;
        if self.is_hung_up() {
            return Ok(Offered::Unheard);
        }
        if !self.rest.is_empty() || !self.has_room(message.len()) {
            return Ok(Offered::Full);
        }
        let written = match self.write(message) {
            Ok(written) => written,
            Err(error) if is_full(&error) => return Ok(Offered::Full),
            // That error was about an earlier message; this one has not been sent yet.
            Err(error) if self.is_unheard(&error) => {
                let _ = self.write(message);
                return Ok(Offered::Unheard);
            }
            Err(error) => return Err(error),
        };
        if !matches!(self.end, End::Datagrams(_)) {
            self.rest = message.get(written..).unwrap_or_default().to_vec();
        }
        Ok(Offered::Taken)
    }

    /// Sends the rest of an earlier message as far as there is room, and checks whether the connection was closed.
    ///
    /// # Errors
    /// The errors of [`Self::offer`].
    pub(super) fn go_on(&mut self) -> io::Result<()> {
        if let End::Socket(socket) = &mut self.end {
            // Data from the other side is ignored, but must be read so that it does not fill the connection.
            match socket.read(&mut [0; 1_024]) {
                Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
                Ok(_) => {}
                Err(error) if is_full(&error) => {}
                Err(error) => return Err(error),
            }
        }
        if self.is_hung_up() {
            // The next receiver has not received the beginning of the message.
            self.rest.clear();
        }
        if self.rest.is_empty() || !self.is_writable() {
            return Ok(());
        }
        let rest = std::mem::take(&mut self.rest);
        match self.write(&rest) {
            Ok(written) => self.rest = rest.get(written..).unwrap_or_default().to_vec(),
            Err(error) if is_full(&error) => self.rest = rest,
            Err(error) => return Err(error),
        }
        Ok(())
    }

    /// Returns `true` if a message of `length` bytes would be sent soon. On a serial device at most as many bytes may
    /// be waiting, as far as the device's driver reports that.
    fn has_room(&self, length: usize) -> bool {
        match &self.end {
            End::Device(port) => !serial::unsent(port).is_ok_and(|waiting| waiting > length),
            _ => self.is_writable(),
        }
    }

    /// Returns `true` if writing to the destination does not block. Standard output is shared with other processes,
    /// so the kernel is queried; the other destinations never block.
    fn is_writable(&self) -> bool {
        !matches!(self.end, End::Output(_)) || os::takes_something(Standard::Output, Some(Duration::ZERO))
    }

    /// Returns `true` if no program has the pseudo terminal open. The kernel would store written data for the next
    /// program that opens it.
    fn is_hung_up(&self) -> bool {
        matches!(&self.end, End::Pseudo(end, _) if serial::is_unheard(end))
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.end {
            End::Device(port) | End::Pseudo(port, _) => port.write(bytes),
            End::Socket(socket) => socket.write(bytes),
            End::Datagrams(socket) => socket.send(bytes),
            // Writes directly, because the buffer of standard output would be written when it is full.
            End::Output(_) => os::write_around(Standard::Output, bytes),
        }
    }

    /// Returns `true` if `error` means that nothing listens at the destination, or that there is no route to it at
    /// present. Either may change.
    fn is_unheard(&self, error: &io::Error) -> bool {
        let of_datagrams = matches!(self.end, End::Datagrams(_));
        of_datagrams && !matches!(error.kind(), ErrorKind::PermissionDenied | ErrorKind::InvalidInput)
    }
}

impl Drop for Wire {
    fn drop(&mut self) {
        match &self.end {
            End::Device(port) => serial::forget(port),
            End::Pseudo(_, name) => drop(std::fs::remove_file(name)),
            End::Socket(_) | End::Datagrams(_) | End::Output(_) => {}
        }
    }
}

fn is_full(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted)
}

fn device_problem(path: &Path, baud: u32, error: &io::Error) -> String {
    let shown = path.display();
    let next = match (error.kind(), error.raw_os_error()) {
        (ErrorKind::NotFound, _) => match devices() {
            found if found.is_empty() => "; found no serial adapter: is it plugged in?".into(),
            found => format!("; found {}", found.join(", ")),
        },
        (ErrorKind::PermissionDenied, _) => {
            "; permission denied: join the group of the device (see ls -l, mostly dialout), and log in again".into()
        }
        (ErrorKind::WouldBlock | ErrorKind::ResourceBusy, _) => {
            format!("; another process uses it: end that (see fuser {shown}); or is it the end that the run reads?")
        }
        (_, Some(libc::ENOTTY)) => "; it is not a serial device".into(),
        _ if os::is_socket(path) => {
            format!("; it is a socket: use --uart unix:{shown}")
        }
        (ErrorKind::InvalidInput, _) => "; does it support this rate?".into(),
        _ => String::new(),
    };
    format!("cannot open {shown} at {baud} Bd: {error}{next}")
}

fn socket_problem(path: &Path, error: &io::Error) -> String {
    let next = match error.kind() {
        ErrorKind::NotFound => "; start QEMU first, with -serial unix:PATH,server=on,wait=off",
        ErrorKind::ConnectionRefused => "; no process listens there now: restart QEMU",
        ErrorKind::PermissionDenied => "; it belongs to another user",
        _ => "",
    };
    format!("cannot connect to {}: {error}{next}", path.display())
}

/// Returns the paths of the serial adapters of this machine, such as `/dev/ttyUSB0`.
fn devices() -> Vec<String> {
    let entries = std::fs::read_dir("/dev").into_iter().flatten().flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    let mut found: Vec<String> = names
        .filter(|name| ["ttyUSB", "ttyACM", "ttyAMA"].iter().any(|kind| name.starts_with(kind)))
        .map(|name| format!("/dev/{name}"))
        .collect();
    found.sort();
    found
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixListener;

    use super::*;

    fn place(name: &str) -> PathBuf {
        std::env::temp_dir().join(format!("outrigger-wire-{}-{name}", std::process::id()))
    }

    /// Sends messages of 8 bytes until one is dropped for lack of room. Returns the number of messages that were sent.
    fn fill(wire: &mut Wire) -> u32 {
        let mut sent = 0_u32;
        while wire.offer(format!("{sent:07}\n").as_bytes()).expect("it is open") == Offered::Taken {
            sent += 1;
            assert!(sent < 100_000, "there is no bound");
        }
        sent
    }

    #[test]
    fn a_reader_that_does_not_read_holds_nothing_up_and_finds_whole_messages() {
        let path = place("slow");
        let listener = UnixListener::bind(&path).expect("a socket");
        let mut wire = Wire::serial(&Uart::Socket(path.clone()), 115_200).expect("it is listened to");
        let (mut reader, _) = listener.accept().expect("a connection");
        let taken = fill(&mut wire);
        for _ in 0..100 {
            assert_eq!(wire.offer(b"dropped\n").expect("it is open"), Offered::Full);
        }
        reader.set_nonblocking(true).expect("a socket");
        let mut read = Vec::new();
        let mut room = [0; 4_096];
        while let Ok(count) = reader.read(&mut room) {
            read.extend_from_slice(&room[..count]);
            wire.go_on().expect("it is open");
        }
        assert_eq!(wire.offer(b"another\n").expect("it is open"), Offered::Taken);
        read.extend(reader.read(&mut room).map(|count| room[..count].to_vec()).expect("it has come"));
        let expected: String = (0..taken).map(|number| format!("{number:07}\n")).collect();
        assert_eq!(String::from_utf8(read).expect("text"), expected + "another\n");
        drop(reader);
        assert!(wire.offer(b"nobody\n").is_err());
        std::fs::remove_file(path).expect("it was made here");
    }

    #[test]
    fn a_pseudo_terminal_is_heard_by_who_opens_it_and_its_name_goes_with_it() {
        let name = place("pty");
        let mut wire = Wire::serial(&Uart::Pseudo(name.clone()), 115_200).expect("a pseudo terminal");
        assert_eq!(wire.offer(b"before\n").expect("it is open"), Offered::Unheard);
        let mut reader = serial::open(&name, 115_200).expect("a device");
        // A terminal would interpret these bytes as commands.
        let bytes = [3, 4, 10, 13, 17, 19, 26, 28];
        assert_eq!(wire.offer(&bytes).expect("it is open"), Offered::Taken);
        let mut read = [0; 8];
        reader.read_exact(&mut read).expect("eight bytes");
        assert_eq!(read, bytes);
        assert!(fill(&mut wire) > 0);
        drop(reader);
        assert_eq!(wire.offer(b"after\n").map_err(|error| error.kind()), Ok(Offered::Unheard));
        let taken = Wire::serial(&Uart::Pseudo(name.clone()), 115_200).expect_err("the name is taken");
        assert!(taken.to_string().contains("choose another name"), "{taken}");
        drop(wire);
        assert!(!name.is_symlink());
    }

    #[test]
    fn datagrams_to_nobody_are_unheard_until_somebody_listens() {
        let free = UdpSocket::bind("127.0.0.1:0").and_then(|socket| socket.local_addr()).expect("a port");
        let mut wire = Wire::datagrams(free).expect("a socket");
        // The error is reported to the next message only.
        assert_eq!(wire.offer(b"1").expect("it is open"), Offered::Taken);
        assert_eq!([b"2", b"3"].map(|one| wire.offer(one).expect("it is open")), [Offered::Unheard; 2]);
        let listener = UdpSocket::bind(free).expect("it is still free");
        // After the error of the message before, this one is sent all the same.
        assert_eq!([b"4", b"5"].map(|one| wire.offer(one).expect("it is open")), [Offered::Unheard, Offered::Taken]);
        let mut room = [0; 8];
        assert_eq!([(); 2].map(|()| (listener.recv(&mut room).expect("a datagram"), room[0])), [(1, b'4'), (1, b'5')]);
    }

    #[test]
    fn what_cannot_be_opened_is_told_with_what_to_do() {
        let told = |uart: &str| Wire::serial(&uart.parse().expect("a place"), 115_200).expect_err(uart).to_string();
        let missing = place("missing");
        let text = told(&missing.display().to_string());
        assert!(text.contains("; found "), "{text}");
        assert!(told("/dev/null").contains("it is not a serial device"));
        assert!(told(&format!("unix:{}", missing.display())).contains("start QEMU first"));
        let path = place("socket");
        let listener = UnixListener::bind(&path).expect("a socket");
        assert!(told(&path.display().to_string()).contains(&format!("use --uart unix:{}", path.display())));
        drop(listener);
        assert!(told(&format!("unix:{}", path.display())).contains("restart QEMU"));
        std::fs::remove_file(path).expect("it was made here");
        let (_end, device) = serial::pseudo(9_600).expect("a pseudo terminal");
        let _held = serial::open(&device, 9_600).expect("a device");
        assert!(told(&device.display().to_string()).contains("another process uses it"));
    }
}
