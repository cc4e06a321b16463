//! Renders any statement. Checks that the result is one complete, printable text with finite numbers in range, or an
//! error.
#![no_main]

use libfuzzer_sys::arbitrary::{self, Arbitrary};
use libfuzzer_sys::fuzz_target;
use outrigger_interpreter::{Assembled, Builtins, LineAssembler, Program};
use outrigger_urscript::{
    AnalogDomain, DigitalOutput, Output, Popup, RenderError, Sec, ServoJ, SpeedJ, SpeedJForm, SpeedSlider, StopJ,
    TextMsg, Version,
};

#[derive(Arbitrary, Debug)]
struct Case<'a> {
    version: (u8, u8),
    room: u16,
    statement: Statement<'a>,
}

#[derive(Arbitrary, Debug)]
enum Statement<'a> {
    SpeedJ { velocities: [f32; 6], acceleration: f32, time: Option<f32>, stop: Option<f32> },
    StopJ(f32),
    ServoJ { positions: [f32; 6], time: f32, lookahead: f32, gain: u16 },
    Digital { tool: bool, index: u8, high: bool },
    Analog { index: u8, voltage: Option<bool>, level: f32 },
    TextMsg(&'a str),
    Popup { text: &'a str, title: &'a str, warning: bool, error: bool },
    SpeedSlider(f32),
}

impl Statement<'_> {
    fn render(&self, version: Version, out: &mut [u8]) -> Result<usize, RenderError> {
        match *self {
            Self::SpeedJ { velocities, acceleration, time, stop } => {
                let form = stop.map_or(SpeedJForm::Bare, |a| SpeedJForm::SelfEnding { stop_acceleration: a });
                SpeedJ { velocities, acceleration, time }.render(form, version, out)
            }
            Self::StopJ(deceleration) => StopJ { deceleration }.render(out),
            Self::ServoJ { positions, time, lookahead, gain } => {
                ServoJ { positions, time, lookahead, gain }.render(version, out)
            }
            Self::Digital { tool, index, high } => {
                let output = if tool { DigitalOutput::Tool(index) } else { DigitalOutput::Standard(index) };
                Sec(&[Output::Digital { output, high }]).render(version, out)
            }
            Self::Analog { index, voltage, level } => {
                let domain = voltage.map(|v| if v { AnalogDomain::Voltage } else { AnalogDomain::Current });
                Sec(&[Output::Analog { index, domain, level }]).render(version, out)
            }
            Self::TextMsg(text) => TextMsg { text }.render(out),
            Self::Popup { text, title, warning, error } => Popup { text, title, warning, error }.render(out),
            Self::SpeedSlider(position) => SpeedSlider(position).render(out),
        }
    }

    /// Returns the number of quotes in the URScript text of this statement; the texts in it cannot add one.
    fn quotes(&self) -> usize {
        match self {
            Self::TextMsg(_) => 2,
            Self::Popup { .. } => 4,
            _ => 0,
        }
    }

    /// Returns the greatest number of line ends in the URScript text of this statement; its arguments cannot add one.
    fn most_lines(&self) -> usize {
        match self {
            Self::SpeedJ { stop: Some(_), .. } => 5,
            Self::Digital { .. } | Self::TextMsg(_) | Self::Popup { .. } => 3,
            Self::Analog { .. } => 4,
            _ => 1,
        }
    }
}

fuzz_target!(|case: Case<'_>| {
    let version = match case.version.0 % 4 {
        0 => Version::new(1, 5 + case.version.1 % 4),
        1 => Version::new(3, case.version.1 % 16),
        2 => Version::new(5, case.version.1 % 26),
        _ => Version::new(10, case.version.1 % 12),
    };
    let mut room = [0xa5; 2048];
    let Ok(len) = case.statement.render(version, &mut room) else { return };
    let text = std::str::from_utf8(&room[..len]).expect("ASCII");
    assert!(room[len..].iter().all(|b| *b == 0xa5), "wrote past the length it returned");
    assert!(text.ends_with('\n'), "without a final newline a controller does not execute");
    assert!(text.bytes().all(|b| (0x20..0x7f).contains(&b) || b == b'\n'));
    assert_eq!(text.matches('"').count(), case.statement.quotes());
    assert!(text.matches('\n').count() <= case.statement.most_lines());
    if case.statement.quotes() == 0 {
        assert!(!text.contains("nan") && !text.contains("inf") && !text.contains("--"));
    }

    // A controller of this version reads it as one program, or one service line.
    let mut bytes = text.as_bytes();
    let mut assembler = LineAssembler::default();
    match assembler.next(&mut bytes) {
        Some(Assembled::Program(program)) => {
            assert_eq!(program, text);
            Program::compile(text, &Builtins::of(version)).expect("what is rendered compiles");
        }
        Some(Assembled::Service(_)) => assert!(matches!(case.statement, Statement::SpeedSlider(_))),
        None => panic!("incomplete: {text:?}"),
    }
    assert!(bytes.is_empty());

    // With a shorter buffer the result is the same text or an error, never a part of the text.
    let mut less = vec![0; usize::from(case.room) % 2048];
    match case.statement.render(version, &mut less) {
        Ok(again) => assert_eq!(&less[..again], text.as_bytes()),
        Err(error) => assert!(matches!(error, RenderError::BufferTooSmall { .. }) && less.len() < len),
    }
});
