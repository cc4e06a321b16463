//! Messages from the rest of the firmware to the robot's task.

use core::cell::Cell;
use core::future::poll_fn;
use core::sync::atomic::{AtomicU32, Ordering};
use core::task::Poll;

use embassy_sync::blocking_mutex::Mutex;
use embassy_sync::blocking_mutex::raw::CriticalSectionRawMutex;
use embassy_sync::waitqueue::AtomicWaker;
use heapless::Deque;
use outrigger_core::command::MAX_SOURCES;
use outrigger_core::command::outputs::{MAX_WRITES, Write, WriteRefusal};
use outrigger_core::engine::ur::LINKS;
use outrigger_core::engine::{Input, LinkId};
use outrigger_core::mode::{Contact, Epoch};
use outrigger_wire::sensor::Sample;

use crate::connection_fault::ConnectionFault;
use crate::operator_queue::{Edge, Edges};

/// The memory that the robot's task shares with all others: a mailbox, and the causes of failed connections.
///
/// It uses a critical section instead of a mutex of the caller's choice, because samples come from interrupts and other
/// executors, and the copied data is small.
pub struct Shared {
    cells: Mutex<CriticalSectionRawMutex, Cells>,
    /// The session's epoch, a counter that each new connection and each end of commanding increments, as last reported
    /// by the robot's task.
    epoch: AtomicU32,
    /// The waker of the robot's task, called when a message arrives.
    waker: AtomicWaker,
}

impl core::fmt::Debug for Shared {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Shared").finish_non_exhaustive()
    }
}

struct Cells {
    edges: Cell<Edges>,
    /// The outputs of the controller that are to be set, in the order of the calls.
    writes: Cell<Deque<Write, MAX_WRITES>>,
    /// The newest sample of each sensor source that the robot's task has not taken yet.
    samples: [Cell<Option<Sample>>; MAX_SOURCES],
    /// The index of the source with which the search for a sample begins, so that no source is always the last.
    turn: Cell<usize>,
    troubles: Cell<[Option<ConnectionFault>; LINKS.len() + 1]>,
}

/// A message that the robot's task takes from its mailbox.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Mail {
    Edge(Edge),
    Write(Write),
    Sample(Sample),
}

impl From<Mail> for Input {
    fn from(mail: Mail) -> Self {
        match mail {
            Mail::Edge(Edge::Request(epoch)) => Self::Request(epoch),
            Mail::Edge(Edge::Resume(epoch)) => Self::Resume(epoch),
            Mail::Edge(Edge::Pin(contact, high)) => Self::Pin(contact, high),
            Mail::Edge(Edge::Release) => Self::Release,
            Mail::Edge(Edge::Acknowledge) => Self::Acknowledge,
            #[cfg(feature = "programs")]
            Mail::Edge(Edge::HandBack) => Self::HandBack,
            #[cfg(feature = "programs")]
            Mail::Edge(Edge::Resend) => Self::Resend,
            Mail::Edge(Edge::Shutdown) => Self::Shutdown,
            Mail::Write(write) => Self::Set(write),
            Mail::Sample(sample) => Self::Sample(sample),
        }
    }
}

impl Shared {
    /// Creates an empty mailbox for the robot's task.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            cells: Mutex::new(Cells {
                edges: Cell::new(Edges::new()),
                writes: Cell::new(Deque::new()),
                samples: [const { Cell::new(None) }; MAX_SOURCES],
                turn: Cell::new(0),
                troubles: Cell::new([None; LINKS.len() + 1]),
            }),
            epoch: AtomicU32::new(0),
            waker: AtomicWaker::new(),
        }
    }

    /// Stores the session's present epoch, which [`Handle::epoch`] returns and a request to command must name.
    pub(crate) fn set_epoch(&self, epoch: Epoch) {
        self.epoch.store(epoch.number(), Ordering::Relaxed);
    }

    fn push(&self, edge: Edge) {
        self.cells.lock(|cells| {
            let mut edges = cells.edges.take();
            edges.push(edge);
            cells.edges.set(edges);
        });
        self.waker.wake();
    }

    /// Waits for the next message in the mailbox and takes it: operators' messages before outputs, and outputs before
    /// samples.
    pub(crate) async fn next(&self) -> Mail {
        poll_fn(|context| {
            self.waker.register(context.waker());
            self.take().map_or(Poll::Pending, Poll::Ready)
        })
        .await
    }

    fn take(&self) -> Option<Mail> {
        self.cells.lock(|cells| {
            let mut edges = cells.edges.take();
            let edge = edges.pop();
            cells.edges.set(edges);
            let mail = edge.map(Mail::Edge).or_else(|| cells.take_write().map(Mail::Write));
            mail.or_else(|| cells.take_sample().map(Mail::Sample))
        })
    }

    pub(crate) fn set_trouble(&self, link: LinkId, trouble: Option<ConnectionFault>) {
        self.cells.lock(|cells| {
            let mut troubles = cells.troubles.get();
            if let Some(slot) = troubles.get_mut(link.index()) {
                *slot = trouble;
            }
            cells.troubles.set(troubles);
        });
    }
}

