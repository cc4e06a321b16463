//! The computer's side of External Control's protocol (core/docs/protocol/ur-external-control.md 1.3 to 1.7), written
//! from its description.

use std::time::Duration;

use outrigger_sim::controller::{Conn, Options};
use outrigger_sim::port::Port;

use super::{Answer, Bench, ideal};

pub(crate) const REVERSE: u16 = 50_001;
pub(crate) const TRAJECTORY: u16 = 50_003;
pub(crate) const COMMAND: u16 = 50_004;
const SCALE: f64 = 1e6;

pub(crate) const STOPPED: i32 = -2;
pub(crate) const IDLE: i32 = 0;
pub(crate) const SERVOJ: i32 = 1;
pub(crate) const SPEEDJ: i32 = 2;
pub(crate) const FORWARD: i32 = 3;
pub(crate) const SPEEDL: i32 = 4;
pub(crate) const POSE: i32 = 5;
pub(crate) const FREEDRIVE: i32 = 6;
pub(crate) const TORQUE: i32 = 8;

pub(crate) const SUCCESS: i32 = 0;
pub(crate) const CANCELED: i32 = 1;
pub(crate) const FAILURE: i32 = 2;

/// The computer's ends of the connections that an External Control program opens, with the simulated controller.
pub(crate) struct Computer {
    pub(crate) bench: Bench,
    pub(crate) primary: Conn,
    pub(crate) reverse: Conn,
    pub(crate) trajectory: Conn,
    pub(crate) command: Conn,
}

impl Computer {
    /// Returns the computer's ends of the connections, after a controller has received this program and the program has
    /// connected.
    pub(crate) fn new(major: u8, minor: u8, program: &str) -> Self {
        Self::with(ideal(major, minor), program)
    }

    pub(crate) fn with(options: Options, program: &str) -> Self {
        let mut bench = Bench::new(options);
        for port in [REVERSE, TRAJECTORY, COMMAND] {
            bench.serve(port, Answer::After(Duration::from_millis(1)));
        }
        let primary = bench.connect(Port::Primary);
        bench.send(primary, program);
        bench.run(800);
        Self::called(bench, primary)
    }

    /// Accepts the three connections of a program that has just connected to the computer.
    pub(crate) fn called(mut bench: Bench, primary: Conn) -> Self {
        let [reverse, trajectory, command] = [REVERSE, TRAJECTORY, COMMAND].map(|port| match bench.accept(port) {
            Some(conn) => conn,
            None => panic!("no call: {:?}", bench.told(primary)),
        });
        Self { bench, primary, reverse, trajectory, command }
    }

    /// Sends one message to the program on the reverse connection: the timeout of the program's next read \[ms\], six
    /// values, and the control mode.
    pub(crate) fn say(&mut self, timeout: i32, values: [i32; 6], mode: i32) {
        let words = [&[timeout][..], &values, &[mode]].concat();
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_be_bytes()).collect();
        self.bench.send_bytes(self.reverse, &bytes);
    }

    pub(crate) fn say_scaled(&mut self, timeout: i32, values: [f64; 6], mode: i32) {
        self.say(timeout, values.map(scaled), mode);
    }

    pub(crate) fn forward(&mut self, instruction: i32, count: i32) {
        self.say(0, [instruction, count, 0, 0, 0, 0], FORWARD);
    }

    /// Sends a trajectory point to the program: the target, two groups of six numbers whose meaning depends on the
    /// type, the duration \[s\], the blend radius (unscaled), and the type.
    pub(crate) fn point(
        &mut self,
        target: [f64; 6],
        more: [f64; 6],
        rest: [f64; 6],
        duration: f64,
        blend: i32,
        kind: i32,
    ) {
        let words = target.iter().chain(&more).chain(&rest).chain([&duration]).map(|value| scaled(*value));
        let bytes: Vec<u8> = words.chain([blend, kind]).flat_map(i32::to_be_bytes).collect();
        assert_eq!(bytes.len(), 84);
        self.bench.send_bytes(self.trajectory, &bytes);
    }

    pub(crate) fn result(&mut self) -> Option<i32> {
        let bytes = self.bench.take(self.trajectory);
        assert!(bytes.len() <= 4, "one result: {bytes:?}");
        bytes.try_into().ok().map(i32::from_be_bytes)
    }

    pub(crate) fn command(&mut self, id: i32, arguments: &[f64]) {
        let mut words = vec![id];
        words.extend(arguments.iter().map(|value| scaled(*value)));
        words.resize(28, 0);
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_be_bytes()).collect();
        self.bench.send_bytes(self.command, &bytes);
        self.bench.run(50);
    }

    pub(crate) fn q(&self) -> [f64; 6] {
        self.bench.controller.truth().q
    }

    pub(crate) fn runs(&self) -> bool {
        self.bench.controller.program().0
    }

    pub(crate) fn rests(&self) -> bool {
        self.bench.controller.truth().at_rest()
    }
}

pub(crate) fn scaled(value: f64) -> i32 {
    (value * SCALE).round() as i32
}
