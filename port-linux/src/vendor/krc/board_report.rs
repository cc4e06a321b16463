//! The report of a board (a microcontroller that commands a robot) about its session with a KRC.

use std::net::Ipv4Addr;

use outrigger_core::engine::krc::{KrcSettings, KrcStatus};
use outrigger_remote::telemetry::{Motion, Status};

use super::event_text;
use crate::show::{Arm, Joint};
use crate::vendor::{BoardSession, OnBoard};

impl OnBoard<7> for KrcStatus {
    fn standing(status: &Status<Self>) -> BoardSession {
        let peer = &status.peer;
        BoardSession {
            has_states: peer.period.is_some(),
            has_session: peer.period.is_some(),
            identity: peer.period.map(|period| format!("KRC, {}", event_text::every(period))),
            words: event_text::rating(peer.state, peer.quality).to_vec(),
            silence: Some("the board receives no measurement from the KRC"),
            counters: event_text::counters(peer.counts).to_vec(),
            ..BoardSession::of(status)
        }
    }

    fn arm(motion: &Motion<7>) -> Arm {
        let joints = motion.positions.iter().zip(motion.commanded.iter());
        let joints =
            joints.map(|(angle, speed)| Joint { angle, target_speed: Some(speed), ..Joint::default() }).collect();
        Arm { joints, ..Arm::default() }
    }

    fn settings(bytes: &[u8]) -> Option<(Ipv4Addr, String)> {
        let settings = KrcSettings::from_postcard(bytes).ok()?;
        let port = settings.config.peer.port;
        Some((settings.robot, format!("KRC, measurements to port {port}, law {}", settings.law.name())))
    }
}
