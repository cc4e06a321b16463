//! Outputs that are set while the arm moves and do not affect the motion, and the reports about them.

use outrigger_core::client::rtde::{Claim, Claims};
use outrigger_core::command::SourceConfig;
use outrigger_core::command::outputs::{AnalogDomain, DigitalOutput, ToolVoltage, Write, WriteOutcome, WriteRefusal};
use outrigger_core::engine::ur::{FormChoice, OutputsBy, UrEvent};
use outrigger_core::engine::{Event, Input};
use outrigger_core::law::JointServoConfig;
use outrigger_core::mode::Mode;
use outrigger_core::trajectory::{Setpoint, Trajectory, Waypoint};
use outrigger_sim::controller::{Controller, StartState};
use outrigger_sim::port::Port;
use outrigger_tests::cosim::{Buffers, Record, Rig, SENSOR, Sensor, Setup};
use outrigger_wire::robot::{JointPositions, JointVelocities, Pose, SoftwareVersion};
use outrigger_wire::sensor::SampleValue;
use outrigger_wire::time::Duration;

use super::{ms, secs};

const SOFTWARE: [SoftwareVersion; 5] = [
    SoftwareVersion::new(1, 8),
    SoftwareVersion::new(3, 1),
    SoftwareVersion::new(3, 15),
    SoftwareVersion::new(5, 15),
    SoftwareVersion::new(5, 25),
];

const fn digital(output: DigitalOutput, high: bool) -> Write {
    Write::Digital { output, high }
}

/// Returns a motion to and fro, twice, in 4 s.
fn trajectory() -> Trajectory<6> {
    let at = |angle, millis| Waypoint {
        setpoint: Setpoint {
            positions: JointPositions([angle, 0.0, 0.3 * angle, 0.0, 0.0, -angle]),
            velocities: JointVelocities::ZERO,
        },
        accelerations: None,
        at: Duration::from_millis(millis),
    };
    Trajectory::through(&[at(0.0, 0), at(0.5, 1_000), at(-0.2, 2_000), at(0.5, 3_000), at(0.0, 4_000)]).unwrap()
}

/// Returns the n-th write of those that are permitted while the arm moves: levels toggle, values change.
fn nth(n: u32, software: SoftwareVersion) -> Write {
    let (high, share) = (n.is_multiple_of(2), f32::from((n % 11) as u8) / 10.0);
    match n % 7 {
        0 | 3 => digital(DigitalOutput::Standard((n % 8) as u8), high),
        1 if software.at_least(3, 0) => digital(DigitalOutput::Configurable((n % 8) as u8), high),
        1 | 2 => digital(DigitalOutput::Tool((n % 2) as u8), high),
        4 => Write::Analog { index: (n % 2) as u8, domain: Some(AnalogDomain::Voltage), level: share },
        5 => Write::Flag { index: (n % 32) as u8, value: high },
        _ => Write::ToolVoltage(if high { ToolVoltage::V24 } else { ToolVoltage::V12 }),
    }
}

/// Runs a servo along the trajectory, with an output set in every interval `every` if one is given.
fn driven(software: SoftwareVersion, form: FormChoice, every: Option<std::time::Duration>) -> Record {
    let mut buffers = Buffers::default();
    let mut setup = Setup::servo(software, trajectory(), JointServoConfig::default());
    setup.config.peer.text.form = form;
    let mut rig = Rig::new(setup, &mut buffers);
    rig.ready();
    rig.request();
    let mut n = 0;
    let end = rig.now() + secs(7);
    while rig.now() < end {
        rig.run_for(every.unwrap_or(secs(7)).min(end.since(rig.now())));
        if every.is_some() {
            rig.input(Input::Set(nth(n, software)));
            n += 1;
        }
    }
    assert_eq!(rig.engine().mode(), Mode::Command, "{}", rig.record().story());
    rig.record().clone()
}

