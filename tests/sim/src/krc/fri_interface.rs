//! The Fast Research Interface itself: monitor and command state, the checks of a command, and the setpoint
//! (`core/docs/protocol/kuka-fri.md A10, A11, A15`).
//!
//! | input | behaviour |
//! |---|---|
//! | start | refused below the start quality; else command, with the flags of the last command |
//! | first command after a start or power-on | must be at the setpoint, its frame at `mirrored_frame`: else back to monitor, or ignored |
//! | flags that differ from those at the start, or are not usable in the scheme | back to monitor |
//! | a step faster than allowed, a position out of range, not a number | back to monitor |
//! | no answer | the last two setpoints, and frames, are extrapolated, `max_bridge` times; then back to monitor |
//! | quality UNACCEPTABLE | back to monitor |
//! | no power | the setpoint does not move, commands are ignored until one is at it |

use outrigger_wire::fri::{CommandFlags, CommandRepr, ControlScheme, FriState, Quality};

use super::arm::{Impedance, Target};
use super::model::{self, JOINTS, Joints};
use super::options::{Bridging, FrameOffset, Limits, MirroredFrame, OffsetAfterStop, Options};
use crate::kinematics::{Frame, Rotation, Vec3, add, norm, scale, sub};

/// The reason for which the KRC left the command state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// The KRL program called `friStop`, which ends the command state.
    Stopped,
    /// The first command after a start, or after the drives were switched on again, was not at the setpoint, or its
    /// frame not at `mirrored_frame`: the message "FRI interpolation error".
    NotMirrored,
    /// The flags of the remote computer's command were changed in the command state.
    FlagsChanged,
    /// A flag was set that the control scheme does not support.
    FlagsNotUsable,
    /// A position, a speed or an acceleration was beyond its limit or not a number, or the rotation of a frame was
    /// invalid.
    Limit,
    /// Too many consecutive answers of the remote computer were missing.
    Communication,
    /// The KRC rated the link quality as UNACCEPTABLE.
    Quality,
    /// The Fast Research Interface was closed, or reopened.
    Closed,
}

/// The arm's setpoint and the state of commanding while the Fast Research Interface is open.
#[derive(Debug)]
pub(super) struct Interface {
    limits: Limits,
    mirror_tolerance: f64,
    frame_tolerance: f64,
    mirrored_frame: MirroredFrame,
    max_bridge: u32,
    bridging: Bridging,
    pub(super) frame_offset: FrameOffset,
    offset_after_stop: OffsetAfterStop,
    configured: Impedance,
    stop_deceleration: f64,
    pub(super) state: FriState,
    pub(super) scheme: ControlScheme,
    pub(super) scale: f64,
    /// The joint positions that the KRL program commands \[rad\].
    pub(super) own: Joints,
    /// The offset that commands add to the KRL program's joint positions \[rad\].
    pub(super) offset: Joints,
    /// The joint setpoints of the last two cycles, each `own` + `offset` \[rad\].
    before: Joints,
    last: Joints,
    /// The commanded frame of the tool in Cartesian impedance, and the one of the cycle before.
    frame: Frame,
    frame_before: Frame,
    /// The frame at which the first commanded frame after a start had to be, and the frame at which the tool was held
    /// at that time.
    begun: (Frame, Frame),
    torque: Joints,
    wrench: [f64; 6],
    impedance: Impedance,
    flags: Option<CommandFlags>,
    /// `true` while the next command must be at the present setpoint.
    unmirrored: bool,
    /// The number of consecutive FRI measurement messages that the remote computer did not answer.
    missing: u32,
    /// The joint speeds that must still be braked after commanding has ended \[rad/s\].
    braking: Joints,
    /// The number of cycles whose missing answer was replaced by an extrapolated or repeated setpoint.
    pub(super) bridged: u64,
    /// The longest commanded step of a joint, as a share of the longest allowed.
    pub(super) longest_step: f64,
}

