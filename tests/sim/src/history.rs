//! The recent history of a simulated controller: the true arm and the events, in memory of bounded size.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError, TryLockError};
use std::time::Duration;

use crate::controller::{Controller, Moment};
use crate::time::SimTime;

/// An event of the history: the same event several times in a row is stored once.
#[derive(Clone, Debug, PartialEq)]
pub struct PastEvent {
    /// The virtual time of the event, or of its first occurrence.
    pub at: SimTime,
    /// The event as one line of text, without its time.
    pub text: String,
    /// The number of times that the event occurred in a row, at least 1.
    pub times: u32,
}

/// The states of the arm in the last 60 s, every 8 ms, in 1.6 MB, and the last 1024 events, in 1.8 MB at most.
#[derive(Clone, Debug)]
pub struct History {
    moments: VecDeque<Moment>,
    events: VecDeque<PastEvent>,
    left_out: u64,
}

impl History {
    /// The length of the stored past of the arm.
    pub const LENGTH: Duration = Duration::from_secs(60);
    /// The time between two stored states of the arm.
    pub const INTERVAL: Duration = Duration::from_millis(8);
    /// The highest number of stored events.
    pub const EVENTS: usize = 1024;

    const MOMENTS: usize = (Self::LENGTH.as_millis() / Self::INTERVAL.as_millis()) as usize + 1;

    /// Returns an empty history of `controller`, which stores what [`collect`](Self::collect) takes from now on.
    #[must_use]
    pub fn new(controller: &mut Controller) -> Self {
        controller.keep_events();
        controller.take_course();
        Self { moments: VecDeque::with_capacity(Self::MOMENTS), events: VecDeque::new(), left_out: 0 }
    }

    /// Takes the states and the events since the last call from `controller`. Call this regularly: the controller
    /// stores every cycle until then.
    pub fn collect(&mut self, controller: &mut Controller) {
        for moment in controller.take_course() {
            if self.moments.back().is_none_or(|last| moment.at.since(last.at) >= Self::INTERVAL) {
                if self.moments.len() == Self::MOMENTS {
                    self.moments.pop_front();
                }
                self.moments.push_back(moment);
            }
        }
        let (events, left_out) = controller.take_events();
        self.left_out += left_out;
        for event in events {
            let text = event.kind.to_string();
            match self.events.back_mut() {
                Some(last) if last.text == text => last.times = last.times.saturating_add(1),
                _ => {
                    if self.events.len() == Self::EVENTS {
                        self.events.pop_front();
                        self.left_out += 1;
                    }
                    self.events.push_back(PastEvent { at: event.at, text, times: 1 });
                }
            }
        }
    }

    /// Returns the states of the arm, the oldest first.
    pub fn moments(&self) -> impl ExactSizeIterator<Item = &Moment> {
        self.moments.iter()
    }

    /// Returns the events, the oldest first.
    pub fn events(&self) -> impl ExactSizeIterator<Item = &PastEvent> {
        self.events.iter()
    }

    /// Returns the number of events that are not stored any longer, because newer ones took their place.
    #[must_use]
    pub fn left_out(&self) -> u64 {
        self.left_out
    }
}

/// The history of a controller that runs on another thread. It stays readable after the controller's end.
#[derive(Clone, Debug)]
pub struct SharedHistory(Arc<Mutex<History>>);

impl SharedHistory {
    /// Returns an empty history of `controller`.
    #[must_use]
    pub fn new(controller: &mut Controller) -> Self {
        Self(Arc::new(Mutex::new(History::new(controller))))
    }

    /// Collects from `controller`, unless somebody reads the history at this moment: then the next call collects. It
    /// never waits.
    pub fn collect(&self, controller: &mut Controller) {
        match self.0.try_lock() {
            Ok(mut history) => history.collect(controller),
            Err(TryLockError::Poisoned(history)) => history.into_inner().collect(controller),
            Err(TryLockError::WouldBlock) => {}
        }
    }

    /// Returns a copy of the history up to the last cycle.
    #[must_use]
    pub fn read(&self) -> History {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::controller::Options;
    use crate::port::Port;

    fn running(options: Options) -> (Controller, History) {
        let mut controller = Controller::new(options).unwrap();
        let history = History::new(&mut controller);
        (controller, history)
    }

    #[test]
    fn the_arm_is_stored_every_8_ms_for_60_s() {
        let (mut controller, mut history) = running(Options::default());
        let client = controller.connect(Port::Secondary).unwrap();
        controller.write(client, b"speedj([0.05, 0, 0, 0, 0, 0], 1, 120)\n");
        for second in 1..=70 {
            controller.advance_to(SimTime::from_secs(second));
            history.collect(&mut controller);
        }
        let moments: Vec<_> = history.moments().collect();
        assert_eq!(moments.len(), 7501);
        assert_eq!(moments[7500].at.since(moments[0].at), History::LENGTH);
        assert!((moments[7500].q[0] - moments[0].q[0] - 3.0).abs() < 0.05, "{:?}", moments[0]);
        assert!(moments.iter().all(|moment| (moment.qd[0] - 0.05).abs() < 1e-3));
        assert!(controller.now().since(moments[7500].at) < History::INTERVAL);
    }

    #[test]
    fn a_program_and_a_stop_are_events_in_their_order() {
        let faults = vec!["protective-stop@1s".parse().unwrap()];
        let (mut controller, mut history) = running(Options { faults, ..Options::default() });
        let client = controller.connect(Port::Primary).unwrap();
        controller.write(client, b"def weld():\n  textmsg(\"on\")\n  sleep(9)\nend\n");
        controller.advance_to(SimTime::from_secs(2));
        controller.write(client, b"def after():\n  sleep(0.1)\nend\n");
        controller.advance_to(SimTime::from_secs(3));
        history.collect(&mut controller);
        let texts: Vec<_> = history.events().map(|event| event.text.as_str()).collect();
        let expected = [
            "a client connected to port 30001",
            "program `weld` received, 4 lines",
            "program `weld` starts",
            "message: on",
            "fault `protective-stop` starts",
            "error code C157A0",
            "safety mode PROTECTIVE_STOP",
            "program `after` received, 3 lines",
        ];
        assert_eq!(texts, expected);
    }

    #[test]
    fn repeated_events_are_counted_and_old_ones_are_left_out() {
        let (mut controller, mut history) = running(Options::default());
        let client = controller.connect(Port::Secondary).unwrap();
        for _ in 0..500 {
            controller.write(client, b"speedj([0.1, 0, 0, 0, 0, 0], 1, 0.1)\n");
            controller.advance_to(controller.now() + controller.period());
            history.collect(&mut controller);
        }
        let last = history.events().last().unwrap();
        assert_eq!((last.text.as_str(), last.times), ("statement `speedj` received", 500));
        for _ in 0..History::EVENTS {
            let other = controller.connect(Port::Rtde).unwrap();
            controller.reset(other);
            history.collect(&mut controller);
        }
        assert_eq!((history.events().len(), history.left_out()), (History::EVENTS, 2 + History::EVENTS as u64));
    }

    #[test]
    fn a_reader_does_not_delay_the_controller() {
        let mut controller = Controller::new(Options::default()).unwrap();
        let shared = SharedHistory::new(&mut controller);
        let reading = shared.0.lock().unwrap();
        controller.advance_to(SimTime::from_millis(400));
        shared.collect(&mut controller);
        assert_eq!(reading.moments().len(), 0);
        drop(reading);
        shared.collect(&mut controller);
        assert_eq!(shared.read().moments().len(), 50);
    }
}
