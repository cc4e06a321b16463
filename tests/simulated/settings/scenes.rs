//! Scenes of a run in which settings show: the events injected, and all results, as lines.

use std::time::Duration;

use outrigger_config::{Configuration, KrcConfiguration, parse_software};
use outrigger_core::command::outputs::{DigitalOutput, Write};
use outrigger_core::engine::ur::UrConfig;
use outrigger_core::engine::{Coast, Input};
use outrigger_core::kinematics::{DhParameters, KinematicChain};
use outrigger_core::law::AnyLaw;
use outrigger_core::mode::Mode;
use outrigger_sim::controller::{Action, Controller, Options};
use outrigger_sim::fault::Fault;
use outrigger_sim::simulated_workpiece::{DistanceSensor, Surface, Wave};
use outrigger_sim::time::SimTime;
use outrigger_tests::cosim::{Buffers, Reading, Rig, Sensor, Setup, core_time};
use outrigger_tests::fri;
use outrigger_wire::robot::SoftwareVersion;
use outrigger_wire::sensor::{SampleValue, SourceId};

use super::row::Life;

/// A scene of a test run with a simulated controller of Universal Robots: its faults, sensor values and operator's
/// actions.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scene {
    pub(crate) name: &'static str,
    pub(crate) software: &'static str,
    /// The faults from the beginning; their times count from there.
    pub(crate) first: &'static str,
    /// The further faults; their times count from the moment at which the arm is commanded or the wait for that has
    /// ended.
    pub(crate) then: &'static str,
    /// The values that the sensors send.
    pub(crate) reads: Reads,
    /// The time for which the run continues after commanding has begun, or cannot begin \[s\].
    pub(crate) goes_on: u64,
    /// Changes to the options of the simulated controller.
    pub(crate) more: fn(&mut Options),
    /// The operator's actions once the arm is commanded, or cannot be.
    pub(crate) asks: fn(&mut Rig<'_>),
}

/// The values that a sensor sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reads {
    /// A slow sine on every value of the sensor.
    Sine,
    /// A slow sine, with every second reading far off after the first 4 s of the run.
    Wild,
    /// A slow sine that freezes 3 s after the beginning of the run.
    Frozen,
    /// A slow sine, with a gap of 120 ms every second.
    Gaps,
    /// A slow sine, with half the amplitude on the second value, a quarter on the third, and so on.
    Apart,
    /// The distance to a moving surface in front of the tool.
    Distance,
}

pub(crate) const CALM: Scene = Scene {
    name: "calm",
    software: "5.15",
    first: "",
    then: "",
    reads: Reads::Sine,
    goes_on: 5,
    more: |_| {},
    asks: |_| {},
};

/// The longest wait until no precondition of commanding is unmet, and again until the engine commands the arm.
const WAIT: Duration = Duration::from_secs(15);

fn faults(list: &str, from: SimTime) -> Vec<Fault> {
    let faults = list.split_whitespace().map(|fault| fault.parse::<Fault>().expect("a fault"));
    faults
        .map(|fault| Fault { start: SimTime::from_micros(fault.start.as_micros() + from.as_micros()), ..fault })
        .collect()
}

/// Returns the function that reads the sensor with this number, which has the given number of values.
fn read(
    reads: Reads,
    number: u8,
    values: usize,
    surface: Option<Surface>,
) -> impl FnMut(&Controller) -> Option<SampleValue> {
    let mut distance = DistanceSensor::new(1);
    let mut count = 0_u32;
    move |controller| {
        count += 1;
        let now = controller.now().as_secs_f64();
        let at = match reads {
            Reads::Frozen => now.min(3.0),
            Reads::Gaps if now.fract() < 0.12 => return None,
            _ => now,
        };
        let mut value = 0.1 / f64::from(number + 1) * (at * std::f64::consts::TAU / 2.0).sin();
        if let (Reads::Distance, Some(surface)) = (reads, &surface) {
            value = distance.read(surface, controller.truth().tool(), controller.now())?;
        }
        if reads == Reads::Wild && now > 4.0 && count.is_multiple_of(2) {
            value += 0.1;
        }
        let part = if reads == Reads::Apart { 0.5_f64 } else { 1.0 };
        let all: [f32; 6] = std::array::from_fn(|at| (value * part.powi(at as i32)) as f32);
        SampleValue::new(&all[..values])
    }
}

