//! The program that Outrigger puts on a controller in place of UR's External Control
//! (urscript/programs/external_control.script), and a computer that implements the described protocol.

mod commands;
mod modes;
mod splines;
mod trajectories;
mod ways_out;

use std::net::Ipv4Addr;

use outrigger_sim::controller::Options;
use outrigger_urscript::{ExternalControlProgram, ScriptText, Version};

use crate::common::reverse::Computer;

/// The tested software versions: one each of CB3, e-Series and PolyScope X.
const GENERATIONS: [(u8, u8); 3] = [(3, 15), (5, 15), (10, 11)];
/// The oldest software that URCaps and the protocol were made for, and others in which functions changed.
const OLDER: [(u8, u8); 4] = [(3, 0), (3, 7), (5, 1), (5, 9)];

const PROGRAM: ExternalControlProgram = ExternalControlProgram::new(Ipv4Addr::new(10, 0, 0, 2));

/// Returns the whole program that a driver sends as text to the controller, read in pieces as on a board.
fn text(program: &ExternalControlProgram, major: u8, minor: u8) -> String {
    let values = program.values().unwrap();
    pieces(ExternalControlProgram::headless(&values, Version::new(major, minor)).unwrap())
}

/// Returns the text with which a driver answers the request of the External Control URCap, whose node is in a pendant
/// program.
fn node(program: &ExternalControlProgram, major: u8, minor: u8) -> String {
    let values = program.values().unwrap();
    pieces(ExternalControlProgram::node(&values, Version::new(major, minor)).unwrap())
}

fn pieces(mut text: ScriptText<'_>) -> String {
    let (mut piece, mut all) = ([0; 512], vec![]);
    while let n @ 1.. = text.read(&mut piece) {
        all.extend(&piece[..n]);
    }
    String::from_utf8(all).unwrap()
}

fn computer(major: u8, minor: u8) -> Computer {
    limited(PROGRAM, major, minor)
}

fn limited(program: ExternalControlProgram, major: u8, minor: u8) -> Computer {
    Computer::new(major, minor, &text(&program, major, minor))
}

fn with(options: Options) -> Computer {
    let software = options.software;
    Computer::with(options, &text(&PROGRAM, software.major, software.minor))
}

/// Returns all software versions that these tests use.
fn every() -> impl Iterator<Item = (u8, u8)> {
    GENERATIONS.into_iter().chain(OLDER)
}
