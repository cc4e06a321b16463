//! Tests that the interpreter reads the calls and values that `outrigger-urscript` rendered.

use crate::support::run_on;
use outrigger_interpreter::{Assembled, Builtins, LineAssembler, Program, Service, Step, Value};
use outrigger_urscript::{
    AnalogDomain, DigitalOutput, Output, Parity, Popup, RenderError, Sec, ServiceLine, ServoJ, SpeedJ, SpeedJForm,
    SpeedSlider, StopJ, TextMsg, ToolCommunication, ToolVoltage, Version,
};
use proptest::prelude::*;

/// The tolerance for a rendered number: half a unit of the sixth decimal, plus the error of binary fractions.
const ROUNDING: f64 = 0.500_001e-6;

fn versions() -> impl Strategy<Value = Version> {
    prop_oneof![
        (5_u8..=8).prop_map(|minor| Version::new(1, minor)),
        (0_u8..=15).prop_map(|minor| Version::new(3, minor)),
        (0_u8..=25).prop_map(|minor| Version::new(5, minor)),
        (0_u8..=12).prop_map(|minor| Version::new(10, minor)),
    ]
}

/// Renders a program, reads it from its bytes, compiles and runs it; returns the calls that the host received.
fn calls(
    version: Version,
    render: impl FnOnce(&mut [u8]) -> Result<usize, RenderError>,
) -> Vec<(&'static str, Vec<Value>)> {
    let mut out = [0; 1024];
    let len = render(&mut out).unwrap();
    let (mut assembler, mut bytes) = (LineAssembler::default(), &out[..len]);
    let Some(Assembled::Program(text)) = assembler.next(&mut bytes) else { panic!("not one program") };
    assert!(bytes.is_empty(), "more than one program");
    assert_eq!(text.as_bytes(), &out[..len]);
    let (host, end) = run_on(version, &text);
    assert_eq!(end, Step::Done, "{text}");
    host.calls.into_iter().map(|(_, name, args)| (name, args)).collect()
}

fn close(value: &Value, expected: f32) -> bool {
    value.number().is_some_and(|value| (value - f64::from(expected)).abs() <= ROUNDING)
}

fn all_close<const N: usize>(value: &Value, expected: [f32; N]) -> bool {
    let found: Option<[f64; N]> = value.vector();
    found.is_some_and(|found| found.iter().zip(expected).all(|(a, b)| (a - f64::from(b)).abs() <= ROUNDING))
}

fn omits_time(version: Version) -> bool {
    version.major == 3 && (1..=2).contains(&version.minor)
}