impl Life for Scene {
    fn name(&self) -> &'static str {
        self.name
    }

    fn play(&self, file: &str) -> Vec<String> {
        play(self, file)
    }
}

impl Life for KrcScene {
    fn name(&self) -> &'static str {
        self.name
    }

    fn play(&self, file: &str) -> Vec<String> {
        play_krc(self, file)
    }
}

/// Executes a run with this configuration file in this scene. Returns all results of the run as lines.
fn play(scene: &Scene, file: &str) -> Vec<String> {
    let Configuration { control, .. } = Configuration::parse(file).unwrap_or_else(|problems| {
        let told: Vec<_> = problems.iter().map(ToString::to_string).collect();
        panic!("{}\n{file}", told.join("\n"))
    });
    let mut options = Options::for_software(parse_software(scene.software).expect("a version"));
    options.faults = faults(scene.first, SimTime::ZERO);
    (scene.more)(&mut options);
    let has_urcap = options.external_control.is_some();
    let tool = Controller::new(options.clone()).expect("a controller").truth().tool();
    let surface = (scene.reads == Reads::Distance).then(|| surface(tool));
    let sensors = control.sources.iter().zip(0..).map(|(source, number)| Sensor {
        id: SourceId(number),
        period: Duration::from_millis(if scene.reads == Reads::Distance { 10 } else { 2 }),
        read: Box::new(read(scene.reads, number, source.values, surface.clone())),
    });
    let config = control.engine();
    let setup = Setup {
        controller: options,
        config,
        law: AnyLaw::new(control.law.clone()).expect("a law"),
        sensors: sensors.collect(),
        latency: Duration::from_micros(100),
        reading: Reading::AtOnce,
    };
    let mut buffers = Buffers::with_rtde();
    let mut rig = Rig::new(setup, &mut buffers);
    rig.controller.keep_texts();
    if config.peer.path.is_resident() {
        rig.keep_bytes();
    }
    if has_urcap {
        rig.run_for(Duration::from_secs(4));
        rig.controller.act(Action::PlayProgram);
    }
    rig.run_until(WAIT, |rig| rig.engine().unmet(core_time(rig.now())).is_empty());
    rig.request();
    rig.run_until(WAIT, |rig| rig.engine().mode() == Mode::Command);
    for fault in faults(scene.then, rig.now()) {
        rig.controller.inject(fault);
    }
    (scene.asks)(&mut rig);
    rig.run_for(Duration::from_secs(scene.goes_on));
    let mut lines = lines(&rig);
    let software = parse_software(scene.software).expect("a version");
    lines.push(coast(&config, software));
    lines
}

/// Returns, as text, the worst-case distances that the arm still moves \[rad, mm\] on a controller with this software:
/// after a fault while the co-controller runs, and after the loss of the co-controller.
fn coast(config: &UrConfig, software: SoftwareVersion) -> String {
    let tcp = config.peer.tcp.unwrap_or_default();
    let reach = config.peer.model.map(|model| KinematicChain::new(DhParameters::of(model), &tcp).reach());
    let words = |coast: &Coast<6>| {
        let joint = coast.joints.iter().copied().fold(0.0, f32::max);
        format!("{joint:.3} rad {:.0?} mm", reach.as_ref().map(|reach| coast.at_reach(reach) * 1e3))
    };
    let without_us = config.coast_without_us(software).as_ref().map(words);
    format!("coast {}, without us {without_us:?}", words(&config.worst_coast(software)))
}

/// Returns all results of a run as lines: events, sent texts and written data in order of time, and at the end the
/// force, the outputs and the data that the controller received over RTDE.
fn lines(rig: &Rig<'_>) -> Vec<String> {
    let record = rig.record();
    let events = record.events.iter().map(|(at, event)| (*at, format!("{event:?}")));
    let texts = record.commands.iter().chain(&record.settings);
    let texts = texts.map(|text| (text.at, format!("{} {:?}", text.mode.name(), text.text)));
    let written = record.written.iter().flatten();
    let written = written.map(|(at, link, bytes)| (*at, format!("{link:?} {}", String::from_utf8_lossy(bytes))));
    let mut lines: Vec<_> = events.chain(texts).chain(written).collect();
    lines.sort_by_key(|(at, _)| *at);
    let mut lines: Vec<_> = lines.into_iter().map(|(at, line)| format!("{at} {line}")).collect();
    lines.push(format!("force {:?}", rig.controller.force()));
    lines.push(format!("outputs {:?}", rig.controller.io()));
    lines.extend(rig.controller.rtde_log().iter().cloned());
    lines
}

