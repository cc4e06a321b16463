//! The contents of one measurement, from the state of the KRC.

use outrigger_wire::fri::{CartesianVector, Frame, Jacobian, KrlVariables, MassMatrix, MeasurementRepr, Quality};

use super::arm::Arm;
use super::fri_interface::Interface;
use super::link_rating::Statistics;
use super::model::{self, Joints, Spatial};
use super::options::FrameOffset;
use crate::kinematics;
use crate::time::SimTime;

/// The values that an FRI measurement message contains in addition to those of the arm and its setpoint.
pub(super) struct Facts {
    pub(super) counter: u16,
    pub(super) reflected: u16,
    pub(super) now: SimTime,
    /// Period of the measurements that the KRC sends \[s\].
    pub(super) period: f64,
    pub(super) quality: Quality,
    pub(super) statistics: Statistics,
    pub(super) powered: bool,
    pub(super) krl: KrlVariables,
}

pub(super) fn measurement(facts: &Facts, arm: &Arm, interface: &Interface) -> MeasurementRepr {
    let jacobian = model::jacobian(&arm.q);
    let (own, commanded) = (model::flange(&interface.own), interface.commanded_frame());
    let away = kinematics::sub(commanded.position, own.position);
    let offset = kinematics::Frame {
        position: match interface.frame_offset {
            FrameOffset::Added => away,
            FrameOffset::Product => own.rotation.inverse().turn(away),
        },
        rotation: own.rotation.inverse().after(commanded.rotation),
    };
    MeasurementRepr {
        send_seq_count: facts.counter,
        refl_seq_count: facts.reflected,
        krl: facts.krl,
        timestamp: facts.now.as_secs_f64() as f32,
        state: interface.state.raw(),
        quality: facts.quality.raw(),
        desired_msr_sample_time: facts.period as f32,
        desired_cmd_sample_time: facts.period as f32,
        safety_limits: interface.scale as f32,
        stat_answer_rate: facts.statistics.answer_rate as f32,
        stat_latency: facts.statistics.latency as f32,
        stat_jitter: facts.statistics.jitter as f32,
        stat_miss_rate: 1.0 - facts.statistics.answer_rate as f32,
        stat_miss_counter: facts.statistics.missed,
        power: if facts.powered { 0x7f } else { 0 },
        control: interface.scheme.raw(),
        temperature: [35.0; 7],
        msr_jnt_pos: singles(&arm.q),
        msr_cart_pos: frame(model::flange(&arm.q)),
        cmd_jnt_pos: singles(&interface.own),
        cmd_jnt_pos_fri_offset: singles(&interface.offset),
        cmd_cart_pos: frame(own),
        cmd_cart_pos_fri_offset: frame(offset),
        msr_jnt_trq: singles(arm.measured()),
        est_ext_jnt_trq: singles(arm.external()),
        est_ext_tcp_ft: vector(model::wrench_of(&jacobian, arm.external())),
        jacobian: by_axis(&jacobian),
        mass_matrix: MassMatrix(model::mass_matrix(&arm.q).map(|row| singles(&row))),
        gravity: singles(&model::gravity(&arm.q)),
        ..MeasurementRepr::default()
    }
}

fn singles(values: &Joints) -> [f32; 7] {
    values.map(|value| value as f32)
}

fn frame(frame: kinematics::Frame) -> Frame {
    Frame {
        rotation: frame.rotation.to_rows().map(|row| row.map(|value| value as f32)),
        position: frame.position.map(|value| value as f32),
    }
}

fn vector(spatial: Spatial) -> CartesianVector {
    let [x, y, z, rx, ry, rz] = spatial.map(|value| value as f32);
    CartesianVector { linear: [x, y, z], angular: [rx, ry, rz] }
}

fn by_axis(columns: &[Spatial; 7]) -> Jacobian {
    let row = |axis: usize| columns.map(|column| column[axis] as f32);
    Jacobian { linear: [row(0), row(1), row(2)], angular: [row(3), row(4), row(5)] }
}
