//! Foreign connections from the controller's address, on each port, and the proof that our program has to give.

use super::*;
use crate::engine::ur::command_path::Delivery;
use outrigger_wire::program_messages::Hello;

const PATHS: [CommandPath; 5] = [
    CommandPath::ReverseSpeedJ,
    CommandPath::ReverseServoJ,
    CommandPath::Buffered,
    CommandPath::Player,
    CommandPath::ExternalControl,
];
/// The links over which a program connects: the one of orders, then those of External Control.
const PORTS: [LinkId; 3] = [LinkId::REVERSE, LinkId::TRAJECTORY, LinkId::COMMAND];

struct Bench {
    reverse: Reverse,
    config: UrConfig,
    now: Instant,
    news: Vec<ProgramEvent>,
    /// The links that were reset; `listens` has the indices of the links that wait for a connection.
    aborted: Vec<LinkId>,
    listens: HashSet<u8>,
    /// The bytes that were sent: orders and points, texts to 30003, and texts to the URCap.
    sent: [usize; 3],
}

impl Bench {
    fn new(path: CommandPath, by: Delivery) -> Self {
        let mut config = config(path);
        config.peer.program.by = by;
        let mut reverse = Reverse::new(&config.peer, config.limits);
        reverse.ends(HERE, ROBOT);
        reverse.open(SoftwareVersion::new(5, 15), PERIOD, &config);
        let now = Instant::from_micros(9_000_000);
        let (news, aborted, listens) = (vec![], vec![], HashSet::new());
        let mut bench = Self { reverse, config, now, news, aborted, listens, sent: [0; 3] };
        bench.drain();
        bench
    }

    /// Returns a bench that has sent its program as text to 30003 and waits for the program to connect.
    fn called(path: CommandPath) -> Self {
        let mut bench = Self::new(path, Delivery::Text);
        bench.hold();
        assert!(bench.sent[1] > 1_000 && matches!(bench.reverse.stage, ProgramStage::Called(_)), "{path:?}");
        bench
    }

    /// Passes a cycle in which a zero velocity is due.
    fn hold(&mut self) {
        self.reverse.prepare(self.now, Mode::Arming, Some(&State::default()), Pause::default());
        self.reverse.write(Verdict::Hold).unwrap();
        self.drain();
    }

    fn drain(&mut self) {
        while self.reverse.is_waiting() && self.reverse.fetch(&self.config) {
            match self.reverse.poll_output().expect("something") {
                Output::Listen { link, .. } => _ = self.listens.insert(link.index() as u8),
                Output::Abort(link) => self.aborted.push(link),
                Output::Transmit { link: LinkId::REALTIME, bytes, .. } => self.sent[1] += bytes.len(),
                Output::Transmit { link: LinkId::SCRIPT, bytes, .. } => self.sent[2] += bytes.len(),
                Output::Transmit { bytes, .. } => self.sent[0] += bytes.len(),
                output => panic!("{output:?}"),
            }
        }
    }

    fn connects(&mut self, link: LinkId) {
        assert!(self.listens.remove(&(link.index() as u8)), "nobody listens on {link:?}");
        self.news.extend(self.reverse.accepted(link, SocketAddr::new(ROBOT, 40_000), self.now));
        self.drain();
    }

    fn says(&mut self, link: LinkId, bytes: &[u8]) {
        let window = match link {
            LinkId::REVERSE => self.reverse.window(),
            LinkId::SCRIPT => self.reverse.asking_window(),
            LinkId::TRAJECTORY => self.reverse.result_window(),
            _ => self.reverse.ignored(),
        };
        let count = bytes.len().min(window.len());
        window[..count].copy_from_slice(&bytes[..count]);
        match link {
            LinkId::REVERSE => self.reverse.commit(count, self.now, |news| self.news.push(news)),
            LinkId::SCRIPT => self.news.extend(self.reverse.asked(count, self.now)),
            _ => self.news.extend(self.reverse.commit_foreign(link, count, self.now)),
        }
        self.drain();
    }

    fn passes(&mut self, millis: u64) {
        self.now = self.now + Duration::from_millis(millis);
        let reason = self.reverse.wake(STALE, self.now, |news| self.news.push(news));
        assert_eq!(reason, None);
        self.drain();
    }

