//! Sends any bytes, among them requests in any order and with any damage, to a board's provisioning service, and any
//! answers to the client that sends settings to a board.
#![no_main]

use libfuzzer_sys::fuzz_target;
use outrigger_core::engine::ur::UrSettings;
use outrigger_core::engine::{PortKind, Ports, SETTINGS_FORMAT, SensorInput};
use outrigger_core::mode::Mode;
use outrigger_remote::provision::{
    Answer, BootInfo, CHUNK_MAX, Caller, Fingerprint, Image, PendingRequest, Refusal, Request, Service,
};
use outrigger_wire::checksum::crc32;
use outrigger_wire::time::Instant;

const MODES: [Mode; 5] = [Mode::Offline, Mode::Monitor, Mode::Arming, Mode::Command, Mode::Stopping];
const ROOM: usize = 1024;

/// Passes `stream` to a board's provisioning service in pieces of these lengths. Returns the answers of the service,
/// and the images (settings as bytes) that it accepted for storage.
fn answered(stream: &[u8], mode: Mode, mut pieces: impl Iterator<Item = usize>) -> (Vec<Vec<u8>>, Vec<Vec<u8>>) {
    let mut memory = [0xa5; ROOM];
    let mut board = Service::new(&mut memory);
    let (mut answers, mut kept, mut rest) = (vec![], vec![], stream);
    while !rest.is_empty() {
        let window = board.receive_window();
        assert!(!window.is_empty(), "there is room once everything was looked at");
        let length = pieces.next().unwrap_or(1).max(1).min(rest.len()).min(window.len());
        window[..length].copy_from_slice(&rest[..length]);
        rest = &rest[length..];
        board.commit(length);
        loop {
            match board.poll_asked(mode) {
                None => {}
                Some(PendingRequest::Hello) => board.here(&BootInfo { board: "a board", ..BootInfo::default() }),
                Some(PendingRequest::Keep) => {
                    assert!(matches!(mode, Mode::Offline | Mode::Monitor), "kept in {mode:?}");
                    assert!(board.image().len() <= ROOM);
                    kept.push(board.image().to_vec());
                    board.kept(0, 1);
                }
                Some(PendingRequest::Erase) => {
                    assert!(matches!(mode, Mode::Offline | Mode::Monitor), "erased in {mode:?}");
                    board.erased();
                }
            }
            let Some(answer) = board.poll_output() else { break };
            assert!(answer.starts_with(&[0]) && answer.ends_with(&[0]) && !answer[1..answer.len() - 1].contains(&0));
            answers.push(answer.to_vec());
        }
    }
    (answers, kept)
}

/// Returns a stream to a board: requests, damaged requests and noise, as the steps in `bytes` select them. Also returns
/// the fingerprints of all images (settings as bytes) that the stream announces.
fn stream(bytes: &[u8]) -> (Vec<u8>, Vec<Fingerprint>) {
    let (mut stream, mut announced) = (vec![], vec![]);
    let image: Vec<u8> = (0..700_u32).map(|n| (n * 7) as u8).collect();
    let (mut rest, mut turn) = (bytes, 0);
    while let [step, argument, behind @ ..] = rest {
        rest = behind;
        let argument = usize::from(*argument);
        let whole = Fingerprint::of(&image[..argument * 3 % image.len()]);
        let request = match step % 8 {
            0 => Request::Hello,
            1 => {
                announced.push(whole);
                Request::Begin(whole)
            }
            2 | 3 => {
                let offset = argument * 3 % image.len();
                let end = (offset + CHUNK_MAX).min(image.len());
                Request::Chunk { offset: offset as u32, bytes: &image[offset..end] }
            }
            4 => Request::Commit(announced.last().copied().unwrap_or(whole)),
            5 => Request::Erase,
            6 => {
                // Arbitrary content, in a frame with a valid checksum.
                let (said, behind) = rest.split_at(rest.len().min(argument % 40));
                rest = behind;
                frame(said, &mut stream);
                continue;
            }
            _ => {
                let (noise, behind) = rest.split_at(rest.len().min(argument));
                rest = behind;
                stream.extend_from_slice(noise);
                continue;
            }
        };
        turn += 1;
        let mut sent = request.to_frame(turn).expect("short enough").to_vec();
        if step & 0x80 != 0 {
            let at = argument % sent.len();
            sent[at] ^= 1 << (step >> 4 & 7);
        }
        stream.extend_from_slice(&sent);
    }
    (stream, announced)
}

