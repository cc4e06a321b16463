//! Both sides, with a line between them that loses, duplicates and damages frames, and a board that restarts.

use proptest::prelude::*;

use super::*;
use outrigger_core::mode::Mode;
use outrigger_wire::time::{Duration, Instant};

const ROOM: usize = 2048;
const MODES: [Mode; 5] = [Mode::Offline, Mode::Monitor, Mode::Arming, Mode::Command, Mode::Stopping];

fn image(length: usize) -> Vec<u8> {
    (0..length).map(|n| (n * 7 + n / 251) as u8).collect()
}

/// Returns the content of a frame.
fn content(frame: &[u8]) -> Vec<u8> {
    let mut intake = frame_extraction::Intake::new();
    intake.window()[..frame.len()].copy_from_slice(frame);
    intake.commit(frame.len());
    assert!(intake.poll(), "one whole frame");
    intake.content().to_vec()
}

fn fingerprint() -> impl Strategy<Value = Fingerprint> {
    (any::<u32>(), any::<u32>()).prop_map(|(length, crc)| Fingerprint { length, crc })
}

fn refusal() -> impl Strategy<Value = Refusal> {
    let pair = (any::<u32>(), any::<u32>());
    prop_oneof![
        (any::<u8>(), any::<u8>()).prop_map(|(found, expected)| Refusal::OtherVersion { found, expected }),
        (any::<u8>(), any::<u8>()).prop_map(|(found, expected)| Refusal::OtherKind { found, expected }),
        (any::<u8>(), any::<u8>()).prop_map(|(found, expected)| Refusal::OtherFormat { found, expected }),
        (0..5_usize).prop_map(|mode| Refusal::Commanding(MODES[mode])),
        pair.prop_map(|(found, expected)| Refusal::TooLong { found, expected }),
        pair.prop_map(|(found, expected)| Refusal::Gap { found, expected }),
        pair.prop_map(|(found, expected)| Refusal::Incomplete { found, expected }),
        pair.prop_map(|(found, expected)| Refusal::Damaged { found, expected }),
        any::<u32>().prop_map(|at| Refusal::Flash { at }),
        Just(Refusal::NoRequest),
        Just(Refusal::NoBegin),
        Just(Refusal::NoImage),
        Just(Refusal::NoSettings),
        Just(Refusal::Unfit),
        Just(Refusal::NoRequests),
        Just(Refusal::NoMotion),
    ]
}

fn copy() -> impl Strategy<Value = Copy> {
    prop_oneof![Just(Copy::Empty), Just(Copy::Damaged), Just(Copy::Refused), Just(Copy::Older), Just(Copy::InForce)]
}

