//! Tests of whole screens: every page at four sizes, of a robot at work and of robots with faults.
//!
//! `INSTA_UPDATE=always cargo test -p outrigger-cli screens` writes them anew; look at each difference.

use outrigger_wire::robot::{Payload, Pose, ProgramState, SoftwareVersion, Twist, Wrench};

use super::super::glossary::find;
use super::*;
use outrigger::show::Terminals;
use outrigger_core::engine::ur::{BoardIo, ToolIo};

const SIZES: [(u16, u16); 4] = [(60, 16), (80, 24), (120, 40), (200, 60)];

/// A simulated session of a number of seconds, with its events, for a whole screen.
struct Scene {
    title: &'static str,
    seen: Vec<Snapshot>,
    events: Vec<&'static str>,
}

impl Scene {
    /// Creates a scene of `seconds` with ten snapshots a second. Each is a copy of `last` that the function `at`, which
    /// receives the time \[s\], has changed.
    fn new(title: &'static str, seconds: u64, last: Snapshot, at: impl Fn(f32, &mut Snapshot)) -> Self {
        let looks = (0..seconds * 10).map(|tenth| {
            let mut look = last.clone();
            look.at = Instant::from_micros(tenth * 100_000);
            at(tenth as f32 / 10.0, &mut look);
            look
        });
        Self { title, seen: looks.collect(), events: vec!["session with software 5.15.0", "link Bad → Perfect"] }
    }

    fn screen(&self) -> Screen<'static> {
        let mut screen = Screen::new(self.title);
        self.seen.iter().for_each(|look| screen.look(Box::new(look.clone())));
        for text in &self.events {
            let notice =
                Notice { at: Instant::from_micros(1_250_000), kind: "test", text: (*text).into(), fields: vec![] };
            screen.note(notice);
        }
        screen
    }

    /// Returns every page at this size, one under another.
    fn pages(&self, (columns, rows): (u16, u16)) -> String {
        let (screen, place) = (self.screen(), ScrollState::default());
        let mut text = String::new();
        for page in 0..PAGES {
            place.turn(Turn::To(page), PAGES);
            for row in rows_of(&screen, &place, columns, rows) {
                text.push_str(row.trim_end());
                text.push('\n');
            }
            text.push_str(&"=".repeat(columns.into()));
            text.push('\n');
        }
        text
    }

    fn is_as_kept(&self, name: &str) {
        for (columns, rows) in SIZES {
            insta::assert_snapshot!(format!("{name}-{columns}x{rows}"), self.pages((columns, rows)));
        }
    }
}

fn word(key: &'static str, name: &'static str, value: &'static str) -> ReportedState {
    ReportedState::named(key, name, value)
}

/// Returns a snapshot of a UR5e that holds its distance, with every value that such a robot reports.
fn at_work() -> Snapshot {
    let state = State::<6> {
        positions: JointPositions([-1.6, -1.727, -2.203, -0.808, 1.595, -0.031]),
        velocities: JointVelocities([0.01, -0.02, 0.03, 0.0, 0.0, 0.0]),
        target_velocities: JointVelocities([0.011, -0.021, 0.031, 0.0, 0.0, 0.0]),
        tcp_pose: Some(Pose { position: [-0.1437, -0.4356, 0.2022], rotation: [-0.0012, 3.1162, 0.0389] }),
        tcp_speed: Some(Twist { linear: [0.0, 0.0, -0.0123], angular: [0.0; 3] }),
        tcp_force: Some(Wrench { force: [1.2, -0.7, 11.9], torque: [0.05, -0.11, 0.0] }),
        payload: Some(Payload { mass: 1.1, center_of_gravity: [0.0, 0.0, 0.04] }),
        speed_slider: Some(0.8),
        speed_scaling: Some(0.4),
        program_state: Some(ProgramState::Playing),
        ..State::default()
    };
    let arm = Arm::new(&state, vec![word("robot_mode", "robot", "RUNNING"), word("safety", "safety", "NORMAL")]);
    let mut figures = figures();
    (figures.grade, figures.answers, figures.age) = (Grade::Perfect, None, Some(Duration::from_micros(1_840)));
    let bin = |from, to, count| Bin { from: Duration::from_micros(from), to: Duration::from_micros(to), count };
    let counts = RtdeCounts { data: 20_000, ..RtdeCounts::default() };
    let stream = StreamCounts::default();
    let states = States {
        by: LinkId::RTDE,
        why: "asked for".into(),
        stream,
        dropped_bytes: 0,
        rtde: Some((counts, Cadence::default())),
    };
    Snapshot {
        identity: Some("software 5.15.0".into()),
        mode: Mode::Command,
        latch: None,
        last_fallback: None,
        figures: Some(figures),
        states: Some(states),
        intervals: vec![
            bin(1_800, 2_000, 812),
            bin(2_000, 2_200, 123_456),
            bin(2_200, 2_400, 77),
            bin(9_000, 9_900, 1),
        ],
        rate: 500.0,
        values: vec![("standoff error".into(), "+0.120 mm".into())],
        terminals: Some(terminals()),
        temperatures: Some(vec![27.1, 28.4, 27.9, 30.2, 31.0, 30.4]),
        law_error: Some(distance(0.000_12)),
        ..snapshot(arm)
    }
}