#[test]
fn the_arm_follows_the_same_path_to_the_bit_with_and_without_outputs_being_set() {
    for software in SOFTWARE {
        for form in [FormChoice::Bare, FormChoice::SelfEnding] {
            let without = driven(software, form, None);
            assert!(without.settings.is_empty());
            for every in [ms(5), ms(37)] {
                let with = driven(software, form, Some(every));
                let sent = with.news().filter(|(_, news)| *news == WriteOutcome::Sent).count();
                assert!(sent > 150, "{software} {form:?}: {sent} writes");
                // The motion of each joint, and every byte that caused it.
                assert!(without.motion == with.motion, "{software} {form:?}: another path");
                let texts = |record: &Record| -> Vec<_> {
                    record.commands.iter().map(|command| (command.at, command.text.clone())).collect()
                };
                assert!(texts(&without) == texts(&with), "{software} {form:?}: other commands");
                let moved = with.motion.iter().map(|motion| motion.q[0]);
                let way = moved.clone().fold(f64::MIN, f64::max) - moved.fold(f64::MAX, f64::min);
                assert!(way > 0.6, "{software}: it moved {way:.3} rad");
            }
        }
    }
}

#[test]
fn every_output_arrives_and_is_confirmed_where_the_controller_shows_it() {
    let cog = Some([0.01, -0.02, 0.05]);
    for software in SOFTWARE {
        let mut buffers = Buffers::default();
        let mut rig = Rig::new(Setup::new(software), &mut buffers);
        rig.ready();
        let cb2 = !software.at_least(3, 0);
        let shows_payload = software.at_least(5, 10);
        let writes = [
            (digital(DigitalOutput::Standard(3), true), true),
            (digital(DigitalOutput::Tool(1), true), true),
            (Write::Analog { index: 0, domain: Some(AnalogDomain::Voltage), level: 0.5 }, true),
            (Write::Analog { index: 1, domain: Some(AnalogDomain::Current), level: 0.25 }, true),
            (Write::ToolVoltage(ToolVoltage::V24), true),
            (Write::SpeedSlider(0.4), true),
            (Write::Flag { index: 31, value: true }, false),
            (Write::Payload { mass: 1.25, center_of_gravity: cog }, shows_payload),
        ];
        for (write, _) in writes {
            rig.input(Input::Set(write));
        }
        if !cb2 {
            rig.input(Input::Set(digital(DigitalOutput::Configurable(7), true)));
        }
        rig.run_for(ms(1_600));
        let story = rig.record().story();
        let last = |write: Write| rig.record().news().rfind(|(of, _)| *of == write).map(|(_, news)| news);
        for (write, shown) in writes {
            let news = last(write).unwrap();
            let right = matches!((news, shown), (WriteOutcome::Confirmed(_), true) | (WriteOutcome::NeverShown, false));
            assert!(right, "{software}: {write:?} {news:?}\n{story}");
        }
        let (truth, slider) = (rig.controller.io(), rig.controller.robot().slider);
        let (tool, configurable) = if cb2 { (1 << 9, 0) } else { (1 << 17, 1 << 15) };
        assert_eq!(truth.digital_out, 8 | tool | configurable, "{software}\n{story}");
        assert!((truth.analog_out[0] - 5.0).abs() < 1e-6 && (truth.analog_out[1] - 0.008).abs() < 1e-6);
        assert_eq!((truth.tool_voltage, truth.flags, truth.payload), (24, 1 << 31, 1.25), "{software}");
        assert!((slider - 0.4).abs() < 1e-6, "{software}: {slider}");
    }
}

/// A tool 0.1 m in front of the flange and 0.05 m aside, turned by 1.25 rad.
const TOOL: Pose = Pose { position: [0.0, -0.05, 0.1], rotation: [0.0, 0.0, -1.25] };

