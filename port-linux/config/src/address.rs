//! The network address of a robot: `host[:port-base]`.

use std::fmt;
use std::net::{Ipv4Addr, SocketAddr, ToSocketAddrs as _};
use std::str::FromStr;

/// The lowest port of a controller, that of its dashboard server. A port base replaces it.
pub const FIRST_PORT: u16 = 29_999;
/// The ports of a Universal Robots controller that are easily mistaken for a port base, and are therefore refused as
/// one.
const CONTROLLERS_OWN: [&str; 8] = ["30001", "30002", "30003", "30004", "30011", "30012", "30013", "30020"];
/// The highest controller port for which a port base must have room (30013, real-time read-only). Interpreter mode at
/// 30020 is not considered.
const LAST_PORT: u16 = 30_013;

/// Parses the address and port of a local socket. A port alone is that port of `host`. Returns `None` for other text.
#[must_use]
pub fn local_socket(text: &str, host: Ipv4Addr) -> Option<SocketAddr> {
    let alone = || text.parse().ok().map(|port: u16| SocketAddr::from((host, port)));
    text.parse().ok().or_else(alone)
}

/// A robot's host name or IP address, optionally with a port base.
///
/// With port base B the controller's port p is at B + p − 29999, so that several simulated controllers fit on one
/// machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RobotAddress {
    host: String,
    base: u16,
}

impl RobotAddress {
    /// Combines `host` with the port base `base`.
    ///
    /// # Errors
    /// Returns the text of what was expected if `host` is empty, or if `base` is 0 or leaves no room for the
    /// controller's ports.
    pub fn new(host: &str, base: u16) -> Result<Self, String> {
        if host.is_empty() {
            return Err("expected a host name or address before the ':'".into());
        }
        let highest = u16::MAX - (LAST_PORT - FIRST_PORT);
        if !(1..=highest).contains(&base) {
            return Err(format!("expected a port base in 1…{highest}, found {base}"));
        }
        Ok(Self { host: host.into(), base })
    }

    /// Returns the robot's host name or IP address, as it was given.
    #[must_use]
    pub fn host(&self) -> &str {
        &self.host
    }

    /// Returns the port at which the controller's port number `port` is reached: changed by the port base, if there
    /// is one.
    #[must_use]
    pub fn port(&self, port: u16) -> u16 {
        self.base.saturating_add(port.saturating_sub(FIRST_PORT))
    }

    /// Resolves the socket address of the controller's `port`. Returns the first address that the name has.
    ///
    /// # Errors
    /// Returns the error of the name resolution; [`NotFound`](std::io::ErrorKind::NotFound) if the name has no
    /// addresses.
    pub fn resolve(&self, port: u16) -> std::io::Result<SocketAddr> {
        (self.host.as_str(), self.port(port))
            .to_socket_addrs()?
            .next()
            .ok_or_else(|| std::io::Error::from(std::io::ErrorKind::NotFound))
    }
}

impl FromStr for RobotAddress {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        // `[::1]:40000`, `[::1]`, a bare IPv6 address, or `host[:base]`.
        let (host, base) = if let Some(rest) = text.strip_prefix('[') {
            let (host, rest) =
                rest.split_once(']').ok_or_else(|| format!("expected a ']' after the address in '{text}'"))?;
            match rest.strip_prefix(':') {
                Some(base) => (host, Some(base)),
                None if rest.is_empty() => (host, None),
                None => return Err(format!("expected ':port-base' or nothing after ']', found '{rest}'")),
            }
        } else if text.matches(':').count() > 1 {
            (text, None)
        } else {
            text.split_once(':').map_or((text, None), |(host, base)| (host, Some(base)))
        };
        // Anyone who writes one of these ports means that port itself. As a port base it would move the ports.
        if let Some(port) = base.filter(|base| CONTROLLERS_OWN.contains(base)) {
            return Err(format!(
                "{port} is one of the controller's own ports, and a port base is expected here (with base B the controller's \
                 port 29999 is found at B); give '{host}' alone for the controller's own ports"
            ));
        }
        let base = match base {
            None => FIRST_PORT,
            Some(base) => base.parse().map_err(|_| format!("expected a port base after the ':', found '{base}'"))?,
        };
        Self::new(host, base)
    }
}

impl fmt::Display for RobotAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bracketed = self.host.contains(':');
        match (bracketed, self.base) {
            (false, FIRST_PORT) => f.write_str(&self.host),
            (true, FIRST_PORT) => write!(f, "[{}]", self.host),
            (false, base) => write!(f, "{}:{base}", self.host),
            (true, base) => write!(f, "[{}]:{base}", self.host),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_alone_is_one_of_the_host_that_is_meant() {
        let any = |text: &str| local_socket(text, Ipv4Addr::UNSPECIFIED).map(|at| at.to_string());
        assert_eq!(any("5005").as_deref(), Some("0.0.0.0:5005"));
        assert_eq!(any("127.0.0.1:5005").as_deref(), Some("127.0.0.1:5005"));
        assert_eq!(any("[::1]:5005").as_deref(), Some("[::1]:5005"));
        for wrong in ["65536", "-1", "sensor", ":5005", "host:5005", "127.0.0.1", ""] {
            assert_eq!(any(wrong), None, "{wrong}");
        }
        let loopback = local_socket("9000", Ipv4Addr::LOCALHOST).map(|at| at.to_string());
        assert_eq!(loopback.as_deref(), Some("127.0.0.1:9000"));
    }

    #[test]
    fn a_port_base_moves_every_port() {
        let robot: RobotAddress = "127.0.0.1:40000".parse().expect("a robot address");
        assert_eq!((robot.port(29_999), robot.port(30_003)), (40_000, 40_004));
        let robot: RobotAddress = "ur.lab".parse().expect("a robot address");
        assert_eq!((robot.host(), robot.port(30_013)), ("ur.lab", 30_013));
    }

    #[test]
    fn what_is_printed_parses_back() {
        for text in ["10.0.0.2", "10.0.0.2:40000", "[::1]", "[fe80::1]:40000", "ur.lab"] {
            assert_eq!(text.parse::<RobotAddress>().expect(text).to_string(), text);
        }
        assert_eq!("::1".parse::<RobotAddress>().expect("bare IPv6").to_string(), "[::1]");
    }

    #[test]
    fn nonsense_is_refused_with_what_was_expected() {
        for (text, expected) in
            [("", "host"), (":40000", "host"), ("a:b", "port base"), ("a:0", "1…"), ("a:65530", "1…"), ("[::1", "']'")]
        {
            let error = text.parse::<RobotAddress>().expect_err(text);
            assert!(error.contains(expected), "{text}: {error}");
        }
    }
}