/// Returns a scene of half a minute with a UR5e that holds its distance: the arm moves up and down.
fn holding_its_distance() -> Scene {
    Scene::new("run", 30, at_work(), |seconds, look| {
        let wave = (seconds / 4.0).sin();
        look.law_error = Some(distance(wave * 0.0004 + 0.000_12));
        if let Some(arm) = &mut look.state {
            arm.joints[1].angle += wave * 0.1;
            arm.joints[2].angle -= wave * 0.2;
            if let Some(pose) = &mut arm.tcp_pose {
                pose.position[2] += wave * 0.02;
            }
            if let Some(wrench) = &mut arm.tcp_force {
                wrench.force[2] += wave * 4.0;
            }
        }
    })
}

fn protective_stop() -> Scene {
    let mut scene = Scene::new("run", 30, at_work(), |seconds, look| {
        if seconds < 20.0 {
            return;
        }
        let arm = look.state.as_mut().expect("an arm");
        arm.words = vec![word("robot_mode", "robot", "RUNNING"), word("safety", "safety", "PROTECTIVE_STOP")];
        arm.program = Some(ProgramState::Paused);
        (look.mode, look.law_error, look.values) = (Mode::Monitor, None, vec![]);
        (look.latch, look.last_fallback) = (Some(Reason::ProtectiveStop), Some(Reason::ProtectiveStop));
        look.unmet = ReasonSet::EMPTY.with(Reason::ProtectiveStop).with(Reason::Latched);
    });
    scene.events.push(
        "Command → Stopping: the robot is in a protective stop (ProtectiveStop); find the cause, unlock on the \
         pendant or by dashboard, then reset",
    );
    scene
}

fn lost_link() -> Scene {
    let mut scene = Scene::new("run", 30, at_work(), |seconds, look| {
        if seconds < 20.0 {
            return;
        }
        (look.mode, look.law_error, look.values, look.figures) = (Mode::Offline, None, vec![], None);
        (look.identity, look.states, look.rate, look.terminals) = (None, None, 0.0, None);
        (look.state, look.temperatures) = (None, None);
        look.trouble = Some("192.168.0.20:30003: connection refused; check that the controller is on".into());
        (look.latch, look.last_fallback) = (Some(Reason::LinkClosed), Some(Reason::LinkClosed));
        look.unmet = ReasonSet::EMPTY.with(Reason::LinkClosed).with(Reason::Latched);
    });
    scene.events.push("Command → Offline: no connection to the controller (LinkClosed)");
    scene
}

fn stale_sensor() -> Scene {
    let mut scene = Scene::new("run", 30, at_work(), |seconds, look| {
        if seconds < 20.0 {
            return;
        }
        (look.mode, look.law_error) = (Mode::Monitor, None);
        look.values = vec![("distance".into(), "0.0801".into())];
        (look.latch, look.last_fallback) = (Some(Reason::SourceStale), Some(Reason::SourceStale));
        look.unmet = ReasonSet::EMPTY.with(Reason::SourceStale).with(Reason::Latched);
        // The robot now reports fewer and older values.
        let figures = look.figures.as_mut().expect("a link");
        (figures.grade, figures.age) = (Grade::Bad, Some(Duration::from_micros(73_200)));
        figures.fell = Some(fell(Grade::Perfect, Grade::Bad, (Metric::Misses, 12, 5)));
        figures.next = GradeCause { metric: Metric::Misses, grade: Grade::Ok, measured: 36, limit: 4 };
    });
    scene.events.push("Stopping → Monitor: a sensor's newest sample is too old (SourceStale)");
    scene
}

/// Returns a scene of a KRC, which reports no temperature, no slider and no program.
fn beside_a_krc() -> Scene {
    Scene::new("monitor", 30, Snapshot { latch: None, last_fallback: None, ..snapshot(lwr()) }, |_, _| {})
}

#[test]
fn a_robot_at_work() {
    holding_its_distance().is_as_kept("at-work");
}

#[test]
fn a_protective_stop() {
    protective_stop().is_as_kept("protective-stop");
}

#[test]
fn a_lost_link() {
    lost_link().is_as_kept("lost-link");
}

#[test]
fn a_stale_sensor() {
    stale_sensor().is_as_kept("stale-sensor");
}

#[test]
fn a_krc() {
    beside_a_krc().is_as_kept("krc");
}

#[test]
fn the_words_of_the_page_are_explained_over_it() {
    let (screen, place) = (protective_stop().screen(), ScrollState::default());
    place.turn(Turn::Explain, PAGES);
    for (columns, rows) in SIZES {
        let drawn = rows_of(&screen, &place, columns, rows);
        let text: String = drawn.iter().map(|row| format!("{}\n", row.trim_end())).collect();
        insta::assert_snapshot!(format!("explained-{columns}x{rows}"), text);
    }
    place.turn(Turn::Scroll(1_000), PAGES);
    let rows = rows_of(&screen, &place, 60, 16);
    assert!(!rows[rows.len() - 2].contains('↓'), "the end: {}", rows.join("\n"));
}

