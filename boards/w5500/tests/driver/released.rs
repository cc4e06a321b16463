//! Compares with `embassy-net-wiznet` 0.3, which this driver replaces, on the same chip: the improvements, in figures.

use std::convert::Infallible;
use std::time::Duration;

use embassy_net_wiznet::chip::W5500;
use embassy_time::Instant;
use embedded_hal::digital::ErrorType;
use embedded_hal_async::digital::Wait;
use outrigger_emulated::SimTime;
use outrigger_emulated::executor::{Task, clock, leak};
use outrigger_emulated::w5500::{Chip, Interrupt, Pins, Rate, Timing};

use crate::floods::paced;
use crate::station::{OWN, Station, frame};

/// The board's earlier workaround for frames that accumulated: an interrupt every millisecond, whatever the state of
/// the line.
struct Attention {
    line: Interrupt,
    look_at: Instant,
}

impl ErrorType for Attention {
    type Error = Infallible;
}

impl Wait for Attention {
    async fn wait_for_low(&mut self) -> Result<(), Infallible> {
        let _ = embassy_time::with_deadline(self.look_at, self.line.wait_for_low()).await;
        self.look_at = Instant::now() + embassy_time::Duration::from_millis(1);
        Ok(())
    }

    async fn wait_for_high(&mut self) -> Result<(), Infallible> {
        self.line.wait_for_high().await
    }

    async fn wait_for_rising_edge(&mut self) -> Result<(), Infallible> {
        self.line.wait_for_rising_edge().await
    }

    async fn wait_for_falling_edge(&mut self) -> Result<(), Infallible> {
        self.line.wait_for_falling_edge().await
    }

    async fn wait_for_any_edge(&mut self) -> Result<(), Infallible> {
        self.line.wait_for_any_edge().await
    }
}

/// Returns a station with the earlier driver and workaround.
fn released() -> Station {
    clock::begin();
    let pins = Pins::new(Chip::new(Timing::default(), 0), Rate::default());
    let state = leak(embassy_net_wiznet::State::<8, 8>::new());
    let line = Attention { line: pins.interrupt(), look_at: Instant::MIN };
    let (spi, reset) = (pins.spi(), pins.reset());
    // The device is a result of the future that resets the chip.
    let made = leak(std::cell::RefCell::new(None));
    let give = &*made;
    let mut start = vec![Task::new(async move {
        let made = embassy_net_wiznet::new::<8, 8, W5500, _, _, _>(OWN, state, spi, line, reset).await;
        *give.borrow_mut() = made.ok();
    })];
    let mut now = SimTime::ZERO;
    while !start[0].is_over() {
        clock::advance(now);
        pins.advance(now);
        outrigger_emulated::executor::run_all(&mut start);
        now = now.max(pins.next_event().min(clock::next_alarm()));
    }
    let (device, runner) = made.borrow_mut().take().expect("a chip that answers");
    let task = Task::new(async move {
        runner.run().await;
    });
    let mut station = Station::at(now, pins, device, task);
    let end = station.now() + Duration::from_secs(2);
    assert!(station.run_until(end, Station::link));
    station
}

/// Returns the number of frames passed to the stack in a second without traffic; all of them are empty.
fn empty_frames(station: &mut Station) -> usize {
    let before = station.received.len();
    station.run_for(Duration::from_secs(1));
    assert!(station.received[before..].iter().all(|(_, frame)| frame.is_empty()));
    station.received.len() - before
}

/// Returns the longest time until commands have left while a frame of this length arrives every `pace` µs, and how many
/// of 150 commands left within 2 ms.
fn under_a_flood(station: &mut Station, length: usize, pace: u64) -> (Duration, usize) {
    paced(station, Duration::from_millis(310), pace * 1_000, || length);
    let end = station.now() + Duration::from_millis(300);
    let mut took = vec![];
    while station.now() < end {
        let asked = station.now();
        station.send(&frame([0xff; 6], 150, took.len() as u32));
        took.push(asked);
        station.run_until(asked + Duration::from_millis(2), |_| false);
    }
    // Commands leave in order.
    let took = took.iter().zip(&station.left).map(|(asked, (left, _))| left.since(*asked));
    let took: Vec<Duration> = took.collect();
    let in_time = took.iter().filter(|took| **took <= Duration::from_millis(2)).count();
    (took.into_iter().max().unwrap_or_default(), in_time)
}

#[test]
fn what_the_released_driver_does_on_this_chip_and_what_this_one_does() {
    // One after the other, because a thread has one clock.
    let empty = (empty_frames(&mut released()), empty_frames(&mut Station::new(0)));
    println!("empty frames handed up in a quiet second: released {}, here {}", empty.0, empty.1);
    assert!(empty.0 >= 900, "the model shows no longer what was mended: {}", empty.0);
    assert_eq!(empty.1, 0);
    for (length, pace) in [(60, 0), (60, 110), (300, 0), (300, 190), (1_514, 0), (1_514, 570)] {
        let theirs = under_a_flood(&mut released(), length, pace);
        let ours = under_a_flood(&mut Station::new(0), length, pace);
        println!(
            "{length} B every {pace} us, at most: longest delay of a command, and how many of 150 left within 2 ms:"
        );
        println!("    released {:?}, {}; here {:?}, {}", theirs.0, theirs.1, ours.0, ours.1);
        assert_eq!(ours.1, 150, "{length} B every {pace} us");
        assert!(theirs.0 > ours.0, "{length} B every {pace} us: the model shows no longer what was mended");
    }
    // The link is lost while more is sent than the chip can store. Checks whether frames are received after it is
    // restored.
    let lost = |station: &mut Station| {
        station.pins.plug(false);
        for number in 0..400 {
            station.send(&frame([0xff; 6], 400, number));
            station.run_for(Duration::from_millis(1));
        }
        let down = !station.link();
        station.pins.plug(true);
        station.run_for(Duration::from_secs(1));
        let old = station.left.iter().filter(|(_, frame)| frame.len() == 400).count();
        (down, old)
    };
    let (theirs, ours) = (lost(&mut released()), lost(&mut Station::new(0)));
    println!("the cable out for 0.4 s: released saw it {}, here {}", theirs.0, ours.0);
    println!("    frames of that time sent afterwards: released {}, here {}", theirs.1, ours.1);
    assert_eq!(ours, (true, 0));
    assert!(!theirs.0 && theirs.1 > 0, "the model shows no longer what was mended: {theirs:?}");
}