proptest! {
    #[test]
    fn requests_are_read_as_they_were_written(
        turn in any::<u16>(), which in 0..5, whole in fingerprint(), offset in any::<u32>(),
        bytes in prop::collection::vec(any::<u8>(), 0..=CHUNK_MAX),
    ) {
        let request = match which {
            0 => Request::Hello,
            1 => Request::Begin(whole),
            2 => Request::Chunk { offset, bytes: &bytes },
            3 => Request::Commit(whole),
            _ => Request::Erase,
        };
        let frame = request.to_frame(turn).expect("short enough");
        let content = content(&frame);
        prop_assert_eq!(Request::from_content(&content), Ok((turn, request)));
    }

    #[test]
    fn answers_are_read_as_they_were_written(
        turn in any::<u16>(), which in 0..6, numbers in any::<[u32; 5]>(), bytes in any::<[u8; 3]>(),
        flags in any::<[bool; 3]>(), mode in 0..5_usize, in_force in fingerprint(), copies in [copy(), copy()],
        board in "[ -~]{0,48}", build in "[ -~]{0,48}", why in "[ -~]{0,96}", refusal in refusal(),
    ) {
        let [boot, room, sequence, received, _] = numbers;
        let [kind, format, copy] = bytes;
        let [requests, motion, flash] = flags;
        let origin = if flash { Origin::Flash { copy, sequence } } else { Origin::CompiledIn };
        let here = BootInfo {
            board: &board, build: &build, boot, kind, format, room, requests, motion, mode: MODES[mode], origin,
            in_force, copies, why: &why,
        };
        let answer = match which {
            0 => Answer::Here(here),
            1 => Answer::Received(received),
            2 => Answer::Writing,
            3 => Answer::Kept { copy, sequence },
            4 => Answer::Erased,
            _ => Answer::Refused(Refused { why: refusal, text: &why }),
        };
        let frame = answer.to_frame(turn).expect("short enough");
        let content = content(&frame);
        prop_assert_eq!(Answer::from_content(&content), Ok((turn, answer)));
    }

    #[test]
    fn images_are_read_as_they_were_written(
        settings in prop::collection::vec(any::<u8>(), 0..300), port in any::<bool>(),
        motion in prop::collection::vec(any::<u8>(), 0..300), cut in any::<prop::sample::Index>(),
    ) {
        let requests = vec![7; if port { REQUESTS_LEN } else { 0 }];
        let image = Image { settings: &settings, requests: &requests, motion: &motion };
        let mut bytes = vec![0; image.length()];
        prop_assert_eq!(image.to_bytes(&mut bytes), Some(bytes.len()));
        prop_assert_eq!(Image::from_bytes(&bytes), Some(image));
        let short = bytes.len() - 1;
        prop_assert_eq!(image.to_bytes(&mut vec![0; short]), None);
        // Only the motion, as the last part, has no length of its own.
        let cut = cut.index(bytes.len());
        let read = Image::from_bytes(&bytes[..cut]);
        prop_assert_eq!(read.is_some(), cut >= bytes.len() - motion.len());
    }

    /// The answers do not depend on the pieces in which bytes arrive, nor on earlier bytes on the line.
    #[test]
    fn a_stream_cut_in_two_ways_is_answered_the_same(
        noise in prop::collection::vec(any::<u8>(), 0..600), pieces in prop::collection::vec(1..90_usize, 1..40),
    ) {
        let image = image(500);
        let whole = Fingerprint::of(&image);
        let mut stream = noise;
        let mut requests = vec![Request::Hello, Request::Begin(whole)];
        requests.extend((0_u32..).zip(image.chunks(100)).map(|(n, bytes)| Request::Chunk { offset: n * 100, bytes }));
        requests.push(Request::Commit(whole));
        for (turn, request) in (1..).zip(requests) {
            stream.extend_from_slice(&request.to_frame(turn).expect("short enough"));
        }
        let answered = |pieces: &mut dyn Iterator<Item = usize>| {
            let (mut memory, mut answers) = (vec![0; ROOM], vec![]);
            let mut board = Service::new(&mut memory);
            let mut rest = &stream[..];
            while !rest.is_empty() {
                let window = board.receive_window();
                let length = pieces.next().unwrap_or(1).min(rest.len()).min(window.len());
                window[..length].copy_from_slice(&rest[..length]);
                rest = &rest[length..];
                board.commit(length);
                loop {
                    let asked = board.poll_asked(Mode::Monitor);
                    match asked {
                        Some(PendingRequest::Hello) => board.here(&BootInfo::default()),
                        Some(PendingRequest::Keep | PendingRequest::Erase) => board.writing(),
                        None => {}
                    }
                    let Some(answer) = board.poll_output() else { break };
                    answers.push((asked, answer));
                }
            }
            let kept = board.image().to_vec();
            (answers, kept)
        };
        let (whole, kept) = answered(&mut std::iter::repeat(usize::MAX));
        let cut = answered(&mut pieces.into_iter().cycle());
        // Noise is a valid frame only by a coincidence of 32 bits.
        prop_assert_eq!(whole.last().map(|(asked, _)| *asked), Some(Some(PendingRequest::Keep)));
        prop_assert_eq!(&kept, &image);
        prop_assert_eq!((whole, kept), cut);
    }
}

/// A board with its flash: the settings in force since the start, and the settings written since.
struct Board {
    memory: Vec<u8>,
    boot: u32,
    in_force: Option<Vec<u8>>,
    mode: Mode,
    refuses: Option<Refusal>,
}