#[test]
fn a_tool_centre_point_is_set_and_shown_and_gravity_is_set() {
    for software in [(3, 15), (5, 15), (10, 11)].map(|(major, minor)| SoftwareVersion::new(major, minor)) {
        let mut buffers = Buffers::default();
        let mut rig = Rig::new(Setup::new(software), &mut buffers);
        rig.ready();
        let (tcp, gravity) = (Write::Tcp(TOOL), Write::Gravity([0.0, 1.0, 9.77]));
        rig.input(Input::Set(tcp));
        rig.input(Input::Set(gravity));
        rig.run_for(ms(1_600));
        let last = |write: Write| rig.record().news().rfind(|(of, _)| *of == write).map(|(_, news)| news);
        assert!(matches!(last(tcp), Some(WriteOutcome::Confirmed(_))), "{software}\n{}", rig.record().story());
        assert_eq!(last(gravity), Some(WriteOutcome::NeverShown), "{software}");
        let [x, y, z, .., rz] = rig.controller.truth().tcp;
        assert!(x.abs() < 1e-6 && (y + 0.05).abs() < 1e-6 && (z - 0.1).abs() < 1e-6 && (rz + 1.25).abs() < 1e-6);
    }
}

#[test]
fn what_would_change_motion_is_refused_while_the_arm_is_commanded() {
    let mut buffers = Buffers::default();
    let mut rig = Rig::new(Setup::sweep(SoftwareVersion::new(5, 15), 0.2), &mut buffers);
    rig.ready();
    let changing = [Write::Tcp(TOOL), Write::Gravity([0.0, 0.0, 9.0])];
    let refused = |rig: &Rig<'_>| {
        let commanding = WriteOutcome::Refused(WriteRefusal::Commanding);
        rig.record().news().filter(|(write, news)| changing.contains(write) && *news == commanding).count()
    };
    // Set just before the request, it is withdrawn rather than sent.
    rig.input(Input::Set(changing[0]));
    rig.request();
    rig.run_for(ms(50));
    assert_eq!((rig.engine().mode(), refused(&rig)), (Mode::Arming, 1), "{}", rig.record().story());
    rig.input(Input::Set(changing[1]));
    rig.command();
    for write in changing {
        rig.input(Input::Set(write));
    }
    assert_eq!(refused(&rig), 4);
    rig.input(Input::Release);
    rig.input(Input::Set(changing[0]));
    assert_eq!((rig.engine().mode(), refused(&rig)), (Mode::Stopping, 5));
    rig.run_for(secs(2));
    assert!(rig.record().settings.is_empty() && rig.controller.truth().tcp == [0.0; 6]);
    rig.input(Input::Set(changing[0]));
    rig.run_for(ms(500));
    assert!(matches!(rig.record().news().last(), Some((_, WriteOutcome::Confirmed(_)))), "{}", rig.record().story());
}

#[test]
fn a_payload_beyond_what_the_arm_is_rated_for_is_refused() {
    let mut buffers = Buffers::default();
    let mut setup = Setup::new(SoftwareVersion::new(5, 15));
    setup.config.peer.model = Some(outrigger_wire::robot::RobotModel::Ur5e);
    let mut rig = Rig::new(setup, &mut buffers);
    rig.ready();
    rig.input(Input::Set(Write::Payload { mass: 5.1, center_of_gravity: None }));
    let refused = rig.record().news().next();
    let Some((_, WriteOutcome::Refused(refusal))) = refused else { panic!("{refused:?}") };
    assert_eq!(refusal.to_string(), "mass is 5.1, allowed 0 to 5");
}