impl Default for Shared {
    fn default() -> Self {
        Self::new()
    }
}

impl Cells {
    fn put_sample(&self, sample: Sample) {
        let of_this_source = |slot: &&Cell<Option<Sample>>| slot.get().is_some_and(|old| old.source == sample.source);
        let free = |slot: &&Cell<Option<Sample>>| slot.get().is_none();
        if let Some(slot) = self.samples.iter().find(of_this_source).or_else(|| self.samples.iter().find(free)) {
            slot.set(Some(sample));
        }
    }

    fn put_write(&self, write: Write) -> Result<(), WriteRefusal> {
        let mut writes = self.writes.take();
        let put = writes.push_back(write).map_err(|_| WriteRefusal::Full);
        self.writes.set(writes);
        put
    }

    fn take_write(&self) -> Option<Write> {
        let mut writes = self.writes.take();
        let write = writes.pop_front();
        self.writes.set(writes);
        write
    }

    fn take_sample(&self) -> Option<Sample> {
        let turn = self.turn.get();
        let (before, after) = self.samples.split_at_checked(turn)?;
        let found = (turn..).zip(after).chain((0..).zip(before)).find_map(|(i, slot)| Some((i, slot.take()?)));
        let (i, sample) = found?;
        self.turn.set(i.saturating_add(1) % MAX_SOURCES);
        Some(sample)
    }
}

/// Sends messages to the robot's task from tasks, other executors and interrupts. Never waits.
#[derive(Clone, Copy, Debug)]
pub struct Handle<'d> {
    shared: &'d Shared,
}

impl<'d> Handle<'d> {
    pub(crate) const fn new(shared: &'d Shared) -> Self {
        Self { shared }
    }

    /// Passes a sensor reading, whose time stamp must be [`now`](crate::now) at its arrival, to the robot's task. It
    /// replaces a reading from the same source that has not been taken yet. If readings of [`MAX_SOURCES`] other
    /// sources wait, it is dropped; the engine does not support more sources.
    pub fn sample(&self, sample: Sample) {
        self.shared.cells.lock(|cells| cells.put_sample(sample));
        self.shared.waker.wake();
    }

    /// Sets an output of the controller, in parallel to the motion and in the order of the calls. The observer gets the
    /// result by [`Event::Output`](outrigger_core::engine::Event::Output). With a KRC it is always rejected.
    ///
    /// # Errors
    /// [`WriteRefusal::Full`] if [`MAX_WRITES`] outputs wait to be taken.
    pub fn set(&self, write: Write) -> Result<(), WriteRefusal> {
        let put = self.shared.cells.lock(|cells| cells.put_write(write));
        self.shared.waker.wake();
        put
    }

    /// Returns the session's epoch, a counter that each new connection and each end of commanding increments. Show it
    /// to all who may request to command remotely.
    #[must_use]
    pub fn epoch(&self) -> Epoch {
        Epoch::from_number(self.shared.epoch.load(Ordering::Relaxed))
    }

    /// Requests to command the arm, for an operator who saw `epoch`. The request is rejected if the session is in
    /// another epoch. Each call is one request; use [`pin`](Self::pin) for the level of a contact.
    pub fn request(&self, epoch: Epoch) {
        self.shared.push(Edge::Request(epoch));
    }

    /// Requests, in `epoch` as for [`request`](Self::request), to command and to continue the motion that was suspended
    /// when commanding last ended.
    pub fn resume(&self, epoch: Epoch) {
        self.shared.push(Edge::Resume(epoch));
    }

    /// Reports the [debounced](outrigger_core::mode::Debounce) level of an operator's pin. Call it once after boot, and
    /// after each change. The meaning of the pins is [configured](outrigger_core::mode::OperatorConfig); high is a
    /// closed contact.
    pub fn pin(&self, contact: Contact, high: bool) {
        self.shared.push(Edge::Pin(contact, high));
    }

    /// Returns whether an operator's message has not been taken by the robot's task yet. After it was taken, it is
    /// decided before the next call of the [`Observer`](crate::Observer).
    #[must_use]
    pub fn is_waiting(&self) -> bool {
        self.shared.cells.lock(|cells| {
            let edges = cells.edges.take();
            let waiting = !edges.is_empty();
            cells.edges.set(edges);
            waiting
        })
    }

    /// Withdraws the operator's request to command the arm, which stops the arm.
    pub fn release(&self) {
        self.shared.push(Edge::Release);
    }

    /// Acknowledges the fault for which commanding ended, for an operator who has seen it. The engine then no longer
    /// holds it against a request to command.
    pub fn acknowledge(&self) {
        self.shared.push(Edge::Acknowledge);
    }

    /// Ends Outrigger's URScript program on the controller, so that the program of the pendant that called it
    /// continues.
    #[cfg(feature = "programs")]
    pub fn hand_back(&self) {
        self.shared.push(Edge::HandBack);
    }