impl Interface {
    pub(super) fn new(options: &Options) -> Self {
        Self {
            limits: options.limits,
            mirror_tolerance: options.mirror_tolerance,
            frame_tolerance: options.frame_tolerance,
            mirrored_frame: options.mirrored_frame,
            max_bridge: options.max_bridge,
            bridging: options.bridging,
            frame_offset: options.frame_offset,
            offset_after_stop: options.offset_after_stop,
            configured: options.arm.impedance,
            stop_deceleration: options.arm.stop_deceleration,
            state: FriState::Monitor,
            scheme: options.program.scheme,
            scale: 1.0,
            own: options.start,
            offset: [0.0; JOINTS],
            before: options.start,
            last: options.start,
            frame: model::flange(&options.start),
            frame_before: model::flange(&options.start),
            begun: (model::flange(&options.start), model::flange(&options.start)),
            torque: [0.0; JOINTS],
            wrench: [0.0; 6],
            impedance: options.arm.impedance,
            flags: None,
            unmirrored: false,
            missing: 0,
            braking: [0.0; JOINTS],
            bridged: 0,
            longest_step: 0.0,
        }
    }

    /// Returns the joint setpoint, the KRC's `own` position + the FRI `offset` \[rad\].
    pub(super) fn setpoint(&self) -> Joints {
        each(|j| self.own[j] + self.offset[j])
    }

    /// Returns the commanded frame of the tool; in schemes other than Cartesian impedance the frame of the setpoint.
    pub(super) fn commanded_frame(&self) -> Frame {
        match (self.state, self.scheme) {
            (FriState::Command, ControlScheme::CartesianImpedance) => self.frame,
            _ => model::flange(&self.setpoint()),
        }
    }

    /// Enters the command state (`friStart`). The flags of the last command apply until commanding ends.
    pub(super) fn start(&mut self, scheme: ControlScheme, scale: f64, flags: Option<CommandFlags>) {
        self.scheme = scheme;
        self.scale = scale;
        self.state = FriState::Command;
        self.flags = flags;
        self.unmirrored = true;
        self.missing = 0;
        self.braking = [0.0; JOINTS];
        (self.before, self.last) = (self.setpoint(), self.setpoint());
        self.frame = model::flange(&self.setpoint());
        self.frame_before = self.frame;
        self.relax();
    }

    fn relax(&mut self) {
        self.torque = [0.0; JOINTS];
        self.wrench = [0.0; 6];
        self.impedance = self.configured;
    }

    /// Returns to the monitor state and brakes the arm. `share` is the progress of the present cycle, 0 … 1,
    /// `measured` are the measured joint positions \[rad\].
    pub(super) fn stop(&mut self, share: f64, period: f64, measured: &Joints) {
        let here = self.between(share);
        self.braking = each(|j| (self.last[j] - self.before[j]) / period);
        let from = match self.scheme {
            // The tool was controlled; the joints are where it led them.
            ControlScheme::CartesianImpedance => *measured,
            _ => here,
        };
        if self.scheme == ControlScheme::CartesianImpedance {
            self.braking = [0.0; JOINTS];
        }
        self.offset = each(|j| from[j] - self.own[j]);
        if self.offset_after_stop == OffsetAfterStop::TakenOver {
            self.own = self.setpoint();
            self.offset = [0.0; JOINTS];
        }
        (self.before, self.last) = (self.setpoint(), self.setpoint());
        self.state = FriState::Monitor;
        self.relax();
    }