/// Appends to `stream` a frame with the content `said` and its checksum, stuffed without the code under test.
fn frame(said: &[u8], stream: &mut Vec<u8>) {
    stream.push(0);
    for run in [said, &crc32(said).to_le_bytes()].concat().split(|byte| *byte == 0) {
        stream.push(run.len() as u8 + 1);
        stream.extend_from_slice(run);
    }
    stream.push(0);
}

/// Passes these bytes as a board's answers to `caller`, the tested client of the provisioning service. Checks that its
/// conversation with the board ends.
fn told(bytes: &[u8], caller: &mut Caller<'_>) {
    let (mut now, mut rest) = (Instant::ZERO, bytes);
    for _ in 0..2_000 + bytes.len() {
        let window = caller.receive_window();
        let length = rest.len().min(window.len()).min(64);
        window[..length].copy_from_slice(&rest[..length]);
        rest = &rest[length..];
        caller.commit(length);
        while caller.poll_event(now).is_some() {}
        let _ = caller.poll_output();
        let Some(next) = caller.poll_timeout() else { return };
        if rest.is_empty() {
            now = next;
            caller.handle(now);
            while caller.poll_event(now).is_some() {}
        }
    }
    panic!("no end");
}

/// Checks that settings are either rejected or written back unchanged. The check whether a board can run them must end,
/// and a board with ports must not run settings that need a port it does not have.
fn settings(content: &[u8]) {
    let length = (content.len() as u32).to_le_bytes();
    let head =
        [&b"OUTRIGSET"[..], &[SETTINGS_FORMAT, UrSettings::KIND], &length, &crc32(content).to_le_bytes()].concat();
    let Ok(read) = UrSettings::from_postcard(&[&head, content].concat()) else { return };
    let written = |settings: &UrSettings| {
        let mut out = vec![0; 16 << 10];
        let length = settings.to_postcard(&mut out).expect("enough room");
        out.truncate(length);
        out
    };
    let once = written(&read);
    assert_eq!(written(&UrSettings::from_postcard(&once).expect("what was written")), once);
    let ports = Ports { serial: 1, analog: 2, i2c: 0, spi: 1 };
    if read.device.check().is_ok() && read.device.check_ports(&ports).is_ok() {
        let used: Vec<_> = read.device.sensors.iter().flatten().map(|sensor| sensor.input.port()).collect();
        let has = |(kind, number): &(PortKind, u8)| (1..=ports.of(*kind)).contains(number);
        let alone = |port| used.iter().filter(|other| *other == port).count() == 1;
        assert!(used.iter().all(|port| has(port) && alone(port)), "{used:?}");
        for sensor in read.device.sensors.iter().flatten() {
            if let SensorInput::Ads131m06 { bridges, .. } = sensor.input {
                assert!(bridges.wrench([0.0; 6]).iter().all(|axis| axis.is_finite()), "{bridges:?}");
            }
        }
    }
}

fuzz_target!(|bytes: &[u8]| {
    let [choice, steps @ ..] = bytes else { return };
    settings(steps);
    let mode = MODES[usize::from(*choice) % MODES.len()];
    let (stream, announced) = stream(steps);
    let whole = answered(&stream, mode, std::iter::repeat(usize::MAX));
    let cut = answered(&stream, mode, steps.iter().map(|byte| usize::from(*byte % 50)).cycle());
    assert_eq!(whole, cut);
    for kept in &whole.1 {
        // Frames with arbitrary content may announce an image, too.
        let known = announced.contains(&Fingerprint::of(kept));
        assert!(known || steps.iter().any(|step| step % 8 >= 6), "{kept:?} was not announced");
    }
    // Content that can be read, in either direction, must be writable.
    for content in [steps, &[&[1, 7, 0], steps].concat()] {
        if let Ok((turn, request)) = Request::from_content(content)
            && let Some(frame) = request.to_frame(turn)
        {
            let again = answered(&frame, mode, std::iter::repeat(usize::MAX)).0;
            assert_eq!(again.len(), 1, "{request:?}");
        }
        if let Ok((_, answer)) = Answer::from_content(content) {
            assert!(answer.to_frame(1).is_some(), "{answer:?} has room");
            if let Answer::Refused(refused) = answer {
                assert!(!matches!(refused.why, Refusal::Commanding(mode) if !MODES.contains(&mode)));
            }
        }
        if let Some(image) = Image::from_bytes(content) {
            let mut out = vec![0; image.length()];
            assert_eq!(image.to_bytes(&mut out), Some(out.len()));
            assert_eq!(out, content);
        }
    }
    let image = &[7; 300];
    for mut caller in
        [Caller::look(Instant::ZERO), Caller::put(image, 1, Instant::ZERO), Caller::erase(1, Instant::ZERO)]
    {
        told(&whole.0.concat(), &mut caller);
        told(steps, &mut caller);
    }
});