    /// Returns the first bytes that the program of the newest program text sends on this link, to prove that it is
    /// ours.
    fn proof(&self, link: LinkId) -> Vec<u8> {
        let Made { path, kind, token, .. } = self.reverse.made.expect("a text");
        if path == CommandPath::ExternalControl {
            return token.to_be_bytes().to_vec();
        }
        assert_eq!(link, LinkId::REVERSE);
        let mut hello = vec![0; Hello::LEN];
        HelloRepr { version: Hello::VERSION, kind, token }.emit(&mut hello).unwrap();
        hello
    }

    /// Connects the program of the newest program text over all of its links, each with its proof.
    fn ours_connects(&mut self) {
        for link in self.ports() {
            self.connects(link);
            let proof = self.proof(link);
            self.says(link, &proof);
        }
        assert!(self.reverse.is_ready(), "{:?}", self.news);
        assert_eq!(self.news.pop(), Some(ProgramEvent::Connected));
    }

    /// Returns the ports in the order in which a program connects to them.
    fn ports(&self) -> Vec<LinkId> {
        let foreign = self.config.peer.path == CommandPath::ExternalControl;
        if foreign { vec![LinkId::TRAJECTORY, LinkId::COMMAND, LinkId::REVERSE] } else { vec![LinkId::REVERSE] }
    }

    /// Passes a cycle in which a zero velocity is due. Asserts that no connection counts as that of our program, and
    /// that nothing is sent over one.
    fn has_no_partner(&mut self, what: &str) {
        self.hold();
        let resident = self.reverse.resident(self.now).expect("a program carries the commands");
        assert!(!self.reverse.is_ready() && !resident.connected && !resident.mirrors.value, "{what}");
        assert_eq!((self.sent[0], self.reverse.figures(self.now)), (0, None), "{what}");
        assert!(matches!(self.reverse.stage, ProgramStage::Called(_)), "{what}: {:?}", self.reverse.stage);
    }
}

/// Returns the bytes that imposters send, and whether they are recognised as foreign at once.
fn imposters(bench: &Bench, link: LinkId, older: &[u8]) -> Vec<(&'static str, Vec<u8>, bool)> {
    let proof = bench.proof(link);
    let random = b"\x9C\x01\xFF\x37\xA0\x55\x12\xEE\x08\x7B\xC3\x61\xD4\x2F\x90\x4A";
    vec![
        ("silence", vec![], false),
        ("random bytes", random.to_vec(), true),
        ("the URCap's question", b"request_program\n".to_vec(), true),
        ("half a greeting", proof[..proof.len() / 2].to_vec(), false),
        ("a greeting of the last session", older.to_vec(), true),
        ("zeros", vec![0; 16], true),
    ]
}

#[test]
fn a_connection_without_a_proof_is_no_partner_on_any_port_and_is_named_and_closed() {
    for path in PATHS {
        let foreign = path == CommandPath::ExternalControl;
        for link in &PORTS[..if foreign { 3 } else { 1 }] {
            let mut before = Bench::called(path);
            let older = before.proof(*link);
            before.reverse.close();
            before.reverse.open(SoftwareVersion::new(5, 15), PERIOD, &before.config);
            before.now = before.now + Duration::from_secs(2);
            before.sent = [0; 3];
            before.drain();
            before.hold();
            for (what, says, at_once) in imposters(&before, *link, &older) {
                let mut bench = Bench::called(path);
                bench.reverse.made = before.reverse.made;
                bench.connects(*link);
                bench.has_no_partner(what);
                if !says.is_empty() {
                    bench.says(*link, &says);
                }
                bench.has_no_partner(what);
                assert_eq!(!bench.news.is_empty(), at_once, "{path:?} {link:?} {what}: {:?}", bench.news);
                let texts = bench.sent[1];
                bench.passes(1_001);
                bench.has_no_partner(what);
                let [ProgramEvent::Other { link: named, bytes, said, .. }] = bench.news[..] else {
                    panic!("{path:?} {link:?} {what}: {:?}", bench.news)
                };
                assert_eq!((named, bytes > 0), (*link, !says.is_empty()), "{path:?} {what}");
                if at_once {
                    assert_eq!(said.to_be_bytes(), says[..4], "{path:?} {link:?} {what}");
                }
                assert_eq!(bench.aborted, [*link], "{path:?} {what}");
                assert_eq!(bench.sent[1], texts, "{path:?} {what}: no other text goes out for it");
                // The real one connects.
                bench.news.clear();
                bench.ours_connects();
            }
        }
    }
}

