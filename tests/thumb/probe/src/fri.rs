//! The engine for a KRC: every input, every output, every query.

use core::net::{IpAddr, Ipv4Addr, SocketAddr};

use outrigger_core::command::SourceConfig;
use outrigger_core::engine::krc::{Control, JointImpedance, KrcConfig, KrcEngine, KrcEvent, ToolImpedance};
use outrigger_core::engine::{Event, Input, LinkId, Output};
use outrigger_core::law::{AnyLaw, JointServoConfig, Law, LawConfig, Reference};
use outrigger_core::mode::{Contact, Epoch};
use outrigger_wire::fri::KrlIndex;
use outrigger_wire::sensor::{Sample, SampleValue, SourceId};
use outrigger_wire::time::{Duration, Instant};

use crate::{any, any_numbers, shown, used};

#[inline(never)]
pub fn probe() {
    let mut config = any(KrcConfig::default());
    config.peer.address = any(Some(IpAddr::V4(Ipv4Addr::LOCALHOST)));
    config.sources[0] = Some(SourceConfig::new(any(SourceId(1)), any(1), any(0.0), any(1.0)));
    let servo = LawConfig::JointServo { reference: any(Reference::Hold), config: any(JointServoConfig::default()) };
    let Ok(law) = AnyLaw::<7>::new(servo) else { return };
    match KrcEngine::new(config, any(law), ()) {
        Ok(mut session) => live(&mut session),
        Err(error) => shown(error),
    }
}

#[inline(never)]
fn live<L: Law<7>>(session: &mut KrcEngine<'_, L>) {
    let mut now = any(Instant::from_micros(1));
    while any(true) {
        now = now + any(Duration::from_millis(1));
        session.handle(now, any_input(now));
        let from = any(SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 49_938));
        used(session.receive_window(any(LinkId::FRI)).len());
        session.commit_datagram(any(LinkId::FRI), any(916), from, now, now);
        while let Some(output) = session.poll_output() {
            if let Output::Transmit { to, bytes, .. } = output {
                used((to, bytes));
            }
            used(session.written(now));
        }
        while let Some(event) = session.poll_event() {
            if let Event::Peer(KrcEvent::Malformed { error, .. }) = event {
                shown(error);
            }
            used(event);
        }
        control(session);
        used((session.poll_timeout(), session.mode(), session.latch(), session.unmet(now), session.figures(now)));
        used((
            session.state().copied(),
            session.commanded(),
            session.peer().counts(),
            session.peer().address(),
            session.peer().period(),
        ));
        used((session.peer().state(), session.peer().quality(), session.histograms().clone()));
    }
}

#[inline(never)]
fn control<L: Law<7>>(session: &mut KrcEngine<'_, L>) {
    let stiff = JointImpedance { stiffness: any_numbers(), ..JointImpedance::default() };
    if let Some(monitoring) = session.monitoring() {
        used(monitoring.set(any(Control::JointImpedance(stiff))));
    }
    used((session.set_joint_impedance(stiff), session.set_tool_impedance(any(ToolImpedance::default()))));
    if let Some(at) = KrlIndex::new(any(3)) {
        session.krl_mut().set_real(at, any(0.1));
        session.krl_mut().set_int(at, any(1));
        session.krl_mut().set_bool(at, any(true));
        used(session.peer().krl().map(|krl| (krl.real(at), krl.int(at), krl.bool(at))));
    }
}

fn any_input(now: Instant) -> Input {
    match any(0) {
        0 => Input::Start,
        1 => Input::Opened(any(LinkId::FRI)),
        2 => {
            let value = SampleValue::new(any::<&[f32]>(&any_numbers::<3>())).unwrap_or(SampleValue::scalar(any(0.1)));
            Input::Sample(Sample { source: any(SourceId(1)), value, seq: any(3), taken_at: now })
        }
        3 => Input::Request(any(Epoch::from_number(1))),
        4 => Input::Resume(any(Epoch::from_number(1))),
        7 => Input::Pin(any(Contact::Request), any(true)),
        5 => Input::Release,
        6 => Input::Acknowledge,
        _ => Input::Tick,
    }
}
