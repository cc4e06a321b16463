//! The bytes of every statement for each firmware (client interfaces, 5.1 to 5.5).

use outrigger_urscript::{
    AnalogDomain, Argument, DigitalOutput, Output, Parity, Popup, RenderError, Sec, ServiceLine, ServoJ, SpeedJ,
    SpeedJForm, SpeedSlider, StopJ, TargetPayload, TextMsg, ToolCommunication, ToolVoltage, Version,
};

/// The versions of controller software for which statements are rendered: one of each generation and at each boundary
/// between renderings, in order of release.
const VERSIONS: [Version; 13] = [
    Version::new(1, 5),
    Version::new(1, 8),
    Version::new(3, 0),
    Version::new(3, 1),
    Version::new(3, 2),
    Version::new(3, 3),
    Version::new(3, 5),
    Version::new(3, 15),
    Version::new(5, 0),
    Version::new(5, 1),
    Version::new(5, 2),
    Version::new(5, 25),
    Version::new(10, 7),
];

fn text(render: impl FnOnce(&mut [u8]) -> Result<usize, RenderError>) -> String {
    let mut out = [0xa5; 2048];
    let len = render(&mut out).unwrap();
    assert!(out[len..].iter().all(|byte| *byte == 0xa5), "wrote past the length it returned");
    String::from_utf8(out[..len].to_vec()).unwrap()
}

fn speedj() -> SpeedJ {
    SpeedJ { velocities: [0.1, -0.2, 0.0, 1.5, -3.125, 0.000_001], acceleration: 1.4, time: Some(0.008) }
}

const LIST: &str = "[0.100000,-0.200000,0.000000,1.500000,-3.125000,0.000001]";

fn omits_time(version: Version) -> bool {
    version.major == 3 && (1..=2).contains(&version.minor)
}

#[test]
fn bare_speedj_carries_its_time_except_on_3_1_and_3_2() {
    for version in VERSIONS {
        let time = if omits_time(version) { "" } else { ",0.008000" };
        let expected = format!("speedj({LIST},1.400000{time})\n");
        assert_eq!(text(|out| speedj().render(SpeedJForm::Bare, version, out)), expected, "{version}");
    }
}

#[test]
fn self_ending_speedj_stops_by_itself_on_every_firmware() {
    let form = SpeedJForm::SelfEnding { stop_acceleration: 4.0 };
    for version in VERSIONS {
        let expected = if omits_time(version) {
            format!("def outrigger():\n speedj({LIST},1.400000)\n sleep(0.008000)\n stopj(4.000000)\nend\n")
        } else {
            format!("def outrigger():\n speedj({LIST},1.400000,0.008000)\n stopj(4.000000)\nend\n")
        };
        assert_eq!(text(|out| speedj().render(form, version, out)), expected, "{version}");
    }
}

#[test]
fn speedj_without_a_time_uses_the_default() {
    let command = SpeedJ { time: None, ..speedj() };
    let line = text(|out| command.render(SpeedJForm::Bare, Version::new(1, 8), out));
    assert!(line.ends_with(",1.400000,0.020000)\n"), "{line}");
    let form = SpeedJForm::SelfEnding { stop_acceleration: 4.0 };
    let program = text(|out| command.render(form, Version::new(3, 2), out));
    assert!(program.contains("\n sleep(0.020000)\n"), "{program}");
}

#[test]
fn stopj_is_the_same_everywhere() {
    assert_eq!(text(|out| StopJ { deceleration: 10.0 }.render(out)), "stopj(10.000000)\n");
}

#[test]
fn servoj_has_lookahead_and_gain_from_3_1() {
    let command = ServoJ { positions: speedj().velocities, time: 0.008, lookahead: 0.1, gain: 300 };
    for version in VERSIONS {
        let tail = if version < Version::new(3, 1) { "" } else { ",0.100000,300" };
        let expected = format!("servoj({LIST},0,0,0.008000{tail})\n");
        assert_eq!(text(|out| command.render(version, out)), expected, "{version}");
    }
}

#[test]
fn outputs_have_one_name_on_cb2_and_a_name_each_from_3_0() {
    let program = Sec(&[
        Output::Digital { output: DigitalOutput::Standard(7), high: true },
        Output::Digital { output: DigitalOutput::Tool(1), high: false },
        Output::Analog { index: 0, domain: Some(AnalogDomain::Voltage), level: 0.5 },
        Output::Analog { index: 1, domain: None, level: 1.0 },
    ]);
    assert_eq!(
        text(|out| program.render(Version::new(1, 8), out)),
        "sec outrigger_io():\n set_digital_out(7,True)\n set_digital_out(9,False)\n \
         set_analog_outputdomain(0,1)\n set_analog_out(0,0.500000)\n set_analog_out(1,1.000000)\nend\n"
    );
    for version in [Version::new(3, 0), Version::new(5, 25), Version::new(10, 7)] {
        assert_eq!(
            text(|out| program.render(version, out)),
            "sec outrigger_io():\n set_standard_digital_out(7,True)\n set_tool_digital_out(1,False)\n \
             set_analog_outputdomain(0,1)\n set_standard_analog_out(0,0.500000)\n \
             set_standard_analog_out(1,1.000000)\nend\n"
        );
    }
}