proptest! {
    #[test]
    fn speedj_is_called_with_what_was_rendered(
        version in versions(), velocities in prop::array::uniform6(-20.0_f32..=20.0), acceleration in 0.001_f32..=150.0,
        time in 0.001_f32..=0.5, stop in prop::option::of(0.01_f32..=150.0),
    ) {
        let form = stop.map_or(SpeedJForm::Bare, |stop_acceleration| SpeedJForm::SelfEnding { stop_acceleration });
        let command = SpeedJ { velocities, acceleration, time: Some(time) };
        let calls = calls(version, |out| command.render(form, version, out));
        let (name, args) = &calls[0];
        prop_assert_eq!(*name, "speedj");
        prop_assert!(all_close(&args[0], velocities) && close(&args[1], acceleration));
        let mut rest = calls[1..].iter();
        if omits_time(version) {
            prop_assert_eq!(&args[2], &Value::None);
            if stop.is_some() {
                let (name, args) = rest.next().unwrap();
                prop_assert!(*name == "sleep" && close(&args[0], time));
            }
        } else {
            prop_assert!(close(&args[2], time));
        }
        if let Some(stop) = stop {
            let (name, args) = rest.next().unwrap();
            prop_assert!(*name == "stopj" && close(&args[0], stop));
        }
        prop_assert!(rest.next().is_none());
    }

    #[test]
    fn servoj_and_stopj_are_called_with_what_was_rendered(
        version in versions(), positions in prop::array::uniform6(-1000.0_f32..=1000.0), time in 0.001_f32..=0.5,
        lookahead in 0.03_f32..=0.2, gain in 100_u16..=2000, deceleration in 0.01_f32..=150.0,
    ) {
        let command = ServoJ { positions, time, lookahead, gain };
        let servoj = calls(version, |out| command.render(version, out));
        let (name, args) = &servoj[0];
        prop_assert_eq!(*name, "servoj");
        prop_assert!(all_close(&args[0], positions) && close(&args[3], time));
        if version >= Version::new(3, 1) {
            prop_assert!(close(&args[4], lookahead) && args[5] == Value::Int(i32::from(gain)));
        }
        let stopj = calls(version, |out| StopJ { deceleration }.render(out));
        prop_assert!(stopj[0].0 == "stopj" && close(&stopj[0].1[0], deceleration));
    }

    #[test]
    fn outputs_are_set_to_what_was_rendered(
        version in versions(), index in 0_u8..=1, flag in 0_u8..=31, high: bool, level in 0.0_f32..=1.0,
        mass in 0.0_f32..=30.0, center in prop::array::uniform3(-1.0_f32..=1.0),
        gravity in prop::array::uniform3(-10.0_f32..=10.0), tcp in prop::array::uniform6(-6.25_f32..=6.25),
    ) {
        let program = [
            Output::Digital { output: DigitalOutput::Standard(index), high },
            Output::Digital { output: DigitalOutput::Tool(index), high },
            Output::Analog { index, domain: Some(AnalogDomain::Voltage), level },
            Output::ToolVoltage(ToolVoltage::V24),
            Output::Flag { index: flag, value: high },
            Output::Payload { mass, center_of_gravity: None, max_mass: 30.0 },
            Output::Payload { mass, center_of_gravity: Some(center), max_mass: 30.0 },
            Output::Gravity(gravity),
            Output::Tcp(tcp),
        ];
        let calls = calls(version, |out| Sec(&program).render(version, out));
        let names: Vec<_> = calls.iter().map(|(name, _)| *name).collect();
        let cb2 = version < Version::new(3, 0);
        let digital = if cb2 { "set_digital_out" } else { "set_standard_digital_out" };
        let tool = if cb2 { "set_digital_out" } else { "set_tool_digital_out" };
        let analog = if cb2 { "set_analog_out" } else { "set_standard_analog_out" };
        let payload = if version < Version::new(3, 3) { "set_payload" } else { "set_payload_mass" };
        prop_assert_eq!(names, [
            digital, tool, "set_analog_outputdomain", analog, "set_tool_voltage", "set_flag", payload, "set_payload",
            "set_gravity", "set_tcp",
        ]);
        let arg = |call: usize, arg: usize| &calls[call].1[arg];
        let int = |value: u8| Value::Int(i32::from(value));
        prop_assert_eq!((arg(0, 0), arg(0, 1)), (&int(index), &Value::Bool(high)));
        prop_assert_eq!(arg(1, 0), &int(if cb2 { index + 8 } else { index }));
        prop_assert_eq!((arg(2, 0), arg(2, 1)), (&int(index), &Value::Int(1)));
        prop_assert!(close(arg(3, 1), level));
        prop_assert_eq!(arg(4, 0), &Value::Int(24));
        prop_assert_eq!((arg(5, 0), arg(5, 1)), (&int(flag), &Value::Bool(high)));
        prop_assert!(close(arg(6, 0), mass) && (calls[6].1.len() < 2 || *arg(6, 1) == Value::None));
        prop_assert!(close(arg(7, 0), mass) && all_close(arg(7, 1), center));
        prop_assert!(all_close(arg(8, 0), gravity));
        prop_assert!(all_close(arg(9, 0), tcp));
    }

    #[test]
    fn the_tool_line_is_set_to_what_was_rendered(
        minor in 0_u8..=25, rate in 0_usize..8, stop_bits in 1_u8..=2, rx in 1.0_f32..=40.0, tx in 0.0_f32..=40.0, powered: bool,
    ) {
        let baud_rate = ToolCommunication::BAUD_RATES[rate];
        let voltage = powered.then_some(ToolVoltage::V12);
        let line = ToolCommunication {
            baud_rate, parity: Parity::Odd, stop_bits, rx_idle_chars: rx, tx_idle_chars: tx, voltage,
        };
        let version = Version::new(5, minor);
        let mut calls = calls(version, |out| line.render(version, out)).into_iter();
        if powered {
            prop_assert_eq!(calls.next(), Some(("set_tool_voltage", vec![Value::Int(12)])));
        }
        let (name, args) = calls.next().unwrap();
        prop_assert_eq!(name, "set_tool_communication");
        let whole = [Value::Bool(true), Value::Int(baud_rate as i32), Value::Int(1), Value::Int(stop_bits.into())];
        prop_assert_eq!(&args[..4], &whole[..]);
        prop_assert!(close(&args[4], rx) && close(&args[5], tx) && calls.next().is_none());
    }

    #[test]
    fn texts_arrive_as_they_are_or_not_at_all(version in versions(), text in "\\PC{0,40}|[ -~\n\"]{0,40}", title in "[ !#-~&&[^\\\\]]{0,9}") {
        let message = TextMsg { text: &text };
        let mut out = [0; TextMsg::MAX_LEN];
        if message.render(&mut out).is_err() {
            prop_assert!(text.bytes().any(|byte| !(b' '..=b'~').contains(&byte) || byte == b'"' || byte == b'\\'));
            return Ok(());
        }
        let said = calls(version, |out| message.render(out));
        prop_assert_eq!(&said, &[("textmsg", vec![Value::String(text.clone()), Value::String(String::new())])]);
        let popup = Popup { text: &text, title: &title, warning: true, error: false };
        let shown = calls(version, |out| popup.render(out));
        prop_assert_eq!(&shown[0].1[..4], &[
            Value::String(text), Value::String(title), Value::Bool(true), Value::Bool(false),
        ]);
    }

    #[test]
    fn the_speed_slider_arrives(position in 0.0_f32..=1.0) {
        let mut out = [0; SpeedSlider::MAX_LEN];
        let len = SpeedSlider(position).render(&mut out).unwrap();
        let mut bytes = &out[..len];
        let Some(Assembled::Service(Service::Speed(found))) = LineAssembler::default().next(&mut bytes) else {
            panic!("no service line")
        };
        prop_assert!((found - f64::from(position)).abs() <= ROUNDING);
    }
}

#[test]
fn service_lines_arrive() {
    for line in ServiceLine::ALL {
        let mut out = [0; ServiceLine::MAX_LEN];
        let len = line.render(&mut out).unwrap();
        let mut bytes = &out[..len];
        assert_eq!(LineAssembler::default().next(&mut bytes), Some(Assembled::Service(Service::Line(line))));
    }
}

#[test]
fn the_controllers_that_need_a_time_refuse_the_form_without_it() {
    let command = SpeedJ { velocities: [0.0; 6], acceleration: 1.4, time: None };
    let mut out = [0; SpeedJ::MAX_LEN];
    let len = command.render(SpeedJForm::Bare, Version::new(3, 1), &mut out).unwrap();
    let text = core::str::from_utf8(&out[..len]).unwrap();
    assert!(Program::compile(text, &Builtins::of(Version::new(3, 1))).is_ok());
    assert!(Program::compile(text, &Builtins::of(Version::new(1, 8))).is_err());
}
