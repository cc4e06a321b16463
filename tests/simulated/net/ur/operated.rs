//! Runs with actions of people.

use super::configured::trajectory;
use super::*;
use outrigger_core::mode::PendantStop;

/// Draws a run with requests of an operator, in any order.
pub(super) fn operator(draw: &mut Draw, number: usize) -> Plan {
    let software = draw.of(&SOFTWARE);
    let mut plan = Plan::new(draw, software);
    plan.insists = false;
    if number.is_multiple_of(2) {
        let trajectory = trajectory();
        plan.law(AnyLaw::JointServo(JointServo::new(Reference::Relative(trajectory), JointServoConfig::default())));
    }
    let mut at = 0;
    for _ in 0..draw.between(3, 9) {
        at += draw.between(20, 700);
        let act = match draw.between(0, 9) {
            0 | 1 => Act::Request,
            2 | 3 => Act::Say(Input::Release),
            4 | 5 => Act::Say(Input::Acknowledge),
            6 => Act::Resume,
            7 => Act::OldRequest,
            8 => Act::Fault("safeguard", "", Some(200), ""),
            _ => Act::Fault("stall", "", Some(100), ""),
        };
        plan.at(at, act);
    }
    if number % 5 == 4 {
        let act = draw.of(&[Input::Shutdown, Input::Release]);
        plan.at(draw.between(700, 2_000), Act::Say(act)).at(2_500, Act::Say(Input::Shutdown)).at(2_600, Act::Request);
    }
    plan.length = at.max(2_700) + 400;
    plan.about += " words";
    plan
}

/// Draws a run in which an operator's lines request, acknowledge and stop: pins of the device or inputs of the robot.
/// Some runs have an automatic request.
pub(super) fn lines(draw: &mut Draw, number: usize) -> Plan {
    let software = draw.of(&SOFTWARE);
    let mut plan = Plan::new(draw, software);
    plan.insists = false;
    plan.acts.clear();
    let mut operator = wired(draw, number, 500);
    if number % 4 == 3 {
        starts_within(&mut operator, draw.of(&[None, Some(core::Duration::from_secs(10))]));
    }
    plan.setup.config.operator = operator;
    plan.at(0, Act::Say(Input::Pin(Contact::Stop, true)));
    plan.at(0, Act::Say(Input::Pin(Contact::Request, false))).at(0, Act::Say(Input::Pin(Contact::Acknowledge, false)));
    plan.early.push(Act::Pendant(Action::DigitalInputs(4)));
    let rise = draw.of(&[20, 300, 300]);
    plan.at(rise, Act::Say(Input::Pin(Contact::Request, true))).at(rise, Act::Pendant(Action::DigitalInputs(5)));
    let mut at = draw.of(&[400, 1_400]);
    for _ in 0..draw.between(4, 10) {
        at += draw.of(&[20, 80, 300, 1_100]);
        let high = !draw.one_in(3);
        let act = match draw.between(0, 8) {
            0 | 1 => Act::Say(Input::Pin(Contact::Request, high)),
            2 => Act::Say(Input::Pin(Contact::Acknowledge, high)),
            3 => Act::Say(Input::Pin(Contact::Stop, high)),
            4 | 5 => Act::Pendant(Action::DigitalInputs(draw.of(&[4, 5, 5, 6, 7, 1, 0]))),
            6 => Act::Fault("safeguard", "", Some(100), ""),
            7 => Act::Say(Input::Acknowledge),
            _ => Act::Request,
        };
        plan.at(at, act);
    }
    plan.length = at + 700;
    plan.about += &format!(" lines {}", ["pins", "inputs", "by itself", "all"][number % 4]);
    plan
}

/// Draws a run with actions at the pendant.
pub(super) fn pendant(draw: &mut Draw, number: usize) -> Plan {
    let software = draw.of(&SOFTWARE[6..]);
    let mut plan = Plan::new(draw, software);
    plan.rtde = number % 4 != 3;
    plan.setup.config.peer.connect.states = StatesFrom::Auto;
    plan.insists = false;
    if number % 7 == 6 {
        plan.setup.controller.flicker = std::num::NonZeroU32::new(draw.of(&[3, 150]));
    }
    if number % 5 == 4 || number % 8 == 3 {
        plan.setup.config.mode.pendant.stop = PendantStop::Seen;
    }
    let at = draw.between(50, 1_400);
    let act = [Action::StopProgram, Action::PauseProgram][number % 2];
    plan.at(at, Act::Pendant(act)).at(at + 300, Act::Pendant(Action::ResumeProgram)).at(at + 500, Act::Request);
    if number.is_multiple_of(3) && software.at_least(5, 0) {
        plan.at(2_200, Act::Pendant(Action::SwitchToLocal)).at(2_900, Act::Pendant(Action::SwitchToRemote));
    }
    plan.about += &format!(" pendant {act:?}").to_lowercase();
    plan
}
