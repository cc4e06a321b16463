//! Repeats the announcements of participants that were lost because they were silent for longer than their lease: a
//! program that was stopped, or a network that was interrupted.
//!
//! `rustdds` 0.15 accepts an announcement once, by the number of its sample. Cyclone DDS and Fast DDS repeat theirs
//! under the same number for as long as they run, so a participant that was lost would never be found again. The
//! announcements of a domain are therefore received here as well, and that of a lost participant is sent to the
//! participant of this program again, under another number.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, UdpSocket};

use outrigger_wire::time::{Duration, Instant};
use rustdds::{DomainParticipantStatusEvent, LostReason};

use super::discovery_probe;
use super::multicast_filter::GROUP;
use super::rematch_messages::{self, Topic};
use super::unicast_peers::{participant_port, sender};
use crate::neighbours::{Prefix, discovery_port};

/// The largest number of announcements stored, and the largest number of lost participants.
const MOST: usize = 256;
/// The number of participants of a machine, the first ones, that also receive announcements at the port of an absent
/// participant. If more did, too few of these ports would be left for other participants.
const SPARES: u16 = 3;
/// The longest announcement that is stored \[bytes\]: those of ROS 2 have 200 to 1 000.
const LONGEST: usize = 8_192;
/// The largest number of messages read from one socket in one call.
const AT_ONCE: usize = 64;
/// The interval at which announcements of other DDS participants are read.
const PACE: Duration = Duration::from_millis(50);
/// The delay after which an announcement that was not accepted is passed on again.
const AGAIN: Duration = Duration::from_secs(1);
/// The largest number of topics announced in one message, because the message must stay below its limit; a name has
/// at most some hundred bytes.
const TOPICS: usize = 64;
/// The length of the header of an RTPS message \[bytes\] (RTPS 2.5, 9.4.4).
const HEADER: usize = 20;
/// The length of a submessage's header \[bytes\]: its kind, flags and length (RTPS 2.5, 9.4.5.1).
const SUBMESSAGE: usize = 4;
const DATA: u8 = 0x15;
const LITTLE_ENDIAN: u8 = 0x01;
/// The flag of a submessage that contains a sample; a farewell contains none.
const WITH_DATA: u8 = 0x04;
/// The position of the writer in a DATA submessage (RTPS 2.5, 9.4.5.4).
const WRITER: std::ops::Range<usize> = 12..16;
/// The position of the sample's number in a DATA submessage (RTPS 2.5, 9.4.5.4).
const NUMBER: std::ops::Range<usize> = 16..24;
/// The identifier of the writer of participants' announcements (RTPS 2.5, 9.3.1.5).
const ANNOUNCER: [u8; 4] = [0x00, 0x01, 0x00, 0xc2];

/// The newest announcement of a DDS participant.
#[derive(Debug)]
struct Announcement {
    message: Vec<u8>,
    number: NumberField,
    from: IpAddr,
    at: Instant,
}

/// The position of a sample's number in an RTPS message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct NumberField {
    submessage: usize,
    begin: usize,
    little_endian: bool,
}

/// A DDS participant that was lost and may be discovered again.
#[derive(Debug)]
struct Lost {
    at: Instant,
    sent_at: Option<Instant>,
}

/// Receives the announcements of DDS participants, and passes on those of lost participants to this program's
/// participant.
#[derive(Debug)]
pub(super) struct Returning {
    /// The sockets that receive announcements. `true` marks the spare one at the port of an absent participant, which
    /// receives announcements that are sent to individual ports of this machine.
    sockets: Vec<(bool, UdpSocket)>,
    /// A socket that sends to the multicast group through loopback. `rustdds` announces itself on loopback only to
    /// individual ports, because Linux reports that interface as one without multicast. Without this socket, Cyclone
    /// DDS would find a participant that joins again only with its own next announcement, up to 8 s later.
    all: Option<UdpSocket>,
    /// The UDP port of the multicast group of discovery.
    port: u16,
    /// The sockets on the interfaces through which the participant joined, each with the participant's address
    /// there.
    out: Vec<(UdpSocket, SocketAddr)>,
    own: Prefix,
    heard: BTreeMap<Prefix, Announcement>,
    lost: BTreeMap<Prefix, Lost>,
    /// The number of sample numbers that were assigned to messages for this program's participant so far.
    given: u32,
    look_at: Instant,
}

