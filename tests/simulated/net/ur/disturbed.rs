//! Runs with faults of the controller, of sensors and of the co-controller.

use super::configured::write;
use super::*;

/// The kinds of faults, each with its possible arguments and the oldest software to which it applies.
pub(super) const FAULT: [(&str, &[&str], (u8, u8)); 40] = [
    ("split", &["1", "7", "100"], (1, 6)),
    ("coalesce", &["2", "4"], (1, 6)),
    ("delay", &["4ms", "20ms"], (1, 6)),
    ("jitter", &["3ms", "10ms"], (1, 6)),
    ("stall", &[""], (1, 6)),
    ("backlog", &["100ms", "300ms"], (1, 6)),
    ("nagle", &["16ms", "40ms"], (1, 6)),
    ("loss", &["1%", "5%"], (1, 6)),
    ("quick-loss", &["1%", "10%"], (1, 6)),
    ("drop", &[""], (1, 6)),
    ("truncated", &["1", "8", "40"], (1, 6)),
    ("oversize", &["500", "20000"], (1, 6)),
    ("unknown", &[""], (1, 6)),
    ("extended", &["4", "12"], (1, 6)),
    ("polluted", &["3", "17"], (1, 6)),
    ("skip", &["2", "10"], (1, 6)),
    ("repeat", &["2", "10"], (1, 6)),
    ("wrong-type", &[""], (3, 4)),
    ("wrong-recipe", &["3", "10"], (3, 4)),
    ("clock-jump", &["5s", "-2s", "40ms"], (1, 6)),
    ("restart", &[""], (1, 6)),
    ("estop", &[""], (1, 6)),
    ("protective-stop", &[""], (1, 6)),
    ("safeguard", &[""], (1, 6)),
    ("violation", &[""], (1, 6)),
    ("safety-fault", &[""], (1, 6)),
    ("local", &[""], (5, 0)),
    ("service-off", &["rtde", "realtime", "primary"], (5, 10)),
    ("power-off", &[""], (1, 6)),
    ("slider", &["50%", "0", "5%"], (1, 6)),
    ("limiter", &["50%", "0"], (1, 6)),
    ("pause", &[""], (1, 6)),
    ("stop", &[""], (1, 6)),
    ("mute", &[""], (1, 6)),
    ("garbage", &[""], (3, 4)),
    ("hang-up", &[""], (1, 6)),
    ("second-commander", &["0.1", "0.5"], (1, 6)),
    ("foreign-program", &["0", "0.2"], (1, 6)),
    ("digital-input", &["0", "1"], (1, 6)),
    ("early-close", &[""], (1, 6)),
];

/// Draws a run with one fault: early, while the arm is commanded, or from the start; on all connections or one.
pub(super) fn faults(draw: &mut Draw, number: usize) -> Plan {
    let (kind, arguments, oldest) = FAULT[number / 3];
    let has: Vec<_> = SOFTWARE.into_iter().filter(|software| software.at_least(oldest.0, oldest.1)).collect();
    let software = draw.of(&has);
    let mut plan = Plan::new(draw, software);
    let argument = draw.of(arguments);
    let one_port = Fault::parse(&format!("{kind}/30003@1s")).is_ok();
    let one_way = Fault::parse(&format!("{kind}/up@1s")).is_ok();
    let place = match () {
        () if one_port && draw.one_in(3) => draw.of(&["/30003", "/30001", "/30004"]),
        () if one_way && draw.one_in(3) => draw.of(&["/up", "/down"]),
        () => "",
    };
    let lasting = draw.of(&[30, 120, 400, 1_500]);
    let lasting = lasts(kind).then_some(if kind == "protective-stop" { UNLOCKED } else { lasting });
    if number % 3 == 2 {
        let lasting = lasting.map(|lasting| lasting + draw.of(&[300, 3_000]));
        let spec = spec(kind, place, &format!("{}ms", draw.between(0, 900)), lasting, argument);
        plan.setup.controller.faults.push(Fault::parse(&spec).expect("a fault"));
        plan.about += &format!(" {spec}");
    } else {
        plan.at(draw.between(900, 1_500), Act::Fault(kind, place, lasting, argument));
    }
    if kind == "protective-stop" {
        plan.length = UNLOCKED + 2_500;
    }
    plan.insists = !draw.one_in(4);
    plan
}