    /// Executes an FRI cycle in the command state with `command`, the remote computer's answer. `measured` are the
    /// measured joint positions \[rad\]. The error is the reason to return to the monitor state.
    pub(super) fn obey(
        &mut self,
        command: &CommandRepr,
        powered: bool,
        period: f64,
        factor: f64,
        measured: &Joints,
    ) -> Result<(), Reason> {
        self.missing = 0;
        let flags = CommandFlags::from_bits(command.cmd_flags);
        if *self.flags.get_or_insert(flags) != flags {
            return Err(Reason::FlagsChanged);
        }
        if !CommandFlags::usable(self.scheme).contains(flags) {
            return Err(Reason::FlagsNotUsable);
        }
        let joints =
            if flags.contains(CommandFlags::JOINT_POSITION) { command.jnt_pos.map(f64::from) } else { self.setpoint() };
        let cartesian = flags.contains(CommandFlags::CARTESIAN_POSITION);
        let frame = if cartesian { frame_of(command)? } else { self.frame };
        if joints.iter().any(|q| !q.is_finite()) {
            return Err(Reason::Limit);
        }
        let mirrored = if cartesian { self.mirrored(measured) } else { self.frame };
        let mirrors = self.mirrors(&joints, &frame, &mirrored);
        if !powered {
            self.unmirrored = true;
            self.rest();
            return Ok(());
        }
        if self.unmirrored {
            if !mirrors {
                self.rest();
                return Err(Reason::NotMirrored);
            }
            self.unmirrored = false;
            self.begun = (mirrored, self.frame);
        }
        let frame = if cartesian { self.led(&frame) } else { frame };
        self.within_limits(&joints, period, factor)?;
        let allowed = period * self.scale;
        let [moved, turned] = way(&self.frame, &frame).map(norm);
        // The tolerance is for frames, which are transmitted as 32-bit floats.
        if moved > self.limits.tool_speed * allowed + 1e-6 || turned > self.limits.tool_turning * allowed + 1e-5 {
            return Err(Reason::Limit);
        }
        self.before = self.last;
        self.last = joints;
        self.offset = each(|j| joints[j] - self.own[j]);
        self.frame_before = self.frame;
        self.frame = frame;
        self.take_parameters(command, flags);
        Ok(())
    }

    /// Returns the frame at which the first commanded frame after a start must be.
    fn mirrored(&self, measured: &Joints) -> Frame {
        match self.mirrored_frame {
            MirroredFrame::Setpoint => self.frame,
            MirroredFrame::Commanded => model::flange(&self.own),
            MirroredFrame::Measured => model::flange(measured),
        }
    }

    /// Returns the frame to which a commanded frame leads the tool: the displacement of the commanded frame from the
    /// one that was required at the start, applied to the frame at which the tool was held then.
    fn led(&self, frame: &Frame) -> Frame {
        let (mirrored, held) = self.begun;
        Frame {
            position: add(held.position, sub(frame.position, mirrored.position)),
            rotation: frame.rotation.after(mirrored.rotation.inverse()).after(held.rotation),
        }
    }

    fn mirrors(&self, joints: &Joints, frame: &Frame, mirrored: &Frame) -> bool {
        let setpoint = self.setpoint();
        let near = joints.iter().zip(setpoint).all(|(q, s)| (q - s).abs() <= self.mirror_tolerance);
        let [moved, turned] = way(mirrored, frame).map(norm);
        near && moved <= self.frame_tolerance && turned <= 10.0 * self.frame_tolerance
    }

    fn within_limits(&mut self, joints: &Joints, period: f64, factor: f64) -> Result<(), Reason> {
        for j in 0..JOINTS {
            let speed = (joints[j] - self.last[j]) / period;
            let allowed = self.limits.velocity[j] * self.scale * factor;
            self.longest_step = self.longest_step.max(speed.abs() / allowed);
            if joints[j].abs() > self.limits.position[j]
                || (speed.abs() - allowed) * period > self.limits.step_tolerance
            {
                return Err(Reason::Limit);
            }
            let previous = (self.last[j] - self.before[j]) / period;
            if let Some(limit) = self.limits.acceleration
                && (speed - previous).abs() / period > limit[j] * self.scale
            {
                return Err(Reason::Limit);
            }
        }
        Ok(())
    }

    fn take_parameters(&mut self, command: &CommandRepr, flags: CommandFlags) {
        let spatial = |v: outrigger_wire::fri::CartesianVector| {
            let ([x, y, z], [rx, ry, rz]) = (v.linear, v.angular);
            [x, y, z, rx, ry, rz].map(f64::from)
        };
        if flags.contains(CommandFlags::JOINT_TORQUE) {
            self.torque = command.add_jnt_trq.map(f64::from);
        }
        if flags.contains(CommandFlags::TOOL_WRENCH) {
            self.wrench = spatial(command.add_tcp_ft);
        }
        if flags.contains(CommandFlags::JOINT_STIFFNESS) {
            self.impedance.joint_stiffness = command.jnt_stiffness.map(|v| f64::from(v.max(0.0)));
        }
        if flags.contains(CommandFlags::JOINT_DAMPING) {
            self.impedance.joint_damping = command.jnt_damping.map(|v| f64::from(v.max(0.0)));
        }
        if flags.contains(CommandFlags::CARTESIAN_STIFFNESS) {
            self.impedance.cartesian_stiffness = spatial(command.cart_stiffness).map(|v| v.max(0.0));
        }
        if flags.contains(CommandFlags::CARTESIAN_DAMPING) {
            self.impedance.cartesian_damping = spatial(command.cart_damping).map(|v| v.max(0.0));
        }
    }

