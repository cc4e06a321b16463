//! The detection of an arm that falls behind the positions that a program was sent.

use super::connection_proof::is_told;
use outrigger_wire::program_messages::{Kind, What};
use outrigger_wire::time::Duration;

/// The number of periods that the program of `servoj` may be behind before that is reported: it bridges as many by
/// itself.
const USUAL: u16 = 2;

/// The detection of an arm that falls behind the positions that were sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Lateness {
    /// `true` while the arm is behind the positions that were sent; for the program with a ring buffer, while the ring
    /// ran empty and has not filled again.
    late: bool,
    /// `true` while the newest order to the program has positions.
    moves: bool,
    /// `true` once the ring buffer of positions has filled, for as long as new points are sent.
    flows: bool,
    /// The number of times that the arm fell behind the positions.
    times: u32,
}

impl Lateness {
    /// Records an order to the program: a ring buffer that is sent no more points runs empty by intention.
    pub(super) fn ordered(&mut self, what: What) {
        self.moves = what == What::Values;
    }

    /// Takes the lag that a program of this kind reports. Returns the delay of the arm when it falls behind: the first
    /// time, the second, the fourth and so on. Usually `fill` points wait in the ring, one for each `period`.
    pub(super) fn reported(&mut self, kind: Kind, lag: u16, fill: u16, period: Duration) -> Option<Duration> {
        let late = match kind {
            Kind::ServoJ => lag > USUAL,
            Kind::Buffered => {
                self.flows = self.moves && (self.flows || lag >= fill);
                lag == 0 && self.flows
            }
            _ => return None,
        };
        let begins = late && !self.late;
        self.late = late;
        if !begins {
            return None;
        }
        self.times = self.times.saturating_add(1);
        // The arm rests until the ring has filled again.
        let periods = if kind == Kind::Buffered { fill } else { lag };
        is_told(self.times).then_some(period.times(periods.into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PERIOD: Duration = Duration::from_millis(2);

    fn news(late: &mut Lateness, kind: Kind, lags: &[u16]) -> Vec<u64> {
        let told = lags.iter().filter_map(|lag| late.reported(kind, *lag, 20, PERIOD));
        told.map(Duration::as_millis).collect()
    }

    #[test]
    fn an_arm_that_falls_behind_is_reported_once_each_time_and_ever_more_rarely() {
        let mut late = Lateness::default();
        assert_eq!(news(&mut late, Kind::ServoJ, &[0, 2, 2, 0]), [0; 0]);
        assert_eq!(news(&mut late, Kind::ServoJ, &[3, 9, 3, 2, 15, 15, 0]), [6, 30]);
        assert_eq!(news(&mut late, Kind::ServoJ, &[3, 0, 4, 0, 5, 0, 6, 0, 7, 0, 8, 0]), [8, 16]);
        assert_eq!(news(&mut late, Kind::SpeedJ, &[100]), [0; 0]);
    }

    #[test]
    fn a_ring_that_runs_empty_is_reported_unless_it_was_to() {
        let mut late = Lateness::default();
        late.ordered(What::Values);
        assert_eq!(news(&mut late, Kind::Buffered, &[0, 0, 10, 19]), [0; 0], "it fills");
        assert_eq!(news(&mut late, Kind::Buffered, &[20, 1, 0, 0, 5, 20, 0]), [40, 40]);
        assert_eq!(news(&mut late, Kind::Buffered, &[20, 4]), [0; 0]);
        late.ordered(What::Rest);
        assert_eq!(news(&mut late, Kind::Buffered, &[20, 4, 0, 0]), [0; 0], "it came to rest");
    }
}
