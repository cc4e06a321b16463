//! Trajectories that the player makes leg by leg: it follows the plan, a starved one ends at rest, and none of its
//! legs moves the arm later.

use outrigger_core::command::JointMove;
use outrigger_core::engine::ur::{ProgramEvent, UrEvent};
use outrigger_core::engine::{Engine, Event, Input};
use outrigger_core::mode::{Mirrored, Mode, MoveNumber};
use outrigger_core::robot::Reason;
use outrigger_core::trajectory::{Setpoint, Waypoint};
use outrigger_sim::controller::Action;
use outrigger_tests::cosim::{Buffers, Rig, Setup, Way};
use outrigger_wire::robot::{JointAccelerations, JointPositions, JointVelocities, SoftwareVersion};
use outrigger_wire::time::Duration;

use super::{ms, secs};

const SOFTWARE: [SoftwareVersion; 5] = [
    SoftwareVersion::new(3, 0),
    SoftwareVersion::new(3, 1),
    SoftwareVersion::new(3, 15),
    SoftwareVersion::new(5, 15),
    SoftwareVersion::new(10, 11),
];

fn each(mut check: impl FnMut(&str, &mut Rig<'_>)) {
    for software in SOFTWARE {
        let mut setup = Setup::new(software);
        Way::PLAYER.choose(&mut setup.config);
        let mut buffers = Buffers::with_rtde();
        let mut rig = Rig::new(setup, &mut buffers);
        rig.command();
        rig.run_for(ms(400));
        check(&software.to_string(), &mut rig);
    }
}

/// An action that ends a move before its goal.
type End = fn(&mut Rig<'_>);

/// A swing of the base joint, and of half the size with the last joint: away and back in one second per 0.2 rad, in
/// legs of 50 ms.
#[derive(Clone)]
pub(super) struct Swing {
    from: [f32; 6],
    way: f32,
    pub(super) seconds: f32,
    pub(super) legs: u32,
    quintic: bool,
}

impl Swing {
    pub(super) fn from(rig: &Rig<'_>, way: f32, quintic: bool) -> Self {
        let from = rig.controller.truth().q.map(|q| q as f32);
        let seconds = 4.0;
        Self { from, way, seconds, legs: (seconds / 0.05) as u32, quintic }
    }

    /// Returns the planned positions of the joints after this time \[s\], and their first two derivatives.
    pub(super) fn at(&self, t: f32) -> [[f32; 6]; 3] {
        let rate = std::f32::consts::TAU / self.seconds;
        let (half, phase) = (self.way / 2.0, rate * t);
        let share = [half * (1.0 - phase.cos()), half * rate * phase.sin(), half * rate * rate * phase.cos()];
        let mut all = share.map(|share| [share, 0.0, 0.0, 0.0, 0.0, share / 2.0]);
        all[0].iter_mut().zip(self.from).for_each(|(q, from)| *q += from);
        all
    }

    pub(super) fn waypoint(&self, leg: u32) -> Waypoint<6> {
        let t = self.seconds * leg as f32 / self.legs as f32;
        let [q, mut v, a] = self.at(t);
        if leg == self.legs {
            v = [0.0; 6];
        }
        let setpoint = Setpoint { positions: JointPositions(q), velocities: JointVelocities(v) };
        let accelerations = self.quintic.then_some(JointAccelerations(a));
        Waypoint { setpoint, accelerations, at: Duration::from_micros((f64::from(t) * 1e6).round() as u64) }
    }

    pub(super) fn begin(&self, rig: &mut Rig<'_>) -> MoveNumber {
        rig.delegate(JointMove::along(JointPositions(self.from), 1.0).unwrap()).unwrap()
    }

    /// Passes as many legs to the engine as it takes now, but none from `until` on. Returns the number of the next
    /// leg.
    pub(super) fn feed(&self, rig: &mut Rig<'_>, mut next: u32, until: u32) -> u32 {
        while rig.engine().leg_room() > 0 && next <= self.legs.min(until) {
            rig.lead_on(&self.waypoint(next), next == self.legs).unwrap();
            next += 1;
        }
        next
    }
}

pub(super) fn mirrored(rig: &Rig<'_>) -> Option<Mirrored> {
    rig.engine().evidence().mirrored.map(|held| held.value)
}

pub(super) fn led(rig: &Rig<'_>) -> f32 {
    rig.engine().led().map_or(0.0, Duration::as_secs_f32)
}

pub(super) fn base(rig: &Rig<'_>) -> f64 {
    rig.controller.truth().q[0]
}

/// Returns the distance of the worst joint from the plan \[rad\]. The progress that the controller reports is some
/// cycles old, so the smallest distance over these cycles counts.
pub(super) fn off(rig: &Rig<'_>, swing: &Swing) -> f64 {
    let (q, led) = (rig.controller.truth().q, led(rig));
    let each = (-4..=8).map(|late| {
        let [plan, ..] = swing.at((led + late as f32 * 0.008).clamp(0.0, swing.seconds));
        q.iter().zip(plan).map(|(q, plan)| (q - f64::from(plan)).abs()).fold(0.0, f64::max)
    });
    each.fold(f64::INFINITY, f64::min)
}

/// Executes the swing to its end. Returns the largest distance from the plan.
pub(super) fn play(rig: &mut Rig<'_>, swing: &Swing, mut meanwhile: impl FnMut(&mut Rig<'_>, f32)) -> f64 {
    let number = swing.begin(rig);
    let (mut next, mut worst, begun) = (1, 0.0_f64, rig.now());
    while mirrored(rig) != Some(Mirrored::Ended(number)) {
        next = swing.feed(rig, next, u32::MAX);
        rig.run_for(ms(8));
        let passed = rig.now().since(begun).as_secs_f32();
        meanwhile(rig, passed);
        worst = worst.max(off(rig, swing));
        assert_eq!(rig.engine().mode(), Mode::Command, "at {passed} s\n{}", rig.record().story());
        assert!(passed < 40.0, "it never ends: {}", led(rig));
    }
    assert!((led(rig) - swing.seconds).abs() < 1e-3, "{}\n{}", led(rig), rig.record().story());
    worst
}

#[test]
fn cubic_and_quintic_legs_are_kept_to_and_end_where_they_are_to() {
    each(|software, rig| {
        for quintic in [false, true] {
            let swing = Swing::from(rig, 0.5, quintic);
            let begun = rig.now();
            let worst = play(rig, &swing, |_, _| {});
            let took = rig.now().since(begun).as_secs_f32();
            assert!((0.0..0.5).contains(&(took - swing.seconds)), "{software}: {took} s for {} s", swing.seconds);
            rig.run_for(ms(400));
            let end = rig.controller.truth().q;
            let error = end.iter().zip(swing.at(swing.seconds)[0]).map(|(q, to)| (q - f64::from(to)).abs());
            let error = error.fold(0.0, f64::max);
            println!(
                "{software}, quintic {quintic}: {:.2} mrad at worst, {:.2} mrad at the end",
                worst * 1e3,
                error * 1e3
            );
            assert!(worst < 6e-3 && error < 1e-3, "{software}: {worst} {error}\n{}", rig.record().story());
        }
        assert_eq!(rig.record().fallback(), None, "{software}");
    });
}

#[test]
fn legs_whose_end_is_asked_for_leave_their_plan_for_rest_and_the_next_motion_begins_there() {
    each(|software, rig| {
        for _ in 0..3 {
            let swing = Swing::from(rig, 0.9, false);
            let number = swing.begin(rig);
            let mut next = 1;
            while led(rig) < 1.0 {
                next = swing.feed(rig, next, u32::MAX);
                rig.run_for(ms(8));
            }
            let at = rig.now();
            assert!(rig.controller.truth().qd[0] > 0.5, "{software}");
            assert_eq!(rig.with_engine(Engine::end_move), Ok(()), "{software}");
            rig.run_for(secs(1));
            let rest = rig.record().rest_after(at).expect("at rest");
            assert!(rest < ms(700), "{software}: {rest:?}\n{}", rig.record().story());
            assert_eq!(mirrored(rig), Some(Mirrored::Ended(number)), "{software}\n{}", rig.record().story());
            assert_eq!(rig.engine().mode(), Mode::Command, "{software}\n{}", rig.record().story());
            let whole = Swing::from(rig, -0.3, true);
            let worst = play(rig, &whole, |_, _| {});
            assert!(worst < 6e-3, "{software}: {worst}\n{}", rig.record().story());
            rig.run_for(ms(400));
        }
        assert_eq!(rig.record().fallback(), None, "{software}");
    });
}

#[test]
fn the_slider_stretches_its_time_and_holds_it_and_it_goes_on_by_itself() {
    each(|software, rig| {
        let swing = Swing::from(rig, 0.5, false);
        let begun = rig.now();
        let mut held = None;
        let worst = play(rig, &swing, |rig, passed| match (passed * 125.0).round() as u32 {
            125 => rig.controller.act(Action::Slider(0.3)),
            300 => rig.controller.act(Action::Slider(0.0)),
            350 => held = Some(base(rig)),
            550 => {
                assert!((base(rig) - held.unwrap()).abs() < 1e-3, "{software}: it moves at a slider of 0");
                rig.controller.act(Action::Slider(1.0));
            }
            _ => {}
        });
        let took = rig.now().since(begun).as_secs_f32();
        println!("{software}: {:.2} mrad at worst, in {took:.1} s in place of {} s", worst * 1e3, swing.seconds);
        assert!(took > swing.seconds + 2.5, "{software}: {took}");
        assert!(worst < 0.02, "{software}: {worst}\n{}", rig.record().story());
    });
}

#[test]
fn a_pause_holds_it_and_a_release_ends_it_and_a_protective_stop_does() {
    each(|software, rig| {
        let swing = Swing::from(rig, 0.5, false);
        let worst = play(rig, &swing, |rig, passed| match (passed * 125.0).round() as u32 {
            125 => rig.controller.act(Action::PauseProgram),
            375 => {
                assert!(rig.controller.truth().at_rest(), "{software}");
                rig.controller.act(Action::ResumeProgram);
            }
            _ => {}
        });
        assert!(worst < 0.05, "{software}: {worst}");
    });
    let ends: [(End, Option<Reason>); 2] = [
        (|rig| rig.input(Input::Release), Some(Reason::Released)),
        (|rig| rig.controller.act(Action::ProtectiveStop), Some(Reason::ProtectiveStop)),
    ];
    for (end, reason) in ends {
        each(|software, rig| {
            let swing = Swing::from(rig, 0.5, true);
            swing.begin(rig);
            let mut next = 1;
            for _ in 0..150 {
                next = swing.feed(rig, next, u32::MAX);
                rig.run_for(ms(8));
            }
            let at = rig.now();
            end(rig);
            rig.run_for(secs(6));
            let story = rig.record().story();
            assert!(rig.record().rest_after(at).is_some_and(|rest| rest < ms(450)), "{software}\n{story}");
            assert_eq!(rig.record().fallback().map(|(_, reason)| reason), reason, "{software}\n{story}");
            let rested = base(rig);
            rig.controller.act(Action::UnlockProtectiveStop);
            rig.controller.act(Action::ResumeProgram);
            rig.run_for(secs(2));
            assert!((base(rig) - rested).abs() < 1e-3, "{software}: it goes on\n{}", rig.record().story());
        });
    }
}

/// Runs a thousand times: a trajectory whose legs cease, rest, its late legs sent all the same, and the next
/// trajectory at once.
#[test]
fn a_starved_one_rests_and_the_next_needs_no_program_and_no_stale_leg_moves_the_arm() {
    let mut setup = Setup::new(SoftwareVersion::new(5, 15));
    Way::PLAYER.choose(&mut setup.config);
    let mut buffers = Buffers::with_rtde();
    let mut rig = Rig::new(setup, &mut buffers);
    rig.command();
    rig.run_for(ms(400));
    for round in 0_u32..1_000 {
        let mut swing = Swing::from(&rig, if round % 2 == 0 { 0.3 } else { -0.3 }, round % 3 == 0);
        (swing.seconds, swing.legs) = (2.0, 40);
        let number = swing.begin(&mut rig);
        // The legs cease in the middle of the motion, at another place each time.
        let until = 3 + round * 7 % 15;
        let mut next = 1;
        let mut worst = 0.0_f64;
        let starved = swing.waypoint(until);
        while mirrored(&rig) != Some(Mirrored::Ended(number)) {
            next = swing.feed(&mut rig, next, until);
            rig.run_for(ms(4));
            if led(&rig) < starved.at.as_secs_f32() - 1e-3 {
                worst = worst.max(off(&rig, &swing));
            }
            assert_eq!(rig.engine().mode(), Mode::Command, "{round}\n{}", rig.record().story());
        }
        assert!((led(&rig) - starved.at.as_secs_f32()).abs() < 1e-3, "{round}: {}", led(&rig));
        // No farther than the distance of the stop.
        let (speed, at) = (f64::from(starved.setpoint.velocities.0[0]), f64::from(starved.setpoint.positions.0[0]));
        let coasted = (base(&rig) - at) * speed.signum();
        assert!(
            (-5e-3..speed * speed / 4.0 + speed.abs() * 0.012 + 5e-3).contains(&coasted),
            "{round}: {coasted} at {speed}"
        );
        // Late legs are not executed: neither those that are sent now, nor those that the network has held back and
        // that still arrive while the next trajectory is executed.
        let rested = base(&rig);
        next = swing.feed(&mut rig, next, u32::MAX);
        assert!(next > until);
        rig.hold_back_a_leg(true);
        rig.run_for(ms(260));
        assert!((base(&rig) - rested).abs() < 1e-3, "{round}: a stale leg moved the arm by {}", base(&rig) - rested);
        assert!(rig.controller.truth().at_rest(), "{round}");
        assert!(worst < 6e-3, "{round}: {worst} off the plan");
    }
    let programs = rig
        .record()
        .events
        .iter()
        .filter(|(_, event)| matches!(event, Event::Peer(UrEvent::Program(ProgramEvent::Sent))))
        .count();
    assert_eq!((programs, rig.record().fallback()), (1, None), "{}", rig.record().story());
}