#[test]
fn a_payload_with_inertia_is_in_force_where_the_software_takes_one_and_refused_elsewhere() {
    let write = |inertia, transition_time| Write::TargetPayload {
        mass: 1.25,
        center_of_gravity: [0.01, -0.02, 0.05],
        inertia,
        transition_time,
    };
    let inertia = [0.25, 0.5, 0.125, 0.0, -0.0625, 0.03125];
    for software in SOFTWARE {
        let mut buffers = Buffers::default();
        let mut rig = Rig::new(Setup::new(software), &mut buffers);
        rig.ready();
        let last = |rig: &Rig<'_>, write: Write| {
            rig.record().news().rfind(|(of, _)| *of == write).map(|(_, news)| news).expect("news of it")
        };
        let (with, without) = (write(inertia, Duration::ZERO), write([0.0; 6], Duration::from_secs(1)));
        rig.input(Input::Set(with));
        rig.run_for(ms(1_600));
        let takes = software.at_least(5, 10);
        let (news, io) = (last(&rig, with), rig.controller.io());
        if takes {
            assert!(matches!(news, WriteOutcome::Confirmed(_)), "{software}: {news:?}");
            assert_eq!((io.payload, io.payload_inertia), (1.25, inertia.map(f64::from)), "{software}");
        } else {
            let WriteOutcome::Refused(refusal) = news else { panic!("{software}: {news:?}") };
            let said = refusal.to_string();
            assert!(said.ends_with("cannot do this, only 5.10 and later"), "{software}: {said}");
            assert_eq!((io.payload, io.payload_inertia), (0.0, [0.0; 6]), "{software}");
        }
        // Without inertia, any software accepts it.
        rig.input(Input::Set(without));
        rig.run_for(ms(1_600));
        if !takes {
            assert_eq!(last(&rig, without), WriteOutcome::Sent, "{software}: its transition is waited for");
        }
        rig.run_for(ms(1_000));
        let news = last(&rig, without);
        let right = matches!((news, takes), (WriteOutcome::Confirmed(_), true) | (WriteOutcome::NeverShown, false));
        assert!(right, "{software}: {news:?}");
        assert_eq!((rig.controller.io().payload, rig.controller.io().payload_inertia), (1.25, [0.0; 6]), "{software}");
    }
}

#[test]
fn another_writer_is_noticed_and_left_alone() {
    for software in SOFTWARE {
        let mut buffers = Buffers::default();
        let mut rig = Rig::new(Setup::new(software), &mut buffers);
        rig.ready();
        let ours = digital(DigitalOutput::Standard(2), true);
        rig.input(Input::Set(ours));
        rig.run_for(ms(300));
        let other = rig.controller.connect(Port::Secondary).unwrap();
        let call = if software.at_least(3, 0) { "set_standard_digital_out" } else { "set_digital_out" };
        let write = |rig: &mut Rig<'_>, arguments: &str| {
            let text = format!("sec other():\n {call}({arguments})\nend\n");
            assert_eq!(rig.controller.write(other, text.as_bytes()), text.len());
        };
        write(&mut rig, "5,True");
        rig.run_for(ms(300));
        assert!(rig.record().news().all(|(_, news)| news != WriteOutcome::Overwritten), "that one is not ours");
        write(&mut rig, "2,False");
        rig.run_for(secs(1));
        assert_eq!(rig.record().news().last(), Some((ours, WriteOutcome::Overwritten)), "{software}");
        assert_eq!(rig.record().settings.len(), 1, "nobody fights");
        assert_eq!(rig.controller.io().digital_out, 1 << 5);
    }
}

#[test]
fn local_control_is_told_as_such_where_the_controller_says_so_and_shows_as_silence_elsewhere() {
    let write = digital(DigitalOutput::Standard(2), true);
    for (software, expected) in [
        (SoftwareVersion::new(5, 25), WriteOutcome::Refused(WriteRefusal::LocalControl)),
        (SoftwareVersion::new(5, 0), WriteOutcome::NotConfirmed),
    ] {
        let mut buffers = Buffers::default();
        let mut setup = Setup::new(software);
        setup.controller.state = StartState::Local;
        let mut rig = Rig::new(setup, &mut buffers);
        rig.run_for(secs(2));
        rig.input(Input::Set(write));
        rig.run_for(ms(1_200));
        assert_eq!(rig.record().news().last(), Some((write, expected)), "{software}:\n{}", rig.record().story());
        assert_eq!(rig.controller.io().digital_out, 0);
    }
}