/// Checks that the screen explains every word that it shows, except those in sentences, which need no explanation.
#[test]
fn every_word_of_every_page_is_explained() {
    for mut scene in [holding_its_distance(), protective_stop(), lost_link(), stale_sensor(), beside_a_krc()] {
        scene.events.clear();
        for look in &mut scene.seen {
            (look.identity, look.trouble) = (None, None);
            // The name of a source is chosen by the user.
            look.values.retain(|(name, _)| name != "distance");
            if let Some(figures) = &mut look.figures {
                figures.grade = Grade::Perfect;
            }
        }
        for page in (0..PAGES).rev() {
            if page == 0 {
                // On that page reasons are sentences; on the other pages they are names.
                scene
                    .seen
                    .iter_mut()
                    .for_each(|look| (look.latch, look.last_fallback, look.unmet) = Default::default());
            }
            let (screen, place) = (scene.screen(), ScrollState::default());
            place.turn(Turn::To(page), PAGES);
            for size in [(200, 60), (60, 16)] {
                let rows = rows_of(&screen, &place, size.0, size.1);
                let words = rows.iter().map(|row| row.split("unknown: ").next().unwrap_or_default().to_owned());
                let words: Vec<_> = words.collect();
                assert_eq!(find(&words).unexplained, [""; 0], "{page} at {size:?}:\n{}", rows.join("\n"));
            }
        }
    }
}

#[test]
fn why_the_arm_may_not_move_is_explained_where_reasons_stand_by_name() {
    let mut look = at_work();
    (look.identity, look.values, look.mode) = (None, vec![], Mode::Monitor);
    look.unmet = Reason::ALL.iter().fold(ReasonSet::EMPTY, |set, reason| set.with(*reason));
    for latch in [None, Some(Reason::ProtectiveStop)] {
        let mut screen = Screen::new("run");
        screen.look(Box::new(Snapshot { latch, ..look.clone() }));
        let rows = rows_of(&screen, &ScrollState::default(), 60, 16);
        assert_eq!(find(&rows).unexplained, [""; 0], "{}", rows.join("\n"));
    }
}

#[test]
fn what_is_unknown_is_never_shown_as_a_number() {
    let mut screen = Screen::new("monitor");
    let state = Arm { joints: vec![outrigger::show::Joint::default(); 6], ..Arm::default() };
    screen.look(Box::new(Snapshot { identity: None, latch: None, last_fallback: None, ..snapshot(state) }));
    let place = ScrollState::default();
    for page in [Page::Tool, Page::Force, Page::Temperature, Page::Slider, Page::Program, Page::Terminals] {
        let number = Page::ALL.iter().position(|each| *each == page).expect("a page");
        place.turn(Turn::To(u16::try_from(number).expect("few")), PAGES);
        let rows = rows_of(&screen, &place, 80, 24);
        let rows = &rows[2..rows.len() - 1];
        let shown = rows.iter().filter(|row| row.contains('│')).map(|row| row.split("unknown").collect::<String>());
        let shown: String = shown.collect();
        assert!(!shown.contains(|c: char| c.is_ascii_digit()), "{page:?}: {shown}");
        assert!(rows.concat().contains("unknown"), "{page:?}");
    }
}

#[test]
fn a_screen_of_any_size_is_drawn() {
    for scene in [holding_its_distance(), lost_link(), beside_a_krc()] {
        let (screen, place) = (scene.screen(), ScrollState::default());
        for turn in [Turn::Explain, Turn::Explain] {
            for page in 0..PAGES {
                place.turn(Turn::To(page), PAGES);
                for (columns, rows) in [(1, 1), (3, 40), (20, 5), (60, 7), (300, 2), (400, 120)] {
                    assert_eq!(rows_of(&screen, &place, columns, rows).len(), usize::from(rows));
                }
            }
            place.turn(turn, PAGES);
        }
    }
}

/// Returns the terminals (inputs and outputs) of a controller that reports all of them.
fn terminals() -> Terminals {
    Terminals {
        software: SoftwareVersion::new(5, 15),
        inputs: 0b11 << 16 | 0b101,
        outputs: Some(0b1 << 8 | 0b10),
        board: Some(BoardIo {
            digital_inputs: 0,
            digital_outputs: 0,
            analog_inputs: [1.25, 0.004],
            analog_input_ranges: [1, 0],
            analog_outputs: [5.0, 0.012],
            analog_output_domains: [1, 0],
        }),
        tool: Some(ToolIo {
            analog_inputs: [0.0, 3.3],
            analog_input_ranges: [1, 1],
            output_voltage: 24,
            current: 0.21,
        }),
        speed_slider: Some(0.8),
        payload: None,
    }
}
