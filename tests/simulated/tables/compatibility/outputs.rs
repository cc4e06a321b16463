//! All outputs that can be set, tried while the arm moves.

use std::time::Duration;

use outrigger_core::command::outputs::{AnalogDomain, DigitalOutput, ToolVoltage, Write, WriteOutcome, WriteRefusal};
use outrigger_core::engine::Input;
use outrigger_core::mode::Mode;
use outrigger_tests::cosim::{Buffers, Rig, Setup};
use outrigger_urscript::RenderError;
use outrigger_wire::robot::SoftwareVersion;

pub(super) const COLUMNS: [&str; 9] = [
    "standard digital",
    "configurable digital",
    "tool digital",
    "analog, mA or V",
    "tool voltage",
    "flag",
    "payload, centre of gravity",
    "speed slider",
    "zero force sensor",
];

const WRITES: [Write; 9] = [
    Write::Digital { output: DigitalOutput::Standard(3), high: true },
    Write::Digital { output: DigitalOutput::Configurable(5), high: true },
    Write::Digital { output: DigitalOutput::Tool(1), high: true },
    Write::Analog { index: 0, domain: Some(AnalogDomain::Current), level: 0.5 },
    Write::ToolVoltage(ToolVoltage::V24),
    Write::Flag { index: 31, value: true },
    Write::Payload { mass: 1.25, center_of_gravity: Some([0.01, -0.02, 0.05]) },
    Write::SpeedSlider(0.9),
    Write::ZeroForceTorqueSensor,
];

pub(super) fn cells(software: SoftwareVersion) -> Vec<String> {
    let mut buffers = Buffers::default();
    let mut rig = Rig::new(Setup::sweep(software, 0.2), &mut buffers);
    rig.command();
    let cells = WRITES.map(|write| {
        rig.input(Input::Set(write));
        rig.run_for(Duration::from_millis(1_500));
        let news: Vec<WriteOutcome> =
            rig.record().news().filter(|(of, _)| *of == write).map(|(_, news)| news).collect();
        match news.last() {
            Some(WriteOutcome::Confirmed(_)) => "confirmed".to_owned(),
            Some(WriteOutcome::NeverShown) => "sent".to_owned(),
            Some(WriteOutcome::Refused(WriteRefusal::Impossible(RenderError::Unsupported { since, .. }))) => {
                format!("from {since}")
            }
            other => panic!("{software}: {write:?} ends with {other:?}\n{}", rig.record().story()),
        }
    });
    assert_eq!(rig.engine().mode(), Mode::Command, "{software}: {}", rig.record().story());
    cells.to_vec()
}
