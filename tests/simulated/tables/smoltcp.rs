//! Two smoltcp stacks on a wire: the cost of one lost frame, by the board's receive buffer and the controller's TCP.

use outrigger_core::engine::ur::UrEvent;
use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

use outrigger_core::engine::{Event, LinkId};
use outrigger_core::mode::Mode;
use outrigger_embassy::{Buffers, SmallBuffers};
use outrigger_emulated::peer::PeerOptions;
use outrigger_sim::port::Port;
use outrigger_sim::time::SimTime;
use outrigger_tests::board::{Network, Segment, UrRig, Way};
use outrigger_tests::cosim::{Setup, rest_bound};
use outrigger_wire::robot::SoftwareVersion;

use super::text::{hold, in_parallel, markdown, millis};

const SOFTWARE: [(SoftwareVersion, &str); 2] =
    [(SoftwareVersion::new(3, 15), "125 Hz (3.15)"), (SoftwareVersion::new(5, 15), "500 Hz (5.15)")];
/// The speed of the base joint \[rad/s\].
const SPEED: f32 = 0.5;
/// The time for which a run is observed after a loss.
const AFTER: Duration = Duration::from_secs(4);

/// The TCP options of the simulated controller's stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Tcp {
    nagle: bool,
    /// `true` if the controller delays its acknowledgements by up to 10 ms, to send them with data.
    delays: bool,
}

/// The size of the board's receive buffer for port 30003.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Receive {
    One,
    Two,
    Four,
    Shipped,
    Six,
    Large,
}

const RECEIVE: [(Receive, &str); 6] = [
    (Receive::One, "1 packet"),
    (Receive::Two, "2 packets"),
    (Receive::Four, "4 packets"),
    (Receive::Shipped, "5 packets"),
    (Receive::Six, "6 packets"),
    (Receive::Large, "8 KiB"),
];
/// The length of the longest packet of either version \[B\].
const PACKET: usize = 1_220;

impl Tcp {
    fn network(self) -> Network {
        let ack_delay = self.delays.then_some(Duration::from_millis(10));
        Network { peer: PeerOptions { nagle: self.nagle, ack_delay, ..PeerOptions::default() }, ..Network::default() }
    }
}

fn rig(software: SoftwareVersion, tcp: Tcp, receive: Receive) -> UrRig {
    let network = tcp.network();
    let setup = Setup::sweep(software, SPEED);
    match receive {
        Receive::One => UrRig::with_buffers(setup, &network, Buffers::<PACKET>::of_size()),
        Receive::Two => UrRig::with_buffers(setup, &network, Buffers::<{ 2 * PACKET }>::of_size()),
        Receive::Four => UrRig::with_buffers(setup, &network, SmallBuffers::of_size()),
        Receive::Shipped => UrRig::with_buffers(setup, &network, Buffers::new()),
        Receive::Six => UrRig::with_buffers(setup, &network, Buffers::<{ 6 * PACKET }>::of_size()),
        Receive::Large => UrRig::with_buffers(setup, &network, Buffers::<8192>::of_size()),
    }
}

/// Drops the next frame in this direction that carries bytes from or to this port of the controller. Returns a cell
/// that receives the time of the loss.
fn lose_next(rig: &mut UrRig, lost_way: Way, of: Port) -> Rc<Cell<Option<SimTime>>> {
    let lost = Rc::new(Cell::new(None));
    let note = Rc::clone(&lost);
    rig.lose(move |way, now, frame| {
        let carries = |segment: &Segment<'_>| {
            let port = if way == Way::Up { segment.to } else { segment.from };
            port == of.number() && !segment.payload.is_empty()
        };
        let hit = way == lost_way && note.get().is_none() && Segment::of(frame).is_some_and(|s| carries(&s));
        if hit {
            note.set(Some(now));
        }
        hit
    });
    lost
}

/// The consequences of the loss of one frame.
struct Cost {
    /// The time from the loss until the lost data, and so all data behind them, arrived; `None` if the connection was
    /// given up.
    arrived: Option<Duration>,
    outcome: String,
}

impl Cost {
    fn cell(&self) -> String {
        let arrived = self.arrived.map_or("never".into(), |span| format!("{} ms", millis(span)));
        format!("{arrived}; {}", self.outcome)
    }
}