#[test]
fn one_that_comes_just_before_our_program_keeps_it_out_for_a_bounded_time_only() {
    for path in PATHS {
        let mut bench = Bench::called(path);
        let stage = bench.reverse.stage;
        // Each of them lasts as long as it may, and one closes itself.
        for _ in 0..2 {
            bench.connects(LinkId::REVERSE);
            let due = bench.reverse.next_deadline(STALE, bench.now).expect("it is waited for");
            assert!(due.since(bench.now) <= GREETING + Duration::from_micros(1), "{path:?}");
            bench.passes(1_001);
        }
        bench.connects(LinkId::REVERSE);
        bench.news.extend(bench.reverse.closed());
        bench.drain();
        assert_eq!((bench.reverse.stage, bench.reverse.others), (stage, 3), "{path:?}");
        assert_eq!(bench.news.len(), 2, "{path:?}: the first and the second are told, {:?}", bench.news);
        bench.news.clear();
        bench.ours_connects();
        assert_eq!(bench.reverse.others, 0);
    }
}

#[test]
fn a_proof_in_any_pieces_is_one_and_a_byte_too_many_is_none() {
    for path in PATHS {
        let mut bench = Bench::called(path);
        for link in bench.ports() {
            bench.connects(link);
            for byte in bench.proof(link) {
                assert!(!bench.reverse.is_ready());
                bench.says(link, &[byte]);
            }
        }
        assert_eq!((bench.reverse.is_ready(), &bench.news[..]), (true, &[ProgramEvent::Connected][..]), "{path:?}");
    }
    let mut bench = Bench::called(CommandPath::ExternalControl);
    for link in PORTS {
        bench.connects(link);
        let proof = bench.proof(link);
        bench.says(link, &proof[..3]);
        bench.says(link, &[proof[3], 7]);
        assert!(!bench.reverse.is_ready() && !bench.reverse.door_mut(link).is_taken(), "{link:?}");
    }
}

/// Checks that the URCap gets the same program text for a whole session, so that neither the program that runs nor one
/// that is about to connect loses its proof.
#[test]
fn whoever_asks_for_the_text_displaces_no_program() {
    for path in PATHS {
        let mut bench = Bench::new(path, Delivery::UrCap);
        let ask = |bench: &mut Bench| {
            bench.connects(LinkId::SCRIPT);
            let before = bench.sent[2];
            bench.says(LinkId::SCRIPT, b"request_program\n");
            assert!(bench.sent[2] - before > 1_000, "{path:?}");
            bench.news.extend(bench.reverse.answered());
            bench.drain();
        };
        ask(&mut bench);
        let made = bench.reverse.made;
        ask(&mut bench);
        assert_eq!(bench.reverse.made, made);
        bench.ours_connects();
        ask(&mut bench);
        assert!(bench.reverse.is_ready() && bench.reverse.made == made, "{path:?}");
        assert_eq!((&bench.news[..], &bench.aborted[..]), (&[][..], &[][..]), "{path:?}");
        // Another session has another text.
        bench.reverse.close();
        assert_eq!(bench.reverse.made, None);
    }
}

#[test]
fn at_the_port_for_the_text_anything_but_the_question_is_named_and_closed() {
    for (says, waits) in [(&b""[..], 2_001), (b"request", 2_001), (b"GET / HTTP/1.1", 0), (b"request_program\n\n", 0)] {
        let mut bench = Bench::new(CommandPath::ReverseSpeedJ, Delivery::UrCap);
        bench.connects(LinkId::SCRIPT);
        bench.says(LinkId::SCRIPT, says);
        assert_eq!(bench.news.is_empty(), waits > 0, "{:?}", bench.news);
        bench.passes(waits);
        let bytes = says.len() as u8;
        let [ProgramEvent::Other { link: LinkId::SCRIPT, bytes: came, .. }] = bench.news[..] else {
            panic!("{says:?}: {:?}", bench.news)
        };
        assert_eq!((came, bench.sent[2], bench.aborted.len()), (bytes, 0, 1), "{says:?}");
    }
}