/// The serial line between a client and a board: each frame is lost, duplicated or damaged as `faults` says, in order.
struct World<'f> {
    now: Instant,
    faults: &'f mut dyn FnMut() -> Fault,
    /// The numbers of those requests, counted from 1, before whose answer the board restarts.
    starts: Vec<usize>,
    /// `true` if the power fails while the board writes its flash.
    cut: bool,
    asked: usize,
}

#[derive(Clone, std::marker::Copy, Debug, PartialEq, Eq)]
enum Fault {
    None,
    Lost,
    Doubled,
    Damaged(usize),
}

impl World<'_> {
    fn over(&mut self, frame: &[u8]) -> Vec<u8> {
        match (self.faults)() {
            Fault::None => frame.to_vec(),
            Fault::Lost => vec![],
            Fault::Doubled => [frame, frame].concat(),
            Fault::Damaged(at) => {
                let mut hurt = frame.to_vec();
                hurt[at % frame.len()] ^= 0x40;
                hurt
            }
        }
    }

    /// Runs the exchange between client and board until the client waits for nothing more. Returns the client's last
    /// event and all of its events, as text.
    fn talk(&mut self, caller: &mut Caller<'_>, board: &mut Board) -> (String, Vec<String>) {
        let mut memory = std::mem::take(&mut board.memory);
        let mut service = Service::new(&mut memory);
        let mut events = vec![];
        loop {
            while let Some(event) = caller.poll_event(self.now) {
                events.push(format!("{event:?}"));
            }
            let Some(next) = caller.poll_timeout() else { break };
            let Some(request) = caller.poll_output() else {
                self.now = next;
                caller.handle(self.now);
                continue;
            };
            let mut arriving = &self.over(&request)[..];
            let mut back = vec![];
            while !arriving.is_empty() {
                let window = service.receive_window();
                let length = arriving.len().min(window.len());
                window[..length].copy_from_slice(&arriving[..length]);
                arriving = &arriving[length..];
                service.commit(length);
                loop {
                    let mut restarts = false;
                    let asked = service.poll_asked(board.mode);
                    match asked {
                        None => {}
                        Some(PendingRequest::Hello) => {
                            let in_force = board.in_force.as_deref().map(Fingerprint::of).unwrap_or_default();
                            let origin = match board.in_force {
                                Some(_) => Origin::Flash { copy: 0, sequence: 1 },
                                None => Origin::CompiledIn,
                            };
                            service.here(&BootInfo { boot: board.boot, in_force, origin, ..BootInfo::default() });
                        }
                        Some(PendingRequest::Keep) => match board.refuses {
                            Some(why) => service.refuse(why, "as told"),
                            None => {
                                service.writing();
                                back.extend(service.poll_output().map(|frame| self.over(&frame)));
                                restarts = true;
                                if !self.cut {
                                    board.in_force = Some(service.image().to_vec());
                                    service.kept(0, 1);
                                }
                            }
                        },
                        Some(PendingRequest::Erase) => {
                            service.writing();
                            back.extend(service.poll_output().map(|frame| self.over(&frame)));
                            board.in_force = None;
                            service.erased();
                            restarts = true;
                        }
                    }
                    let answer = service.poll_output();
                    if answer.is_none() && !restarts {
                        break;
                    }
                    self.asked += 1;
                    if self.starts.contains(&self.asked) {
                        restarts = true;
                    } else {
                        back.extend(answer.map(|frame| self.over(&frame)));
                    }
                    if restarts {
                        board.boot += 1;
                        drop(service);
                        memory.fill(0xa5);
                        service = Service::new(&mut memory);
                        arriving = &[];
                        break;
                    }
                }
            }
            for byte in back.into_iter().flatten() {
                caller.receive_window()[0] = byte;
                caller.commit(1);
                while let Some(event) = caller.poll_event(self.now) {
                    events.push(format!("{event:?}"));
                }
            }
        }
        board.memory = memory;
        (events.last().cloned().unwrap_or_default(), events)
    }
}

fn board() -> Board {
    Board { memory: vec![0; ROOM], boot: 1, in_force: None, mode: Mode::Monitor, refuses: None }
}

fn world(faults: &mut dyn FnMut() -> Fault) -> World<'_> {
    World { now: Instant::ZERO, faults, starts: vec![], cut: false, asked: 0 }
}