/// Returns, as text, the reason and the time at which commanding ended after `lost`, and the time from there until the
/// arm was at rest, measured and permitted.
fn fallback(rig: &UrRig, lost: SimTime, arrived: Option<Duration>) -> String {
    let fall = |(at, event): &(SimTime, Event<UrEvent>)| match event {
        Event::Transition(transition) if transition.from == Mode::Command && *at >= lost => {
            Some((*at, transition.reason?))
        }
        _ => None,
    };
    let Some((fell, reason)) = rig.record().events.iter().find_map(fall) else { return "goes on".into() };
    // The text that the loss held back is executed for one cycle when it arrives. The reaction time is that delay or
    // the last command's `t`, whichever is longer.
    let late = arrived.map_or(SimTime::ZERO, |span| lost + span).since(fell);
    let (rest, bound) = rest(rig, fell, late.max(HOLD));
    format!("{reason:?} after {} ms, {} / {} ms", millis(fell.since(lost)), millis(rest), millis(bound))
}

/// The time for which no frame crosses the wire.
const STALL: Duration = Duration::from_millis(300);
/// The default duration `t` of a command, after which the arm stops.
const HOLD: Duration = Duration::from_millis(40);
/// The default deceleration of a stop \[rad/s²\].
const DECELERATION: f64 = 10.0;

fn rest(rig: &UrRig, since: SimTime, reaction: Duration) -> (Duration, Duration) {
    let rest = rig.record().rest_after(since).expect("the arm comes to rest");
    let bound = rest_bound(rig.controller(), f64::from(SPEED), DECELERATION, reaction);
    assert!(rest <= bound, "at rest after {rest:?}, bound {bound:?}:\n{}", rig.record().story());
    (rest, bound)
}

fn lost_state(mut rig: UrRig, states: Port) -> Cost {
    rig.command();
    rig.run_for(Duration::from_millis(500));
    let lost = lose_next(&mut rig, Way::Down, states);
    rig.run_for(AFTER);
    let lost = lost.get().expect("a state was sent");
    let until = given_up(&rig, lost);
    let mut after = rig.states().into_iter().filter(|at| *at > lost && *at < until);
    let arrived = after.next().map(|at| at.since(lost));
    Cost { arrived, outcome: fallback(&rig, lost, None) }
}

fn lost_command(software: SoftwareVersion, tcp: Tcp, receive: Receive) -> Cost {
    let mut rig = rig(software, tcp, receive);
    rig.command();
    rig.run_for(Duration::from_millis(500));
    let lost = lose_next(&mut rig, Way::Up, Port::Realtime);
    rig.run_for(AFTER);
    let lost = lost.get().expect("a command was sent");
    let arrived = text_after(&rig, lost);
    Cost { arrived, outcome: fallback(&rig, lost, arrived) }
}

fn lost_stop(software: SoftwareVersion, tcp: Tcp, receive: Receive) -> Cost {
    let mut rig = rig(software, tcp, receive);
    rig.command();
    rig.run_for(Duration::from_millis(500));
    let lost = lose_next(&mut rig, Way::Up, Port::Realtime);
    rig.handle().release();
    rig.run_for(AFTER);
    let lost = lost.get().expect("a zero velocity was sent");
    let arrived = text_after(&rig, lost);
    let (rest, bound) = rest(&rig, lost, HOLD);
    let latched = rig.latch().map_or("nothing latched".into(), |reason| format!("{reason:?} latched"));
    Cost { arrived, outcome: format!("at rest after {} / {} ms, {latched}", millis(rest), millis(bound)) }
}

/// Returns the time from `lost` until the robot received a text again, which is the lost one if its connection still
/// stands. Texts that were on the wire already arrive within 1 ms and do not count. `None` if no text arrived.
fn text_after(rig: &UrRig, lost: SimTime) -> Option<Duration> {
    let mut after = rig.record().commands_since(lost + Duration::from_millis(1));
    after.next().map(|command| command.at.since(lost))
}

/// Returns the first time after `lost` at which a connection to 30003 or 30004 was given up, [`SimTime::MAX`] if none
/// was.
fn given_up(rig: &UrRig, lost: SimTime) -> SimTime {
    let down = |event: &Event<UrEvent>| {
        matches!(event, Event::Peer(UrEvent::Down { link: LinkId::REALTIME | LinkId::RTDE, .. }))
    };
    let mut events = rig.record().events.iter().filter(|(at, event)| *at >= lost && down(event));
    events.next().map_or(SimTime::MAX, |(at, _)| *at)
}

