//! A simulated sensor: its readings and their times, from a script of [parts](Part), from recorded [rows](Rows), or
//! from the measurement that the caller passes. Sans-IO and seeded: the same times give the same readings.
//!
//! ```
//! use outrigger_sim::sensor::{Measures, Sensor, Sent, Settings};
//! use outrigger_sim::time::SimTime;
//!
//! let script = vec!["constant:0.05".parse()?, "dropout@20ms:10ms".parse()?];
//! let mut sensor = Sensor::new(Settings { script, ..Settings::every(std::time::Duration::from_millis(10)) });
//! let sent: Vec<Option<Sent>> = (0..4).map(|n| sensor.send(SimTime::from_millis(10 * n), Some(0.0))).collect();
//! assert_eq!(sent[1], Some(Sent::Reading { seq: 1, values: vec![0.05], hurt: None }));
//! assert_eq!(sent[2], Some(Sent::Nothing));
//! assert_eq!(sent[3], Some(Sent::Reading { seq: 3, values: vec![0.05], hurt: None }));
//! # Ok::<(), String>(())
//! ```

mod script;

use std::time::Duration;

pub use script::{Kind, Part};

use crate::rng::Rng;
use crate::time::{SimTime, micros};

/// The highest number of values in a sensor's reading.
pub const VALUES_MAX: usize = 6;

/// The number of random bytes that a sensor sends in place of one reading.
const GARBAGE: usize = 64;
/// The delay of a poll above which the sensor skips the readings that it missed, if the delay is also longer than a
/// period.
const HELD_UP: Duration = Duration::from_millis(20);

/// The configuration of a simulated sensor.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// The source of the sensor's readings.
    pub measures: Measures,
    /// The parts of the sensor's script: amounts that are added to the readings, and faults.
    pub script: Vec<Part>,
    /// The number of values in a sensor's reading, 1 … 6.
    pub values: usize,
    /// The conversion from the sensor's own unit to SI: multiply by the first number, which is not 0, then add the
    /// second.
    pub scale: (f64, f64),
    /// The seed of all random numbers of the sensor.
    pub seed: u64,
}

impl Settings {
    /// Returns the settings of a sensor that sends one value in SI units at this period: the measurement that the
    /// caller passes.
    #[must_use]
    pub const fn every(period: Duration) -> Self {
        Self { measures: Measures::Ahead { period }, script: Vec::new(), values: 1, scale: (1.0, 0.0), seed: 1 }
    }
}

/// The source of a sensor's readings.
#[derive(Clone, Debug, PartialEq)]
pub enum Measures {
    /// The sensor sends the measurement that the caller passes to [`Sensor::send`], such as the distance ahead, as the
    /// first value of a reading; the others are 0.
    Ahead {
        /// Time from one reading of the sensor to the next.
        period: Duration,
    },
    /// The sensor sends recorded readings instead of the measurements that the caller passes.
    Rows(Rows),
}

/// Recorded readings of a sensor with their times.
#[derive(Clone, Debug, PartialEq)]
pub struct Rows {
    /// The readings in the order of their times; all with the same number of values.
    pub rows: Vec<Row>,
    /// `true` if values are in the sensor's own unit instead of SI units.
    pub own_unit: bool,
    /// The time from the first row to its repetition; `None` if the rows are not repeated.
    pub again: Option<Duration>,
}

/// One recorded reading of a sensor.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// The time from the beginning of the simulation at which the reading is due for the first time.
    pub at: Duration,
    /// The sequence number of the reading; `None` to count from the reading before.
    pub seq: Option<u32>,
    /// The values of the reading, one to six.
    pub values: Vec<f64>,
}

/// The output of a sensor at the time of one of its readings.
#[derive(Clone, Debug, PartialEq)]
pub enum Sent {
    /// The sensor sends a reading.
    Reading {
        /// Sequence number of the reading.
        seq: u32,
        /// Values of the reading in the sensor's own unit.
        values: Vec<f32>,
        /// A random number that selects the bit to invert in the message; `None` for an intact message.
        hurt: Option<u64>,
    },
    /// Random bytes that the sensor sends instead of a reading.
    Garbage(Vec<u8>),
    /// No output, because the reading is lost or the sensor detects nothing.
    Nothing,
}

/// A simulated sensor with its state.
#[derive(Clone, Debug)]
pub struct Sensor {
    settings: Settings,
    next: Option<SimTime>,
    /// The index of the next recorded row; `rounds` is the number of completed passes through all rows.
    row: usize,
    rounds: u32,
    seq: u32,
    /// One generator of random numbers for each part of the script, so that a part does not change the numbers of the
    /// others.
    draws: Vec<Rng>,
    bytes: Rng,
    before: Option<(u32, Vec<f32>)>,
    missed: u64,
}

