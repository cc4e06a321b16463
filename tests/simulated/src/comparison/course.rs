//! The measured course of the arm in a run, and the figures computed from it.

use std::f64::consts::PI;

/// The reference motion of the joint: its position and speed over time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Wanted {
    /// The joint moves to −180° in 2 s and back in 2 s, cubic in between.
    ThereAndBack,
    /// The joint moves to −180° in 2 s.
    There,
    /// The joint moves to −180° in 2 s, as the controller's `movej` moves: constant acceleration, constant speed,
    /// constant deceleration.
    Place,
    /// The joint moves to and fro by ±45° with a period of 6 s, for this long \[s\].
    ToAndFro(f64),
}

/// The duration of each half of [`Wanted::ThereAndBack`] \[s\].
const HALF: f64 = 2.0;
/// The amplitude \[rad\] of [`Wanted::ToAndFro`]; [`RATE`] is its angular frequency \[rad/s\].
const AMPLITUDE: f64 = PI / 4.0;
const RATE: f64 = PI / 3.0;

impl Wanted {
    /// The acceleration of [`Place`](Self::Place) \[rad/s²\]: the largest of the cubic.
    pub const ACCELERATION: f64 = 1.5 * PI;
    /// The speed of [`Place`](Self::Place) with which it takes 2 s \[rad/s\]: the smaller solution of v²/a − 2v + π =
    /// 0.
    pub const SPEED: f64 = PI / 2.0 * (3.0 - 1.732_050_807_568_877_2);

    /// Returns the duration of the motion \[s\].
    #[must_use]
    pub const fn length(self) -> f64 {
        match self {
            Self::ThereAndBack => 2.0 * HALF,
            Self::There | Self::Place => HALF,
            Self::ToAndFro(length) => length,
        }
    }

    /// Returns the joint's distance from its start \[rad\], `t` \[s\] after the beginning.
    #[must_use]
    pub fn at(self, t: f64) -> f64 {
        let cubic = |s: f64| s * s * (3.0 - 2.0 * s);
        let t = t.clamp(0.0, self.length());
        match self {
            Self::There => -PI * cubic(t / HALF),
            Self::Place => {
                let ramp = Self::SPEED / Self::ACCELERATION;
                let part = |t: f64| 0.5 * Self::ACCELERATION * t * t;
                if t < ramp {
                    -part(t)
                } else if t < HALF - ramp {
                    -(part(ramp) + Self::SPEED * (t - ramp))
                } else {
                    -(PI - part(HALF - t))
                }
            }
            Self::ThereAndBack if t < HALF => -PI * cubic(t / HALF),
            Self::ThereAndBack => -PI * (1.0 - cubic((t - HALF) / HALF)),
            Self::ToAndFro(_) => AMPLITUDE * (1.0 - (RATE * t).cos()),
        }
    }

    /// Returns the joint's speed \[rad/s\], `t` \[s\] after the beginning.
    #[must_use]
    pub fn speed(self, t: f64) -> f64 {
        let slope = |s: f64| 6.0 * s * (1.0 - s) / HALF;
        if !(0.0..self.length()).contains(&t) {
            return 0.0;
        }
        match self {
            Self::There => -PI * slope(t / HALF),
            Self::Place => -Self::SPEED.min(Self::ACCELERATION * t.min(HALF - t)),
            Self::ThereAndBack if t < HALF => -PI * slope(t / HALF),
            Self::ThereAndBack => PI * slope((t - HALF) / HALF),
            Self::ToAndFro(_) => AMPLITUDE * RATE * (RATE * t).sin(),
        }
    }
}

/// The state of the joint at the end of a control cycle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    /// The time since the beginning \[s\]: of a client, the request to move the arm; of the engine, the start of the
    /// motion.
    pub t: f64,
    /// The motion's own time, which the speed scaling stretches \[s\]; equal to `t` if the client does not know the
    /// scaling.
    pub own: f64,
    /// The joint's distance from its start \[rad\].
    pub q: f64,
    /// The joint's speed \[rad/s\].
    pub qd: f64,
    /// The controller's target speed of the joint \[rad/s\].
    pub target: f64,
    /// The speed scaling in force, 0 … 1.
    pub scaling: f64,
}

/// The course of the joint in one run.
#[derive(Clone, Debug)]
pub struct Course {
    /// The reference motion of the joint.
    pub wanted: Wanted,
    /// The samples of the joint, from some time before the beginning to a second or more after the end.
    pub samples: Vec<Sample>,
    /// `true` if the controller stopped the arm by itself.
    pub stopped: bool,
}

/// The figures of a run: delays and errors of the joint.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Figures {
    /// The time from the beginning ([`Sample::t`] is 0) to the first motion of the joint \[ms\].
    pub first: f64,
    /// The time between the reference having moved by 1° and the joint having done so \[ms\].
    pub reaction: f64,
    /// The shift in time at which the reference motion fits the motion of the joint best \[ms\].
    pub delay: f64,
    /// The largest distance from the reference \[deg\].
    pub distance: f64,
    /// The largest distance from the reference delayed by [`delay`](Self::delay) \[deg\].
    pub tracking: f64,
    /// The distance by which the joint misses the farthest point of the reference \[deg\]; negative if it went
    /// beyond.
    pub missed: f64,
    /// The distance from the goal one second after the end of the reference \[deg\].
    pub last: f64,
    /// The root mean square of the difference between the speed and its mean over 80 ms \[deg/s\].
    pub ripple: f64,
    /// The largest deceleration of the joint from 0.1 s before the reference's end on \[rad/s²\].
    pub deceleration: f64,
}