/// Returns the position of the sample number of a participant's announcement in an RTPS message; `None` if the message
/// contains no announcement.
fn announcement(message: &[u8]) -> Option<NumberField> {
    let mut begin = HEADER;
    loop {
        let head: [u8; SUBMESSAGE] = message.get(begin..begin + SUBMESSAGE)?.try_into().ok()?;
        let [kind, flags, length @ ..] = head;
        let little_endian = flags & LITTLE_ENDIAN != 0;
        if kind == DATA && message.get(begin + WRITER.start..begin + WRITER.end)? == ANNOUNCER {
            let is_whole = message.len() >= begin + NUMBER.end && flags & WITH_DATA != 0;
            let number = begin + NUMBER.start;
            return is_whole.then_some(NumberField { submessage: begin, begin: number, little_endian });
        }
        let length = if little_endian { u16::from_le_bytes(length) } else { u16::from_be_bytes(length) };
        if length == 0 {
            return None;
        }
        begin += SUBMESSAGE + usize::from(length);
    }
}

/// Writes a sample number too large to be reached by counting to a message, its upper half first.
fn renumber(message: &mut [u8], at: NumberField, given: u32) {
    let halves = [1_u32, given];
    let bytes = halves.map(|half| if at.little_endian { half.to_le_bytes() } else { half.to_be_bytes() });
    if let Some(to) = message.get_mut(at.begin..at.begin + NUMBER.len()) {
        to.copy_from_slice(bytes.as_flattened());
    }
}

/// Sends another participant's announcement to this program's participant, under another sample number, and marks it as
/// one of a participant that announces topics.
fn pass_on(out: &[(UdpSocket, SocketAddr)], message: &mut [u8], at: NumberField, from: IpAddr, given: u32) {
    renumber(message, at, given);
    rematch_messages::tells_of_topics(message, at.submessage);
    send(out, from, message);
}

/// Inserts the value for the DDS participant `prefix` if the map has room, or if it contains that participant.
fn insert<T>(to: &mut BTreeMap<Prefix, T>, prefix: Prefix, value: T) {
    if to.len() < MOST || to.contains_key(&prefix) {
        to.insert(prefix, value);
    }
}

/// Sends this program's participant a message of another one, which was received from `from`. `rustdds` takes a
/// sender at 127.0.0.1 for a participant of this machine, and any other for a remote one, so the message is sent from
/// a matching address.
fn send(out: &[(UdpSocket, SocketAddr)], from: IpAddr, message: &[u8]) {
    let as_heard = out.iter().find(|(_, to)| to.ip().is_loopback() == from.is_loopback());
    if let Some((socket, to)) = as_heard.or_else(|| out.first()) {
        let _ = socket.send_to(message, to);
    }
}

