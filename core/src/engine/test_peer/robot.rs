//! The robot: its arm follows at once, and its program executes one move at a time.

use super::message::{LONGEST, Message, SHOWN_LEN, Shown};
use outrigger_wire::time::Duration;

/// A simulated test robot without its network connection: takes the bytes of messages, and returns a state in each
/// cycle.
#[derive(Debug)]
pub struct Robot {
    shown: Shown,
    /// The joint speeds while no move is executed \[rad/s\]: those of the newest message with speeds, zero after a
    /// hold, a stop or the cancellation of a move.
    told: [f32; 2],
    moving: Option<Moving>,
    /// The received part of a message to the robot.
    received: [u8; LONGEST],
    filled: usize,
    /// `true` if the program reports the progress of a move.
    pub keeps_progress: bool,
}

#[derive(Clone, Copy, Debug)]
struct Moving {
    from: [f32; 2],
    to: [f32; 2],
    /// The length of the longest joint's way \[rad\], the part of it that is done, and the present speed \[rad/s\].
    way: f32,
    done: f32,
    speed: f32,
    fastest: f32,
    acceleration: f32,
    /// `true` if the move is to be brought to rest from now on.
    cancelled: bool,
}

impl Default for Robot {
    fn default() -> Self {
        Self {
            shown: Shown { granted: true, progress: f32::NAN, ..Shown::default() },
            told: [0.0; 2],
            moving: None,
            received: [0; LONGEST],
            filled: 0,
            keeps_progress: false,
        }
    }
}

impl Robot {
    /// Returns the values that the robot reports in its states, for a test to change.
    pub const fn shown_mut(&mut self) -> &mut Shown {
        &mut self.shown
    }

    /// Returns the values that the robot reports in its states.
    #[must_use]
    pub const fn shown(&self) -> &Shown {
        &self.shown
    }

    /// Records that a new connection to the robot was made.
    pub const fn reconnected(&mut self) {
        self.filled = 0;
    }

    /// Takes bytes, in pieces of any size, and carries out their messages. Calls `told` with each whole message.
    pub fn take(&mut self, bytes: &[u8], mut told: impl FnMut(Message)) {
        for byte in bytes {
            if let Some(slot) = self.received.get_mut(self.filled) {
                *slot = *byte;
                self.filled = self.filled.saturating_add(1);
            }
            let received = self.received;
            if let Some((message, _)) = Message::parse(received.get(..self.filled).unwrap_or_default()) {
                self.filled = 0;
                self.obey(&message);
                told(message);
            }
        }
    }

    fn obey(&mut self, message: &Message) {
        match message {
            Message::Hold => self.told = [0.0; 2],
            Message::Speeds(speeds) => self.told = *speeds,
            Message::Keep => {}
            Message::Cancel(number) if *number != self.shown.number => {}
            Message::Cancel(_) | Message::Stop => {
                self.told = [0.0; 2];
                self.moving.iter_mut().for_each(|moving| moving.cancelled = true);
            }
            Message::Start(number, [fastest, acceleration], points) => {
                let (from, to) = (self.shown.targets, points.last().copied().unwrap_or_default());
                let way = from.iter().zip(to).fold(0.0, |way: f32, (from, to)| way.max((to - from).abs()));
                (self.shown.number, self.shown.runs) = (*number, true);
                let (fastest, acceleration) = (*fastest, *acceleration);
                let moving = Moving { from, to, way, done: 0.0, speed: 0.0, fastest, acceleration, cancelled: false };
                self.moving = Some(moving);
            }
        }
    }

    /// Advances the robot by one cycle, and returns its state as bytes.
    pub fn cycle(&mut self, period: Duration) -> [u8; SHOWN_LEN] {
        let dt = period.as_secs_f32();
        self.shown.micros = self.shown.micros.saturating_add(period.as_micros());
        let before = self.shown.targets;
        if !self.shown.paused {
            self.shown.beat = self.shown.beat.wrapping_add(1);
            match &mut self.moving {
                Some(moving) => {
                    let share = moving.advance(dt);
                    let pairs = self.shown.targets.iter_mut().zip(moving.from.iter().zip(moving.to));
                    pairs.for_each(|(target, (from, to))| *target = from + (to - from) * share);
                    if self.keeps_progress {
                        self.shown.progress = share;
                    }
                    if moving.rests() {
                        self.shown.runs = false;
                        self.moving = None;
                    }
                }
                None => self.shown.targets.iter_mut().zip(self.told).for_each(|(target, v)| *target += v * dt),
            }
        }
        let targets = self.shown.targets;
        let speeds = self.shown.speeds.iter_mut().zip(targets.iter().zip(before));
        speeds.for_each(|(speed, (after, before))| *speed = (after - before) / dt);
        self.shown.positions = targets;
        self.shown.to_bytes()
    }
}

impl Moving {
    /// Advances the move by `dt` \[s\], and returns the share of its way that is done, 0 … 1.
    fn advance(&mut self, dt: f32) -> f32 {
        let brakes = self.cancelled || self.way - self.done <= 0.5 * self.speed * self.speed / self.acceleration;
        let change = self.acceleration * dt;
        self.speed = if brakes { (self.speed - change).max(0.0) } else { (self.speed + change).min(self.fastest) };
        self.done = (self.done + self.speed * dt).min(self.way);
        if brakes && !self.cancelled && self.speed <= change {
            self.done = self.way;
        }
        if self.way > 0.0 { self.done / self.way } else { 1.0 }
    }

    fn rests(&self) -> bool {
        self.done >= self.way || (self.cancelled && self.speed <= 0.0)
    }
}