#[test]
fn a_board_is_told_told_again_and_made_to_forget() {
    let mut none = || Fault::None;
    let (mut world, mut board) = (world(&mut none), board());
    let image = image(1000);
    let (last, _) = world.talk(&mut Caller::look(Instant::ZERO), &mut board);
    assert!(last.starts_with("Here(BootInfo { board") && last.contains("origin: CompiledIn"), "{last}");
    let (last, events) = world.talk(&mut Caller::put(&image, 1, world.now), &mut board);
    let short: Vec<_> = events.iter().map(|event| event.split([' ', '(']).next().unwrap_or_default()).collect();
    assert_eq!(short, ["Sent", "Sent", "Sent", "Sent", "Sent", "Sent", "Writing", "Kept", "Restarted"], "{last}");
    assert_eq!(board.in_force.as_ref(), Some(&image));
    let (last, _) = world.talk(&mut Caller::erase(board.boot, world.now), &mut board);
    assert!(last.starts_with("Restarted") && board.in_force.is_none(), "{last}");
}

#[test]
fn what_a_board_refuses_ends_it_with_what_was_found_and_expected() {
    let refused = |mode, length: usize, refuses| {
        let mut none = || Fault::None;
        let (mut world, mut board) = (world(&mut none), Board { mode, refuses, ..board() });
        let image = image(length);
        let (last, _) = world.talk(&mut Caller::put(&image, 1, world.now), &mut board);
        assert_eq!((board.boot, board.in_force), (1, None));
        last
    };
    for mode in [Mode::Arming, Mode::Command, Mode::Stopping] {
        let expected = format!("Refused(Refused {{ why: Commanding({mode:?}), text: \"\" }})");
        assert_eq!(refused(mode, 100, None), expected);
    }
    let expected = "Refused(Refused { why: TooLong { found: 2049, expected: 2048 }, text: \"\" })";
    assert_eq!(refused(Mode::Monitor, ROOM + 1, None), expected);
    let expected = "Refused(Refused { why: Unfit, text: \"as told\" })";
    assert_eq!(refused(Mode::Offline, ROOM, Some(Refusal::Unfit)), expected);
}

#[test]
fn the_service_refuses_pieces_that_fit_nothing() {
    let image = image(300);
    let whole = Fingerprint::of(&image);
    let mut memory = vec![0; ROOM];
    let mut board = Service::new(&mut memory);
    let mut ask = |request: Request<'_>| {
        let frame = request.to_frame(9).expect("short enough");
        board.receive_window()[..frame.len()].copy_from_slice(&frame);
        board.commit(frame.len());
        assert_eq!(board.poll_asked(Mode::Monitor), None);
        let answer = content(&board.poll_output().expect("an answer"));
        match Answer::from_content(&answer) {
            Ok((9, Answer::Received(bytes))) => Ok(bytes),
            Ok((9, Answer::Refused(refused))) => Err(refused.why),
            other => panic!("{other:?}"),
        }
    };
    let chunk = |from: usize, to: usize| Request::Chunk { offset: from as u32, bytes: &image[from..to] };
    assert_eq!(ask(chunk(0, 100)), Err(Refusal::NoBegin));
    assert_eq!(ask(Request::Commit(whole)), Err(Refusal::NoBegin));
    assert_eq!(ask(Request::Begin(whole)), Ok(0));
    assert_eq!(ask(chunk(100, 200)), Err(Refusal::Gap { found: 100, expected: 0 }));
    assert_eq!(ask(chunk(0, 150)), Ok(150));
    // Repeated pieces, overlapping pieces and the same beginning change nothing.
    assert_eq!([ask(chunk(0, 150)), ask(chunk(50, 120)), ask(Request::Begin(whole))], [Ok(150); 3]);
    assert_eq!(ask(Request::Commit(whole)), Err(Refusal::Incomplete { found: 150, expected: 300 }));
    let behind = Request::Chunk { offset: 150, bytes: &[0; 151] };
    assert_eq!(ask(behind), Err(Refusal::TooLong { found: 301, expected: 300 }));
    assert_eq!(ask(Request::Chunk { offset: 150, bytes: &[0; 150] }), Ok(300));
    let damaged = ask(Request::Commit(whole));
    assert!(matches!(damaged, Err(Refusal::Damaged { expected, .. }) if expected == whole.crc), "{damaged:?}");
    // A damaged image is not continued.
    assert_eq!(ask(Request::Begin(whole)), Ok(0));
}