    /// Executes an FRI cycle without an answer of the remote computer: extrapolates or repeats the setpoint. The error
    /// is [`Reason::Communication`] after too many such cycles in succession.
    pub(super) fn bridge(&mut self, powered: bool) -> Result<(), Reason> {
        self.missing += 1;
        if self.missing > self.max_bridge {
            return Err(Reason::Communication);
        }
        if !powered {
            self.unmirrored = true;
            self.rest();
            return Ok(());
        }
        self.bridged += 1;
        let (next, frame) = match self.bridging {
            Bridging::Extrapolate => {
                let joints = each(|j| {
                    let limit = self.limits.position[j];
                    (2.0 * self.last[j] - self.before[j]).clamp(-limit, limit)
                });
                (joints, along(&self.frame_before, &self.frame, 2.0))
            }
            Bridging::Hold => (self.last, self.frame),
        };
        self.before = self.last;
        self.last = next;
        self.frame_before = self.frame;
        self.frame = frame;
        self.offset = each(|j| next[j] - self.own[j]);
        Ok(())
    }

    fn rest(&mut self) {
        (self.before, self.last) = (self.setpoint(), self.setpoint());
        self.frame_before = self.frame;
    }

    /// Updates the setpoint after the KRL program has moved its own joint positions to `own` \[rad\].
    pub(super) fn own_moved(&mut self, own: Joints) {
        self.own = own;
        match self.state {
            // A command is an absolute position, wherever the program moves.
            FriState::Command => self.offset = each(|j| self.last[j] - own[j]),
            _ => self.rest(),
        }
    }

    /// Executes a step of `seconds` in which the arm brakes after commanding has ended.
    pub(super) fn brake(&mut self, seconds: f64) {
        if self.state == FriState::Command || self.braking.iter().all(|speed| *speed == 0.0) {
            return;
        }
        let less = self.stop_deceleration * seconds;
        for (offset, speed) in self.offset.iter_mut().zip(&mut self.braking) {
            *speed = speed.signum() * (speed.abs() - less).max(0.0);
            *offset += *speed * seconds;
        }
        self.rest();
    }

    pub(super) const fn halt(&mut self) {
        self.braking = [0.0; JOINTS];
    }

    /// Returns the joint setpoint \[rad\] at `share`, 0 … 1, of the present cycle, by fine interpolation.
    fn between(&self, share: f64) -> Joints {
        match self.state {
            FriState::Command => each(|j| self.before[j] + share * (self.last[j] - self.before[j])),
            _ => self.setpoint(),
        }
    }

    /// Returns the target of the arm at `share`, 0 … 1, of the present cycle.
    pub(super) fn target(&self, share: f64) -> Target {
        let joints = self.between(share);
        let frame = match (self.state, self.scheme) {
            (FriState::Command, ControlScheme::CartesianImpedance) => along(&self.frame_before, &self.frame, share),
            _ => model::flange(&joints),
        };
        Target {
            scheme: self.scheme,
            joints,
            frame,
            torque: self.torque,
            wrench: self.wrench,
            impedance: self.impedance,
        }
    }

    /// Returns [`Reason::Quality`] as an error if the KRC must return to the monitor state at this link quality.
    pub(super) const fn permits(&self, quality: Quality) -> Result<(), Reason> {
        if quality.permits_command() { Ok(()) } else { Err(Reason::Quality) }
    }
}

/// Returns the translation and the rotation from `a` to `b` \[m, rad\].
fn way(a: &Frame, b: &Frame) -> [Vec3; 2] {
    [sub(b.position, a.position), b.rotation.after(a.rotation.inverse()).to_vector()]
}