/// Draws a run with a hand on the tool. Its force is measured and must not change any other result, because the arm
/// is position controlled. The kind is added after the others, so that their runs stay as recorded.
pub(super) fn hands(draw: &mut Draw, _: usize) -> Plan {
    let software = draw.of(&SOFTWARE);
    let mut plan = Plan::new(draw, software);
    let newtons = draw.of(&["20", "80"]);
    plan.at(draw.between(900, 1_500), Act::Fault("hand", "", Some(draw.of(&[120, 1_500])), newtons));
    plan
}

/// The duration after which a protective stop is unlocked in these runs \[ms\].
const UNLOCKED: u64 = 5_100;

pub(super) fn lasts(kind: &str) -> bool {
    !matches!(kind, "clock-jump" | "stop")
}

/// Draws a run with sensors that stop sending, repeat a value, jump or leave their range.
pub(super) fn sensors(draw: &mut Draw, number: usize) -> Plan {
    let software = draw.of(&SOFTWARE);
    let mut plan = Plan::new(draw, software);
    let senses = [Senses::Nothing, Senses::NoNumber, Senses::Far, Senses::Jumps, Senses::Stuck][number % 5];
    plan.setup.config.sources[0] = Some(watched(draw, SENSOR, 6, -2.0, 2.0));
    let begun = draw.between(700, 1_400);
    let lasting = if senses == Senses::Stuck { 400 } else { draw.of(&[16, 60, 400]) };
    plan.at(begun, Act::Senses(senses)).at(begun + lasting, Act::Senses(Senses::Well));
    if number % 4 == 1 {
        let value = SampleValue::scalar(0.1);
        for (after, seq) in [(100, 1), (110, 1), (120, 7)] {
            let source = if seq == 7 { outrigger_wire::sensor::SourceId(9) } else { SENSOR };
            plan.at(after, Act::Strange(Sample { source, value, seq, taken_at: core::Instant::ZERO }));
        }
    }
    plan.about += &format!(" sensor {senses:?}").to_lowercase();
    plan
}

/// Draws a run with a disturbance on our own side: pauses, a slow loop, a cut cable, the end of the process.
pub(super) fn host(draw: &mut Draw, number: usize) -> Plan {
    let software = draw.of(&SOFTWARE);
    let mut plan = Plan::new(draw, software);
    let at = draw.between(700, 1_400);
    match number % 8 {
        0 | 1 => {
            plan.at(at, Act::Pause(draw.of(&[15, 60, 200, 1_200])));
        }
        2 | 3 => plan.setup.reading = Reading::Every(ms(draw.of(&[1, 3, 10, 50]))),
        4 => {
            plan.at(at, Act::Cable(Some(draw.of(&[20, 300, 1_200]))));
        }
        5 => {
            plan.at(at, Act::Cable(None));
        }
        6 => {
            plan.at(at, Act::Kill(draw.of(&[CrashPoint::Reset, CrashPoint::Silent])));
        }
        _ => {
            plan.at(at, Act::Say(Input::Shutdown));
        }
    }
    plan.about += &format!(" host {}", number % 8);
    plan
}

/// Draws a run with several of the disturbances in this file at once.
pub(super) fn anything(draw: &mut Draw, number: usize) -> Plan {
    let software = draw.of(&SOFTWARE);
    let mut plan = Plan::new(draw, software);
    plan.setup.config.peer.text.form = draw.of(&[FormChoice::ByVersion, FormChoice::Bare, FormChoice::SelfEnding]);
    if number.is_multiple_of(2) && software.at_least(3, 4) {
        plan.claim(&[Claim::Standard, Claim::Tool, Claim::Analog]);
    }
    plan.insists = number % 4 != 3;
    let mut at = 300;
    for _ in 0..draw.between(4, 9) {
        at += draw.between(30, 600);
        let (kind, arguments, oldest) = draw.of(&FAULT);
        let lasting = draw.of(&[20, 80, 300, 900]);
        let act = match draw.between(0, 6) {
            0..=2 if software.at_least(oldest.0, oldest.1) => {
                let lasting = (lasts(kind) && kind != "protective-stop").then_some(lasting);
                Act::Fault(kind, "", lasting, draw.of(arguments))
            }
            3 => Act::Say(Input::Set(write(draw))),
            4 => Act::Pause(draw.of(&[10, 50, 150])),
            5 => Act::Senses(draw.of(&[Senses::Nothing, Senses::Far, Senses::Well, Senses::Stuck])),
            _ => Act::Say(draw.of(&[Input::Release, Input::Acknowledge])),
        };
        plan.at(at, act);
    }
    plan.length = at + 1_500;
    plan.about += " anything";
    plan
}
