//! Runs with faults of the KRC, of the network and of the co-controller.

use super::configured::control;
use super::*;

/// The kinds of faults, each with its possible arguments.
pub(super) const FAULT: [(&str, &[&str]); 18] = [
    ("drop", &["1%", "10%", "60%"]),
    ("burst", &["1%", "10%"]),
    ("duplicate", &["10%", "60%"]),
    ("delay", &["300us", "1200us", "4ms"]),
    ("jitter", &["500us", "3ms"]),
    ("reorder", &["2%", "20%"]),
    ("silence", &[""]),
    ("garbage", &["10%", "60%"]),
    ("stale", &[""]),
    ("restart", &[""]),
    ("period", &["2ms", "5ms"]),
    ("close", &[""]),
    ("second-sender", &[""]),
    ("stop", &[""]),
    ("power-off", &[""]),
    ("release", &[""]),
    ("hand", &["20", "60"]),
    ("nan", &[""]),
];

/// Draws a run with one fault while the arm is commanded, in one direction or both, in every control scheme.
pub(super) fn faults(draw: &mut Draw, number: usize) -> Plan {
    let (kind, arguments) = FAULT[number / 3];
    let period = draw.of(&[1, 1, 2, 4]);
    let mut plan = Plan::new(draw, period);
    plan.config.peer.control = control(draw, number);
    let directed = format!("{kind}/up@1s").parse::<Fault>().is_ok();
    let place = if directed { draw.of(&["", "/up", "/down"]) } else { "" };
    let lasting = (kind != "stop" && kind != "restart").then(|| draw.of(&[4, 30, 200, 700]));
    plan.at(draw.between(600, 1_100), Act::Fault(kind, place, lasting, draw.of(arguments)));
    plan.insists = !draw.one_in(4);
    plan
}

/// Draws a run with a disturbance on our own side: pauses, slow answers, the end of the process.
pub(super) fn host(draw: &mut Draw, number: usize) -> Plan {
    let period = draw.of(&[1, 2, 5]);
    let mut plan = Plan::new(draw, period);
    plan.config.peer.control = control(draw, number);
    let at = draw.between(500, 1_000);
    match number % 4 {
        0 | 1 => plan.at(at, Act::Pause(draw.of(&[3, 15, 60, 300]))),
        2 => plan.at(at, Act::Thinking(period * draw.of(&[700, 1_100, 3_500]))).at(at + 600, Act::Thinking(150)),
        _ => plan.at(at, Act::Say(Input::Shutdown)),
    };
    plan.about += &format!(" host {}", number % 4);
    plan
}

/// Draws a run with several faults of network and KRC at once.
pub(super) fn networks(draw: &mut Draw, number: usize) -> Plan {
    let period = draw.of(&[1, 2, 4, 5]);
    let mut plan = Plan::new(draw, period);
    plan.config.peer.control = control(draw, number);
    plan.options.uses_late_answers = draw.one_in(2);
    plan.options.offset_after_stop = draw.of(&[OffsetAfterStop::Kept, OffsetAfterStop::TakenOver]);
    let mut at = 300;
    for _ in 0..draw.between(4, 8) {
        at += draw.between(20, 500);
        let (kind, arguments) = draw.of(&FAULT);
        let lasting = (kind != "stop" && kind != "restart").then(|| draw.of(&[5, 60, 300, 900]));
        plan.at(at, Act::Fault(kind, "", lasting, draw.of(arguments)));
    }
    plan.insists = number % 4 != 3;
    plan.length = at + 1_000;
    plan.about += " anything";
    plan
}