impl Returning {
    /// Starts to receive in `domain` for the participant `own`, whose number on this machine is `slot`, and which
    /// joined through `interfaces`. `spare` is a socket at the port of an absent participant, opened before `own`,
    /// whose first announcement it receives. Without it and without multicast, nothing is received.
    pub(super) fn start(
        domain: u16,
        interfaces: &[IpAddr],
        spare: Option<UdpSocket>,
        (own, slot): (Prefix, u16),
        now: Instant,
    ) -> Self {
        // Participants without multicast announce themselves at the ports of twelve participants of a machine. Only
        // the first nodes of a machine occupy a second port, because otherwise too few would be left for all.
        let spare = spare.filter(|socket| slot < SPARES && socket.set_nonblocking(true).is_ok());
        let group = discovery_probe::listen_by(discovery_port(domain), interfaces).ok();
        let sockets = group.map(|group| (false, group)).into_iter().chain(spare.map(|spare| (true, spare))).collect();
        let joins_loopback = interfaces.contains(&IpAddr::V4(Ipv4Addr::LOCALHOST));
        let all = joins_loopback.then(|| UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).ok()).flatten();
        let all = all.filter(|all| discovery_probe::by(all, Ipv4Addr::LOCALHOST).is_ok());
        let port = participant_port(domain, slot);
        let out =
            |interface: &IpAddr| Some((UdpSocket::bind((*interface, 0)).ok()?, SocketAddr::from((*interface, port))));
        let out = interfaces.iter().filter_map(out).collect();
        Self {
            sockets,
            all,
            port: discovery_port(domain),
            out,
            own,
            heard: BTreeMap::new(),
            lost: BTreeMap::new(),
            given: 0,
            look_at: now,
        }
    }

    /// Handles an event of this program's participant. Returns the participant that has come back after it was lost;
    /// `None` if the event is another one.
    pub(super) fn learn(&mut self, event: &DomainParticipantStatusEvent, now: Instant) -> Option<Prefix> {
        match event {
            DomainParticipantStatusEvent::ParticipantDiscovered { dpd } => {
                let prefix = crate::neighbours::prefix(outrigger_ros2_messages::Gid(dpd.guid.to_bytes()));
                self.lost.remove(&prefix).map(|_| prefix)
            }
            DomainParticipantStatusEvent::ParticipantLost { id, reason } => {
                let prefix: Prefix = AsRef::<[u8]>::as_ref(id).try_into().ok()?;
                match reason {
                    LostReason::Timeout { .. } => insert(&mut self.lost, prefix, Lost { at: now, sent_at: None }),
                    LostReason::Disposed => {
                        self.lost.remove(&prefix);
                        self.heard.remove(&prefix);
                    }
                }
                None
            }
            _ => None,
        }
    }

    /// Reads the messages that have arrived, and passes on the announcements of lost participants.
    pub(super) fn step(&mut self, now: Instant) {
        if now < self.look_at {
            return;
        }
        self.look_at = now + PACE;
        let mut bytes = [0; LONGEST];
        for (is_spare, socket) in &self.sockets {
            for _ in 0..AT_ONCE {
                let Ok((length, from)) = socket.recv_from(&mut bytes) else { break };
                let message = bytes.get(..length).unwrap_or_default();
                let Some((prefix, _)) = sender(message) else { continue };
                if prefix == self.own {
                    // Messages from the spare socket are forwarded to the multicast group. They come back on the
                    // other socket, and are not forwarded again.
                    if let Some(all) = self.all.as_ref().filter(|_| *is_spare && announcement(message).is_some()) {
                        let _ = all.send_to(message, (GROUP, self.port));
                    }
                    continue;
                }
                // A message that fills the whole buffer was longer, and is dropped.
                if let Some(number) = announcement(message).filter(|_| length < LONGEST) {
                    insert(
                        &mut self.heard,
                        prefix,
                        Announcement { message: message.to_vec(), number, from: from.ip(), at: now },
                    );
                }
            }
        }
        for (prefix, lost) in &mut self.lost {
            let Some(Announcement { message, number, from, at }) = self.heard.get_mut(prefix) else { continue };
            // A participant must not be found too early: until a reader that sleeps has acknowledged something, no
            // other reader receives messages of its topic.
            let is_silent = *at <= lost.at;
            if is_silent || lost.sent_at.is_some_and(|sent| now.since(sent) < AGAIN) {
                continue;
            }
            lost.sent_at = Some(now);
            self.given = self.given.wrapping_add(1);
            pass_on(&self.out, message, *number, *from, self.given);
        }
        self.forget(now);
    }

    /// Matches the endpoints of these topics again with those of a participant that has come back.
    pub(super) fn match_again(&mut self, with: Prefix, topics: &[Topic]) {
        // The participant may have been found by its own announcement, which does not mark it as one that announces
        // topics. Its announcement is therefore passed on once more, under a new number.
        let Some(Announcement { message, number, from, .. }) = self.heard.get_mut(&with) else { return };
        let from = *from;
        self.given = self.given.wrapping_add(1);
        pass_on(&self.out, message, *number, from, self.given);
        for some in topics.chunks(TOPICS) {
            let first = self.given.wrapping_add(1);
            self.given = self.given.wrapping_add(u32::try_from(some.len()).unwrap_or_default());
            send(&self.out, from, &rematch_messages::about(with, some, first));
        }
    }

    /// Makes room if the limit is reached: drops the announcement of the participant that has been silent for longest,
    /// and a lost participant, preferably one without a stored announcement.
    fn forget(&mut self, now: Instant) {
        if self.heard.len() >= MOST {
            let oldest = self.heard.iter().max_by_key(|(_, heard)| now.since(heard.at)).map(|(prefix, _)| *prefix);
            oldest.map(|oldest| self.heard.remove(&oldest));
        }
        if self.lost.len() >= MOST {
            let unheard = self.lost.keys().find(|prefix| !self.heard.contains_key(*prefix)).copied();
            unheard.or_else(|| self.lost.keys().next().copied()).map(|first| self.lost.remove(&first));
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rustdds::GUID;

    use super::*;

    const WHO: Prefix = [1, 0x10, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12];

    /// Returns a message as Cyclone DDS sends it: a submessage that names the recipient, followed by a participant's
    /// announcement with these flags and this writer.
    fn announced(flags: u8, writer: [u8; 4]) -> Vec<u8> {
        let mut message = b"RTPS\x02\x05\x01\x10".to_vec();
        message.extend(WHO);
        message.extend([0x0e, 0x01, 12, 0]);
        message.extend([0; 12]);
        message.extend([DATA, flags]);
        message.extend(if flags & LITTLE_ENDIAN != 0 { 24_u16.to_le_bytes() } else { 24_u16.to_be_bytes() });
        message.extend([0, 0, 16, 0, 0, 0, 0, 0]);
        message.extend(writer);
        message.extend([0, 0, 0, 0, 1, 0, 0, 0]);
        message.extend([0, 3, 0, 0]);
        message
    }

    #[test]
    fn an_announcement_is_found_behind_other_submessages_and_a_farewell_is_none() {
        let little = announced(LITTLE_ENDIAN | WITH_DATA, ANNOUNCER);
        assert_eq!(announcement(&little), Some(NumberField { submessage: 36, begin: 52, little_endian: true }));
        let big = announced(WITH_DATA, ANNOUNCER);
        assert_eq!(announcement(&big), Some(NumberField { submessage: 36, begin: 52, little_endian: false }));
        assert_eq!(announcement(&announced(LITTLE_ENDIAN | 0x08, ANNOUNCER)), None, "a key alone");
        assert_eq!(announcement(&announced(LITTLE_ENDIAN | WITH_DATA, [0, 0, 3, 0xc2])), None, "an endpoint");
        assert_eq!(announcement(&little[..59]), None);
    }

    #[test]
    fn the_new_number_is_written_in_the_order_of_the_message() {
        for (flags, expected) in
            [(WITH_DATA | LITTLE_ENDIAN, [1, 0, 0, 0, 7, 0, 0, 0]), (WITH_DATA, [0, 0, 0, 1, 0, 0, 0, 7])]
        {
            let mut message = announced(flags, ANNOUNCER);
            let at = announcement(&message).unwrap();
            renumber(&mut message, at, 7);
            assert_eq!(message[52..60], expected);
        }
    }

    #[test]
    fn an_announcement_is_passed_on_once_its_participant_was_given_up_and_while_it_is_not_found() {
        let domain = 97;
        let participant = UdpSocket::bind((Ipv4Addr::LOCALHOST, participant_port(domain, 110))).unwrap();
        participant.set_read_timeout(Some(std::time::Duration::from_millis(200))).unwrap();
        let at = |millis| Instant::ZERO + Duration::from_millis(millis);
        let mut returning = Returning::start(domain, &[Ipv4Addr::LOCALHOST.into()], None, ([9; 12], 110), at(0));
        let passed_on = || {
            let mut bytes = [0; 200];
            participant.recv(&mut bytes).is_ok().then(|| bytes[52..60].to_vec())
        };
        let id = GUID::from_bytes(std::array::from_fn(|at| WHO.get(at).copied().unwrap_or(0xc1))).prefix;
        let reason =
            LostReason::Timeout { lease: rustdds::Duration::from_secs(10), elapsed: rustdds::Duration::from_secs(11) };
        let hear = |returning: &mut Returning, at| {
            let message = announced(WITH_DATA | LITTLE_ENDIAN, ANNOUNCER);
            let number = announcement(&message).unwrap();
            returning.heard.insert(WHO, Announcement { message, number, from: Ipv4Addr::LOCALHOST.into(), at });
        };
        hear(&mut returning, at(1_000));
        returning.step(at(1_100));
        assert_eq!(passed_on(), None, "nobody has been given up");
        assert_eq!(returning.learn(&DomainParticipantStatusEvent::ParticipantLost { id, reason }, at(12_000)), None);
        returning.step(at(12_000));
        assert_eq!(passed_on(), None, "it is still silent");
        hear(&mut returning, at(15_000));
        returning.step(at(15_050));
        assert_eq!(passed_on(), Some(vec![1, 0, 0, 0, 1, 0, 0, 0]));
        returning.step(at(15_100));
        assert_eq!(passed_on(), None, "it is waited for");
        returning.step(at(16_100));
        assert_eq!(passed_on(), Some(vec![1, 0, 0, 0, 2, 0, 0, 0]));
        let reason = LostReason::Disposed;
        assert_eq!(returning.learn(&DomainParticipantStatusEvent::ParticipantLost { id, reason }, at(12_000)), None);
        assert!(returning.lost.is_empty() && returning.heard.is_empty());
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn whatever_comes_is_parsed_without_harm(mut bytes in prop::collection::vec(any::<u8>(), 0..200), begins: bool) {
            if begins && bytes.len() >= HEADER + SUBMESSAGE {
                bytes[HEADER] = DATA;
            }
            if let Some(at) = announcement(&bytes) {
                let before = bytes.len();
                renumber(&mut bytes, at, u32::MAX);
                prop_assert_eq!(bytes.len(), before);
            }
        }

        #[test]
        fn any_number_of_participants_is_bounded(many in prop::collection::vec(any::<Prefix>(), 250..400)) {
            let mut returning = Returning::start(201, &[Ipv4Addr::LOCALHOST.into()], None, ([9; 12], 111), Instant::ZERO);
            for (index, prefix) in many.into_iter().enumerate() {
                let now = Instant::from_micros(index as u64 * 60_000);
                insert(&mut returning.heard, prefix, Announcement { message: vec![0; 60], number: NumberField { submessage: 0, begin: 0, little_endian: true }, from: Ipv4Addr::LOCALHOST.into(), at: now });
                insert(&mut returning.lost, prefix, Lost { at: Instant::ZERO, sent_at: None });
                returning.step(now);
                prop_assert!(returning.heard.len() <= MOST && returning.lost.len() <= MOST);
            }
        }
    }
}
