//! Checks that the page of topics by generation matches what simulated controllers send. `OUTRIGGER_BLESS=1` writes
//! it anew.

use std::fmt::Write as _;
use std::time::Duration;

use outrigger_ros2_messages::endpoint::{Distro, Topic};
use outrigger_sim::controller::{Controller, Options};
use outrigger_sim::port::Port;
use outrigger_wire::robot::SoftwareVersion;

use super::feed_readings;
use crate::native::{self, Terminals};
use crate::readings::Readings;
use crate::{driver, legacy};
use outrigger::feed::{Entry, EntryContent, Item, Streams, stream_memory};
use outrigger_require::committed;

/// The tested software version of each generation of UR's controllers.
const SOFTWARE: [SoftwareVersion; 4] = [
    SoftwareVersion::new(1, 8),
    SoftwareVersion::new(3, 15),
    SoftwareVersion::new(5, 15),
    SoftwareVersion::new(10, 12),
];

/// Advances a simulated controller by this time.
fn run(controller: &mut Controller, time: Duration) {
    let end = controller.now() + time;
    while controller.now() < end {
        controller.advance_to(controller.next_event().min(end));
    }
}

fn package(letter: u8, payload: &[u8]) -> Vec<u8> {
    let size = u16::try_from(payload.len() + 3).expect("short");
    [&size.to_be_bytes()[..], &[letter], payload].concat()
}

/// Returns the readings that a node has after a simulated controller has sent it data for some seconds of virtual time.
fn readings(software: SoftwareVersion) -> Readings {
    let mut controller = Controller::new(Options::for_software(software)).expect("a controller that existed");
    let (mut memory, mut readings) = (stream_memory(), Readings::default());
    let mut streams = Streams::new(&mut memory).expect("memory");
    let mut hear = |streams: &mut Streams<'_>, what| {
        let entry = Entry { at: outrigger_wire::time::Instant::ZERO, what };
        feed_readings::hear(&mut readings, streams, &Item::Entry(entry));
    };
    let mut buffer = vec![0; 1 << 16];
    for (number, port) in [(30_001, Port::Primary), (30_003, Port::Realtime), (30_004, Port::Rtde)] {
        let Ok(connection) = controller.connect(port) else { continue };
        hear(&mut streams, EntryContent::Opened { port: number });
        let mut talk = |controller: &mut Controller, sent: Option<Vec<u8>>| {
            if let Some(bytes) = sent {
                assert_eq!(controller.write(connection, &bytes), bytes.len());
                hear(&mut streams, EntryContent::Sent { port: number, bytes: bytes.into() });
            }
            run(controller, Duration::from_millis(500));
            let mut received = vec![];
            while let count @ 1.. = controller.read(connection, &mut buffer) {
                received.extend_from_slice(&buffer[..count]);
            }
            let bytes = received.clone().into();
            hear(&mut streams, EntryContent::Received { port: number, bytes, first_start: Some(0) });
            received
        };
        if port == Port::Rtde {
            talk(&mut controller, Some(package(b'V', &[0, 2])));
            // Variables that this software lacks are left out of the second request, as clients of RTDE do.
            let mut names = super::variables(&[]);
            names.insert(0, "timestamp".to_owned());
            for _ in 0..2 {
                let recipe = [&125.0_f64.to_be_bytes()[..], names.join(",").as_bytes()].concat();
                let answer = talk(&mut controller, Some(package(b'O', &recipe)));
                let types = String::from_utf8_lossy(answer.get(4..).expect("an answer")).into_owned();
                let mut known = types.split(',').map(|of| of != "NOT_FOUND");
                names.retain(|_| known.next().expect("a type for each"));
            }
            talk(&mut controller, Some(package(b'S', &[])));
        }
        talk(&mut controller, None);
    }
    assert!(!readings.is_empty(), "{software} sends states");
    readings
}

/// Returns a table with a row for each topic and a column for each generation, which says whether the generation
/// provides what the topic's message needs.
fn table<'t>(topics: impl Iterator<Item = &'t Topic>, absent: &[Vec<&'static Topic>]) -> String {
    let mut table =
        String::from("| topic | CB2 1.8 | CB3 3.15 | e-Series 5.15 | PolyScope X 10.12 |\n|---|---|---|---|---|\n");
    for topic in topics {
        let _ = write!(table, "| `{}` |", topic.name);
        for missing in absent {
            let fills = !missing.iter().any(|of| std::ptr::eq(*of, topic));
            table.push_str(if fills { " yes |" } else { " – |" });
        }
        table.push('\n');
    }
    table
}

/// The present names of two topics that have other names in UR's paper on ROS 2 in PolyScope X.
const RENAMED: [&str; 2] = ["actual_speed_fraction", "target_speed_fraction"];

#[test]
fn the_page_of_topics_by_generation_is_that_of_simulated_controllers() {
    let all = SOFTWARE.map(readings);
    let of = |absent: &dyn Fn(&Readings) -> Vec<&'static Topic>| all.iter().map(absent).collect::<Vec<_>>();
    let native = of(&|readings| native::absent(readings, Terminals::Ports));
    let mut paper: Vec<&Topic> = native::topics(Terminals::Ports).chain(native::NEVER.iter().copied()).collect();
    paper.retain(|topic| !RENAMED.contains(&topic.name));
    assert_eq!(paper.len(), 46, "topics of the paper");
    let grouped = of(&|readings| native::absent(readings, Terminals::Grouped));
    let of_driver = of(&|readings| {
        let mut absent = driver::absent(readings, Distro::Humble);
        // The topics of controllers depend on the node alone.
        absent.retain(|topic| topic.when != outrigger_ros2_messages::endpoint::PublishTrigger::Commanded);
        absent
    });
    let of_legacy = of(&legacy::absent);
    let page = format!(
        "# Topics of ROS 2 by generation of the controller\n\n\
         Made of what simulated controllers send by 30001, 30003 and RTDE, with the variables that [`outrigger ros2`](ros2.md) asks for; none of it was \
         compared with a real controller. *Yes*: its message is filled; *–*: no interface of this controller has what it needs, and nothing is published. \
         Beside a robot of yours, `outrigger doctor ROBOT --ros2` lists what it does not fill.\n\n\
         ## The 46 topics of UR's paper on ROS 2 in PolyScope X\n\n\
         With `ros.expert.surface = \"native\"` and `ros.expert.terminals = \"ports\"`. `speed_scaling` and `speed_fraction` are published as \
         `actual_speed_fraction` and `target_speed_fraction` too. What no generation fills is not told by any interface of a controller: names of frames, \
         waypoints and tools are known to PolyScope alone.\n\n{}\n\
         In their place with `ros.expert.terminals = \"grouped\"`, the default:\n\n{}\n\
         ## Topics of UR's driver\n\n{}\n\
         ## Topics of the driver of 2015\n\nWith `ros.expert.legacy_names = true`.\n\n{}",
        table(paper.into_iter(), &native),
        table(native::GROUPED.iter().copied(), &grouped),
        table(driver::TOPICS.iter().copied(), &of_driver),
        table(legacy::TOPICS.iter().copied(), &of_legacy),
    );
    committed::hold("port-linux/docs/ros2-topics.md", &page);
}