/// Returns a set-up and buffers with states over RTDE, and with these groups of RTDE inputs claimed for the driver.
fn by_rtde(by: OutputsBy, claims: &[Claim]) -> (Setup, Buffers) {
    let claims = claims.iter().fold(Claims::NONE, |claims, claim| claims.with(*claim));
    let mut setup = Setup::new(SoftwareVersion::new(5, 15));
    (setup.config.peer.connect.outputs, setup.config.peer.connect.claims) = (by, claims);
    (setup, Buffers::with_rtde())
}

const EVERY_OUTPUT: [Claim; 5] = [Claim::Standard, Claim::Configurable, Claim::Tool, Claim::Analog, Claim::SpeedSlider];

#[test]
fn claimed_inputs_of_rtde_set_what_they_can_and_text_sets_the_rest() {
    let (setup, mut buffers) = by_rtde(OutputsBy::Auto, &EVERY_OUTPUT);
    let mut rig = Rig::new(setup, &mut buffers);
    rig.ready();
    let by_input = [
        digital(DigitalOutput::Standard(3), true),
        digital(DigitalOutput::Standard(5), true),
        digital(DigitalOutput::Configurable(1), true),
        digital(DigitalOutput::Tool(0), true),
        Write::Analog { index: 1, domain: Some(AnalogDomain::Voltage), level: 0.5 },
        Write::SpeedSlider(0.25),
    ];
    by_input.into_iter().for_each(|write| rig.input(Input::Set(write)));
    rig.run_for(ms(400));
    let confirmed =
        |rig: &Rig<'_>| rig.record().news().filter(|(_, n)| matches!(n, WriteOutcome::Confirmed(_))).count();
    assert_eq!(confirmed(&rig), by_input.len(), "{}", rig.record().story());
    assert_eq!(rig.record().settings, [], "no text");
    assert_eq!(rig.controller.io().digital_out, 1 << 3 | 1 << 5 | 1 << 9 | 1 << 16);
    assert!((rig.controller.io().analog_out[1] - 5.0).abs() < 1e-6);
    assert!((rig.controller.robot().slider - 0.25).abs() < 1e-6);

    rig.input(Input::Set(Write::ToolVoltage(ToolVoltage::V12)));
    rig.run_for(ms(400));
    assert_eq!((confirmed(&rig), rig.record().settings.len()), (by_input.len() + 1, 1));
}

#[test]
fn what_another_writer_set_is_not_set_back_by_the_next_package() {
    let (setup, mut buffers) = by_rtde(OutputsBy::Rtde, &[Claim::Standard]);
    let mut rig = Rig::new(setup, &mut buffers);
    rig.ready();
    for index in [0, 1] {
        rig.input(Input::Set(digital(DigitalOutput::Standard(index), true)));
    }
    rig.run_for(ms(100));
    // A program sets one of our outputs and one that was never ours, by the controller's own functions.
    let other = rig.controller.connect(Port::Secondary).unwrap();
    let text = b"sec other():\n set_standard_digital_out(1,False)\n set_standard_digital_out(7,True)\nend\n";
    assert_eq!(rig.controller.write(other, text), text.len());
    rig.run_for(ms(100));
    rig.input(Input::Set(digital(DigitalOutput::Standard(2), true)));
    rig.run_for(ms(100));
    assert_eq!(rig.controller.io().digital_out, 0b1000_0101, "{}", rig.record().story());
    assert!(
        rig.record().news().any(|news| news == (digital(DigitalOutput::Standard(1), true), WriteOutcome::Overwritten))
    );
}