#[test]
fn another_version_is_told_so_and_what_is_no_request_as_well() {
    let mut memory = vec![0; ROOM];
    let mut board = Service::new(&mut memory);
    let mut ask = |said: &[u8]| {
        let sum = outrigger_wire::checksum::crc32(said).to_le_bytes();
        let frame = outrigger_wire::cobs::framed::<FRAME_MAX>(&[said, &sum].concat()).expect("short enough");
        board.receive_window()[..frame.len()].copy_from_slice(&frame);
        board.commit(frame.len());
        assert_eq!(board.poll_asked(Mode::Monitor), None);
        board.poll_output().map(|frame| format!("{:?}", Answer::from_content(&content(&frame)).expect("an answer")))
    };
    let other = ask(&[VERSION + 1, 5, 0, 200, 201, 202]);
    assert_eq!(
        other.as_deref(),
        Some("(5, Refused(Refused { why: OtherVersion { found: 2, expected: 1 }, text: \"\" }))")
    );
    let unknown = ask(&[VERSION, 6, 0, 200]);
    assert_eq!(unknown.as_deref(), Some("(6, Refused(Refused { why: NoRequest, text: \"\" }))"));
    assert_eq!(ask(&[VERSION]), None);
}

#[test]
fn a_board_that_never_answers_is_given_up_in_bounded_time() {
    let mut lost = || Fault::Lost;
    let mut world = world(&mut lost);
    for mut caller in [Caller::look(Instant::ZERO), Caller::put(b"image", 1, Instant::ZERO)] {
        world.now = Instant::ZERO;
        let (last, _) = world.talk(&mut caller, &mut board());
        assert_eq!((last.as_str(), world.now), ("Silent { heard: false }", Instant::ZERO + Duration::from_secs(5)));
    }
    // A request that may have been carried out is queried for longer.
    world.now = Instant::ZERO;
    let (last, _) = world.talk(&mut Caller::erase(1, Instant::ZERO), &mut board());
    assert_eq!(last, "Lost");
    assert!(world.now <= Instant::ZERO + Duration::from_secs(66), "{:?}", world.now);
}

#[test]
fn a_board_that_starts_anew_before_any_answer_has_the_image_or_not_and_says_so() {
    let image = image(700);
    for start in 1..=8 {
        for cut in [false, true] {
            let mut none = || Fault::None;
            let (mut world, mut board) = (world(&mut none), board());
            (world.starts, world.cut) = (vec![start], cut);
            let (last, events) = world.talk(&mut Caller::put(&image, 1, world.now), &mut board);
            let runs = board.in_force.as_ref() == Some(&image);
            assert!(last.starts_with("Restarted"), "{start} {cut}: {events:?}");
            assert_eq!(runs, !cut, "{start}: {events:?}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn over_a_bad_line_a_board_has_the_image_or_nothing(
        faults in prop::collection::vec(
            prop_oneof![
                6 => Just(Fault::None), 1 => Just(Fault::Lost), 1 => Just(Fault::Doubled),
                1 => (0..250_usize).prop_map(Fault::Damaged),
            ],
            200,
        ),
        length in 1..ROOM,
    ) {
        // After eight frames of any fate three arrive, so that a request and its answer get through within the ten
        // attempts.
        let spared = |(number, fault)| if number % 11 < 8 { fault } else { Fault::None };
        let mut faults = faults.into_iter().enumerate().map(spared).chain(std::iter::repeat(Fault::None));
        let mut next = || faults.next().unwrap_or(Fault::None);
        let (mut world, mut board) = (world(&mut next), board());
        let image = image(length);
        let (last, events) = world.talk(&mut Caller::put(&image, 1, world.now), &mut board);
        prop_assert!(last.starts_with("Restarted"), "{:?}", events);
        prop_assert_eq!(board.in_force, Some(image));
        prop_assert!(world.now <= Instant::ZERO + Duration::from_secs(60));
    }
}
