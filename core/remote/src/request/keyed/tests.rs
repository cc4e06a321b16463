//! Test vectors, and attacks by parties without the key or with recorded datagrams.

mod exhaustive;
mod fresh;
mod vectors;

use proptest::prelude::*;

use super::datagram_layout::{BODY_MIN, TAG_LEN};
use super::*;
use crate::request::{ClientRequest, FaultKind, Message};
use outrigger_core::mode::{Epoch, Mode};
use outrigger_core::robot::{Reason, ReasonSet};
use outrigger_wire::dashboard::Outcome;
use outrigger_wire::sensor::SampleValue;
use outrigger_wire::time::{Duration, Instant};

const KEY: [u8; 32] = *b"0123456789abcdef0123456789ABCDEF";
const EPOCH: Epoch = Epoch::from_number(3);
const NOW: Instant = Instant::from_micros(5_000_000);

fn service() -> Service<u8> {
    Service::new(Key::new(&KEY), [0x5e; 32])
}

fn caller(nonce: u8) -> Caller {
    Caller::new(Key::new(&KEY), [nonce; 16], NOW)
}

/// Passes a datagram to the service; returns the datagram that the service sends.
fn give(service: &mut Service<u8>, from: u8, bytes: &[u8]) -> Option<Vec<u8>> {
    give_at(service, NOW, from, bytes)
}

fn give_at(service: &mut Service<u8>, now: Instant, from: u8, bytes: &[u8]) -> Option<Vec<u8>> {
    let window = service.receive_window();
    let length = bytes.len().min(window.len());
    window[..length].copy_from_slice(&bytes[..length]);
    service.commit(now, length, from, EPOCH);
    sent(service, from)
}

fn sent(service: &mut Service<u8>, to: u8) -> Option<Vec<u8>> {
    let (at, bytes) = service.poll_output()?;
    assert_eq!(at, to);
    Some(bytes.to_vec())
}

fn take(caller: &mut Caller, bytes: &[u8]) -> Option<Event> {
    caller.receive_window()[..bytes.len()].copy_from_slice(bytes);
    caller.commit(NOW, bytes.len());
    caller.poll_event()
}

fn out(caller: &mut Caller) -> Vec<u8> {
    caller.poll_output().expect("something to be sent").to_vec()
}

/// Returns a client with an open session.
fn open(service: &mut Service<u8>, from: u8) -> Caller {
    let mut caller = caller(from);
    let hello = out(&mut caller);
    let welcome = give(service, from, &hello).expect("a welcome");
    assert_eq!((hello.len(), welcome.len()), (HELLO_LEN, HELLO_LEN), "no longer than the hello");
    assert_eq!(take(&mut caller, &welcome), Some(Event::Open(EPOCH)));
    caller
}

