//! A network chip that appears to work but receives no frames: it is restarted as every board does it, and not more
//! often.

use std::task::{Context, Waker};
use std::time::Duration;

// Linked for the critical sections of the process.
use critical_section as _;
use embassy_net_driver::{Driver, LinkState, RxToken, TxToken};
use outrigger_core::mode::Mode;
use outrigger_embassy::link_watchdog::{InterfaceState, LinkWatchdog, Restart};
use outrigger_emulated::SimTime;
use outrigger_emulated::executor::{BUSY, Task, clock, leak, run_all};
use outrigger_emulated::w5500::{Chip, Pins, Rate, Timing};
use outrigger_w5500::{Counts, Device, State, Trouble, Watch};
use outrigger_wire::time::Instant;

const MS: Duration = Duration::from_millis(1);
const S: Duration = Duration::from_secs(1);
/// The board's hardware address.
const OWN: [u8; 6] = [2, 0, 0, 0, 0, 15];
const OTHERS: [u8; 6] = [0xff; 6];

/// A board without a session, whose robot sends a frame every half second.
struct Board {
    pins: Pins,
    task: [Task; 1],
    device: Device<'static>,
    chip: Watch<'static>,
    now: SimTime,
    /// The frames that the board's network stack has received. `left` has those that the chip has sent.
    received: Vec<Vec<u8>>,
    left: Vec<Vec<u8>>,
    watchdog: LinkWatchdog,
    /// `true` while the board's robot sends frames.
    spoken_to: bool,
    /// The restarts of the chip so far, with their times \[s\].
    restarts: Vec<(u64, Restart)>,
}

/// Returns a frame of `length` bytes to this address.
fn frame(to: [u8; 6], length: usize, content: u8) -> Vec<u8> {
    to.into_iter().chain(std::iter::repeat(content)).take(length).collect()
}

impl Board {
    /// Creates a board with a link, on a chip whose pointers begin at `origin`.
    fn new(origin: u16) -> Self {
        clock::begin();
        let pins = Pins::new(Chip::new(Timing::default(), origin), Rate::default());
        let state = leak(State::<8, 8>::new());
        let (device, runner, chip) = outrigger_w5500::new(OWN, state, pins.spi(), pins.interrupt(), pins.reset());
        let task = [Task::new(async move {
            runner.run().await;
        })];
        let mut board = Self {
            pins,
            task,
            device,
            chip,
            now: SimTime::ZERO,
            received: vec![],
            left: vec![],
            watchdog: LinkWatchdog::new(),
            spoken_to: true,
            restarts: vec![],
        };
        board.comes_back(S);
        board
    }

    fn counts(&self) -> Counts {
        self.chip.counts()
    }

    fn link(&mut self) -> bool {
        self.device.link_state(&mut Context::from_waker(Waker::noop())) == LinkState::Up
    }

    /// Sends a frame of the network stack. Returns `false` if the driver has no room for it.
    fn send(&mut self, frame: &[u8]) -> bool {
        let token = self.device.transmit(&mut Context::from_waker(Waker::noop()));
        token.map(|token| token.consume(frame.len(), |room| room.copy_from_slice(frame))).is_some()
    }

    fn run_for(&mut self, span: Duration) {
        let end = self.now + span;
        while self.now < end {
            self.now = self.now.max(self.pins.next_event().min(clock::next_alarm())).min(end);
            self.settle();
        }
    }

    /// Executes all work of the board that is due at this moment.
    fn settle(&mut self) {
        clock::advance(self.now);
        for _ in 0..BUSY {
            self.pins.advance(self.now);
            let mut busy = run_all(&mut self.task);
            self.left.extend(std::iter::from_fn(|| self.pins.take()).map(|(_, frame)| frame));
            while let Some((token, _)) = self.device.receive(&mut Context::from_waker(Waker::noop())) {
                self.received.push(token.consume(|frame| frame.to_vec()));
                busy = true;
            }
            if !busy {
                return;
            }
        }
        panic!("the board does not come to rest at {}: {:?}", self.now, self.counts());
    }