#[test]
fn configurable_outputs_do_not_exist_on_cb2() {
    let program = Sec(&[Output::Digital { output: DigitalOutput::Configurable(3), high: true }]);
    let refused = RenderError::Unsupported { version: Version::new(1, 8), since: Version::new(3, 0) };
    assert_eq!(program.render(Version::new(1, 8), &mut [0; 256]), Err(refused));
    assert_eq!(
        text(|out| program.render(Version::new(3, 0), out)),
        "sec outrigger_io():\n set_configurable_digital_out(3,True)\nend\n"
    );
}

#[test]
fn the_rest_of_the_outputs_read_alike_on_every_firmware() {
    let program = Sec(&[
        Output::ToolVoltage(ToolVoltage::Off),
        Output::ToolVoltage(ToolVoltage::V12),
        Output::ToolVoltage(ToolVoltage::V24),
        Output::Analog { index: 0, domain: Some(AnalogDomain::Current), level: 0.0 },
        Output::Flag { index: 31, value: true },
        Output::Payload { mass: 1.25, center_of_gravity: None, max_mass: 5.0 },
        Output::Payload { mass: 5.0, center_of_gravity: Some([0.0, -0.01, 0.1]), max_mass: 5.0 },
        Output::Gravity([0.0, 0.0, 9.82]),
        Output::Tcp([0.0, -0.05, 0.1, 0.0, 3.0, -0.5]),
    ]);
    for version in VERSIONS {
        let analog = if version.major == 1 { "set_analog_out" } else { "set_standard_analog_out" };
        let mass = if version < Version::new(3, 3) { "set_payload" } else { "set_payload_mass" };
        assert_eq!(
            text(|out| program.render(version, out)),
            format!(
                "sec outrigger_io():\n set_tool_voltage(0)\n set_tool_voltage(12)\n set_tool_voltage(24)\n \
                 set_analog_outputdomain(0,0)\n {analog}(0,0.000000)\n set_flag(31,True)\n {mass}(1.250000)\n \
                 set_payload(5.000000,[0.000000,-0.010000,0.100000])\n set_gravity([0.000000,0.000000,9.820000])\n \
                 set_tcp(p[0.000000,-0.050000,0.100000,0.000000,3.000000,-0.500000])\nend\n"
            )
        );
    }
}

#[test]
fn what_came_later_is_refused_with_the_version_that_brought_it() {
    for (output, text_of_it, since) in [
        (
            Output::CenterOfGravity([0.0, 0.0, 0.05]),
            "set_payload_cog([0.000000,0.000000,0.050000])",
            Version::new(3, 3),
        ),
        (Output::ZeroForceTorqueSensor, "zero_ftsensor()", Version::new(5, 0)),
    ] {
        for version in VERSIONS {
            let refused = RenderError::Unsupported { version, since };
            if version < since {
                assert_eq!(Sec(&[output]).render(version, &mut [0; 256]), Err(refused));
                assert_eq!(output.check(version), Err(refused));
                let said = format!("software {version} cannot do this, only {since} and later");
                assert_eq!(refused.to_string(), said);
            } else {
                let expected = format!("sec outrigger_io():\n {text_of_it}\nend\n");
                assert_eq!(text(|out| Sec(&[output]).render(version, out)), expected, "{version}");
            }
        }
    }
}