/// Returns the longest time between two states that the engine received while it did not command the arm, and while it
/// answered every state with a command.
fn gaps(mut rig: UrRig) -> [Duration; 2] {
    rig.run_for(Duration::from_secs(3));
    let in_monitor = rig.states().len();
    rig.command();
    let from = rig.states().len();
    rig.run_for(Duration::from_secs(1));
    let states = rig.states();
    let longest = |states: &[SimTime]| states.windows(2).map(|pair| pair[1].since(pair[0])).max().unwrap_or_default();
    [longest(&states[10..in_monitor]), longest(&states[from..])]
}

#[test]
fn one_lost_frame_costs_little_with_room_for_seven_packets_and_a_session_with_less() {
    let mut text = HEAD.to_owned();
    for (software, rate) in SOFTWARE {
        let tcps = [(false, false), (false, true), (true, false), (true, true)];
        let cases: Vec<_> = tcps
            .into_iter()
            .flat_map(|(nagle, delays)| RECEIVE.map(|(receive, name)| (Tcp { nagle, delays }, receive, name)))
            .collect();
        let rows = in_parallel(&cases, |(tcp, receive, name)| {
            let [monitor, command] = gaps(rig(software, tcp, receive));
            let state = lost_state(rig(software, tcp, receive), Port::Realtime);
            if !matches!(receive, Receive::One | Receive::Two) && !tcp.nagle {
                assert_eq!(state.outcome, "goes on", "{name} and no Nagle: a lost state is sent again at once");
            }
            let on = |on| if on { "on" } else { "off" }.to_owned();
            vec![
                on(tcp.nagle),
                on(tcp.delays),
                name.to_owned(),
                format!("{} / {} ms", tenths(monitor), tenths(command)),
                state.cell(),
                lost_command(software, tcp, receive).cell(),
                lost_stop(software, tcp, receive).cell(),
            ]
        });
        let columns =
            ["Nagle", "ACK delay", "board receives into", "longest pause", "lost state", "lost command", "lost stop"];
        text += &format!("\n## {rate}\n\n{}", markdown(&columns, &rows));
    }
    text += &by_rtde();
    hold("smoltcp.md", &text);
}

/// Returns the size of a receive buffer for RTDE \[B\]: for the answers to the requests, and for `count` states.
const fn states(count: usize) -> usize {
    512 + count * 432
}

/// The sizes of the board's receive buffers for 30003 and 30004.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Both {
    Least,
    Shipped,
    Large,
}

const BOTH: [(Both, &str); 3] = [
    (Both::Least, "1 packet, 4 states"),
    (Both::Shipped, "4 packets, 8 states (shipped)"),
    (Both::Large, "8 KiB, 18 states"),
];

fn rtde_rig(software: SoftwareVersion, tcp: Tcp, both: Both) -> UrRig {
    let (setup, network) = (Setup::sweep(software, SPEED), tcp.network());
    match both {
        Both::Least => UrRig::with_buffers(setup, &network, Buffers::<PACKET, { states(4) }>::of_size()),
        Both::Shipped => UrRig::with_buffers(setup, &network, Buffers::with_rtde()),
        Both::Large => UrRig::with_buffers(setup, &network, Buffers::<8192, { states(18) }>::of_size()),
    }
}

fn by_rtde() -> String {
    let cases: Vec<_> = SOFTWARE
        .into_iter()
        .flat_map(|(software, rate)| [false, true].map(|nagle| (software, rate, nagle)))
        .flat_map(|(software, rate, nagle)| BOTH.map(|(both, name)| (software, rate, nagle, both, name)))
        .collect();
    let rows = in_parallel(&cases, |(software, rate, nagle, both, name)| {
        let rig = || rtde_rig(software, Tcp { nagle, delays: false }, both);
        let [monitor, command] = gaps(rig());
        let after_a_stall = stalled(rig());
        if both == Both::Shipped {
            assert!(after_a_stall.ends_with("the session goes on"), "{after_a_stall}");
        }
        vec![
            rate.to_owned(),
            if nagle { "on" } else { "off" }.to_owned(),
            name.to_owned(),
            format!("{} / {} ms", tenths(monitor), tenths(command)),
            lost_state(rig(), Port::Rtde).cell(),
            after_a_stall,
        ]
    });
    let columns =
        ["states", "Nagle", "board receives into", "longest pause", "lost state", "after 300 ms without a frame"];
    format!("{RTDE}\n{}", markdown(&columns, &rows))
}