impl Sensor {
    /// Returns a sensor whose first reading is due at time 0, or at the time of its first recorded row.
    #[must_use]
    pub fn new(settings: Settings) -> Self {
        let draws = (0..settings.script.len()).map(|part| Rng::new(settings.seed, 0x5E50 + part as u64)).collect();
        let next = match &settings.measures {
            Measures::Ahead { .. } => Some(SimTime::ZERO),
            Measures::Rows(rows) => rows.rows.first().map(|row| SimTime::ZERO + row.at),
        };
        let bytes = Rng::new(settings.seed, 0x5E4F);
        Self { settings, next, row: 0, rounds: 0, seq: 0, draws, bytes, before: None, missed: 0 }
    }

    /// Returns the time at which the sensor's next reading is due; `None` after the last recorded row.
    #[must_use]
    pub const fn next_event(&self) -> Option<SimTime> {
        self.next
    }

    /// Returns the number of readings that were skipped because they were not polled in time.
    #[must_use]
    pub const fn missed(&self) -> u64 {
        self.missed
    }

    /// Returns the sensor's output at `now`; `None` if no reading is due. `ahead` is the measurement in SI units,
    /// `None` if the sensor detects nothing; recorded rows ignore it.
    pub fn send(&mut self, now: SimTime, ahead: Option<f64>) -> Option<Sent> {
        let due = self.next.filter(|due| now >= *due)?;
        let (at, seq, measured) = match &self.settings.measures {
            Measures::Ahead { period } => {
                let period = *period;
                // A sensor that was delayed skips the readings that it missed.
                let behind = now.since(due);
                let missed = if behind > HELD_UP.max(period) { micros(behind) / micros(period).max(1) } else { 0 };
                let at = due + Duration::from_micros(missed.saturating_mul(micros(period)));
                self.missed = self.missed.saturating_add(missed);
                let seq = self.seq.wrapping_add(missed as u32);
                (self.next, self.seq) = (Some(at + period), seq.wrapping_add(1));
                let mut values = vec![0.0; self.settings.values];
                let seen = values.first_mut().zip(ahead).map(|(first, ahead)| *first = ahead);
                (at, seq, seen.map(|()| values.into_iter().map(|value| self.settings.own(value)).collect()))
            }
            Measures::Rows(rows) => {
                let row = rows.rows.get(self.row)?;
                let seq = row.seq.map_or(self.seq, |seq| seq.wrapping_add(rows.beyond(self.rounds)));
                let own = |value: &f64| if rows.own_unit { *value } else { self.settings.own(*value) };
                let values: Vec<f64> = row.values.iter().map(own).collect();
                self.seq = seq.wrapping_add(1);
                self.row += 1;
                if let (true, Some(_)) = (self.row == rows.rows.len(), rows.again) {
                    (self.row, self.rounds) = (0, self.rounds.wrapping_add(1));
                }
                self.next = rows.due(self.row, self.rounds);
                (due, seq, Some(values))
            }
        };
        Some(self.tell(at, seq, measured))
    }

    /// Applies the sensor's script, additions and faults, to a measurement in the sensor's own unit. Returns the output
    /// of the sensor.
    fn tell(&mut self, now: SimTime, seq: u32, measured: Option<Vec<f64>>) -> Sent {
        let mut values = measured.clone().unwrap_or_default();
        let mut wrong = Wrong::default();
        for (part, draws) in self.settings.script.iter().zip(&mut self.draws) {
            let drawn = Draw::of(draws);
            for (number, value) in values.iter_mut().enumerate().filter(|(number, _)| part.is_of(*number)) {
                let noise = drawn.normal.get(number).copied().unwrap_or_default();
                *value += part.adds(now, noise) / self.settings.scale.0;
            }
            if part.lasts_at(now) {
                wrong.take(part.kind, &drawn);
            }
        }
        let mut values: Vec<f32> = values.into_iter().map(|value| value as f32).collect();
        let before = self.before.as_ref().map_or(&[][..], |(_, values)| values);
        for part in self.settings.script.iter().filter(|part| part.lasts_at(now)) {
            for (number, value) in values.iter_mut().enumerate().filter(|(number, _)| part.is_of(*number)) {
                match (part.kind, before.get(number)) {
                    (Kind::Nan, _) => *value = f32::NAN,
                    (Kind::Freeze, Some(before)) => *value = *before,
                    _ => {}
                }
            }
        }
        if wrong.garbage {
            return Sent::Garbage((0..GARBAGE).map(|_| self.bytes.next_u64() as u8).collect());
        }
        if measured.is_none() || wrong.dropout {
            return Sent::Nothing;
        }
        match self.before.clone().filter(|_| wrong.repeat) {
            Some((seq, values)) => Sent::Reading { seq, values, hurt: wrong.flip },
            None => {
                self.before = Some((seq, values.clone()));
                Sent::Reading { seq, values, hurt: wrong.flip }
            }
        }
    }
}

