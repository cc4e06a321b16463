//! The state diagram `core/docs/modes.svg`, drawn from the transitions that [`explore`](super::explore) meets.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use outrigger_core::mode::Mode;

use crate::seen::{Event, Seen, alphabet};
use crate::world::World;

/// The modes of the engine's mode machine, each with the centre x, y of its box in the state diagram.
const BOXES: [(Mode, i32, i32); 5] = [
    (Mode::Offline, 100, 60),
    (Mode::Monitor, 360, 60),
    (Mode::Arming, 640, 60),
    (Mode::Command, 640, 250),
    (Mode::Stopping, 360, 250),
];
/// Half the width and half the height of a box, in units of the picture.
const HALF: (i32, i32) = (62, 24);

/// A transition, with the path of its arrow, the place of its label and the label.
type Arrow = (Mode, Mode, &'static str, (i32, i32), &'static str);

const ARROWS: [Arrow; 9] = [
    (Mode::Offline, Mode::Monitor, "M162,52 L296,52", (229, 44), "connected"),
    (Mode::Monitor, Mode::Offline, "M298,70 L164,70", (229, 88), "link lost"),
    (Mode::Monitor, Mode::Arming, "M422,52 L576,52", (500, 44), "start, all preconditions"),
    (Mode::Arming, Mode::Monitor, "M578,70 L424,70", (500, 88), "precondition lost, 10 s"),
    (Mode::Arming, Mode::Command, "M640,84 L640,224", (634, 150), "accepted, 100 good cycles"),
    (Mode::Command, Mode::Stopping, "M578,250 L424,250", (500, 242), "stop, or any reason"),
    (Mode::Stopping, Mode::Monitor, "M360,226 L360,86", (366, 160), "standstill, or 5 s"),
    (Mode::Stopping, Mode::Offline, "M298,250 C190,250 130,200 120,88", (70, 214), "link lost"),
    (Mode::Arming, Mode::Offline, "M640,36 C600,-6 150,-6 105,33", (370, 18), "link lost"),
];
/// The transition whose arrow would cross all others: a sentence below the picture names it.
const IN_WORDS: (Mode, Mode) = (Mode::Command, Mode::Offline);

/// Returns every transition between modes within `depth` events from boot and from the end of each of `prefixes`.
fn transitions(prefixes: &[&[Event]], depth: usize) -> BTreeSet<(u8, u8)> {
    let mut found = BTreeSet::new();
    let place = |mode: Mode| BOXES.iter().position(|(known, ..)| *known == mode).expect("a mode of the picture") as u8;
    for prefix in prefixes {
        let mut start = World::boot();
        let mut step = |world: &mut World, event: Event| {
            let before = world.machine.mode();
            world.step(event);
            if before != world.machine.mode() {
                found.insert((place(before), place(world.machine.mode())));
            }
        };
        for event in *prefix {
            step(&mut start, *event);
        }
        let mut frontier = vec![start];
        for _ in 0..depth {
            let mut next = vec![];
            for world in frontier {
                for event in alphabet(&Seen::STREAMED) {
                    let mut after = world.clone();
                    step(&mut after, event);
                    next.push(after);
                }
            }
            frontier = next;
        }
    }
    found
}

fn drawn() -> String {
    let mut svg = String::from(concat!(
        r##"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 800 330" font-family="sans-serif" font-size="13">"##,
        "\n",
        "<title>Modes of the control state machine</title>\n",
        r##"<defs><marker id="a" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="8" markerHeight="8" orient="auto">"##,
        r##"<path d="M0,0 L10,5 L0,10 z" fill="#444"/></marker></defs>"##,
        "\n",
        r##"<rect width="800" height="330" fill="#fff"/>"##,
        "\n",
    ));
    for (from, to, path, (x, y), label) in ARROWS {
        let anchor = match (from, to) {
            (Mode::Arming, Mode::Command) => "end",
            (Mode::Stopping, Mode::Monitor) => "start",
            _ => "middle",
        };
        let _ = writeln!(svg, r##"<path d="{path}" fill="none" stroke="#444" marker-end="url(#a)"/>"##);
        let _ = writeln!(svg, r##"<text x="{x}" y="{y}" text-anchor="{anchor}" fill="#444">{label}</text>"##);
    }
    for (mode, x, y) in BOXES {
        let (left, top, width, height) = (x - HALF.0, y - HALF.1, 2 * HALF.0, 2 * HALF.1);
        let fill = if mode == Mode::Command { "#d7ecd9" } else { "#eef2f7" };
        let _ = writeln!(
            svg,
            r##"<rect x="{left}" y="{top}" width="{width}" height="{height}" rx="8" fill="{fill}" stroke="#444"/>"##
        );
        let _ = writeln!(
            svg,
            r##"<text x="{x}" y="{}" text-anchor="middle" font-weight="bold" fill="#111">{mode:?}</text>"##,
            y + 5
        );
    }
    svg.push_str(concat!(
        r##"<text x="400" y="304" text-anchor="middle" fill="#444">From Command, too, a lost link leads to Offline.</text>"##,
        "\n",
        r##"<text x="400" y="322" text-anchor="middle" fill="#444">Commands move the arm in Command only, and only a start leads there.</text>"##,
        "\n</svg>\n",
    ));
    svg
}

#[test]
fn the_picture_has_each_transition_that_occurs_and_no_other() {
    let stopping = super::then(&super::TO_COMMAND, &[Event::Release]);
    let found = transitions(&[&[], &super::TO_MONITOR, &super::TO_ARMING, &super::TO_COMMAND, &stopping], 2);
    let place = |mode: Mode| BOXES.iter().position(|(known, ..)| *known == mode).expect("a mode of the picture") as u8;
    let arrows = ARROWS.iter().map(|(from, to, ..)| (*from, *to)).chain([IN_WORDS]);
    let shown: BTreeSet<_> = arrows.map(|(from, to)| (place(from), place(to))).collect();
    assert_eq!(found, shown, "places in BOXES");
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/modes.svg");
    if std::env::var_os("OUTRIGGER_BLESS").is_some() {
        std::fs::write(path, drawn()).expect("the picture is written");
    }
    let kept = std::fs::read_to_string(path).unwrap_or_default();
    assert_eq!(
        kept,
        drawn(),
        "draw it anew: OUTRIGGER_BLESS=1 cargo test -p outrigger-core --test mode_exhaustive picture"
    );
}