    /// Runs the board, which sends a frame every half second, for this number of seconds, or until the watchdog demands
    /// a restart of the board.
    fn live(&mut self, seconds: u64) {
        for _ in 0..seconds {
            for _ in 0..2 {
                if self.spoken_to {
                    self.pins.deliver(frame(OWN, 100, 1));
                }
                assert!(self.send(&frame(OTHERS, 60, 2)), "{:?}", self.counts());
                self.run_for(500 * MS);
            }
            let now = self.now.as_micros();
            let (linked, frames) = (self.link(), self.counts().received);
            let state = InterfaceState { linked, frames, mode: Mode::Offline };
            let Some(what) = self.watchdog.handle(Instant::from_micros(now), state) else { continue };
            self.restarts.push((now / 1_000_000, what));
            match what {
                Restart::Interface => self.chip.restart(),
                Restart::Board => return,
            }
        }
    }

    /// Checks that a frame passes in each direction.
    fn works(&mut self) {
        let (received, left) = (self.received.len(), self.left.len());
        self.pins.deliver(frame(OWN, 100, 3));
        assert!(self.send(&frame(OTHERS, 100, 4)));
        self.run_for(3 * MS);
        assert_eq!(self.received[received..], [frame(OWN, 100, 3)]);
        assert_eq!(self.left[left..], [frame(OTHERS, 100, 4)]);
    }

    /// Checks that the link is up again within this time.
    fn comes_back(&mut self, within: Duration) {
        let end = self.now + within;
        while !self.link() {
            assert!(self.now < end, "{} {:?}", self.now, self.counts());
            self.run_for(MS);
        }
    }
}

#[test]
fn a_chip_that_receives_nothing_any_more_is_reset_after_ten_seconds_and_receives_again() {
    let mut board = Board::new(0x0c0c);
    board.live(30);
    assert_eq!(board.restarts, []);
    board.pins.chip().faults.wedged = true;
    let (begun, heard) = (board.now, board.counts().received);
    board.live(20);
    let [(at, Restart::Interface)] = board.restarts[..] else { panic!("{:?}", board.restarts) };
    assert!((10..=12).contains(&(at - begun.as_micros() / 1_000_000)), "after {at} s");
    let counts = board.counts();
    assert_eq!((counts.silent, counts.resets, counts.reopened), (1, 2, 0), "{counts:?}");
    assert_eq!(counts.last, Some(Trouble::Silent));
    assert!(counts.received >= heard + 5, "{counts:?}");
    board.works();
}

#[test]
fn where_no_reset_of_the_chip_brings_a_frame_the_board_is_started_anew() {
    let mut board = Board::new(0);
    board.live(2);
    board.spoken_to = false;
    board.live(600);
    let mut restarts = board.restarts.iter();
    let last = restarts.next_back();
    assert!(matches!(last, Some((300..=320, Restart::Board))), "{:?}", board.restarts);
    // At 10, 30, 70 and 150 s of silence.
    assert!(restarts.len() <= 4 && board.counts().resets <= 5, "{:?}", board.counts());
}

#[test]
fn a_bus_that_reads_nothing_but_ones_or_zeros_is_no_silence_and_the_chip_is_found_when_it_answers() {
    for level in [0x00, 0xff] {
        let mut board = Board::new(0);
        board.live(2);
        board.pins.chip().faults.stuck = Some(level);
        board.live(120);
        let counts = board.counts();
        // Without a chip there is no link; its driver resets it by itself, at most every 8 s.
        assert_eq!((board.restarts.len(), board.link()), (0, false), "{level:#x}: {counts:?}");
        assert!((14..=18).contains(&counts.resets) && counts.silent == 0, "{level:#x}: {counts:?}");
        assert!(matches!(counts.last, Some(Trouble::NotThere { version }) if version == level), "{counts:?}");
        board.pins.chip().faults.stuck = None;
        board.comes_back(10 * S);
        board.works();
    }
}

#[test]
fn a_cable_that_is_pulled_meanwhile_does_not_count_as_silence() {
    let mut board = Board::new(0);
    board.live(2);
    board.pins.chip().faults.wedged = true;
    board.live(8);
    board.pins.plug(false);
    board.live(60);
    assert_eq!(board.restarts, [], "there is no link");
    board.pins.plug(true);
    board.live(12);
    assert!(matches!(board.restarts[..], [(72..=76, Restart::Interface)]), "{:?}", board.restarts);
    board.works();
}
