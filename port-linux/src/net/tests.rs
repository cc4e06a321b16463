//! Tests a socket with datagrams on the control loop of the core. The socket is filled before the loop reads it, so
//! that no test waits for time to pass.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::net::{TcpListener, TcpStream, UdpSocket as Peer};
use std::pin::pin;
use std::task::Poll;

use outrigger_core::drive::{Application, drive};
use outrigger_core::engine::krc::{Krc, KrcConfig, KrcCounts, KrcEngine, KrcEvent};
use outrigger_core::engine::{Event, Input};
use outrigger_wire::fri::{COMMAND_LEN, Command, MEASUREMENT_LEN, MeasurementRepr};
use outrigger_wire::time::Duration;

use super::*;
use crate::boxed_law::BoxedLaw;
use crate::host::reactor;
use crate::vendor::krc::KrcTally;
use crate::vendor::{Summary as _, Tally as _};

/// The maximum number of datagrams received before the newest measurement among them is answered.
const BURST: usize = 64;

/// Creates the sockets of a session with a KRC, its engine, and the socket of the KRC, which sends to them.
async fn beside() -> (Net, KrcEngine<'static, BoxedLaw<7>>, Peer) {
    let anywhere = SocketAddr::from(([127, 0, 0, 1], 0));
    let net = Net::listening(anywhere, Clock::start()).await.expect("a socket");
    let engine = KrcEngine::new(KrcConfig::default(), BoxedLaw::idle(), ()).expect("an engine");
    let krc = Peer::bind(anywhere).expect("another");
    krc.connect(net.local().expect("an address")).expect("the loopback");
    krc.set_nonblocking(true).expect("a socket can");
    (net, engine, krc)
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

fn in_a_reactor(body: impl Future<Output = ()>) {
    reactor::block_on(body).expect("a reactor");
}

/// Returns the sequence numbers of the measurements that were answered.
fn answered(krc: &Peer) -> Vec<u16> {
    let mut bytes = [0; COMMAND_LEN];
    std::iter::from_fn(|| {
        krc.recv(&mut bytes).ok().map(|_| Command::new_checked(&bytes).expect("a command").refl_seq_count())
    })
    .collect()
}

/// An operator with prepared inputs, and the counters of the run.
#[derive(Default)]
struct Operator {
    words: VecDeque<Input>,
    tally: KrcTally,
    counts: KrcCounts,
}

impl Application<7, Krc, BoxedLaw<7>> for Operator {
    async fn next(&mut self) -> Input {
        match self.words.pop_front() {
            Some(word) => word,
            None => std::future::pending().await,
        }
    }

    fn event(&mut self, event: Event<KrcEvent>) {
        self.tally.event(&event);
    }

    fn answered(&mut self, turnaround: Duration) {
        assert!(turnaround > Duration::ZERO);
        self.tally.answered(turnaround);
    }

    fn observe(&mut self, engine: &mut KrcEngine<'_, BoxedLaw<7>>, now: Instant) {
        self.tally.observe(engine, now);
        self.counts = engine.peer().counts();
    }
}

/// Lets the control loop poll its sockets `looks` times. Returns `true` if the loop has ended.
async fn look(
    looks: usize,
    net: &mut Net,
    engine: &mut KrcEngine<'static, BoxedLaw<7>>,
    operator: &mut Operator,
) -> Poll<()> {
    let mut driving = pin!(drive(net, engine, operator, Duration::from_millis(100)));
    let mut looked = 0;
    poll_fn(|context| {
        let ended = driving.as_mut().poll(context);
        looked += 1;
        if ended.is_pending() && looked < looks {
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        Poll::Ready(ended)
    })
    .await
}

#[test]
fn of_a_flood_no_more_than_a_burst_is_read_before_an_answer() {
    in_a_reactor(async {
        let (mut net, mut engine, krc) = beside().await;
        // Each measurement is followed by a burst of invalid datagrams. Together they fill a socket buffer of default
        // size.
        for counter in [1, 2, 3] {
            krc.send(&measurement(counter)).expect("room");
            (1..BURST).for_each(|_| assert_eq!(krc.send(&[0]).expect("room"), 1));
        }
        let mut operator = Operator::default();
        assert_eq!(look(10, &mut net, &mut engine, &mut operator).await, Poll::Pending);
        assert_eq!(answered(&krc), [1, 2, 3]);
        let counts = operator.counts;
        assert_eq!((counts.measurements, counts.commands, counts.malformed), (3, 3, 3 * (BURST as u64 - 1)));
        assert_eq!(engine.histograms().turnaround.count(), 3);
    });
}

#[test]
fn measurements_that_wait_together_are_one_answer_to_the_newest_and_every_number_of_the_summary_has_a_name() {
    in_a_reactor(async {
        let (mut net, mut engine, krc) = beside().await;
        (10..20).for_each(|counter| assert!(krc.send(&measurement(counter)).is_ok()));
        let mut operator = Operator::default();
        assert_eq!(look(10, &mut net, &mut engine, &mut operator).await, Poll::Pending);
        assert_eq!((answered(&krc), operator.counts.overtaken), (vec![19], 9));
        operator.words.push_back(Input::Shutdown);
        assert_eq!(look(10, &mut net, &mut engine, &mut operator).await, Poll::Ready(()));
        let summary = operator.tally.text();
        for name in
            ["9 overtaken by a newer one", "perfect / ok / bad / unacceptable", "our grade [%]", "the KRC's [%]"]
        {
            assert!(summary.contains(name), "{name} in {summary}");
        }
    });
}

#[test]
fn an_operator_is_heard_before_a_flood_is_read() {
    in_a_reactor(async {
        let (mut net, mut engine, krc) = beside().await;
        (0..3 * BURST).for_each(|_| assert!(krc.send(&[0]).is_ok()));
        let mut operator = Operator { words: [Input::Release, Input::Shutdown].into(), ..Operator::default() };
        assert_eq!(look(10, &mut net, &mut engine, &mut operator).await, Poll::Ready(()));
        assert!(operator.counts.malformed <= 2, "{:?}", operator.counts);
    });
}

#[test]
#[ignore = "in real time: `.ci/realtime units` runs it"]
fn a_datagram_wakes_the_loop_that_waits_for_it() {
    in_a_reactor(async {
        let (mut net, mut engine, krc) = beside().await;
        let mut operator = Operator::default();
        let (tell, told) = tokio::sync::oneshot::channel();
        let exchange = std::thread::spawn(move || {
            // The loop is asleep by then, and nothing else will wake it.
            std::thread::sleep(std::time::Duration::from_millis(20));
            krc.set_nonblocking(false).expect("a socket can");
            krc.send(&measurement(7)).expect("room");
            tell.send(krc.recv(&mut [0; COMMAND_LEN]).expect("an answer")).expect("heard");
        });
        let clock = Clock::start();
        tokio::select! {
            biased;
            () = drive(&mut net, &mut engine, &mut operator, Duration::from_millis(100)) => panic!("nobody ended it"),
            length = told => assert_eq!(length, Ok(COMMAND_LEN)),
            () = reactor::sleep_until(clock, clock.now() + Duration::from_secs(30)) => panic!("it was not woken"),
        }
        exchange.join().expect("no panic");
    });
}

#[test]
fn a_program_does_not_wait_behind_connections_that_say_nothing() {
    in_a_reactor(async {
        let ip = IpAddr::from([127, 0, 0, 1]);
        let mut net = Net::connecting(&"127.0.0.1".parse().expect("an address"), ip, Clock::start());
        let (_, sockets) = drive::Net::split(&mut net);
        let link = sockets.streams.iter_mut().find(|link| link.id() == LinkId::REVERSE).expect("a link");
        let free = TcpListener::bind((ip, 0)).and_then(|listener| listener.local_addr()).expect("a free port");
        drive::Socket::listen(link, free.port());
        {
            let mut nobody = pin!(drive::Socket::accepted(link));
            poll_fn(|context| {
                assert!(nobody.as_mut().poll(context).is_pending());
                Poll::Ready(())
            })
            .await;
        }
        let connect = || TcpStream::connect(free).expect("it listens");
        let silent = connect();
        assert_eq!(drive::Socket::accepted(link).await, silent.local_addr().ok());
        let waiting: Vec<_> = (0..60).map(|_| connect()).collect();
        drive::Socket::abort(link);
        drive::Socket::listen(link, free.port());
        let program = waiting.last().and_then(|program| program.local_addr().ok());
        assert_eq!(drive::Socket::accepted(link).await, program, "the one that came last");
    });
}
