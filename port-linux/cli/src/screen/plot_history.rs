//! Stores the values of plotted quantities over the last minute, in bounded memory.

use std::collections::VecDeque;

use outrigger_wire::time::{Duration, Instant};

use outrigger::show::law_values::shown;
use outrigger::show::{LawError, Snapshot};

/// The time that one column of a plot covers \[ms\].
const COLUMN: u64 = 500;

/// The recent values of one quantity, with a column for each half second: the mean of the values in it, and `None`
/// if the quantity was unknown.
#[derive(Debug, Default)]
pub(super) struct Course {
    columns: VecDeque<Option<f32>>,
    /// The number of the newest column, counted in half seconds of the process's time.
    newest: u64,
    /// The sum of the values in the newest column, for their mean.
    sum: f32,
    /// The number of values of the quantity in the newest column.
    count: u16,
}

impl Course {
    /// The number of columns that are stored for each quantity, of half a second each.
    pub(super) const COLUMNS: u16 = 120;

    /// Returns the number of seconds that this many columns of a plot cover.
    pub(super) const fn seconds(columns: u16) -> u64 {
        columns as u64 * COLUMN / 1_000
    }

    /// Adds the value of the quantity at `at`; `None` if it was unknown.
    pub(super) fn note(&mut self, at: Instant, value: Option<f32>) {
        let number = at.since(Instant::ZERO).as_micros() / Duration::from_millis(COLUMN).as_micros();
        let passed = if self.columns.is_empty() { 1 } else { number.saturating_sub(self.newest) };
        for _ in 0..passed.min(Self::COLUMNS.into()) {
            if self.columns.len() == usize::from(Self::COLUMNS) {
                self.columns.pop_front();
            }
            self.columns.push_back(None);
        }
        if passed > 0 {
            (self.newest, self.sum, self.count) = (number, 0.0, 0);
        }
        if let (Some(value), Some(column)) = (value.filter(|value| value.is_finite()), self.columns.back_mut()) {
            self.sum += value;
            self.count = self.count.saturating_add(1);
            *column = Some(self.sum / f32::from(self.count));
        }
    }

    /// Returns `true` if a value of the quantity is stored in any column.
    pub(super) fn is_known(&self) -> bool {
        self.columns.iter().any(Option::is_some)
    }

    /// Returns the newest `columns` columns as levels 1 … `steps` of a plot; `None` for a column without a value. The
    /// highest level is that of the highest value, or of `span` above the lowest if that is more.
    pub(super) fn levels(&self, columns: usize, span: f32, steps: u64) -> Vec<Option<u64>> {
        let shown = || self.columns.iter().skip(self.columns.len().saturating_sub(columns)).copied();
        let known = || shown().flatten();
        let (low, high) = (known().fold(f32::INFINITY, f32::min), known().fold(f32::NEG_INFINITY, f32::max));
        let span = (high - low).max(span);
        let most = steps.saturating_sub(1) as f32;
        shown().map(|value| Some(1 + ((value? - low) / span * most).round() as u64)).collect()
    }
}

/// The recent values of every quantity that the full-screen view plots.
#[derive(Debug, Default)]
pub(super) struct History {
    /// The measured angle of each joint \[°\].
    pub(super) joints: Vec<Course>,
    /// The position x, y, z of the tool \[mm\], and its rotation vector \[rad\].
    pub(super) pose: [Course; 6],
    /// The force \[N\] at the tool along x, y, z, and the torque \[Nm\].
    pub(super) force: [Course; 6],
    /// The error of the control law, for a distance \[mm\] or an angle \[°\].
    pub(super) error: Course,
    /// The position of the controller's speed slider \[%\].
    pub(super) slider: Course,
    /// The temperatures of the joints' motors \[°C\].
    pub(super) temperatures: Vec<Course>,
}

impl History {
    /// Adds the values in `snapshot`. While the link is down every quantity counts as unknown, whatever value it had
    /// last.
    pub(super) fn note(&mut self, snapshot: &Snapshot) {
        let at = snapshot.at;
        let arm = snapshot.state.as_ref().filter(|_| snapshot.figures.is_some());
        let joints = arm.map_or(0, |arm| arm.joints.len()).max(self.joints.len());
        self.joints.resize_with(joints, Course::default);
        for (number, course) in self.joints.iter_mut().enumerate() {
            course.note(at, arm.and_then(|arm| Some(arm.joints.get(number)?.angle.to_degrees())));
        }
        let pose = arm.and_then(|arm| arm.tcp_pose).map(|pose| (pose.position.map(|along| along * 1e3), pose.rotation));
        note_six(&mut self.pose, at, pose);
        let wrench = arm.and_then(|arm| arm.tcp_force).map(|wrench| (wrench.force, wrench.torque));
        note_six(&mut self.force, at, wrench);
        self.error.note(at, snapshot.law_error.map(shown_error));
        self.slider.note(at, arm.and_then(|arm| arm.speed_slider).map(|slider| slider * 100.0));
        let known = snapshot.temperatures.as_deref().unwrap_or_default();
        self.temperatures.resize_with(known.len().max(self.temperatures.len()), Course::default);
        for (number, course) in self.temperatures.iter_mut().enumerate() {
            course.note(at, known.get(number).copied());
        }
    }
}

fn note_six(courses: &mut [Course; 6], at: Instant, values: Option<([f32; 3], [f32; 3])>) {
    for (number, course) in courses.iter_mut().enumerate() {
        course.note(at, values.map(|(first, second)| if number < 3 { first[number] } else { second[number - 3] }));
    }
}

/// Converts a control error to the unit in which it is displayed.
pub(super) fn shown_error(error: LawError) -> f32 {
    match error {
        LawError::Value(value) => value.value.unwrap_or(f32::NAN) * shown(value.unit).0,
        LawError::Joint(angle) => angle.to_degrees(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> Instant {
        Instant::from_micros(millis * 1_000)
    }

    #[test]
    fn a_column_is_the_mean_of_its_half_second_and_a_gap_is_no_value() {
        let mut course = Course::default();
        for (millis, value) in [(0, 0.0), (100, 2.0), (600, 5.0), (2_100, 9.0)] {
            course.note(at(millis), Some(value));
        }
        course.note(at(2_600), None);
        assert_eq!(course.levels(99, 0.0, 9), [Some(1), Some(5), None, None, Some(9), None]);
        assert_eq!(course.levels(2, 0.0, 9), [Some(1), None], "the newest, by their own span");
    }

    #[test]
    fn noise_stays_flat_and_what_is_no_number_is_unknown() {
        let mut course = Course::default();
        for (number, value) in [0.001, 0.0, f32::NAN, 0.002].into_iter().enumerate() {
            course.note(at(number as u64 * 500), Some(value));
        }
        assert_eq!(course.levels(9, 0.1, 8), [Some(1), Some(1), None, Some(1)]);
    }

    #[test]
    fn an_hour_without_a_word_takes_no_more_room() {
        let mut course = Course::default();
        course.note(at(0), Some(1.0));
        course.note(at(3_600_000), Some(2.0));
        let levels = course.levels(1_000, 1.0, 8);
        assert_eq!((levels.len(), levels.iter().flatten().count()), (usize::from(Course::COLUMNS), 1));
    }
}
