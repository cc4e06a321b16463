//! The simplest remote computer that works: it mirrors positions when it must and moves when it may. It is
//! independent of the driver.

use std::time::Duration;

use outrigger_sim::krc::{Krc, Options, Sender};
use outrigger_sim::time::SimTime;
use outrigger_wire::fri::{
    COMMAND_LEN, CartesianVector, CommandRepr, FriState, KrlVariables, Measurement, MeasurementRepr,
};

/// The time from a measurement's arrival at the simulated remote computer to its answer.
const THINKING: Duration = Duration::from_micros(200);

pub(crate) struct Remote {
    /// The strategy that the remote computer requests, by the convention of `ros_control.src`.
    pub(crate) strategy: i32,
    pub(crate) flags: u32,
    /// Joint speeds in the command state \[rad/s\].
    pub(crate) speed: [f64; 7],
    /// Speed of the tool in the command state \[m/s\].
    pub(crate) tool_speed: [f32; 3],
    /// The error that the remote computer adds to the positions that it mirrors \[rad\].
    pub(crate) mirror_error: f32,
    /// `true` if the remote computer commands the KRL program's own position plus the offset that `speed` has added.
    pub(crate) follows_program: bool,
    pub(crate) powered: bool,
    pub(crate) counter: u16,
    pub(crate) target: [f64; 7],
    pub(crate) beside: [f64; 7],
    pub(crate) tool: [f32; 3],
    pub(crate) newest: Option<MeasurementRepr>,
}

impl Default for Remote {
    fn default() -> Self {
        Self {
            strategy: 10,
            flags: 1,
            speed: [0.0; 7],
            tool_speed: [0.0; 3],
            mirror_error: 0.0,
            follows_program: false,
            powered: false,
            counter: 700,
            target: [0.0; 7],
            beside: [0.0; 7],
            tool: [0.0; 3],
            newest: None,
        }
    }
}

impl Remote {
    /// Returns the newest measurement that the remote computer has received.
    pub(crate) fn measured(&self) -> &MeasurementRepr {
        self.newest.as_ref().expect("a measurement has come")
    }

    fn answer(&mut self, bytes: &[u8]) -> Option<Vec<u8>> {
        let measurement = Measurement::new_checked(bytes).ok()?;
        let measured = measurement.to_repr();
        let behind = self.newest.as_ref().map(|last| measured.send_seq_count.wrapping_sub(last.send_seq_count));
        // A lost measurement is a cycle in which no motion was added.
        let periods = behind.filter(|steps| (1..=10).contains(steps)).unwrap_or(1);
        let elapsed = f64::from(measured.desired_cmd_sample_time) * f64::from(periods);
        self.powered = measured.power != 0;
        let commanding = measurement.named_state() == FriState::Command && self.powered;
        if commanding {
            self.target.iter_mut().zip(self.speed).for_each(|(q, speed)| *q += speed * elapsed);
            self.tool.iter_mut().zip(self.tool_speed).for_each(|(x, speed)| *x += speed * elapsed as f32);
        } else {
            self.target = measurement.setpoint().map(|q| f64::from(q + self.mirror_error));
            self.tool = measured.msr_cart_pos.position;
        }
        let mut jnt_pos = self.target.map(|q| q as f32);
        if self.follows_program && commanding {
            self.beside.iter_mut().zip(self.speed).for_each(|(q, speed)| *q += speed * elapsed);
            jnt_pos = std::array::from_fn(|j| measured.cmd_jnt_pos[j] + self.beside[j] as f32);
        } else {
            self.beside = measured.cmd_jnt_pos_fri_offset.map(f64::from);
        }
        self.counter = self.counter.wrapping_add(1);
        let mut krl = KrlVariables::default();
        krl.ints[0] = self.strategy;
        // The request is made once the link is good, as an edge, which the program needs.
        krl.ints[1] = i32::from(measured.quality >= 3 || commanding);
        let command = CommandRepr {
            send_seq_count: self.counter,
            refl_seq_count: measured.send_seq_count,
            krl,
            cmd_flags: self.flags,
            jnt_pos,
            cart_pos: outrigger_wire::fri::Frame { position: self.tool, ..measured.cmd_cart_pos },
            jnt_stiffness: [1000.0; 7],
            jnt_damping: [0.7; 7],
            cart_stiffness: CartesianVector::uniform(2000.0, 200.0),
            cart_damping: CartesianVector::uniform(0.7, 0.7),
            ..CommandRepr::default()
        };
        self.newest = Some(measured);
        let mut out = vec![0; COMMAND_LEN];
        command.emit(&mut out).expect("finite numbers");
        Some(out)
    }
}

/// A KRC and its remote computer in virtual time.
pub(crate) struct Run {
    pub(crate) krc: Krc,
    pub(crate) remote: Remote,
    fastest: f64,
}

impl Run {
    pub(crate) fn new(options: Options, remote: Remote) -> Self {
        Self { krc: Krc::new(options).expect("a possible KRC"), remote, fastest: 0.0 }
    }

    pub(crate) fn advance_to(&mut self, end: SimTime) {
        while self.krc.now() < end {
            let next = self.krc.next_event().min(end);
            self.krc.advance_to(next);
            self.fastest = self.krc.truth().qd.iter().fold(self.fastest, |fastest, qd| fastest.max(qd.abs()));
            let mut answers = vec![];
            while let Some(transmit) = self.krc.poll_transmit() {
                if transmit.sender == Sender::Krc {
                    answers.extend(self.remote.answer(&transmit.bytes));
                }
            }
            if !answers.is_empty() {
                self.krc.advance_to(self.krc.now() + THINKING);
                answers.iter().for_each(|bytes| self.krc.receive(bytes));
            }
        }
    }

    pub(crate) fn advance(&mut self, span: Duration) {
        self.advance_to(self.krc.now() + span);
    }

    pub(crate) fn until(&mut self, holds: impl Fn(&Self) -> bool, longest: Duration) {
        let end = self.krc.now() + longest;
        while !holds(self) {
            assert!(
                self.krc.now() < end,
                "not within {longest:?}; {:?} {:?}",
                self.krc.quality(),
                self.krc.fallbacks()
            );
            self.advance(Duration::from_millis(1));
        }
    }

    /// Returns the highest speed that any joint has had so far in the run \[rad/s\]. Tests use it as a measure of
    /// smoothness.
    pub(crate) fn smoothest(&self) -> f64 {
        self.fastest
    }
}
