//! The URCap "External Control": a program node that fetches its text from a computer when the program is started
//! (`core/docs/protocol/ur-external-control.md 1.1`).
//!
//! One conversation per node: connect, send the request, read one line and then everything else that is available,
//! close. The received text becomes part of the program: definitions at its top, the rest in place of the node. If
//! nothing was received, a popup takes the place of the node.

use std::str::FromStr;
use std::time::Duration;

use crate::controller::Conn;
use crate::dial::{Dials, Phase};
use crate::time::SimTime;

/// The line that represents a node of the URCap "External Control" in a program of the pendant.
pub const NODE: &str = "external_control()";
/// The name of the program that consists of one External Control node: it exists and is loaded if the options name a
/// computer.
pub const PROGRAM: &str = "external_control.urp";

/// The address of the computer from which the URCap "External Control" fetches its program, as the URCap is configured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExternalControl {
    /// The name or IP address of the computer with the program server.
    pub host: String,
    /// The TCP port of the computer's program server.
    pub port: u16,
}

impl ExternalControl {
    /// The TCP port of the program server in the URCap's default configuration.
    pub const PORT: u16 = 50_002;
}

impl FromStr for ExternalControl {
    type Err = String;

    /// Parses the computer's address, `HOST` or `HOST:PORT`. The default port is 50002; an IPv6 address with a port is
    /// in brackets.
    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("expected HOST or HOST:PORT, found '{text}'");
        let several = text.matches(':').count() > 1;
        let (host, port) = match text.rsplit_once(':') {
            Some((host, port)) if !several || host.ends_with(']') => (host, port.parse().map_err(|_| wrong())?),
            _ => (text, Self::PORT),
        };
        let host = host.trim_start_matches('[').trim_end_matches(']');
        if host.is_empty() || port == 0 {
            return Err(wrong());
        }
        Ok(Self { host: host.to_owned(), port })
    }
}

const REQUEST: &[u8] = b"request_program\n";
/// The URCap's timeout for connecting to the computer.
const CONNECT: Duration = Duration::from_secs(5);
/// The time without a new byte of the computer's answer after which the URCap gives up, if the answer does not end with
/// a complete line.
const READ: Duration = Duration::from_millis(500);
/// The largest length of the text from the computer \[bytes\]; assumed to be the limit of a program.
const TEXT: usize = 1 << 20;

/// One conversation of an External Control program node with the computer.
#[derive(Debug)]
pub(crate) struct Request {
    conn: Conn,
    /// The time at which the present wait for the computer began.
    since: SimTime,
    asked: bool,
    text: Vec<u8>,
}

impl Request {
    /// Opens the connection to the computer for one External Control program node.
    pub(crate) fn begin(from: &ExternalControl, dials: &mut Dials, now: SimTime) -> Self {
        Self { conn: dials.dial(&from.host, from.port), since: now, asked: false, text: vec![] }
    }

    /// Executes one control cycle of the conversation with the computer. Returns the received text or the reason of the
    /// failure when the conversation is over, `None` before. Bytes that arrive with less than a whole cycle between two
    /// pieces count as available at once.
    pub(crate) fn cycle(&mut self, dials: &mut Dials, now: SimTime) -> Option<Result<String, &'static str>> {
        let outcome = self.advance(dials, now)?;
        dials.close(self.conn);
        Some(outcome.map(|()| self.text.iter().copied().map(char::from).collect()))
    }

    fn advance(&mut self, dials: &mut Dials, now: SimTime) -> Option<Result<(), &'static str>> {
        let waited = now.since(self.since);
        let phase = dials.phase(self.conn);
        if !self.asked {
            return match phase {
                Phase::Open => {
                    dials.send(self.conn, REQUEST);
                    (self.asked, self.since) = (true, now);
                    None
                }
                Phase::Dialling if waited < CONNECT => None,
                Phase::Dialling => Some(Err("connect timed out")),
                Phase::Closing | Phase::Over => Some(Err("connection refused")),
            };
        }
        let before = self.text.len();
        if let Some(received) = dials.received(self.conn) {
            let room = TEXT.saturating_sub(before).min(received.len());
            self.text.extend(received.drain(..room));
        }
        if self.text.len() > before {
            self.since = now;
            return (self.text.len() >= TEXT).then_some(Err("the program is too long"));
        }
        match self.text.last() {
            Some(b'\n') => Some(Ok(())),
            Some(_) if phase != Phase::Open => Some(Ok(())),
            _ if waited >= READ => Some(Err("read timed out")),
            None if phase != Phase::Open => Some(Err("connection closed")),
            _ => None,
        }
    }

    /// Cancels the program node's conversation with the computer.
    pub(crate) fn cancel(&self, dials: &mut Dials) {
        dials.close(self.conn);
    }
}

