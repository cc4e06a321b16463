use super::super::config::Ports;
use super::super::links::link_name;
use super::*;
use outrigger_wire::time::Duration;

const PRIMARY: LinkId = LinkId::PRIMARY;
const REALTIME: LinkId = LinkId::REALTIME;

fn at(millis: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(millis)
}

fn connector() -> Connector {
    Connector::new(ConnectConfig::default())
}

/// Returns all actions that the port has to carry out, in order.
fn outputs(connector: &mut Connector) -> Vec<String> {
    core::iter::from_fn(|| connector.poll_output())
        .map(|output| match output {
            Output::Open { link, endpoint } => format!("open {} {}", link_name(link), endpoint.port),
            Output::Abort(link) => format!("abort {}", link_name(link)),
            Output::Listen { .. } | Output::Transmit { .. } => {
                unreachable!("a connector neither listens nor transmits")
            }
        })
        .collect()
}

/// Opens and greets both links at `millis`.
fn up(connector: &mut Connector, millis: u64) {
    connector.start(at(millis));
    for link in [PRIMARY, REALTIME] {
        assert_eq!(outputs(connector).len(), 1);
        assert!(connector.opened(link, at(millis)));
        connector.greeted(link, at(millis));
    }
    assert!(connector.is_greeted(PRIMARY) && connector.is_greeted(REALTIME));
}

#[test]
fn the_links_are_opened_one_after_the_other() {
    let mut c = connector();
    assert_eq!((outputs(&mut c).len(), c.next_deadline()), (0, None));
    c.start(at(0));
    assert_eq!(outputs(&mut c), ["open primary 30001"]);
    assert!(c.opened(PRIMARY, at(10)));
    assert!(outputs(&mut c).is_empty(), "the real-time link waits for the version");
    c.greeted(PRIMARY, at(20));
    assert_eq!(outputs(&mut c), ["open realtime 30003"]);
}

#[test]
fn a_refused_30001_leads_to_30002_and_then_on_without() {
    let mut c = connector();
    c.start(at(0));
    outputs(&mut c);
    assert_eq!(c.lost(PRIMARY, DownCause::Refused, at(1)), Some((Endpoint { port: 30_001 }, Next::OtherPort)));
    assert_eq!(outputs(&mut c), ["open primary 30002"]);
    assert_eq!(c.lost(PRIMARY, DownCause::Refused, at(2)), Some((Endpoint { port: 30_002 }, Next::Without)));
    assert_eq!(outputs(&mut c), ["open realtime 30003"]);
    assert!(c.opened(REALTIME, at(3)));
    c.greeted(REALTIME, at(4));
    assert_eq!(c.next_deadline(), Some(at(254)), "the primary link is tried again beside the session");
    assert_eq!(c.tick(at(254)), None);
    assert_eq!(outputs(&mut c), ["open primary 30001"]);
}

#[test]
fn a_required_primary_link_makes_the_session_wait() {
    let ports = Ports { secondary: None, ..Ports::default() };
    let mut c = Connector::new(ConnectConfig { ports, primary_required: true, ..ConnectConfig::default() });
    c.start(at(0));
    outputs(&mut c);
    let wait = Duration::from_millis(250);
    assert_eq!(c.lost(PRIMARY, DownCause::Refused, at(1)).map(|l| l.1), Some(Next::NewSession(wait)));
    assert!(outputs(&mut c).is_empty());
}

#[test]
fn every_wait_has_a_deadline() {
    let mut c = connector();
    c.start(at(0));
    outputs(&mut c);
    assert_eq!(c.next_deadline(), Some(at(1_000)));
    assert_eq!(c.tick(at(999)), None);
    assert_eq!(c.tick(at(1_000)), Some((PRIMARY, DownCause::OpenTimeout)));
    c.lost(PRIMARY, DownCause::OpenTimeout, at(1_000));
    assert_eq!(outputs(&mut c), ["abort primary", "open primary 30002"]);
    assert!(c.opened(PRIMARY, at(1_100)));
    assert_eq!(c.tick(at(3_100)), Some((PRIMARY, DownCause::NoGreeting)));
    c.lost(PRIMARY, DownCause::NoGreeting, at(3_100));
    assert_eq!(outputs(&mut c), ["abort primary", "open realtime 30003"]);
    assert!(c.opened(REALTIME, at(3_200)));
    c.greeted(REALTIME, at(3_300));
    c.heard(REALTIME, at(4_000));
    assert!(c.is_greeted(REALTIME));
    c.greeted(REALTIME, at(5_000));
    assert_eq!(c.tick(at(5_999)), None);
    assert!(outputs(&mut c).contains(&"open primary 30001".to_owned()));
    assert_eq!(c.tick(at(6_000)), Some((REALTIME, DownCause::Silent)));
}

#[test]
fn losing_the_real_time_link_ends_the_session_and_backs_off_with_a_bound() {
    let mut c = connector();
    let mut now = 0;
    let mut waits = Vec::new();
    up(&mut c, now);
    for _ in 0..8 {
        let Some((_, Next::NewSession(wait))) = c.lost(REALTIME, DownCause::Closed, at(now)) else {
            panic!("the session should have ended");
        };
        waits.push(wait.as_millis());
        assert_eq!(outputs(&mut c), ["abort primary"]);
        now += wait.as_millis();
        assert_eq!(c.tick(at(now)), None);
        for link in [PRIMARY, REALTIME] {
            outputs(&mut c);
            assert!(c.opened(link, at(now)));
            c.greeted(link, at(now));
        }
    }
    assert_eq!(waits, [250, 500, 1_000, 2_000, 4_000, 8_000, 8_000, 8_000]);

    c.lost(REALTIME, DownCause::Closed, at(now + 6_000));
    assert_eq!(c.next_deadline(), Some(at(now + 6_250)), "a session that lasted makes the wait short again");
}

#[test]
fn losing_the_primary_link_leaves_the_session_up() {
    let mut c = connector();
    up(&mut c, 0);
    let wait = Duration::from_millis(250);
    assert_eq!(c.lost(PRIMARY, DownCause::Closed, at(10)).map(|l| l.1), Some(Next::Retry(wait)));
    assert!(c.is_connected(REALTIME) && !c.is_connected(PRIMARY));
    assert_eq!(c.tick(at(260)), None);
    assert_eq!(outputs(&mut c), ["open primary 30002"]);
}

#[test]
fn an_opening_that_nobody_asked_for_is_not_believed() {
    let mut c = connector();
    assert!(!c.opened(PRIMARY, at(0)));
    assert_eq!(c.lost(REALTIME, DownCause::Closed, at(0)), None);
    up(&mut c, 0);
    assert!(!c.opened(REALTIME, at(1)));
}

#[test]
fn shutting_down_closes_what_is_open_and_opens_nothing_more() {
    let mut c = connector();
    up(&mut c, 0);
    c.shut_down();
    assert_eq!(outputs(&mut c), ["abort primary", "abort realtime"]);
    assert_eq!((c.next_deadline(), c.tick(at(100_000))), (None, None));
}
