//! Decides which client is disconnected when a new one connects.
//!
//! A new client always gets a place, so that a release is never rejected for lack of one. If all places are taken,
//! it gets the place of another client: one of its own process, if that process has as many clients as it may have,
//! otherwise a client that does not use its place.

use outrigger_wire::time::{Duration, Instant};

/// The maximum number of clients that are connected to a run (a process that commands a robot).
pub(super) const PLACES: usize = 100;
/// The maximum number of connections to a run from one client process. Other processes keep their places, however many
/// clients it connects.
pub(super) const OF_ONE_PROCESS: usize = 8;
/// The number of newest clients that keep their places before they have sent anything. The number is lower than the
/// maximum of one process, so that the silent clients of that process are disconnected first.
pub(super) const NEWEST: usize = 4;
const _: () = assert!(NEWEST < OF_ONE_PROCESS && OF_ONE_PROCESS < PLACES);
/// The time without a line after which a client counts as silent.
const SILENT: Duration = Duration::from_secs(2);

/// The use that a client of a run makes of its connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Use {
    /// The time of the client's newest complete line. `None` before the first.
    pub(super) spoke: Option<Instant>,
    /// `true` if the client watches changes of the status, and therefore does not need to send anything.
    pub(super) watches: bool,
    /// `true` if a motion, freedrive or force mode of the client ends when it is disconnected.
    pub(super) answers_for: bool,
}

/// A connected client of a run, with its process and the time at which it connected.
#[derive(Debug)]
struct Placed<T> {
    process: Option<i32>,
    came: Instant,
    client: T,
}

/// The order in which clients are disconnected to make room for new ones. The first kind is disconnected first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    /// A client without a motion that watches nothing, and has sent nothing for 2 s; or that has sent nothing since it
    /// connected, and is not one of the newest.
    Silent,
    /// A client that has recently sent something, watches, or has just connected.
    InUse,
    /// A client whose motion, freedrive or force mode ends when it is disconnected.
    AnswersFor,
}

/// The connected clients of a run, in the order of their arrival.
#[derive(Debug)]
pub(super) struct Places<T> {
    most: usize,
    of_one_process: usize,
    newest: usize,
    here: Vec<Placed<T>>,
}

impl<T> Places<T> {
    pub(super) const fn new() -> Self {
        Self { most: PLACES, of_one_process: OF_ONE_PROCESS, newest: NEWEST, here: vec![] }
    }

    /// Adds a new client to the table. `process` is the client's process, if it is known. Returns the client that must
    /// be disconnected to make room, if there is one.
    pub(super) fn enter(
        &mut self,
        process: Option<i32>,
        client: T,
        now: Instant,
        use_of: impl Fn(&T) -> Use,
    ) -> Option<T> {
        let of_it = |placed: &Placed<T>| process.is_some() && placed.process == process;
        let has_its_share = self.here.iter().filter(|placed| of_it(placed)).count() >= self.of_one_process;
        let older = self.here.len().saturating_sub(self.newest);
        let leaves = (has_its_share || self.here.len() >= self.most).then(|| {
            let may = self.here.iter().enumerate().filter(|(_, placed)| !has_its_share || of_it(placed));
            may.min_by_key(|(index, placed)| rank(placed, *index >= older, now, use_of(&placed.client)))
        });
        let leaves = leaves.flatten().map(|(index, _)| index);
        let leaves = leaves.map(|index| self.here.remove(index).client);
        self.here.push(Placed { process, came: now, client });
        leaves
    }

    /// Removes a silent client from the table and returns it, if there is one, because this process cannot open more
    /// files for new clients.
    pub(super) fn spare(&mut self, now: Instant, use_of: impl Fn(&T) -> Use) -> Option<T> {
        let older = self.here.len().saturating_sub(self.newest);
        let ranked = self.here.iter().enumerate();
        let ranked = ranked.map(|(index, placed)| (rank(placed, index >= older, now, use_of(&placed.client)), index));
        let ((_, _), index) = ranked.filter(|((rank, _), _)| *rank == Rank::Silent).min()?;
        Some(self.here.remove(index).client)
    }

    /// Removes the clients from the table that have disconnected.
    pub(super) fn leave(&mut self, gone: impl Fn(&T) -> bool) {
        self.here.retain(|placed| !gone(&placed.client));
    }
}