/// Returns the number of External Control nodes in a program.
pub(crate) fn nodes(script: &str) -> usize {
    script.lines().filter(|line| line.trim() == NODE).count()
}

/// Splits the received text of a program node at its marks `# HEADER_BEGIN` and `# HEADER_END` into definitions and
/// body; without marks all of it is the body.
fn split(text: &str) -> (String, String) {
    let (mut header, mut body) = (String::new(), String::new());
    let mut within = false;
    for line in text.lines() {
        match line.trim() {
            "# HEADER_BEGIN" => within = true,
            "# HEADER_END" => within = false,
            _ => {
                let part = if within { &mut header } else { &mut body };
                *part += &format!(" {line}\n");
            }
        }
    }
    (header, body)
}

/// Returns the program `script` with the received text, or a popup after a failure, in place of its External Control
/// nodes, in their order. The definitions of the first answer that has any are inserted at the top.
pub(crate) fn assemble(script: &str, from: &ExternalControl, answers: &[Result<String, &'static str>]) -> String {
    let ExternalControl { host, port } = from;
    let parts: Vec<(String, String)> = answers
        .iter()
        .map(|answer| match answer {
            Ok(text) => split(text),
            Err(reason) => {
                let text = format!("No program could be received from {host}:{port}: {reason}.").replace('"', "'");
                (String::new(), format!(" popup(\"{text}\", \"Receive program failed\", False, True, blocking=True)\n"))
            }
        })
        .collect();
    let header = parts.iter().map(|(header, _)| header.as_str()).find(|header| !header.is_empty()).unwrap_or_default();
    let mut bodies = parts.iter().map(|(_, body)| body.as_str());
    let mut out = String::new();
    for line in script.lines() {
        if line.trim() == NODE {
            out += bodies.next().unwrap_or_default();
        } else {
            out += line;
            out.push('\n');
        }
        if line.starts_with("def ") && !out.contains(header) {
            out += header;
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn host_and_port_are_read_and_the_port_has_a_default() {
        let parsed = |text: &str| text.parse::<ExternalControl>().map(|found| (found.host, found.port));
        assert_eq!(parsed("192.168.56.1"), Ok(("192.168.56.1".into(), 50_002)));
        assert_eq!(parsed("localhost:6000"), Ok(("localhost".into(), 6000)));
        assert_eq!(parsed("[::1]:6000"), Ok(("::1".into(), 6000)));
        assert_eq!(parsed("::1"), Ok(("::1".into(), 50_002)));
        for wrong in ["", ":6000", "pc:0", "pc:65536", "pc:x"] {
            assert!(parsed(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn definitions_go_to_the_top_once_and_bodies_where_their_nodes_are() {
        let script = "def main():\n  external_control()\n  sleep(1)\n  external_control()\nend\n";
        let text = "  # HEADER_BEGIN\ndef f():\nend\n# HEADER_END  \nf()\n";
        let from = "10.0.0.9".parse().unwrap();
        let out = assemble(script, &from, &[Ok(text.into()), Ok(text.into())]);
        assert_eq!(out, "def main():\n def f():\n end\n f()\n  sleep(1)\n f()\nend\n");
        assert_eq!(nodes(script), 2);
    }

    #[test]
    fn a_node_without_an_answer_is_a_popup_with_the_reason() {
        let script = "def main():\n external_control()\nend\n";
        let out = assemble(script, &"10.0.0.9".parse().unwrap(), &[Err("read timed out")]);
        assert!(out.contains("popup(\"No program could be received from 10.0.0.9:50002: read timed out.\""), "{out}");
    }
}