impl Settings {
    /// Converts a value in SI units to the sensor's own unit.
    fn own(&self, value: f64) -> f64 {
        (value - self.scale.1) / self.scale.0
    }
}

impl Rows {
    /// Returns the time at which the recorded row with this index is due in this repetition of all rows; `None` if
    /// there is no such row.
    fn due(&self, row: usize, round: u32) -> Option<SimTime> {
        let rounds = self.again.unwrap_or_default().saturating_mul(round);
        self.rows.get(row).map(|row| SimTime::ZERO + rounds + row.at)
    }

    /// Returns the number that is added to recorded sequence numbers after `rounds` repetitions of all rows.
    fn beyond(&self, rounds: u32) -> u32 {
        let ends = [self.rows.first(), self.rows.last()].map(|row| row.and_then(|row| row.seq).unwrap_or_default());
        ends[1].wrapping_sub(ends[0]).wrapping_add(1).wrapping_mul(rounds)
    }
}

/// The random numbers that one part of a script draws for one reading. Every part draws equally many for every reading,
/// whatever its kind, so that its effect does not change later numbers.
struct Draw {
    normal: [f64; VALUES_MAX],
    chance: f64,
    bit: u64,
}

impl Draw {
    fn of(rng: &mut Rng) -> Self {
        Self { normal: std::array::from_fn(|_| rng.normal()), chance: rng.unit(), bit: rng.next_u64() }
    }
}

/// The faults of the script that affect one reading of a sensor as a whole.
#[derive(Default)]
struct Wrong {
    repeat: bool,
    dropout: bool,
    garbage: bool,
    flip: Option<u64>,
}