#[test]
fn a_part_of_our_program_that_is_lost_ends_it_and_no_point_goes_over_another_connection() {
    for lost in [LinkId::TRAJECTORY, LinkId::COMMAND] {
        let mut bench = Bench::called(CommandPath::ExternalControl);
        bench.ours_connects();
        // As if a point could not be written in time: the port has closed the connection.
        bench.news.extend(bench.reverse.closed_beside(lost));
        bench.drain();
        assert_eq!(bench.news, [ProgramEvent::Ended(Ending::None)], "{lost:?}");
        assert!(!bench.reverse.is_ready() && bench.aborted.contains(&LinkId::REVERSE), "{lost:?}");
        let sent = bench.sent[0];
        bench.hold();
        assert_eq!((bench.sent[0], bench.reverse.has_points()), (sent, false), "{lost:?}");
    }
}

#[test]
fn a_result_that_was_cut_is_not_completed_by_the_next_connection() {
    let mut bench = Bench::called(CommandPath::ExternalControl);
    bench.connects(LinkId::TRAJECTORY);
    let proof = bench.proof(LinkId::TRAJECTORY);
    bench.says(LinkId::TRAJECTORY, &proof);
    bench.says(LinkId::TRAJECTORY, &[0, 0]);
    bench.news.extend(bench.reverse.closed_beside(LinkId::TRAJECTORY));
    bench.drain();
    bench.ours_connects();
    bench.says(LinkId::TRAJECTORY, &[0, 0, 0, 1]);
    assert_eq!(bench.news, [ProgramEvent::Trajectory(outrigger_wire::trajectory_messages::TrajectoryResult::Canceled)]);
}

/// Checks UR's own program, which has no token: it counts as connected with all of its connections, and sends nothing
/// on the one for orders.
#[test]
fn of_a_program_that_is_not_ours_all_connections_are_needed_and_it_says_nothing() {
    let mut bench = Bench::new(CommandPath::ExternalControl, Delivery::Nobody);
    bench.connects(LinkId::REVERSE);
    assert!(!bench.reverse.is_ready() && bench.news.is_empty());
    bench.passes(1_001);
    assert!(
        matches!(bench.news[..], [ProgramEvent::Other { link: LinkId::REVERSE, bytes: 0, .. }]),
        "{:?}",
        bench.news
    );
    bench.connects(LinkId::REVERSE);
    bench.says(LinkId::REVERSE, b"request_program\n");
    assert!(matches!(bench.news[1..], [ProgramEvent::Other { bytes: 16, said: 0x7265_7175, .. }]), "{:?}", bench.news);
    for link in [LinkId::TRAJECTORY, LinkId::COMMAND, LinkId::REVERSE] {
        assert!(!bench.reverse.is_ready());
        bench.connects(link);
    }
    assert_eq!((bench.reverse.is_ready(), bench.news.pop()), (true, Some(ProgramEvent::Connected)));
    bench.aborted.clear();
    bench.says(LinkId::REVERSE, b"requ");
    assert!(!bench.reverse.is_ready() && bench.aborted.contains(&LinkId::REVERSE));
    assert!(matches!(bench.news.last(), Some(ProgramEvent::Other { bytes: 4, .. })), "{:?}", bench.news);
}

/// Checks the mark in a point of a trajectory: the token minus the number of the motion. A point that was cut has
/// another number there. UR's own program gets the number of the motion.
#[test]
fn points_for_our_program_carry_its_token() {
    use outrigger_wire::trajectory_messages::{MotionType, TrajectoryPointRepr};
    let bench = Bench::called(CommandPath::ExternalControl);
    let token = bench.reverse.made.unwrap().token;
    assert!(token >= 0x4000_0000, "far from any number of a point");
    let point = TrajectoryPointRepr::move_j([1; 6], 2, 3);
    let marked = external_trajectory::marked(point, bench.reverse.made);
    assert_eq!(marked.motion.raw(), token - MotionType::MoveJ.raw());
    assert_eq!(external_trajectory::marked(point, None), point, "UR's own takes no other number");
}
