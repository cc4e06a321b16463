use super::*;

const TABLE: GradeTable = GradeTable {
    perfect: limits(9_900, 500, 100, 1),
    ok: limits(9_500, 800, 250, 2),
    bad: limits(9_000, 1_000, 500, 4),
};

const fn limits(received: u16, delay: u64, jitter: u64, misses: u32) -> GradeLimits {
    let (delay, jitter) = (Duration::from_micros(delay), Duration::from_micros(jitter));
    GradeLimits { received: Share(received), delay, jitter, misses }
}

fn measured(received: u16, delay: u64, jitter: u64, misses: u32) -> Measured {
    Measured {
        broken: None,
        received: Some(received),
        delay: Some(Duration::from_micros(delay)),
        jitter: Some(Duration::from_micros(jitter)),
        misses,
    }
}

const BEST: (u16, u64, u64, u32) = (10_000, 0, 0, 0);

fn best() -> Measured {
    measured(BEST.0, BEST.1, BEST.2, BEST.3)
}

/// A [`Grader`] (which rates the quality of a link) that is updated once a millisecond.
struct Fed {
    grader: Grader,
    cycle: u64,
}

impl Fed {
    fn new() -> Self {
        Self { grader: Grader::new(TABLE, Duration::from_millis(100)), cycle: 0 }
    }

    fn perfect() -> Self {
        let mut fed = Self::new();
        let _ = fed.feed(&best(), 400);
        assert_eq!(fed.grader.grade(), Grade::Perfect);
        fed
    }

    /// Updates the grader in `cycles` cycles with the same measured figures. Returns each change of the grade with its
    /// cycle.
    fn feed(&mut self, measured: &Measured, cycles: u64) -> Vec<(u64, [Grade; 2])> {
        let mut changes = Vec::new();
        for _ in 0..cycles {
            self.cycle += 1;
            let now = Instant::from_micros(self.cycle * 1_000);
            changes.extend(self.grader.update(measured, self.cycle, now).map(|c| (self.cycle, c)));
        }
        changes
    }
}

#[test]
fn each_figure_beyond_its_limit_lowers_the_grade_at_once_and_is_named() {
    let cases = [
        (measured(9_899, 0, 0, 0), Grade::Ok, Metric::Received),
        (measured(9_499, 0, 0, 0), Grade::Bad, Metric::Received),
        (measured(8_999, 0, 0, 0), Grade::Unacceptable, Metric::Received),
        (measured(10_000, 501, 0, 0), Grade::Ok, Metric::Delay),
        (measured(10_000, 801, 0, 0), Grade::Bad, Metric::Delay),
        (measured(10_000, 1_001, 0, 0), Grade::Unacceptable, Metric::Delay),
        (measured(10_000, 0, 101, 0), Grade::Ok, Metric::Jitter),
        (measured(10_000, 0, 251, 0), Grade::Bad, Metric::Jitter),
        (measured(10_000, 0, 501, 0), Grade::Unacceptable, Metric::Jitter),
        (measured(10_000, 0, 0, 2), Grade::Ok, Metric::Misses),
        (measured(10_000, 0, 0, 3), Grade::Bad, Metric::Misses),
        (measured(10_000, 0, 0, 5), Grade::Unacceptable, Metric::Misses),
        (Measured { broken: Some(Metric::Age), ..best() }, Grade::Unacceptable, Metric::Age),
    ];
    for (bad, to, cause) in cases {
        let mut fed = Fed::perfect();
        let changes = fed.feed(&bad, 1_000);
        assert_eq!(changes, [(401, [Grade::Perfect, to])]);
        assert_eq!(fed.grader.held_by(), cause);
    }
}

#[test]
fn figures_at_their_limits_hold_the_grade() {
    let mut fed = Fed::perfect();
    assert_eq!(fed.feed(&measured(9_900, 500, 100, 1), 1_000), []);
}

#[test]
fn rising_asks_for_ten_percent_more_of_each_figure() {
    // Values just within the margin raise the grade; values just outside leave it at the grade below.
    let cases = [
        (measured(9_910, 0, 0, 0), measured(9_909, 0, 0, 0), Metric::Received),
        (measured(10_000, 450, 0, 0), measured(10_000, 451, 0, 0), Metric::Delay),
        (measured(10_000, 0, 90, 0), measured(10_000, 0, 91, 0), Metric::Jitter),
        (measured(10_000, 0, 0, 0), measured(10_000, 0, 0, 1), Metric::Misses),
    ];
    for (rises, stays, held_by) in cases {
        let mut fed = Fed::new();
        let _ = fed.feed(&stays, 2_000);
        assert_eq!((fed.grader.grade(), fed.grader.held_by()), (Grade::Ok, held_by));
        let changes = fed.feed(&rises, 1_000);
        assert_eq!(changes, [(2_101, [Grade::Ok, Grade::Perfect])], "a whole window");
        assert_eq!(fed.grader.held_by(), held_by, "the figure that held it is named");
    }
}

#[test]
fn one_grade_is_gained_per_window() {
    let mut fed = Fed::new();
    let at: Vec<u64> = fed.feed(&best(), 1_000).iter().map(|(cycle, _)| *cycle).collect();
    assert_eq!(at, [101, 201, 301]);
}

#[test]
fn one_bad_cycle_begins_the_window_anew() {
    let mut fed = Fed::new();
    let _ = fed.feed(&best(), 90);
    let _ = fed.feed(&measured(8_000, 0, 0, 0), 1);
    assert_eq!(fed.feed(&best(), 100), []);
    assert_eq!(fed.feed(&best(), 1).len(), 1);
}

#[test]
fn a_hundred_cycles_in_less_than_the_rise_time_are_not_enough() {
    let mut grader = Grader::new(TABLE, Duration::from_millis(100));
    let rose = (0..400_u64).find(|c| grader.update(&best(), *c, Instant::from_micros(c * 500)).is_some());
    assert_eq!(rose, Some(200));
}

#[test]
fn calls_between_states_are_no_cycles() {
    let mut grader = Grader::new(TABLE, Duration::from_millis(100));
    assert!((0..10_000_u64).all(|c| grader.update(&best(), 1, Instant::from_micros(c * 1_000)).is_none()));
}

#[test]
fn what_a_link_cannot_know_does_not_hold_it_down() {
    let unknown = Measured { broken: None, received: None, delay: None, jitter: None, misses: 0 };
    let mut fed = Fed::new();
    let _ = fed.feed(&unknown, 400);
    assert_eq!(fed.grader.grade(), Grade::Perfect);
}