#[test]
fn a_payload_with_inertia_is_written_where_the_software_takes_it_and_refused_elsewhere() {
    let since = Version::new(5, 10);
    let payload = |inertia, transition_time| TargetPayload {
        mass: 1.5,
        center_of_gravity: [0.0, -0.01, 0.1],
        inertia,
        transition_time,
        max_mass: 5.0,
    };
    let inertia = [0.01, 0.02, 0.03, -0.004, 0.005, -0.006];
    for version in VERSIONS {
        let with = payload(inertia, 0.5);
        let without = text(|out| payload([0.0; 6], 0.5).render(version, out));
        if version < since {
            let refused = Err(RenderError::Unsupported { version, since });
            assert_eq!(with.render(version, &mut [0; 256]), refused, "{version}");
            let expected = "sec outrigger_io():\n set_payload(1.500000,[0.000000,-0.010000,0.100000])\nend\n";
            assert_eq!(without, expected, "{version}");
        } else {
            let head = "sec outrigger_io():\n set_target_payload(1.500000,[0.000000,-0.010000,0.100000],[";
            let numbers = "0.010000,0.020000,0.030000,-0.004000,0.005000,-0.006000";
            let expected = format!("{head}{numbers}],0.500000)\nend\n");
            assert_eq!(text(|out| with.render(version, out)), expected, "{version}");
            assert!(without.ends_with("0.000000],0.500000)\nend\n"), "{version}: {without}");
        }
    }
    let version = Version::new(5, 15);
    let refused = |inertia, time| payload(inertia, time).check(version).unwrap_err().to_string();
    assert_eq!(refused([0.0, -0.1, 0.0, 0.0, 0.0, 0.0], 0.0), "inertia, element 1 is -0.1, allowed 0 to 50");
    assert_eq!(refused([0.0, 0.0, 0.0, 0.0, 0.0, -51.0], 0.0), "inertia, element 5 is -51, allowed -50 to 50");
    assert_eq!(refused([0.0; 6], 5.5), "transition time is 5.5, allowed 0 to 5");
    assert!(payload([f32::NAN; 6], 0.0).check(version).is_err() && payload([0.0; 6], f32::NAN).check(version).is_err());
}

#[test]
fn the_tool_line_is_set_up_where_there_is_one_and_with_settings_that_exist() {
    let since = Version::new(5, 0);
    let line = ToolCommunication {
        baud_rate: 115_200,
        parity: Parity::None,
        stop_bits: 1,
        rx_idle_chars: 1.5,
        tx_idle_chars: 3.5,
        voltage: None,
    };
    let powered = ToolCommunication {
        baud_rate: 5_000_000,
        parity: Parity::Even,
        stop_bits: 2,
        rx_idle_chars: 40.0,
        tx_idle_chars: 0.0,
        voltage: Some(ToolVoltage::V24),
    };
    for version in VERSIONS {
        if version < since {
            assert_eq!(line.render(version, &mut [0; 256]), Err(RenderError::Unsupported { version, since }));
            continue;
        }
        assert_eq!(
            text(|out| line.render(version, out)),
            "sec outrigger_io():\n set_tool_communication(True,115200,0,1,1.500000,3.500000)\nend\n"
        );
        assert_eq!(
            text(|out| powered.render(version, out)),
            "sec outrigger_io():\n set_tool_voltage(24)\n \
             set_tool_communication(True,5000000,2,2,40.000000,0.000000)\nend\n"
        );
    }
    let version = Version::new(5, 15);
    assert!(text(|out| powered.render(version, out)).len() <= ToolCommunication::MAX_LEN);
    let refused = |line: ToolCommunication| line.check(version).unwrap_err().to_string();
    assert_eq!(
        refused(ToolCommunication { baud_rate: 115_201, ..line }),
        "baud rate is 115201, allowed are 9600, 19200, 38400, 57600, 115200, 1000000, 2000000, 5000000"
    );
    assert_eq!(refused(ToolCommunication { stop_bits: 3, ..line }), "number of stop bits is 3, allowed 1 to 2");
    assert_eq!(
        refused(ToolCommunication { rx_idle_chars: 0.5, ..line }),
        "number of rx idle characters is 0.5, allowed 1 to 40"
    );
    assert_eq!(
        refused(ToolCommunication { tx_idle_chars: -1.0, ..line }),
        "number of tx idle characters is -1, allowed 0 to 40"
    );
    assert!(ToolCommunication { rx_idle_chars: f32::NAN, ..line }.check(version).is_err());
}

#[test]
fn a_secondary_program_fits_its_stated_length() {
    let longest = [
        Output::Payload { mass: 100.0, center_of_gravity: Some([-10.0; 3]), max_mass: 100.0 },
        Output::Gravity([-30.0; 3]),
        Output::Tcp([-10.0, -10.0, -10.0, -6.283_186, -6.283_186, -6.283_186]),
        Output::Analog { index: 0, domain: Some(AnalogDomain::Current), level: 1.0 },
        Output::Digital { output: DigitalOutput::Configurable(7), high: false },
    ];
    for output in longest {
        let outputs = [output; 3];
        let len = text(|out| Sec(&outputs).render(Version::new(5, 15), out)).len();
        assert!(len <= Sec::max_len(3), "{output:?} takes {len}");
    }
    let payload = TargetPayload {
        mass: 100.0,
        center_of_gravity: [-10.0; 3],
        inertia: [50.0, 50.0, 50.0, -50.0, -50.0, -50.0],
        transition_time: 5.0,
        max_mass: 100.0,
    };
    let len = text(|out| payload.render(Version::new(5, 15), out)).len();
    assert!(len <= TargetPayload::MAX_LEN, "{payload:?} takes {len}");
}

