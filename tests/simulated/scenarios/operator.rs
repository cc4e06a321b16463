//! The engine does not arm by itself: the request at the start in a host's file is made once, and never after an
//! operator's input.

use outrigger_config::Configuration;
use outrigger_core::command::SourceConfig;
use outrigger_core::engine::ur::{UrConfig, UrEvent};
use outrigger_core::engine::{Event, Input};
use outrigger_core::law::{AnyLaw, LawConfig};
use outrigger_core::mode::{Epoch, Mode, OperatorConfig};
use outrigger_core::robot::Reason;
use outrigger_sim::controller::Action;
use outrigger_sim::fault::FaultKind;
use outrigger_sim::simulated_workpiece::Surface;
use outrigger_tests::cosim::{Buffers, Rig, Setup, core_time};
use outrigger_wire::robot::SoftwareVersion;
use outrigger_wire::sensor::SourceId;
use outrigger_wire::time::Duration;

use super::{SOFTWARE, ms, secs};

/// Returns the configuration that `outrigger run` passes to the engine for a file with this law and these keys of
/// `[run]`. No other setting of the file decides on requests.
fn of_a_file(law: &str, run: &str) -> (UrConfig, LawConfig<6>) {
    let source = "[[source]]\nname = \"s\"\ninput = \"stdin\"\n";
    let file = format!("robot.address = \"192.0.2.1\"\nrobot.model = \"ur5e\"\n{law}{source}{run}");
    let configuration = Configuration::parse(&file).expect("a configuration");
    (configuration.control.engine(), configuration.control.law)
}

const TWIST: &str = "[law]\nkind = \"twist\"\nexpert.twist = [0, 0, 0.01, 0, 0, 0]\n";
const STANDOFF: &str = "[law]\nkind = \"standoff\"\nsource = \"s\"\ndistance = 0.1\n";
const AXES: &str = "[law]\nkind = \"axes\"\n[[law.axis]]\nalong = \"z\"\nsource = \"s\"\ntarget = 0.1\nslope = -1\n";
const AT_START: &str = "[run]\nrequest = \"start\"\n";

/// Returns a set-up with a controller of this software, and the configuration of a file with this law and
/// `request = "start"`.
fn setup(software: SoftwareVersion, law: &str) -> Setup {
    let (config, law_config) = of_a_file(law, AT_START);
    let mut setup = if law == TWIST {
        let mut setup = Setup::new(software);
        setup.law = AnyLaw::new(law_config).expect("a law");
        setup
    } else {
        // Slightly farther away than the target distance.
        let tool = Rig::new(Setup::new(software), &mut Buffers::default()).controller.truth().tool().position;
        let below = [tool[0], tool[1], tool[2] - 0.12];
        let mut setup = Setup::standoff(software, 0.1, Surface::plane(below, [0.0, 0.0, 1.0]));
        if law == AXES {
            setup.law = AnyLaw::new(law_config).expect("a law");
            setup.config.sources[0] = Some(SourceConfig::new(SourceId(0), 1, 0.02, 0.5));
            setup.sensors[0].id = SourceId(0);
        }
        setup
    };
    setup.config.operator = config.operator;
    setup.config.peer.model = Some(setup.controller.model);
    setup
}

/// An event of a test: a function that passes an operator's input to the simulation, or injects a fault.
type Word = fn(&mut Rig<'_>);

const RELEASE: Word = |rig| rig.input(Input::Release);
const ACKNOWLEDGE: Word = |rig| rig.input(Input::Acknowledge);
/// A request with an old epoch (it refers to an earlier state of the session), which is rejected.
const OLD_REQUEST: Word = |rig| rig.input(Input::Request(Epoch::from_number(999)));
const STALL: Word = |rig| rig.fault(FaultKind::Stall, Some(ms(300)));

#[test]
fn after_a_release_or_a_refusal_and_an_acknowledge_nothing_arms_whatever_the_law() {
    let stories: [&[Word]; 6] = [
        &[RELEASE, ACKNOWLEDGE],
        &[RELEASE, OLD_REQUEST, ACKNOWLEDGE],
        &[OLD_REQUEST, RELEASE, ACKNOWLEDGE, ACKNOWLEDGE],
        &[STALL, ACKNOWLEDGE],
        &[STALL, OLD_REQUEST, ACKNOWLEDGE],
        &[STALL, ACKNOWLEDGE, RELEASE, ACKNOWLEDGE],
    ];
    for software in SOFTWARE {
        for law in [TWIST, STANDOFF, AXES] {
            for (number, story) in stories.iter().enumerate() {
                let what = format!("{software}, {law}, story {number}");
                let mut buffers = Buffers::default();
                let mut rig = Rig::new(setup(software, law), &mut buffers);
                rig.expect_arming();
                rig.run_to(Mode::Command);
                rig.run_for(ms(500));
                for word in *story {
                    word(&mut rig);
                    rig.run_for(secs(3));
                }
                rig.run_for(secs(10));
                let arms = rig.record().transitions().filter(|transition| transition.to == Mode::Arming).count();
                assert_eq!(arms, 1, "{what}\n{}", rig.record().story());
                assert!(!matches!(rig.engine().mode(), Mode::Arming | Mode::Command), "{what}");
            }
        }
    }
}

#[test]
fn a_held_input_of_the_robot_starts_and_stops_every_generation() {
    for software in SOFTWARE {
        let mut setup = Setup::sweep(software, 0.3);
        setup.config.operator =
            OperatorConfig { request_input: Some(0), acknowledge_input: Some(1), ..OperatorConfig::default() };
        let mut buffers = Buffers::default();
        let mut rig = Rig::new(setup, &mut buffers);
        let only_low = |rig: &Rig<'_>| rig.engine().unmet(core_time(rig.now())).iter().eq([Reason::LineLow]);
        assert!(rig.run_until(secs(20), only_low), "{software}\n{}", rig.record().story());
        rig.run_for(ms(200));
        rig.expect_arming();
        rig.controller.act(Action::DigitalInputs(1));
        rig.run_to(Mode::Command);
        rig.run_for(ms(500));
        let let_go = rig.now();
        rig.controller.act(Action::DigitalInputs(0));
        rig.run_to(Mode::Stopping);
        let took = rig.now().since(let_go);
        assert!(took <= ms(30), "{software}: {took:?}");
        rig.run_to(Mode::Monitor);
        assert!(rig.controller.truth().at_rest(), "{software}");
        // Neither chatter nor an input that is high during the acknowledgement is a request.
        rig.controller.act(Action::DigitalInputs(1));
        rig.run_for(ms(300));
        rig.controller.act(Action::DigitalInputs(3));
        rig.run_for(secs(5));
        assert_eq!(rig.engine().mode(), Mode::Monitor, "{software}\n{}", rig.record().story());
        let held = |(_, event): &(_, Event<UrEvent>)| matches!(event, Event::Refused(refusal) if refusal.reason == Reason::LineHeld);
        assert!(rig.record().events.iter().any(held), "{software}\n{}", rig.record().story());
    }
}

#[test]
fn an_automatic_request_is_not_made_after_its_time() {
    let mut setup = setup(SoftwareVersion::new(5, 15), TWIST);
    setup.config.operator.start_within = Some(Duration::from_secs(2));
    setup.controller.state = outrigger_sim::controller::StartState::PowerOff;
    let mut buffers = Buffers::default();
    let mut rig = Rig::new(setup, &mut buffers);
    rig.run_for(secs(10));
    assert!(rig.record().events.iter().any(|(_, event)| matches!(event, Event::Lapsed(_))));
    assert_eq!(rig.record().modes(), [Mode::Monitor]);
}