impl Wrong {
    fn take(&mut self, kind: Kind, drawn: &Draw) {
        match kind {
            Kind::Repeat(share) => self.repeat |= drawn.chance < share,
            Kind::Dropout(share) => self.dropout |= drawn.chance < share,
            Kind::Garbage(share) => self.garbage |= drawn.chance < share,
            Kind::Flip(share) if drawn.chance < share => self.flip = Some(drawn.bit),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PERIOD: Duration = Duration::from_millis(10);

    fn scripted(script: &[&str]) -> Settings {
        Settings { script: script.iter().map(|part| part.parse().expect(part)).collect(), ..Settings::every(PERIOD) }
    }

    /// Returns the first `count` outputs of a sensor, each at the time at which it is due.
    fn sent(settings: Settings, count: usize) -> Vec<Sent> {
        let mut sensor = Sensor::new(settings);
        let all = (0..count).map_while(|_| {
            let due = sensor.next_event()?;
            sensor.send(due, Some(0.0))
        });
        all.collect()
    }

    /// Returns sequence number and first value of the first `count` readings; `None` for a reading that was not sent.
    fn readings(settings: Settings, count: usize) -> Vec<Option<(u32, f32)>> {
        let reading = |sent| match sent {
            Sent::Reading { seq, values, hurt: None } => Some((seq, values[0])),
            _ => None,
        };
        sent(settings, count).into_iter().map(reading).collect()
    }

    fn row(millis: u64, seq: Option<u32>, value: f64) -> Row {
        Row { at: Duration::from_millis(millis), seq, values: vec![value] }
    }

    #[test]
    fn parts_add_up_in_the_sensors_own_unit() {
        let millimetres = Settings { scale: (0.001, 0.25), ..scripted(&["constant:0.5", "step:0.01@10ms"]) };
        assert_eq!(readings(millimetres, 2), [Some((0, 250.0)), Some((1, 260.0))]);
        let six = Settings { values: 6, ..scripted(&["constant:1", "4=constant:2"]) };
        let values = vec![1.0, 1.0, 1.0, 1.0, 3.0, 1.0];
        assert_eq!(sent(six, 1), [Sent::Reading { seq: 0, values, hurt: None }]);
    }

    #[test]
    fn what_is_not_sent_uses_up_its_number_and_what_is_repeated_keeps_it() {
        let script = ["ramp:1", "dropout@10ms:10ms", "freeze@30ms:20ms", "repeat@60ms:10ms"];
        let expected = [
            Some((0, 0.0)),
            None,
            Some((2, 0.02)),
            Some((3, 0.02)),
            Some((4, 0.02)),
            Some((5, 0.05)),
            Some((5, 0.05)),
            Some((7, 0.07)),
        ];
        assert_eq!(readings(scripted(&script), 8), expected);
    }

    #[test]
    fn one_value_may_be_broken_and_the_others_not() {
        let script = ["ramp:1", "1=nan", "2=freeze@10ms"];
        let all = sent(Settings { values: 3, ..scripted(&script) }, 3);
        let Some(Sent::Reading { values, .. }) = all.last() else { panic!("{all:?}") };
        assert!(values[0] == 0.02 && values[1].is_nan() && values[2] == 0.0, "{values:?}");
    }

    #[test]
    fn shares_are_shares_and_the_seed_says_which() {
        let script = ["constant:1", "noise:0.1", "dropout:20%", "garbage:10%", "flip:5%"];
        let of = |seed| sent(Settings { seed, ..scripted(&script) }, 10_000);
        let all = of(1);
        let count = |is: fn(&Sent) -> bool| all.iter().filter(|sent| is(sent)).count();
        let garbage = count(|sent| matches!(sent, Sent::Garbage(bytes) if bytes.len() == GARBAGE));
        let nothing = count(|sent| *sent == Sent::Nothing);
        let hurt = count(|sent| matches!(sent, Sent::Reading { hurt: Some(_), .. }));
        assert!((900..1_100).contains(&garbage), "{garbage}");
        assert!((1_650..1_950).contains(&nothing), "20 % of what is no garbage: {nothing}");
        assert!((300..420).contains(&hurt), "5 % of what is left: {hurt}");
        assert_eq!(all, of(1));
        assert_ne!(all, of(2));
    }

    #[test]
    fn another_part_changes_nothing_of_the_noise_of_one_and_values_have_noise_of_their_own() {
        let settings = |script: &[&str]| Settings { values: 2, ..scripted(script) };
        assert_eq!(sent(settings(&["noise:1"]), 50), sent(settings(&["noise:1", "dropout:0%"]), 50));
        let all = sent(settings(&["noise:1"]), 1);
        let [Sent::Reading { values, .. }] = all.as_slice() else { panic!("{all:?}") };
        assert_ne!(values[0], values[1]);
    }

    #[test]
    fn rows_come_at_their_times_with_their_numbers_and_again() {
        let rows = vec![row(0, Some(7), 1.5), row(4, Some(9), 2.5)];
        let again = Some(Duration::from_millis(8));
        let measures = Measures::Rows(Rows { rows, own_unit: true, again });
        let mut sensor = Sensor::new(Settings { measures, scale: (0.001, 0.0), ..Settings::every(PERIOD) });
        let mut seen = Vec::new();
        for _ in 0..5 {
            let due = sensor.next_event().expect("without an end");
            if let Some(early) = due.as_micros().checked_sub(1) {
                assert_eq!(sensor.send(SimTime::from_micros(early), None), None);
            }
            let Some(Sent::Reading { seq, values, .. }) = sensor.send(due, None) else { panic!("a row") };
            seen.push((due.as_micros() / 1_000, seq, values[0]));
        }
        assert_eq!(seen, [(0, 7, 1.5), (4, 9, 2.5), (8, 10, 1.5), (12, 12, 2.5), (16, 13, 1.5)]);
    }

    #[test]
    fn rows_in_si_units_are_scaled_and_end() {
        let measures = Measures::Rows(Rows { rows: vec![row(0, None, 0.05)], own_unit: false, again: None });
        let mut sensor = Sensor::new(Settings { measures, scale: (0.001, 0.0), ..Settings::every(PERIOD) });
        let expected = Sent::Reading { seq: 0, values: vec![50.0], hurt: None };
        assert_eq!(sensor.send(SimTime::ZERO, None), Some(expected));
        assert_eq!((sensor.next_event(), sensor.send(SimTime::MAX, None)), (None, None));
    }

    #[test]
    fn one_that_was_held_up_leaves_out_what_it_missed_and_counts_it() {
        let mut sensor = Sensor::new(scripted(&["ramp:1"]));
        assert!(matches!(sensor.send(SimTime::ZERO, Some(0.0)), Some(Sent::Reading { seq: 0, .. })));
        let late = sensor.send(SimTime::from_millis(995), Some(0.0));
        assert_eq!(late, Some(Sent::Reading { seq: 99, values: vec![0.99], hurt: None }));
        assert_eq!((sensor.missed(), sensor.next_event()), (98, Some(SimTime::from_millis(1_000))));
        // A small delay skips nothing.
        assert!(matches!(sensor.send(SimTime::from_millis(1_018), Some(0.0)), Some(Sent::Reading { seq: 100, .. })));
        assert_eq!(sensor.next_event(), Some(SimTime::from_millis(1_010)));
    }

    #[test]
    fn a_sensor_that_sees_nothing_sends_nothing() {
        let mut sensor = Sensor::new(scripted(&["noise:0.001"]));
        assert_eq!(sensor.send(SimTime::ZERO, None), Some(Sent::Nothing));
        assert!(matches!(sensor.send(SimTime::from_millis(10), Some(1.0)), Some(Sent::Reading { seq: 1, .. })));
    }
}