/// The speed up to which a joint counts as at rest \[rad/s\].
const STANDS: f64 = 1e-4;
/// The distance from the start at which the reaction is measured \[rad\].
const ON_ITS_WAY: f64 = PI / 180.0;
/// Half the length of the window over which the speed is averaged \[s\].
const WINDOW: f64 = 0.04;
/// The time at each end of the motion that [`Figures::ripple`] leaves out \[s\], because the acceleration jumps there.
const ENDS: f64 = 0.3;

impl Course {
    /// Returns the figures of the run.
    #[must_use]
    pub fn figures(&self) -> Figures {
        let delay = self.delay();
        let off = |delay: f64| {
            let during = self.during(self.wanted.length());
            during.map(|sample| (sample.q - self.wanted.at(sample.own - delay)).abs()).fold(0.0, f64::max).to_degrees()
        };
        let farthest = |values: &mut dyn Iterator<Item = f64>| {
            values.fold(0.0, |far: f64, q| if q.abs() > far.abs() { q } else { far })
        };
        let wanted = farthest(&mut self.samples.iter().map(|sample| self.wanted.at(sample.own)));
        let reached = farthest(&mut self.samples.iter().map(|sample| sample.q));
        Figures {
            first: self.first() * 1e3,
            reaction: self.reaction() * 1e3,
            delay: delay * 1e3,
            distance: off(0.0),
            tracking: off(delay),
            missed: ((wanted - reached) * wanted.signum()).to_degrees(),
            last: (self.at_rest() - self.wanted.at(self.wanted.length())).to_degrees(),
            ripple: self.ripple(delay).to_degrees(),
            deceleration: self.deceleration(),
        }
    }

    /// Returns the samples up to this value of the motion's own time \[s\].
    fn during(&self, end: f64) -> impl Iterator<Item = &Sample> {
        self.samples.iter().filter(move |sample| (0.0..=end).contains(&sample.own))
    }

    /// Returns the joint's position one second after the end of the reference \[rad\].
    fn at_rest(&self) -> f64 {
        let after = self.samples.iter().find(|sample| sample.own >= self.wanted.length() + 1.0);
        after.or(self.samples.last()).map_or(f64::NAN, |sample| sample.q)
    }

    /// Returns the time at the end of the last cycle before the one in which the joint first moves \[s\].
    fn first(&self) -> f64 {
        let moves = |pair: &&[Sample]| pair[0].t >= 0.0 && pair[1].qd.abs() > STANDS;
        self.samples.windows(2).find(moves).map_or(f64::NAN, |pair| pair[0].t)
    }

    /// Returns the time between the reference passing [`ON_ITS_WAY`] and the joint passing it \[s\].
    fn reaction(&self) -> f64 {
        let moved = |pair: &&[Sample]| pair[0].q.abs() < ON_ITS_WAY && pair[1].q.abs() >= ON_ITS_WAY;
        let Some([before, after]) = self.samples.windows(2).find(moved) else { return f64::NAN };
        let share = (ON_ITS_WAY - before.q.abs()) / (after.q.abs() - before.q.abs());
        let joint = before.t + share * (after.t - before.t);
        let reference =
            (0..100_000).map(|step| f64::from(step) * 1e-5).find(|t| self.wanted.at(*t).abs() >= ON_ITS_WAY);
        joint - reference.unwrap_or(f64::NAN)
    }

    /// Returns the shift in time that brings reference and joint closest together, in least squares \[s\].
    fn delay(&self) -> f64 {
        let samples: Vec<&Sample> = self.during(self.wanted.length().min(60.0)).collect();
        let misfit = |delay: f64| {
            samples.iter().map(|sample| (sample.q - self.wanted.at(sample.own - delay)).powi(2)).sum::<f64>()
        };
        let best = |delays: &mut dyn Iterator<Item = f64>| {
            delays.min_by(|a, b| misfit(*a).total_cmp(&misfit(*b))).unwrap_or(0.0)
        };
        let coarse = best(&mut (-10..=120).map(|step| f64::from(step) * 5e-3));
        best(&mut (-50..=50).map(|step| coarse + f64::from(step) * 1e-4))
    }

    fn ripple(&self, delay: f64) -> f64 {
        let inside: Vec<&Sample> =
            self.during(self.wanted.length() - ENDS).filter(|sample| sample.own >= ENDS + delay).collect();
        let Some(half) = inside.get(1).map(|second| (WINDOW / (second.t - inside[0].t)).round() as usize) else {
            return f64::NAN;
        };
        let windows = inside.windows(2 * half + 1);
        let count = windows.len() as f64;
        let squares = windows.map(|window| {
            // A straight line through the window has the speed of its middle for its mean.
            let mean = window.iter().map(|sample| sample.qd).sum::<f64>() / window.len() as f64;
            (window[half].qd - mean).powi(2)
        });
        (squares.sum::<f64>() / count).sqrt()
    }

    fn deceleration(&self) -> f64 {
        let end = self.wanted.length() - 0.1;
        let pairs = self.samples.windows(2).filter(|pair| pair[0].own >= end);
        pairs.map(|pair| (pair[0].qd.abs() - pair[1].qd.abs()) / (pair[1].t - pair[0].t)).fold(0.0, f64::max)
    }
}