#[test]
fn an_input_in_use_is_named_and_what_it_sets_goes_as_text_or_not_at_all() {
    let write = digital(DigitalOutput::Standard(3), true);
    for by in [OutputsBy::Auto, OutputsBy::Rtde] {
        let (setup, mut buffers) = by_rtde(by, &[Claim::SpeedSlider, Claim::Standard]);
        let mut rig = Rig::new(setup, &mut buffers);
        let other = rig.controller.connect(Port::Rtde).unwrap();
        let names = b"standard_digital_output";
        let package = [&[0, 3 + names.len() as u8, b'I'][..], names].concat();
        rig.controller.write(other, &package);
        rig.ready();
        let not_ours = rig.record().events.iter().find_map(|(_, event)| match event {
            Event::Peer(UrEvent::UnownedInput(input)) => Some(input.to_string()),
            _ => None,
        });
        let said = "standard_digital_output is in use by another RTDE client or a fieldbus";
        assert_eq!(not_ours.as_deref(), Some(said), "{}", rig.record().story());
        rig.input(Input::Set(write));
        rig.input(Input::Set(Write::SpeedSlider(0.5)));
        rig.run_for(ms(300));
        assert!((rig.controller.robot().slider - 0.5).abs() < 1e-6, "the other claim stands");
        let forced = by == OutputsBy::Rtde;
        assert_eq!(rig.controller.io().digital_out, if forced { 0 } else { 8 });
        let refused = (write, WriteOutcome::Refused(WriteRefusal::NoInput));
        assert_eq!(rig.record().news().any(|news| news == refused), forced);
    }
}

#[test]
fn a_motion_does_not_notice_inputs_being_written() {
    let driven = |every: Option<std::time::Duration>| {
        let claims = EVERY_OUTPUT.into_iter().fold(Claims::NONE, Claims::with);
        let mut buffers = Buffers::with_rtde();
        let software = SoftwareVersion::new(5, 15);
        let mut setup = Setup::servo(software, trajectory(), JointServoConfig::default());
        setup.config.peer.connect.claims = claims;
        let mut rig = Rig::new(setup, &mut buffers);
        rig.ready();
        rig.request();
        let end = rig.now() + secs(5);
        let mut n = 0;
        while rig.now() < end {
            rig.run_for(every.unwrap_or(secs(5)).min(end.since(rig.now())));
            if every.is_some() {
                rig.input(Input::Set(digital(DigitalOutput::Standard((n % 8) as u8), n % 3 == 0)));
                n += 1;
            }
        }
        assert_eq!(rig.engine().mode(), Mode::Command);
        rig.record().clone()
    };
    let (without, with) = (driven(None), driven(Some(ms(7))));
    assert!(with.settings.is_empty() && with.news().count() > 1_000);
    assert!(without.motion == with.motion && without.commands == with.commands);
}

#[test]
fn a_force_sensor_feeds_the_robot_and_an_old_force_is_never_repeated() {
    let (mut setup, mut buffers) = by_rtde(OutputsBy::Auto, &[Claim::Force]);
    setup.config.sources[0] = Some(SourceConfig { stuck_after: None, ..SourceConfig::new(SENSOR, 6, -500.0, 500.0) });
    setup.config.peer.force = Some(SENSOR);
    let read = Box::new(|_: &Controller| SampleValue::new(&[1.0, -2.0, 30.0, 0.1, 0.2, -0.3]));
    setup.sensors = vec![Sensor { id: SENSOR, period: ms(2), read }];
    let mut rig = Rig::new(setup, &mut buffers);
    rig.ready();
    let enable = b"def listen():\n ft_rtde_input_enable(True)\n while True:\n  sync()\n end\nend\n";
    let other = rig.controller.connect(Port::Secondary).unwrap();
    assert_eq!(rig.controller.write(other, enable), enable.len());
    let felt = |rig: &Rig<'_>| rig.engine().state().and_then(|state| state.tcp_force).unwrap().force;
    rig.run_for(ms(500));
    assert_eq!(felt(&rig), [1.0, -2.0, 30.0], "{}", rig.record().story());
    rig.kill_sensors();
    rig.run_for(ms(90));
    assert_eq!(felt(&rig), [1.0, -2.0, 30.0], "a reading counts for as long as the source says");
    rig.run_for(ms(60));
    assert_eq!(felt(&rig), [0.0; 3]);
}
