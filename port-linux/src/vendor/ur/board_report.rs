//! The report of a board (a microcontroller that commands a robot) about its session with a controller of Universal
//! Robots.

use std::net::Ipv4Addr;

use outrigger_core::engine::LinkId;
use outrigger_core::engine::ur::{UrSettings, UrStatus};
use outrigger_remote::telemetry::{Motion, Status};
use outrigger_wire::robot::Safety;

use crate::show::{Arm, Joint};
use crate::vendor::{BoardSession, OnBoard};

impl OnBoard<6> for UrStatus {
    fn standing(status: &Status<Self>) -> BoardSession {
        let (peer, evidence) = (&status.peer, &status.evidence);
        let safety = evidence.safety.map_or(Safety::Unknown, |held| held.value);
        BoardSession {
            has_states: peer.up.get(LinkId::REALTIME.index()) == Some(&true),
            // A session may run without some of its links. Notices have reported them.
            has_session: peer.controller.is_some(),
            identity: peer.controller.map(|controller| {
                let states = if controller.states == LinkId::RTDE { "states by RTDE" } else { "states by 30003" };
                format!("software {}, {states}", controller.software)
            }),
            words: super::modes(evidence.robot_mode.map(|held| held.value), safety),
            silence: None,
            counters: vec![
                ("malformed", peer.streams.iter().map(|counts| u64::from(counts.malformed)).sum()),
                ("dropped_bytes", peer.dropped.iter().sum()),
            ],
            ..BoardSession::of(status)
        }
    }

    fn arm(motion: &Motion<6>) -> Arm {
        let joints = motion.positions.iter().zip(motion.velocities.iter()).zip(motion.target_velocities.iter());
        let joints = joints.map(|((angle, speed), target)| Joint {
            angle,
            setpoint: None,
            speed: Some(speed),
            target_speed: Some(target),
        });
        Arm {
            controller_time: Some(motion.controller_time),
            joints: joints.collect(),
            tcp_pose: motion.tcp_pose,
            ..Arm::default()
        }
    }

    fn settings(bytes: &[u8]) -> Option<(Ipv4Addr, String)> {
        let settings = UrSettings::from_postcard(bytes).ok()?;
        Some((settings.robot, format!("robot {}, law {}", settings.robot, settings.law.name())))
    }
}
