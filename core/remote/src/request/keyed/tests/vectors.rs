//! Published test vectors of the authentication code, and complete exchanges as bytes.

use super::*;

fn bytes(hex: &str) -> Vec<u8> {
    let digits: Vec<_> = hex.chars().filter(|digit| !digit.is_whitespace()).collect();
    let byte = |pair: &[char]| u8::from_str_radix(&String::from_iter(pair), 16).expect("hexadecimal");
    digits.chunks(2).map(byte).collect()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Checks the authentication code with those vectors of RFC 4231 for HMAC-SHA-256 whose keys have at most 32 bytes, the
/// length of a key here.
#[test]
fn the_code_is_hmac_sha_256() {
    for (key, data, expected) in [
        ("0b".repeat(20), hex(b"Hi There"), "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"),
        (
            hex(b"Jefe"),
            hex(b"what do ya want for nothing?"),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843",
        ),
        ("aa".repeat(20), "dd".repeat(50), "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe"),
        (
            "0102030405060708090a0b0c0d0e0f10111213141516171819".into(),
            "cd".repeat(50),
            "82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b",
        ),
    ] {
        let mut padded = [0; 32];
        let key = bytes(&key);
        padded[..key.len()].copy_from_slice(&key);
        let (key, data) = (Key::new(&padded), bytes(&data));
        assert_eq!(hex(&key.tag(&[&data])), expected);
        let (begin, end) = data.split_at(data.len() / 2);
        let mut tag = key.tag(&[begin, &[], end]);
        assert_eq!(hex(&tag), expected, "in pieces");
        assert!(key.holds(&[&data], &tag));
        tag[31] ^= 1;
        assert!(!key.holds(&[&data], &tag));
    }
}

struct Exchange {
    ask: ClientRequest<'static>,
    key: [u8; 32],
    seed: [u8; 32],
    nonce: [u8; 16],
    reply: Reply,
}

impl Exchange {
    /// Returns the four datagrams of the exchange: hello, welcome, request and answer.
    fn datagrams(&self) -> [Vec<u8>; 4] {
        let mut service = Service::new(Key::new(&self.key), self.seed);
        let mut caller = Caller::new(Key::new(&self.key), self.nonce, NOW);
        let hello = out(&mut caller);
        let welcome = give(&mut service, 1, &hello).expect("a welcome");
        take(&mut caller, &welcome);
        if self.ask.causes_motion() {
            refresh(&mut service, &mut caller, 1);
        }
        let request = asked(&mut caller, self.ask);
        give(&mut service, 1, &request);
        let ticket = service.poll_request(EPOCH).expect("a request").ticket;
        service.answer(NOW, ticket, Epoch::from_number(4), &self.reply);
        let answer = sent(&mut service, 1).expect("an answer");
        assert_eq!(take(&mut caller, &answer), Some(Event::Answer(Epoch::from_number(4), self.reply)));
        [hello, welcome, request, answer]
    }
}

fn exchanges() -> [Exchange; 3] {
    let counted = core::array::from_fn(|index| index as u8);
    let refused = Reply {
        verdict: Verdict::Refused(Some(Reason::NotRemote)),
        mode: Mode::Monitor,
        grade: outrigger_core::link::Grade::Ok,
        latch: Some(Reason::StateStale),
        unmet: ReasonSet::EMPTY.with(Reason::NotRemote).with(Reason::StateStale),
        ending: true,
    };
    let shown = Verdict::Output(OutputOutcome::Confirmed(Duration::from_micros(16_000)));
    [
        Exchange { ask: ClientRequest::Release, key: [0; 32], seed: [0; 32], nonce: [0; 16], reply: Reply::default() },
        Exchange {
            ask: ClientRequest::Request(EPOCH),
            key: counted,
            seed: [0xa5; 32],
            nonce: [0x11; 16],
            reply: refused,
        },
        Exchange {
            ask: ClientRequest::Set { epoch: EPOCH, output: "digital-out.3=on" },
            key: KEY,
            seed: counted,
            nonce: *b"a caller's nonce",
            reply: Reply { verdict: shown, mode: Mode::Command, ..Reply::default() },
        },
    ]
}

/// Checks three exchanges against `vectors.txt`, a reference for implementations in other languages. It was computed
/// with Python's `hmac` from `core/docs/protocol/outrigger-requests.md` alone, except for the service's nonces.
#[test]
fn three_whole_exchanges_are_these_bytes() {
    let written = include_str!("vectors.txt");
    let mut lines = written.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty());
    for exchange in exchanges() {
        for datagram in exchange.datagrams() {
            assert_eq!(lines.next(), Some(&*hex(&datagram)));
        }
    }
    assert_eq!(lines.next(), None);
}