fn surface(tool: outrigger_sim::kinematics::Frame) -> Surface {
    let direction = tool.z_axis();
    let point = std::array::from_fn(|axis| tool.position[axis] + 0.07 * direction[axis]);
    let waves = vec![Wave { amplitude: 0.003, length: 0.12, direction: 0.4 }];
    Surface { waves, heave: Some((0.008, 3.0)), ..Surface::plane(point, direction.map(|part| -part)) }
}

/// Sets a digital output, an analog output and the speed slider of the robot, 300 ms apart.
pub(crate) fn set_outputs(rig: &mut Rig<'_>) {
    for write in [
        Write::Digital { output: DigitalOutput::Standard(2), high: true },
        Write::Analog { index: 0, domain: None, level: 0.5 },
        Write::SpeedSlider(0.5),
    ] {
        rig.input(Input::Set(write));
        rig.run_for(Duration::from_millis(300));
    }
}

/// A scene of a test run with a simulated KRC: its faults, its options and the operator's actions.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KrcScene {
    pub(crate) name: &'static str,
    /// The faults; their times count from the beginning.
    pub(crate) faults: &'static str,
    /// Changes to the options of the simulated KRC.
    pub(crate) more: fn(&mut outrigger_sim::krc::Options),
    /// The duration of the run \[s\].
    pub(crate) lasts: u64,
    pub(crate) asks: fn(&mut fri::Rig<AnyLaw<7>>),
}

pub(crate) const KRC_CALM: KrcScene = KrcScene { name: "calm", faults: "", more: |_| {}, lasts: 8, asks: |_| {} };

/// Executes a run with this configuration file in this scene. Returns all results of the run as lines.
fn play_krc(scene: &KrcScene, file: &str) -> Vec<String> {
    let read = KrcConfiguration::parse(file).unwrap_or_else(|problems| {
        let told: Vec<_> = problems.iter().map(ToString::to_string).collect();
        panic!("{}\n{file}", told.join("\n"))
    });
    let faults = scene.faults.split_whitespace().map(|fault| fault.parse().expect("a fault")).collect();
    let mut options = outrigger_sim::krc::Options { faults, ..Default::default() };
    (scene.more)(&mut options);
    let law = AnyLaw::new(read.law.clone()).expect("a law");
    let mut rig = fri::Rig::new(options, read.engine, law, read.engine.peer.handshake);
    let mut lines = vec![];
    let mut seen = 0;
    let asked_at = SimTime::ZERO + Duration::from_secs(3);
    while rig.krc.now() < SimTime::ZERO + Duration::from_secs(scene.lasts) {
        rig.advance(5);
        let now = rig.krc.now();
        if now.as_micros() == asked_at.as_micros() {
            rig.request();
            (scene.asks)(&mut rig);
        }
        for source in 0..read.sources.len() {
            let value = 0.1 * (now.as_secs_f64() * std::f64::consts::TAU / 2.0).sin();
            let value = SampleValue::new(&[value as f32; 6][..read.sources[source].values]).expect("as many");
            let taken_at = outrigger_wire::time::Instant::from_micros(now.as_micros());
            let seq = u32::try_from(now.as_micros() / 1_000).unwrap_or_default();
            let source = SourceId(u8::try_from(source).expect("few"));
            rig.input(Input::Sample(outrigger_wire::sensor::Sample { source, value, seq, taken_at }));
        }
        lines.extend(rig.events.iter().skip(seen).map(|event| format!("{now} {event:?}")));
        seen = rig.events.len();
        lines.push(format!("{now} {:?} {:?}", rig.krc.state(), rig.krc.truth()));
        lines.push(format!("{now} {:?}", rig.krc.fallbacks()));
    }
    lines
}
