//! The loop beside a KRC, on a socket that was filled before it is looked at: nothing here waits for time.

use std::future::Future;
use std::net::UdpSocket as Peer;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use outrigger_core::engine::krc::KrcConfig;
use outrigger_core::law::{JointServo, JointServoConfig, Reference};
use outrigger_core::wire::fri::{COMMAND_LEN, Command, MEASUREMENT_LEN, MeasurementRepr};

use super::*;

/// A loop with the socket of somebody who sends to it.
async fn beside() -> (Remote<JointServo<7>>, Peer) {
    let law = JointServo::new(Reference::Hold, JointServoConfig::default());
    let session = KrcEngine::new(KrcConfig::default(), law, ()).expect("a session");
    let anywhere = SocketAddr::from(([127, 0, 0, 1], 0));
    let remote = Remote::open(anywhere, session, Clock::start(), None).await.expect("a socket");
    let krc = Peer::bind(anywhere).expect("another");
    krc.connect(remote.local().expect("an address")).expect("the loopback");
    krc.set_nonblocking(true).expect("a socket can");
    (remote, krc)
}

fn measurement(counter: u16) -> [u8; MEASUREMENT_LEN] {
    let repr = MeasurementRepr {
        send_seq_count: counter,
        state: 1,
        quality: 3,
        power: 0x7f,
        control: 1,
        desired_cmd_sample_time: 0.1,
        safety_limits: 1.0,
        ..MeasurementRepr::default()
    };
    let mut bytes = [0; MEASUREMENT_LEN];
    repr.emit(&mut bytes).expect("room for a measurement");
    bytes
}

/// Whichever measurements have been answered.
fn answered(krc: &Peer) -> Vec<u16> {
    let mut bytes = [0; COMMAND_LEN];
    std::iter::from_fn(|| {
        krc.recv(&mut bytes).ok().map(|_| Command::new_checked(&bytes).expect("a command").refl_seq_count())
    })
    .collect()
}

const AN_HOUR: Instant = Instant::from_micros(3_600_000_000);

async fn turn(remote: &mut Remote<JointServo<7>>) {
    remote.turn(AN_HOUR).await.expect("a turn");
    while remote.next_event().is_some() {}
}

#[tokio::test]
async fn of_a_flood_no_more_than_a_burst_is_read_before_an_answer_and_before_a_turn_ends() {
    let (mut remote, krc) = beside().await;
    // Each behind a burst but one of datagrams that are none, as many as a socket's buffer holds by default.
    for counter in [1, 2, 3] {
        krc.send(&measurement(counter)).expect("room");
        (1..BURST).for_each(|_| assert_eq!(krc.send(&[0]).expect("room"), 1));
    }
    for counter in [1, 2, 3] {
        turn(&mut remote).await;
        let counts = remote.session().peer().counts();
        let bursts = u64::from(counter);
        assert_eq!((counts.measurements, counts.malformed), (bursts, bursts * (BURST as u64 - 1)), "turn {counter}");
        assert_eq!((answered(&krc), counts.commands), (vec![counter], bursts), "turn {counter}");
        let turnaround = &remote.session().histograms().turnaround;
        assert!(turnaround.count() == bursts && turnaround.longest() > Duration::ZERO, "turn {counter}");
    }
}

#[tokio::test]
async fn measurements_that_wait_together_are_one_answer_to_the_newest() {
    let (mut remote, krc) = beside().await;
    (10..20).for_each(|counter| assert!(krc.send(&measurement(counter)).is_ok()));
    turn(&mut remote).await;
    assert_eq!(answered(&krc), [19]);
    assert_eq!(remote.session().peer().counts().overtaken, 9);
    // Every number of the summary has a name.
    let summary = remote.tally().text(remote.session());
    for name in ["9 overtaken by a newer one", "perfect / ok / bad / unacceptable", "our grade [%]", "the KRC's [%]"] {
        assert!(summary.contains(name), "{name} in {summary}");
    }
}

#[tokio::test]
async fn a_turn_ends_though_datagrams_are_left_so_that_a_signal_beside_it_is_heard() {
    let (mut remote, krc) = beside().await;
    (0..3 * BURST).for_each(|_| assert!(krc.send(&[0]).is_ok()));
    turn(&mut remote).await;
    // The select around a turn looks at signals, keys and sensors whenever it is over: looked at once, it is.
    for turns in [2, 3] {
        let looked = pin!(remote.turn(AN_HOUR)).as_mut().poll(&mut Context::from_waker(Waker::noop()));
        assert!(matches!(looked, Poll::Ready(Ok(()))), "turn {turns}");
        while remote.next_event().is_some() {}
        assert_eq!(remote.session().peer().counts().malformed, turns * BURST as u64);
    }
}
