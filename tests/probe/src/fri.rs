//! The engine beside a KRC: every input, every output, every question. The loop around it, `outrigger_embassy::fri`, works
//! on the stack's own socket, in whose reach there are panics: `.ci/run budgets` looks through a whole firmware for one in
//! that loop.

use core::net::{IpAddr, Ipv4Addr, SocketAddr};

use outrigger_core::command::{Sample, SampleValue, SourceConfig, SourceId};
use outrigger_core::law::{AnyLaw, JointServoConfig, Law, LawConfig, Reference};
use outrigger_core::mode::{Contact, Epoch};
use outrigger_core::session::Event;
use outrigger_core::session::fri::{
    Control, FriConfig, FriEvent, FriInput, FriSession, JointImpedance, KrlConvention, ToolImpedance,
};
use outrigger_core::time::{Duration, Instant};
use outrigger_core::wire::fri::KrlIndex;

use crate::{any, any_bytes, any_numbers, shown, used};

#[inline(never)]
pub fn probe() {
    let mut config = any(FriConfig::default());
    config.peer = any(Some(IpAddr::V4(Ipv4Addr::LOCALHOST)));
    config.sources[0] = Some(SourceConfig::new(any(SourceId(1)), any(1), any(0.0), any(1.0)));
    let servo = LawConfig::JointServo { reference: any(Reference::Hold), config: any(JointServoConfig::default()) };
    let Ok(law) = AnyLaw::<7>::new(servo) else { return };
    match FriSession::new(config, any(law), any(KrlConvention::RosControl)) {
        Ok(mut session) => live(&mut session),
        Err(error) => shown(error),
    }
}

#[inline(never)]
fn live<L: Law<7>>(session: &mut FriSession<L, KrlConvention>) {
    let mut now = any(Instant::from_micros(1));
    while any(true) {
        now = now + any(Duration::from_millis(1));
        session.handle(now, any_input(now));
        while let Some(transmit) = session.poll_transmit() {
            used((transmit.to, transmit.bytes));
            used(session.written(now));
        }
        while let Some(event) = session.poll_event() {
            if let Event::Fri(FriEvent::Malformed { error, .. }) = event {
                shown(error);
            }
            used(event);
        }
        control(session);
        used((session.poll_timeout(), session.mode(), session.latch(), session.unmet(now), session.figures(now)));
        used((session.state().copied(), session.commanded(), session.counts(), session.peer(), session.period()));
        used((session.peer_state(), session.peer_quality(), session.histograms().clone()));
    }
}

#[inline(never)]
fn control<L: Law<7>>(session: &mut FriSession<L, KrlConvention>) {
    let stiff = JointImpedance { stiffness: any_numbers(), ..JointImpedance::default() };
    if let Some(monitoring) = session.monitoring() {
        used(monitoring.set(any(Control::JointImpedance(stiff))));
    }
    used((session.set_joint_impedance(stiff), session.set_tool_impedance(any(ToolImpedance::default()))));
    if let Some(at) = KrlIndex::new(any(3)) {
        session.krl_mut().set_real(at, any(0.1));
        session.krl_mut().set_int(at, any(1));
        session.krl_mut().set_bool(at, any(true));
        used(session.krl().map(|krl| (krl.real(at), krl.int(at), krl.bool(at))));
    }
}

fn any_input(now: Instant) -> FriInput<'static> {
    let from = any(SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 49_938));
    match any(0) {
        0 => FriInput::Datagram { from, bytes: any_bytes(), arrival: now },
        1 => FriInput::Drained,
        2 => {
            let value = SampleValue::new(any::<&[f32]>(&any_numbers::<3>())).unwrap_or(SampleValue::scalar(any(0.1)));
            FriInput::Sample(Sample { source: any(SourceId(1)), value, seq: any(3), taken_at: now })
        }
        3 => FriInput::Request(any(Epoch::from_number(1))),
        4 => FriInput::Resume(any(Epoch::from_number(1))),
        7 => FriInput::Pin(any(Contact::Request), any(true)),
        5 => FriInput::Release,
        6 => FriInput::Acknowledge,
        _ => FriInput::Tick,
    }
}
