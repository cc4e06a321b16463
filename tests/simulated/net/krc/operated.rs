//! Runs with actions of people.

use super::*;

/// Draws a run with requests of an operator, in any order.
pub(super) fn operator(draw: &mut Draw, number: usize) -> Plan {
    let period = draw.of(&[1, 2]);
    let mut plan = Plan::new(draw, period);
    plan.insists = false;
    plan.converse(number);
    if number.is_multiple_of(2) {
        let law = JointServo::new(Reference::Relative(trajectory()), JointServoConfig::default());
        plan.motion = Motion::Law(Box::new(AnyLaw::JointServo(law)));
    }
    let mut at = 0;
    for _ in 0..draw.between(3, 8) {
        at += draw.between(20, 600);
        let act = match draw.between(0, 10) {
            0 | 1 => Act::Request,
            2 | 3 => Act::Say(Input::Release),
            4 | 5 => Act::Say(Input::Acknowledge),
            6 => Act::Resume,
            7 => Act::Say(Input::Request(Epoch::from_number(9_999))),
            8 => Act::Fault("stop", "", None, ""),
            9 => Act::Say(Input::Set(Write::Digital { output: DigitalOutput::Standard(1), high: true })),
            _ => Act::Fault("silence", "/down", Some(20), ""),
        };
        plan.at(at, act);
    }
    if number % 5 == 4 {
        plan.at(draw.between(700, 1_500), Act::Say(Input::Shutdown)).at(1_800, Act::Request);
    }
    plan.length = at.max(2_000) + 400;
    plan.about += " words";
    plan
}

/// Draws a run in which an operator's lines request, acknowledge and stop: pins of the device or booleans of the KRL
/// program. Some runs have an automatic request.
pub(super) fn lines(draw: &mut Draw, number: usize) -> Plan {
    let period = draw.of(&[1, 2]);
    let mut plan = Plan::new(draw, period);
    plan.insists = false;
    plan.acts.clear();
    plan.config.operator = wired(draw, number, 300);
    plan.options.program.inputs = 4;
    plan.at(0, Act::Say(Input::Pin(Contact::Stop, true)));
    plan.at(0, Act::Say(Input::Pin(Contact::Request, false)));
    plan.at(0, Act::Say(Input::Pin(Contact::Acknowledge, false)));
    let rise = draw.of(&[20, 300, 300]);
    plan.at(rise, Act::Say(Input::Pin(Contact::Request, true))).at(rise, Act::Inputs(5));
    let mut at = draw.of(&[400, 1_400]);
    for _ in 0..draw.between(4, 10) {
        at += draw.of(&[20, 80, 300, 1_100]);
        let high = !draw.one_in(3);
        let act = match draw.between(0, 8) {
            0 | 1 => Act::Say(Input::Pin(Contact::Request, high)),
            2 => Act::Say(Input::Pin(Contact::Acknowledge, high)),
            3 => Act::Say(Input::Pin(Contact::Stop, high)),
            4 | 5 => Act::Inputs(draw.of(&[4, 5, 5, 6, 7, 1, 0])),
            6 => Act::Fault("stop", "", None, ""),
            7 => Act::Bool(draw.between(1, 16) as u8, high),
            _ => Act::Request,
        };
        plan.at(at, act);
    }
    plan.length = at + 600;
    plan.about += &format!(" lines {}", ["pins", "inputs", "by itself", "all"][number % 4]);
    plan
}

/// Returns a motion to and fro, in 2 s.
pub(super) fn trajectory() -> Trajectory<7> {
    let at = |angle, millis| Waypoint {
        setpoint: Setpoint {
            positions: JointPositions([angle, 0.0, 0.3 * angle, 0.0, 0.0, -angle, 0.0]),
            velocities: JointVelocities::ZERO,
        },
        accelerations: None,
        at: core::Duration::from_millis(millis),
    };
    Trajectory::through(&[at(0.0, 0), at(0.15, 700), at(-0.1, 1_400), at(0.0, 2_000)]).expect("a trajectory")
}