#[test]
fn messages_stand_in_a_secondary_program() {
    assert_eq!(
        text(|out| TextMsg { text: "grade: it's Ok" }.render(out)),
        "sec outrigger_message():\n textmsg(\"grade: it's Ok\")\nend\n"
    );
    let popup = Popup { text: "lost the sensor", title: "Outrigger", warning: true, error: false };
    assert_eq!(
        text(|out| popup.render(out)),
        "sec outrigger_message():\n popup(\"lost the sensor\",\"Outrigger\",True,False)\nend\n"
    );
}

#[test]
fn service_lines_are_plain_words() {
    let lines: Vec<String> = ServiceLine::ALL.iter().map(|line| text(|out| line.render(out))).collect();
    assert_eq!(
        lines.concat(),
        "power on\npower off\nbrake release\nset robotmode run\nset robotmode freedrive\n\
         set unlock protective stop\nstop program\n"
    );
    assert_eq!(lines.iter().map(String::len).max(), Some(ServiceLine::MAX_LEN));
    assert_eq!(text(|out| SpeedSlider(0.25).render(out)), "set speed 0.250000\n");
}

#[test]
fn a_refused_number_is_named_with_its_value_and_range() {
    let mut out = [0; SpeedJ::MAX_LEN];
    let version = Version::new(5, 15);
    let over = SpeedJ { velocities: [0.0, 0.0, 0.0, 0.0, 20.5, 0.0], ..speedj() };
    let refused = over.render(SpeedJForm::Bare, version, &mut out).unwrap_err();
    assert_eq!(
        refused,
        RenderError::Number { argument: Argument::Velocity(4), found: 20.5, allowed: SpeedJ::VELOCITY }
    );
    assert_eq!(refused.to_string(), "velocity of joint 4 is 20.5, allowed -20 to 20");

    for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 0.0, -1.0, 1e9] {
        let acceleration = SpeedJ { acceleration: bad, ..speedj() }.render(SpeedJForm::Bare, version, &mut out);
        let time = SpeedJ { time: Some(bad), ..speedj() }.render(SpeedJForm::Bare, version, &mut out);
        let form = SpeedJForm::SelfEnding { stop_acceleration: bad };
        let stop = speedj().render(form, version, &mut out);
        let named = |result, expected| {
            matches!(result, Err(RenderError::Number { argument, found, .. })
                if argument == expected && found.to_bits() == bad.to_bits())
        };
        assert!(named(acceleration, Argument::Acceleration), "{bad}");
        assert!(named(time, Argument::Time), "{bad}");
        assert!(named(stop, Argument::StopAcceleration), "{bad}");
        assert!(named(StopJ { deceleration: bad }.render(&mut out), Argument::StopAcceleration), "{bad}");
    }
}

#[test]
fn every_argument_of_an_output_has_its_range() {
    let over_mass = Output::Payload { mass: 5.1, center_of_gravity: None, max_mass: 5.0 };
    let over_rating = Output::Payload { mass: 5.1, center_of_gravity: None, max_mass: f32::INFINITY };
    let far = Output::Payload { mass: 1.0, center_of_gravity: Some([0.0, 0.0, f32::NAN]), max_mass: 5.0 };
    for (output, expected) in [
        (Output::Digital { output: DigitalOutput::Standard(8), high: true }, Argument::Index),
        (Output::Digital { output: DigitalOutput::Configurable(8), high: true }, Argument::Index),
        (Output::Digital { output: DigitalOutput::Tool(2), high: true }, Argument::Index),
        (Output::Analog { index: 2, domain: None, level: 0.0 }, Argument::Index),
        (Output::Analog { index: 0, domain: None, level: 1.01 }, Argument::Level),
        (Output::Flag { index: 32, value: true }, Argument::Index),
        (over_mass, Argument::Mass),
        (over_rating, Argument::Mass),
        (far, Argument::CenterOfGravity(2)),
        (Output::CenterOfGravity([0.0, 11.0, 0.0]), Argument::CenterOfGravity(1)),
        (Output::Gravity([31.0, 0.0, 0.0]), Argument::Gravity(0)),
    ] {
        let refused = Sec(&[output]).render(Version::new(5, 15), &mut [0; 256]);
        assert!(
            matches!(refused, Err(RenderError::Number { argument, .. }) if argument == expected),
            "{output:?}: {refused:?}"
        );
    }
    let servoj = ServoJ { positions: [0.0; 6], time: 0.008, lookahead: 0.1, gain: 300 };
    let version = Version::new(5, 15);
    assert!(ServoJ { lookahead: 0.02, ..servoj }.render(version, &mut [0; 256]).is_err());
    assert!(ServoJ { gain: 99, ..servoj }.render(version, &mut [0; 256]).is_err());
    assert!(SpeedSlider(1.001).render(&mut [0; 64]).is_err());
}