/// Stalls the wire for a while. Returns the time afterwards for which states are late or missing, and the fate of the
/// RTDE session. The arm is not commanded meanwhile, because waiting text would be dropped with the whole session,
/// see *lost command*.
fn stalled(mut rig: UrRig) -> String {
    rig.run_for(Duration::from_secs(3));
    let (began, period) = (rig.now(), rig.controller().period());
    let over = began + STALL;
    let (up, down) = rig.wires();
    up.stall(began, over);
    down.stall(began, over);
    rig.run_for(STALL + AFTER);
    let states: Vec<_> = rig.states().into_iter().filter(|seen| *seen > began).collect();
    let mut late = states.windows(2).filter(|pair| pair[1].since(pair[0]) > period * 2).map(|pair| pair[1]);
    let late = late.next_back().map_or(Duration::ZERO, |at| at.since(over));
    let closed = rig
        .record()
        .events
        .iter()
        .any(|(at, event)| matches!(event, Event::Peer(UrEvent::Down { link: LinkId::RTDE, .. })) && *at > began);
    let session = if closed { "the controller closes 30004, another session begins" } else { "the session goes on" };
    format!("states again after {} ms; {session}", millis(late))
}

/// Returns a duration in milliseconds with one decimal.
fn tenths(span: Duration) -> String {
    format!("{:.1}", span.as_secs_f64() * 1e3)
}

const HEAD: &str = "# One lost frame between two smoltcp stacks

Made by `OUTRIGGER_BLESS=1 cargo test -p outrigger-tests --test runs tables::smoltcp`, in virtual time, seed 1.

`port-embassy` with its stack (embassy-net 0.9, smoltcp 0.13) on a wire with 0.1 ms delay each way, opposite the simulated
controller behind a smoltcp stack. The base joint moves at 0.5 rad/s with all thresholds at their defaults. Half a second
later exactly one frame of port 30003 is lost:

* *lost state*: time until it came, and so the next state could be read; whether commanding went on, else why and when it
  ended, and the time from there to rest of the simulated joint, measured / bound.
* *lost command*: time until the controller had it; then the same.
* *lost stop*: an operator releases, and the first zero velocity is lost, with everything behind it held back. Time until
  it came; time from the loss to rest, measured / bound; what is latched. *Never*: the connection was reset before.
* *longest pause* between two states in Monitor, where nothing is answered / in Command, where every state is.

Bound (`core/docs/mode-machine.md 10`): `t` = 40 ms of the last command, then v/a with a = 10 rad/s², two cycles, and the drives' lag; asserted.

What decides:

* smoltcp sends again after three duplicate acknowledgements, else after a time-out of at least 1 s. (A real controller's
  kernel waits 200 ms or more, and may probe sooner.)
* Duplicate acknowledgements need packets behind the lost one, and the board's room says how many can be under way: with
  two packets there are too few, with four just enough, with five always. Nagle's algorithm puts them together into
  fewer. Where they fill the window behind the gap, acknowledgements lie at its end and are dropped by the receiver's
  acceptance test (RFC 9293, 3.10.7.4): the stop text arrives, counts as un-acknowledged all the same, and after 500 ms
  the connection is reset before the state is sent again: *never*.
* The engine queues no motion behind un-acknowledged text and gives up after 40 ms, so that a lost *command* is never sent
  again in time: smoltcp has no tail loss probe. It costs the session, and the arm stands before the command could come.
* smoltcp delays acknowledgements by 10 ms, and embassy-net has no setter. Opposite Nagle's algorithm states would come up
  to 10 ms late wherever they are not answered, too late to arm; `port-embassy` has each read acknowledged at once, which
  is why no pause is longer than a period. The controller's own delay (*ACK delay*, 10 ms) does no harm: its states carry
  the acknowledgements.
";

const RTDE: &str = "
## States by RTDE

The same, with states of 432 bytes by port 30004 and commands by 30003; the interface of the board keeps 10 560 bytes of
frames until the board takes them. *After 300 ms without a frame*, nothing being commanded: everything that the sockets
have room for arrives at once.

* Nothing goes from the board to 30004 but acknowledgements, which each read asks for: no pause is longer than a period.
* What does not fit into the interface is lost, and nothing follows it: the time-out of 1 s passes before it is sent
  again. At 500 Hz the 192 KiB that the controller and its stack keep for a client of 30004 are full by then, and the
  controller closes it. (What a real controller keeps is not known; its kernel waits 200 ms or more.)
";