/// Returns the frame at `share` of the distance from `a` to `b`; a share above 1 extrapolates.
fn along(a: &Frame, b: &Frame, share: f64) -> Frame {
    let [moved, turned] = way(a, b).map(|vector| scale(vector, share));
    Frame { position: add(a.position, moved), rotation: Rotation::from_vector(turned).after(a.rotation) }
}

fn each(f: impl Fn(usize) -> f64) -> Joints {
    std::array::from_fn(f)
}

/// Returns the commanded frame of the tool. The error is [`Reason::Limit`] if its rotation is invalid, as in a frame
/// that was never set, or its position is not finite.
fn frame_of(command: &CommandRepr) -> Result<Frame, Reason> {
    let rows = command.cart_pos.rotation.map(|row| row.map(f64::from));
    let position = command.cart_pos.position.map(f64::from);
    let determinant = {
        let [a, b, c] = rows;
        crate::kinematics::dot(a, crate::kinematics::cross(b, c))
    };
    if !(determinant - 1.0).abs().lt(&1e-2) || position.iter().any(|p| !p.is_finite()) {
        return Err(Reason::Limit);
    }
    Ok(Frame { position, rotation: Rotation::from_rows(rows) })
}

#[cfg(test)]
mod tests {
    use outrigger_wire::fri::Frame as WireFrame;

    use super::*;

    const HOME: Joints = [0.0; JOINTS];

    /// Returns a command that leads the tool to `height` \[m\] above its position at the KRL program's joint positions.
    fn led(interface: &Interface, height: f64) -> CommandRepr {
        let frame = model::flange(&interface.own);
        let rotation = frame.rotation.to_rows().map(|row| row.map(|value| value as f32));
        let [x, y, z] = frame.position;
        CommandRepr {
            cmd_flags: CommandFlags::CARTESIAN_POSITION.bits(),
            cart_pos: WireFrame { rotation, position: [x, y, z + height].map(|value| value as f32) },
            ..CommandRepr::default()
        }
    }

    #[test]
    fn a_commanded_frame_is_interpolated_and_goes_on_where_an_answer_is_missing() {
        for (bridging, bridged) in [(Bridging::Extrapolate, 0.002), (Bridging::Hold, 0.001)] {
            let mut interface = Interface::new(&Options { bridging, ..Options::default() });
            interface.start(ControlScheme::CartesianImpedance, 1.0, None);
            for height in [0.0, 0.001] {
                assert_eq!(interface.obey(&led(&interface, height), true, 0.01, 1.0, &HOME), Ok(()));
            }
            let from = model::flange(&interface.own).position[2];
            let height = |interface: &Interface, share| interface.target(share).frame.position[2] - from;
            for share in [0.0, 0.3, 1.0] {
                assert!((height(&interface, share) - 0.001 * share).abs() < 1e-6, "{share}");
            }
            assert_eq!(interface.bridge(true), Ok(()));
            assert!((height(&interface, 1.0) - bridged).abs() < 1e-6, "{bridging:?}: {}", height(&interface, 1.0));
        }
    }

    #[test]
    fn a_frame_that_moves_or_turns_too_fast_is_refused() {
        let mut interface = Interface::new(&Options::default());
        interface.start(ControlScheme::CartesianImpedance, 1.0, None);
        assert_eq!(interface.obey(&led(&interface, 0.0), true, 0.01, 1.0, &HOME), Ok(()));
        assert_eq!(
            interface.obey(&led(&interface, 0.021), true, 0.01, 1.0, &HOME),
            Err(Reason::Limit),
            "2 m/s are 20 mm"
        );
        let mut turned = led(&interface, 0.0);
        let frame = model::flange(&interface.own);
        let rotation = Rotation::about([0.0, 0.0, 1.0], 0.07).after(frame.rotation);
        turned.cart_pos.rotation = rotation.to_rows().map(|row| row.map(|value| value as f32));
        assert_eq!(interface.obey(&turned, true, 0.01, 1.0, &HOME), Err(Reason::Limit), "6.3 rad/s are 63 mrad");
    }
}