/// Returns the order in which a client is disconnected: its kind, and the time of its newest line.
fn rank<T>(placed: &Placed<T>, is_new: bool, now: Instant, of: Use) -> (Rank, Instant) {
    let since = of.spoke.unwrap_or(placed.came);
    let rank = match of {
        Use { answers_for: true, .. } => Rank::AnswersFor,
        Use { watches: true, .. } => Rank::InUse,
        Use { spoke: None, .. } if is_new => Rank::InUse,
        Use { spoke: Some(at), .. } if now.since(at) < SILENT => Rank::InUse,
        Use { .. } => Rank::Silent,
    };
    (rank, since)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HUNG: Use = Use { spoke: None, watches: false, answers_for: false };

    /// A client of the tests: its number, its process and its use.
    type Client = (u32, i32, Use);

    fn ms(milliseconds: u64) -> Instant {
        Instant::from_micros(1_000 * milliseconds)
    }

    /// Adds a client to the tested `places`, and checks by a separate calculation which other client loses its place
    /// for it, if any.
    fn enter(places: &mut Places<Client>, number: u32, process: i32, now: Instant) {
        let before: Vec<(Client, Instant)> = places.here.iter().map(|placed| (placed.client, placed.came)).collect();
        let of_it = |(client, _): &&(Client, Instant)| client.1 == process;
        let has_its_share = before.iter().filter(of_it).count() == places.of_one_process;
        let left = places.enter(Some(process), (number, process, HUNG), now, |client| client.2);
        assert_eq!(places.here.last().map(|placed| placed.client.0), Some(number), "a newcomer has a place");
        assert!(places.here.len() <= places.most);
        for process in 0..4 {
            let places_of_it = places.here.iter().filter(|placed| placed.client.1 == process).count();
            assert!(places_of_it <= places.of_one_process, "{places:?}");
        }
        assert_eq!(left.is_some(), has_its_share || before.len() == places.most, "{before:?}");
        let Some((left, ..)) = left else { return };
        let older = before.len().saturating_sub(places.newest);
        let missed = |index: usize, (client, came): &(Client, Instant)| {
            let Use { spoke, watches, answers_for } = client.2;
            let recent = spoke.is_some_and(|at| now.since(at) < SILENT) || (spoke.is_none() && index >= older);
            let how_much = if answers_for { 2 } else { u8::from(watches || recent) };
            (how_much, spoke.unwrap_or(*came))
        };
        let all: Vec<_> = before.iter().enumerate().map(|(index, one)| (one.0, missed(index, one))).collect();
        let (victim, least) = all.iter().find(|(client, _)| client.0 == left).expect("it was there");
        assert!(!has_its_share || victim.1 == process, "who has its share takes no place of others: {before:?}");
        let mut may = all.iter().filter(|(client, _)| !has_its_share || client.1 == process);
        assert!(may.all(|(_, other)| other >= least), "{victim:?} of {all:?}");
    }

    #[test]
    fn every_newcomer_gets_a_place_whatever_was_done_before() {
        // Three places, two of one process, with the newest spared. All sequences of five steps, with three
        // processes.
        let mut places = Places { most: 3, of_one_process: 2, newest: 1, here: vec![] };
        enter(&mut places, 0, 0, ms(0));
        enter(&mut places, 1, 1, ms(1));
        let copy = |places: &Places<Client>| Places {
            here: places.here.iter().map(|placed| Placed { ..*placed }).collect(),
            ..*places
        };
        let (mut histories, mut seen) = (vec![(places, 2, 2)], 0);
        for steps in 1..=5 {
            let mut next = vec![];
            for (places, number, now) in &histories {
                for process in 0..3 {
                    let mut places = copy(places);
                    enter(&mut places, *number, process, ms(*now));
                    next.push((places, number + 1, now + 1));
                }
                for index in 0..places.here.len() {
                    for step in 0..3 {
                        let mut places = copy(places);
                        let Some(placed) = places.here.get_mut(index) else { continue };
                        match step {
                            0 => placed.client.2.spoke = Some(ms(*now)),
                            1 => placed.client.2.answers_for = true,
                            _ => placed.client.2.watches = true,
                        }
                        next.push((places, *number, now + 1));
                    }
                }
                let mut gone = copy(places);
                gone.leave(|client| client.0 + 1 == *number);
                next.push((gone, *number, *now));
                next.push((copy(places), *number, now + 2_000));
            }
            seen += next.len();
            // Sequences with the same end continue in the same way.
            if steps < 5 {
                next.sort_by_cached_key(|history| format!("{history:?}"));
                next.dedup_by_key(|history| format!("{history:?}"));
            }
            histories = next;
        }
        assert!(seen > 10_000, "{seen}");
    }

    #[test]
    fn a_thousand_silent_processes_take_no_place_of_who_speaks_watches_or_has_just_come() {
        let mut places = Places::new();
        let spoke = |ms: u64| Use { spoke: Some(Instant::from_micros(1_000 * ms)), ..HUNG };
        places.enter(Some(1), (1, 1, Use { watches: true, ..spoke(0) }), ms(0), |client: &Client| client.2);
        places.enter(Some(2), (2, 2, Use { answers_for: true, ..HUNG }), ms(0), |client| client.2);
        places.enter(Some(3), (3, 3, spoke(9_000)), ms(0), |client| client.2);
        for number in 0..1_000 {
            let process = 1_000 + i32::try_from(number).unwrap();
            places.enter(Some(process), (1_000 + number, process, HUNG), ms(10_000), |client| client.2);
        }
        assert!([1, 2, 3].iter().all(|own| places.here.iter().any(|placed| placed.client.0 == *own)), "{places:?}");
        places.enter(Some(4), (4, 4, HUNG), ms(10_000), |client| client.2);
        for number in 0..3 {
            places.enter(Some(5 + number), (2_000, 5 + number, HUNG), ms(10_000), |client| client.2);
        }
        assert!(places.here.iter().any(|placed| placed.client.0 == 4), "it has time to say something");
        assert_eq!(places.here.len(), PLACES);
        let spared = std::iter::from_fn(|| places.spare(ms(10_000), |client| client.2)).count();
        assert_eq!(spared, PLACES - 3 - NEWEST, "of who hangs, for want of files");
    }
}