    /// Sends Outrigger's URScript program to the controller again, for example after somebody has stopped it at the
    /// pendant.
    #[cfg(feature = "programs")]
    pub fn resend(&self) {
        self.shared.push(Edge::Resend);
    }

    /// Stops the arm, confirms standstill, and closes every connection. [`Runner::run`](crate::Runner::run) then
    /// returns.
    pub fn shutdown(&self) {
        self.shared.push(Edge::Shutdown);
    }

    /// Returns the reason why `link` lost its connection, or why the last attempt failed. `None` if it is connected,
    /// was not tried yet, or was closed by the engine.
    #[must_use]
    pub fn trouble(&self, link: LinkId) -> Option<ConnectionFault> {
        self.shared.cells.lock(|cells| cells.troubles.get().get(link.index()).copied().flatten())
    }
}

#[cfg(test)]
mod tests {
    use core::future::Future as _;
    use core::pin::pin;
    use core::task::{Context, Waker};

    use outrigger_wire::sensor::{SampleValue, SourceId};
    use outrigger_wire::time::Instant;

    use super::*;

    fn sample(source: u8, seq: u32) -> Sample {
        let value = SampleValue::scalar(f32::from(source));
        Sample { source: SourceId(source), value, seq, taken_at: Instant::from_micros(u64::from(seq)) }
    }

    /// Takes all waiting messages and returns (source, number) for each sample, and 0 as number for messages of
    /// operators.
    fn taken(shared: &Shared) -> heapless::Vec<(u8, u32), 8> {
        core::iter::from_fn(|| shared.take())
            .map(|input| match input {
                Mail::Sample(sample) => (sample.source.0, sample.seq),
                _ => (0, 0),
            })
            .collect()
    }

    #[test]
    fn the_newest_sample_of_each_source_is_what_waits() {
        let shared = Shared::new();
        let handle = Handle::new(&shared);
        for seq in 0..1_000 {
            handle.sample(sample(1, seq));
            handle.sample(sample(2, seq + 5));
        }
        assert_eq!(taken(&shared), [(1, 999), (2, 1_004)]);
        assert_eq!(taken(&shared), []);
    }

    #[test]
    fn a_source_that_floods_does_not_keep_the_others_from_being_taken() {
        let shared = Shared::new();
        let handle = Handle::new(&shared);
        handle.sample(sample(2, 7));
        let mut seen = heapless::Vec::<u8, 8>::new();
        for seq in 0..4 {
            handle.sample(sample(1, seq));
            if let Some(Mail::Sample(sample)) = shared.take() {
                seen.push(sample.source.0).unwrap();
            }
        }
        assert!(seen.contains(&2), "{seen:?}");
    }

    #[test]
    fn operators_go_before_samples() {
        let shared = Shared::new();
        let handle = Handle::new(&shared);
        handle.sample(sample(1, 1));
        handle.release();
        assert_eq!(taken(&shared), [(0, 0), (1, 1)]);
    }

    #[test]
    fn outputs_are_taken_in_the_order_they_were_asked_for_and_before_samples() {
        let shared = Shared::new();
        let handle = Handle::new(&shared);
        let flag = |index| Write::Flag { index, value: true };
        handle.sample(sample(1, 1));
        let room = MAX_WRITES as u8;
        (0..room).for_each(|index| assert_eq!(handle.set(flag(index)), Ok(())));
        assert_eq!(handle.set(flag(31)), Err(WriteRefusal::Full));
        handle.release();
        assert_eq!(shared.take(), Some(Mail::Edge(Edge::Release)));
        (0..room).for_each(|index| assert_eq!(shared.take(), Some(Mail::Write(flag(index)))));
        assert!(matches!(shared.take(), Some(Mail::Sample(_))));
    }

    #[test]
    fn a_future_that_is_dropped_takes_nothing_with_it() {
        let shared = Shared::new();
        let handle = Handle::new(&shared);
        for _ in 0..3 {
            assert!(pin!(shared.next()).poll(&mut Context::from_waker(Waker::noop())).is_pending());
        }
        assert!(!handle.is_waiting());
        handle.request(Epoch::from_number(7));
        assert!(handle.is_waiting());
        drop(shared.next());
        let next = pin!(shared.next()).poll(&mut Context::from_waker(Waker::noop()));
        assert_eq!(next, Poll::Ready(Mail::Edge(Edge::Request(Epoch::from_number(7)))));
        assert!(!handle.is_waiting());
    }

    #[test]
    fn trouble_is_told_apart_by_link_and_forgotten_when_it_is_over() {
        let shared = Shared::new();
        let handle = Handle::new(&shared);
        shared.set_trouble(LinkId::REALTIME, Some(ConnectionFault::Refused));
        assert_eq!(
            (handle.trouble(LinkId::REALTIME), handle.trouble(LinkId::PRIMARY)),
            (Some(ConnectionFault::Refused), None)
        );
        shared.set_trouble(LinkId::REALTIME, None);
        assert_eq!(handle.trouble(LinkId::REALTIME), None);
    }
}