const fn message(ask: ClientRequest<'_>) -> Message<'_> {
    Message { id: None, challenge: None, ask }
}

fn asked(caller: &mut Caller, ask: ClientRequest<'_>) -> Vec<u8> {
    caller.ask(NOW, EPOCH, message(ask)).expect("short enough");
    out(caller)
}

/// Requests the status, whose answer has a challenge.
fn refresh(service: &mut Service<u8>, caller: &mut Caller, from: u8) {
    let request = asked(caller, ClientRequest::Status);
    assert_eq!(give(service, from, &request), None);
    let ticket = service.poll_request(EPOCH).expect("a request").ticket;
    service.answer(NOW, ticket, EPOCH, &Reply::default());
    let answer = sent(service, from).expect("an answer");
    assert!(take(caller, &answer).is_some() && caller.is_fresh(NOW));
}

/// Asserts that the datagram is dropped, and counted with the right cause.
fn dropped(service: &mut Service<u8>, from: u8, bytes: &[u8], count: fn(&Counts) -> u32) {
    let before = service.counts();
    assert_eq!(give(service, from, bytes), None, "no answer");
    assert_eq!(service.poll_request(EPOCH), None, "nothing is done");
    assert_eq!((count(&service.counts()), service.counts().sum()), (count(&before) + 1, before.sum() + 1));
}

#[test]
fn a_request_is_given_once_and_its_answer_as_often_as_it_is_asked_for() {
    let mut service = service();
    let mut caller = open(&mut service, 1);
    refresh(&mut service, &mut caller, 1);
    let request = asked(&mut caller, ClientRequest::Request(EPOCH));
    assert_eq!(give(&mut service, 1, &request), None);
    let KeyedRequest { ticket, ask } = service.poll_request(EPOCH).expect("a request");
    assert_eq!(ask, Ok(ClientRequest::Request(EPOCH)));
    assert_eq!(service.poll_request(EPOCH), None, "once");
    dropped(&mut service, 1, &request, |counts| counts.repeated);
    let reply = Reply { mode: Mode::Arming, ..Reply::default() };
    service.answer(NOW, ticket, Epoch::from_number(4), &reply);
    let answer = sent(&mut service, 1).expect("an answer");
    assert!(answer.len() == ANSWER_LEN && answer.len() <= request.len(), "nothing is amplified");
    assert_eq!(give(&mut service, 1, &request), Some(answer.clone()), "the answer was lost");
    assert_eq!(service.poll_request(EPOCH), None, "and nothing is done again");
    assert_eq!(take(&mut caller, &answer), Some(Event::Answer(Epoch::from_number(4), reply)));
    assert_eq!((take(&mut caller, &answer), caller.poll_timeout()), (None, None));
    service.answer(NOW, ticket, EPOCH, &Reply::default());
    assert_eq!(sent(&mut service, 1), None, "the first answer is the answer");
}

#[test]
fn an_old_epoch_is_refused_and_a_release_honoured_with_any() {
    let mut service = service();
    let mut caller = open(&mut service, 1);
    let (old, text) = (Epoch::from_number(2), "a".repeat(400));
    for (seen, ask, done) in [
        (EPOCH, ClientRequest::Request(EPOCH), true),
        (old, ClientRequest::Request(EPOCH), false),
        (EPOCH, ClientRequest::Request(old), false),
        (old, ClientRequest::Resume(old), false),
        (old, ClientRequest::Set { epoch: old, output: "flag.1=on" }, false),
        (old, ClientRequest::Sample { epoch: old, source: &text, values: SampleValue::scalar(1.0), seq: None }, false),
        (old, ClientRequest::Release, true),
        (old, ClientRequest::Acknowledge, true),
        (old, ClientRequest::Status, true),
    ] {
        refresh(&mut service, &mut caller, 1);
        caller.ask(NOW, seen, message(ask)).expect("short enough");
        give(&mut service, 1, &out(&mut caller));
        let expected = if done { Ok(ask) } else { Err(Verdict::WrongEpoch) };
        assert_eq!(service.poll_request(EPOCH).expect("a request").ask, expected, "{ask:?}");
    }
    let long = "a".repeat(BODY_MAX);
    let ask = ClientRequest::Set { epoch: EPOCH, output: &long };
    assert_eq!(caller.ask(NOW, EPOCH, message(ask)), Err(TooLong));
    assert_eq!(caller.poll_output(), None);
    assert_eq!(caller.poll_timeout(), None);
}

#[test]
fn replays_reorderings_other_sessions_and_other_directions_are_dropped() {
    let mut service = service();
    let (mut one, mut two) = (open(&mut service, 1), open(&mut service, 2));
    let requests: Vec<_> = (0..4).map(|_| asked(&mut one, ClientRequest::Release)).collect();
    give(&mut service, 1, &requests[2]);
    let ticket = service.poll_request(EPOCH).expect("the third is the first that came").ticket;
    for old in &requests[..2] {
        dropped(&mut service, 1, old, |counts| counts.repeated);
    }
    dropped(&mut service, 2, &requests[3], |counts| counts.unknown);
    service.answer(NOW, ticket, EPOCH, &Reply::default());
    let answer = sent(&mut service, 1).expect("an answer");
    assert_eq!(take(&mut one, &answer), None, "it waits for the fourth");
    assert_eq!(take(&mut two, &answer), None, "it is not the other one's");
    dropped(&mut service, 1, &answer, |counts| counts.foreign);
    assert_eq!(take(&mut one, &requests[3]), None, "a request is no answer");
    let request = asked(&mut two, ClientRequest::Release);
    // The number of another session with the same request.
    let mut mixed = request;
    mixed[8..16].copy_from_slice(&requests[3][8..16]);
    dropped(&mut service, 1, &mixed, |counts| counts.repeated);
    mixed[16..20].copy_from_slice(&9_u32.to_be_bytes());
    dropped(&mut service, 1, &mixed, |counts| counts.forged);
    // Datagrams recorded in an earlier run of the service, with another seed.
    let mut later = Service::new(Key::new(&KEY), [0x5f; 32]);
    let mut again = caller(1);
    give(&mut later, 1, &out(&mut again)).expect("a welcome: hellos can be recorded too");
    requests.iter().for_each(|old| dropped(&mut later, 1, old, |counts| counts.unknown));
}

#[test]
fn a_session_that_somebody_speaks_in_is_not_ended_by_hellos_that_were_recorded() {
    let mut service = service();
    let recorded: Vec<_> = (10..16).map(|nonce| out(&mut caller(nonce))).collect();
    let mut one = open(&mut service, 1);
    give(&mut service, 1, &asked(&mut one, ClientRequest::Status));
    for hello in &recorded {
        assert!(give(&mut service, 9, hello).is_some());
    }
    give(&mut service, 1, &asked(&mut one, ClientRequest::Release));
    assert_eq!(service.poll_request(EPOCH).expect("it still stands").ask, Ok(ClientRequest::Release));
    // A third active session replaces the one that was inactive for longest.
    for from in [2, 3] {
        let mut other = open(&mut service, from);
        give(&mut service, from, &asked(&mut other, ClientRequest::Status));
    }
    let late = asked(&mut one, ClientRequest::Release);
    dropped(&mut service, 1, &late, |counts| counts.unknown);
}

#[test]
fn a_hello_again_is_the_same_session_and_hellos_are_limited() {
    let mut service = service();
    let mut caller = caller(1);
    let hello = out(&mut caller);
    let welcome = give(&mut service, 1, &hello).expect("a welcome");
    assert_eq!(give(&mut service, 1, &hello).as_ref(), Some(&welcome));
    assert_ne!(give(&mut service, 2, &hello), Some(welcome), "another address is another session");
    (3..10).for_each(|_| assert!(give(&mut service, 1, &hello).is_some()));
    dropped(&mut service, 1, &hello, |counts| counts.hasty);
    service.receive_window()[..hello.len()].copy_from_slice(&hello);
    service.commit(NOW + Duration::from_millis(100), hello.len(), 1, EPOCH);
    assert!(sent(&mut service, 1).is_some(), "ten a second");
}

#[test]
fn another_key_and_other_bytes_are_dropped() {
    let mut service = service();
    let mut stranger = Caller::new(Key::new(&[7; 32]), [1; 16], NOW);
    dropped(&mut service, 1, &out(&mut stranger), |counts| counts.forged);
    let welcome = give(&mut service, 1, &out(&mut caller(1))).expect("a welcome");
    assert_eq!(take(&mut stranger, &welcome), None);
    for bytes in [&[][..], &[0; 7], b"ORQ2", &[0; 80], &[0xff; 513], &welcome] {
        dropped(&mut service, 1, bytes, |counts| counts.foreign);
    }
    let mut outdated = out(&mut caller(1));
    outdated[..4].copy_from_slice(b"ORQ1");
    dropped(&mut service, 1, &outdated, |counts| counts.outdated);
}

#[test]
fn a_line_that_is_none_is_answered_with_what_is_wrong() {
    let mut service = service();
    let mut caller = open(&mut service, 1);
    let line = format!("{{\"do\":\"dance\"}}{}", " ".repeat(BODY_MIN));
    let mut bytes = asked(&mut caller, ClientRequest::Status)[..28].to_vec();
    bytes.extend(line.as_bytes());
    // With the tag that another software with the key would compute.
    let nonces = caller.nonces();
    let tag =
        Key::new(&KEY).tag(&[authentication_tag::label(datagram_layout::Kind::Request), &nonces.0, &nonces.1, &bytes]);
    bytes.extend(tag);
    give(&mut service, 1, &bytes);
    let asked = service.poll_request(EPOCH).expect("a request");
    assert_eq!(asked.ask, Err(Verdict::Fault(FaultKind::UnknownWord, 6)));
}

#[test]
fn what_was_lost_is_sent_again_ever_more_seldom() {
    let mut caller = caller(1);
    let hello = out(&mut caller);
    let mut times = vec![];
    for _ in 0..6 {
        let at = caller.poll_timeout().expect("it waits");
        times.push(at.since(NOW).as_millis());
        assert_eq!(caller.poll_output(), None);
        caller.handle(at);
        assert_eq!(out(&mut caller), hello);
    }
    assert_eq!(times, [100, 300, 700, 1_500, 2_300, 3_100]);
}

#[test]
fn a_key_is_64_digits_and_is_not_shown() {
    let text = "00".repeat(31) + "fF\n";
    let mut bytes = [0; 32];
    bytes[31] = 255;
    assert_eq!(Key::bytes_of(&text), Some(bytes));
    for text in ["", "00", &"0".repeat(63), &"0".repeat(65), &"0".repeat(66), &("é".repeat(32)), &("+1".repeat(32))] {
        assert_eq!(Key::bytes_of(text), None, "{text}");
    }
    assert_eq!(format!("{:?}", Key::new(&KEY)), "Key(..)");
}

fn a_reply() -> impl Strategy<Value = Reply> {
    let reason = || prop::sample::select(Reason::ALL);
    let news = prop_oneof![
        any::<u32>().prop_map(|micros| OutputOutcome::Confirmed(Duration::from_micros(u64::from(micros)))),
        prop::sample::select(vec![
            OutputOutcome::NeverShown,
            OutputOutcome::NotConfirmed,
            OutputOutcome::Superseded,
            OutputOutcome::NotConnected
        ]),
        prop::sample::select(vec![
            OutputOutcome::Impossible,
            OutputOutcome::LocalControl,
            OutputOutcome::NoInput,
            OutputOutcome::Off,
            OutputOutcome::LinkStale,
            OutputOutcome::Commanding,
            OutputOutcome::NoSuchOutput,
            OutputOutcome::Reserved,
            OutputOutcome::Full,
        ]),
    ];
    let verdict = prop_oneof![
        prop::sample::select(vec![Verdict::Done, Verdict::WrongEpoch, Verdict::Ending, Verdict::NoNews]),
        prop::sample::select(vec![Verdict::Full, Verdict::BadValue, Verdict::Refused(None)]),
        prop::sample::select(vec![Verdict::NotFresh, Verdict::Withdrawn]),
        reason().prop_map(|reason| Verdict::Refused(Some(reason))),
        news.prop_map(Verdict::Output),
        prop::sample::select(&Outcome::ALL[..]).prop_map(Verdict::Dashboard),
        any::<u16>().prop_map(|at| Verdict::Fault(FaultKind::WrongType, at)),
    ];
    let unmet = prop::collection::vec(reason(), 0..5).prop_map(ReasonSet::from_iter);
    let mode = prop::sample::select(&Mode::ALL[..]);
    let grade = prop::sample::select(&outrigger_core::link::Grade::ALL[..]);
    (verdict, mode, grade, prop::option::of(reason()), unmet, any::<bool>())
        .prop_map(|(verdict, mode, grade, latch, unmet, ending)| Reply { verdict, mode, grade, latch, unmet, ending })
}

proptest! {
    #[test]
    fn what_is_asked_and_answered_arrives(output in "\\PC{1,60}", reply in a_reply(), word in 0..6_usize) {
        let mut service = service();
        let mut caller = open(&mut service, 1);
        refresh(&mut service, &mut caller, 1);
        let values = SampleValue::scalar(0.25);
        let ask = match word {
            0 => ClientRequest::Set { epoch: EPOCH, output: &output },
            1 => ClientRequest::Sample { epoch: EPOCH, source: &output, values, seq: Some(7) },
            2 => ClientRequest::Release,
            3 => ClientRequest::Request(EPOCH),
            4 => ClientRequest::Withdraw { what: 1 },
            _ => ClientRequest::Status,
        };
        give(&mut service, 1, &asked(&mut caller, ask));
        let KeyedRequest { ticket, ask: read } = service.poll_request(EPOCH).expect("a request");
        prop_assert_eq!(read, Ok(ask));
        service.answer(NOW, ticket, EPOCH, &reply);
        let answer = sent(&mut service, 1).expect("an answer");
        prop_assert_eq!(take(&mut caller, &answer), Some(Event::Answer(EPOCH, reply)));
    }

    #[test]
    fn with_any_bit_flipped_it_is_nothing(kind in 0..4_usize, bit: prop::sample::Index, cut in 0..3_usize) {
        let mut service = service();
        let mut caller = caller(1);
        let mut datagram = out(&mut caller);
        for step in 0..kind {
            datagram = match step {
                0 => give(&mut service, 1, &datagram).expect("a welcome"),
                1 => {
                    prop_assert_eq!(take(&mut caller, &datagram), Some(Event::Open(EPOCH)));
                    asked(&mut caller, ClientRequest::Request(EPOCH))
                }
                _ => {
                    give(&mut service, 1, &datagram);
                    let ticket = service.poll_request(EPOCH).expect("a request").ticket;
                    service.answer(NOW, ticket, EPOCH, &Reply::default());
                    sent(&mut service, 1).expect("an answer")
                }
            };
        }
        let mut hurt = datagram.clone();
        let bit = bit.index(hurt.len() * 8);
        if cut > 0 { hurt.truncate(hurt.len() - cut * TAG_LEN / 2) } else { hurt[bit / 8] ^= 1 << (bit % 8) }
        if kind % 2 == 0 {
            let before = service.counts().sum();
            prop_assert_eq!(give(&mut service, 1, &hurt), None);
            prop_assert_eq!(service.poll_request(EPOCH), None);
            prop_assert_eq!(service.counts().sum(), before + 1);
        } else {
            prop_assert_eq!(take(&mut caller, &hurt), None);
            prop_assert!(take(&mut caller, &datagram).is_some(), "the true one still counts");
        }
    }
}
