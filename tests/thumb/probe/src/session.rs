//! The whole engine for one robot: every input, every output, every query.

#[cfg(feature = "programs")]
use core::net::{IpAddr, SocketAddr};

use outrigger_core::command::SourceConfig;
use outrigger_core::command::outputs::{Write, WriteOutcome};
#[cfg(feature = "rtde")]
use outrigger_core::engine::ur::rtde::{RtdeMemory, StateMemory};
use outrigger_core::engine::ur::{LINKS, UrEvent};
use outrigger_core::engine::ur::{Memory, UrConfig, UrEngine, link_name};
use outrigger_core::engine::{Event, Input, LinkId, Output};
use outrigger_core::law::Law;
#[cfg(feature = "laws")]
use outrigger_core::law::{AnyLaw as Probed, LawConfig, StandoffConfig};
#[cfg(not(feature = "laws"))]
use outrigger_core::law::{JointServo as Probed, JointServoConfig, Reference};
use outrigger_core::mode::{Contact, Epoch};
#[cfg(not(feature = "engine_only"))]
use outrigger_wire::robot::SoftwareVersion;
use outrigger_wire::sensor::{Sample, SampleValue, SourceId};
use outrigger_wire::time::{Duration, Instant};

use crate::{any, any_numbers, shown, used};

/// The size of the receive memory of the primary link \[B\]; [`REALTIME`] is that of the real-time link, whose 8 KiB
/// hold a backlog of six packets.
pub const PRIMARY: usize = 2048;
pub const REALTIME: usize = 8192;
/// The size of the engine with its law \[B\].
#[cfg(feature = "engine_only")]
pub const ENGINE_SIZE: usize = size_of::<UrEngine<'_, Probed<6>>>();
/// The size of the additional memory for RTDE \[B\].
#[cfg(all(feature = "engine_only", feature = "rtde"))]
pub const RTDE_SIZE: usize = size_of::<RtdeMemory<'_>>();

#[inline(never)]
pub fn probe() {
    let mut config = any(UrConfig::default());
    config.sources[0] = Some(SourceConfig::new(any(SourceId(1)), any(1), any(0.0), any(1.0)));
    #[cfg(feature = "laws")]
    let Ok(law) = Probed::<6>::new(LawConfig::Standoff(any(StandoffConfig::new(SourceId(1), 0.1)))) else { return };
    #[cfg(not(feature = "laws"))]
    let law = Probed::<6>::new(any(Reference::Hold), any(JointServoConfig::default()));
    let (mut primary, mut realtime) = ([0; PRIMARY], [0; REALTIME]);
    #[cfg(feature = "rtde")]
    let mut room: RtdeMemory = RtdeMemory::new();
    #[cfg(feature = "rtde")]
    let rtde: Option<&mut dyn StateMemory<'_>> = Some(&mut room);
    #[cfg(not(feature = "rtde"))]
    let rtde = None;
    let memory = Memory { primary: any::<&mut [u8]>(&mut primary), realtime: any::<&mut [u8]>(&mut realtime), rtde };
    // For a host that checks a configuration.
    #[cfg(not(feature = "engine_only"))]
    used((
        config.worst_coast(any(SoftwareVersion::new(5, 15))),
        config.coast_without_us(any(SoftwareVersion::new(3, 1))),
    ));
    match UrEngine::new(config, any(law), memory) {
        Ok(mut engine) => {
            live(&mut engine);
            #[cfg(feature = "engine_only")]
            crate::drive::run(&mut engine);
        }
        Err(error) => shown(error),
    }
}

#[inline(never)]
fn live<L: Law<6>>(engine: &mut UrEngine<'_, L>) {
    let mut now = any(Instant::from_micros(1));
    while any(true) {
        now = now + any(Duration::from_millis(1));
        engine.handle(now, any_input(now));
        for link in LINKS.into_iter().chain([LinkId::REVERSE]) {
            let window = engine.receive_window(any(link));
            used(window.len());
            engine.commit(link, any(100), now, now);
        }
        while let Some(output) = engine.poll_output() {
            match output {
                Output::Open { link, endpoint } => used((link_name(link), endpoint)),
                Output::Listen { link, port } => used((link, port)),
                Output::Abort(link) => used(link),
                Output::Transmit { link, to, bytes } => used((link, to, bytes)),
            }
            used(engine.written(now));
        }
        while let Some(event) = engine.poll_event() {
            if let Event::Peer(UrEvent::Malformed { error, .. }) = event {
                shown(error);
            }
            if let Event::Output { news: WriteOutcome::Refused(refusal), .. } = event {
                shown(refusal);
            }
            used(event);
        }
        used((engine.poll_timeout(), engine.is_finished(), engine.mode(), engine.latch(), engine.grade()));
        used((engine.unmet(now), engine.figures(now), engine.peer().identity().copied(), engine.state().copied()));
        used((
            engine.peer().facts().clone(),
            engine.peer().counts(LinkId::PRIMARY),
            engine.peer().is_up(LinkId::REALTIME),
        ));
    }
}

pub(crate) fn any_input(now: Instant) -> Input {
    let value = SampleValue::new(any::<&[f32]>(&any_numbers::<3>())).unwrap_or(SampleValue::scalar(any(0.1)));
    match any(0) {
        0 => Input::Start,
        1 => Input::Opened(any(LinkId::PRIMARY)),
        2 => Input::Refused(any(LinkId::PRIMARY)),
        3 => Input::Closed(any(LinkId::REALTIME)),
        #[cfg(feature = "programs")]
        20 => Input::Accepted(any(LinkId::REVERSE), any(SocketAddr::from(([10, 0, 0, 1], 1)))),
        #[cfg(feature = "programs")]
        21 => Input::Ends(any(LinkId::REALTIME), any(IpAddr::from([10, 0, 0, 1])), any(IpAddr::from([10, 0, 0, 2]))),
        #[cfg(feature = "programs")]
        22 => Input::HandBack,
        #[cfg(feature = "programs")]
        23 => Input::Resend,
        4 => Input::Unacked { link: any(LinkId::REALTIME), bytes: any(10), age: any(Duration::from_millis(3)) },
        5 => Input::Sample(Sample { source: any(SourceId(1)), value, seq: any(3), taken_at: now }),
        6 => Input::Request(any(Epoch::from_number(1))),
        7 => Input::Resume(any(Epoch::from_number(1))),
        12 => Input::Pin(any(Contact::Request), any(true)),
        8 => Input::Release,
        9 => Input::Acknowledge,
        10 => Input::Shutdown,
        11 => Input::Set(any(Write::Payload { mass: 1.0, center_of_gravity: Some([0.0; 3]) })),
        _ => Input::Tick,
    }
}
