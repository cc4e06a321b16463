use super::*;

fn at(micros: u64) -> Instant {
    Instant::from_micros(micros)
}

#[test]
fn entries_come_back_in_order() {
    let mut memory = [0xa5; 200];
    let mut recorder = Recorder::new(&mut memory);
    recorder.append(Kind::Input, at(7), &[b"start"]);
    recorder.append(Kind::Received, at(8), &[&[1, 2], &[], &[3]]);
    recorder.append(Kind::Transmitted, at(9), &[]);
    let kept: Vec<_> = recorder.entries().collect();
    assert_eq!(
        kept,
        [
            Entry { kind: Kind::Input, at: at(7), payload: b"start" },
            Entry { kind: Kind::Received, at: at(8), payload: &[1, 2, 3] },
            Entry { kind: Kind::Transmitted, at: at(9), payload: b"" },
        ]
    );
}

#[test]
fn a_full_half_loses_nothing_silently_and_turns_over_to_a_checkpoint() {
    let mut memory = [0; 2 * (HEADER_LEN + 10)];
    let mut recorder = Recorder::new(&mut memory);
    recorder.append(Kind::Input, at(1), &[&[0; 10]]);
    assert!(!recorder.has_room(1, 0));
    recorder.append(Kind::Input, at(2), &[]);
    assert_eq!(recorder.lost(), 1);

    let written = recorder.turn_over(at(3), |room| {
        room.get_mut(..2)?.copy_from_slice(b"cp");
        Some(2)
    });
    assert!(written);
    let kinds: Vec<_> = recorder.entries().map(|e| (e.kind, e.at)).collect();
    assert_eq!(kinds, [(Kind::Input, at(1)), (Kind::Checkpoint, at(3))]);
    assert!(recorder.has_room(0, 8) && !recorder.has_room(0, 9));
}

#[test]
fn after_a_lost_entry_nothing_is_kept_until_the_next_checkpoint() {
    let mut memory = [0; 80];
    let mut recorder = Recorder::new(&mut memory);
    recorder.append(Kind::Received, at(1), &[&[0; 40]]);
    recorder.append(Kind::Input, at(2), &[]);
    assert_eq!(recorder.entries().count(), 0, "a hole in the inputs would make the replay lie");
    assert!(recorder.turn_over(at(3), |_| Some(0)));
    recorder.append(Kind::Input, at(4), &[]);
    assert_eq!(recorder.entries().count(), 2);
}

#[test]
fn without_memory_it_records_nothing() {
    let mut recorder = Recorder::new(&mut []);
    recorder.append(Kind::Input, at(1), &[b"x"]);
    assert!(!recorder.is_enabled() && !recorder.turn_over(at(2), |_| Some(0)));
    assert_eq!((recorder.entries().count(), recorder.lost()), (0, 0));
}

#[test]
fn bytes_that_are_no_entries_end_the_iteration() {
    assert_eq!(entries(&[]).count(), 0);
    assert_eq!(entries(&[1, 255, 255, 255, 255, 0, 0, 0, 0, 0, 0, 0, 0, 9]).count(), 0);
    assert_eq!(entries(&[99; 40]).count(), 0);
}

/// Records `turns` checkpoints, each followed by some entries. Returns the entries stored at the end, and the memory.
fn recorded(turns: u64, entries: u64) -> ([Vec<u8>; 2], Vec<u8>) {
    let mut memory = vec![0xa5; 400];
    let mut recorder = Recorder::new(&mut memory);
    for turn in 0..turns {
        assert!(recorder.turn_over(at(turn * 100), |room| {
            room.first_mut().map(|byte| *byte = turn as u8)?;
            Some(1)
        }));
        for n in 0..entries {
            recorder.append(Kind::Received, at(turn * 100 + n), &[&[n as u8; 5]]);
        }
    }
    (recorder.halves().map(<[u8]>::to_vec), memory)
}

/// Returns the entries that a recorder finds in a copy of this memory.
fn left(memory: &[u8]) -> [Vec<u8>; 2] {
    let mut memory = memory.to_vec();
    let recorder = Recorder::holding(&mut memory);
    assert_eq!(recorder.earlier().is_some(), recorder.halves().iter().any(|half| !half.is_empty()));
    recorder.halves().map(<[u8]>::to_vec)
}

#[test]
fn what_a_recorder_leaves_in_memory_is_what_it_kept() {
    for (turns, entries) in [(1, 0), (1, 4), (2, 0), (2, 3), (3, 1), (3, 8), (8, 6)] {
        let (kept, memory) = recorded(turns, entries);
        assert_eq!(left(&memory), kept, "{turns} checkpoints, {entries} entries behind each");
    }
}

#[test]
fn what_was_left_is_kept_where_it_lies_until_recording_begins() {
    let (kept, mut memory) = recorded(3, 4);
    let mut recorder = Recorder::holding(&mut memory);
    let at = Instant::from_micros(1);
    assert!(!recorder.is_enabled());
    recorder.append(Kind::Received, at, &[b"new"]);
    assert!(!recorder.append_with(Kind::Checkpoint, at, |_| Some(0)) && !recorder.turn_over(at, |_| Some(0)));
    assert_eq!(recorder.earlier().map(|halves| halves.map(<[u8]>::to_vec)), Some(kept.clone()));
    assert_eq!(recorder.lost(), 0, "nothing was to be recorded");
    recorder.begin();
    assert_eq!((recorder.earlier(), recorder.entries().count()), (None, 0));
    assert!(recorder.is_enabled() && recorder.turn_over(at, |_| Some(0)));
    recorder.append(Kind::Received, at, &[b"new"]);
    assert_eq!(recorder.entries().count(), 2);
    recorder.begin();
    assert_eq!(recorder.entries().count(), 2, "it records already");
    assert_eq!(left(&memory)[1].len(), 2 * HEADER_LEN + 3, "of this run alone");
}

#[test]
fn a_reset_in_the_middle_of_an_entry_leaves_those_before_it() {
    let (kept, mut memory) = recorded(1, 2);
    // The payload was written, but not the header.
    let used = kept[1].len();
    memory[200 + used] = END;
    memory[200 + used + 1..200 + used + 40].fill(0);
    assert_eq!(left(&memory), [Vec::new(), kept[1].clone()]);
}

#[test]
fn what_stands_behind_the_end_is_older_and_is_not_taken_for_newer() {
    let (_, mut memory) = recorded(8, 8);
    // The end mark was never written: entries of an earlier turn follow, and their instants are earlier.
    let whole = memory.clone();
    for half in [0, 200] {
        let mut at = half;
        while memory[at] != END {
            at += HEADER_LEN + usize::from(memory[at + 1]);
        }
        memory[at] = Kind::Received as u8;
    }
    for (found, exact) in left(&memory).into_iter().zip(left(&whole)) {
        assert!(found.starts_with(&exact) && found.len() <= 200);
        let ats: Vec<_> = entries(&found).map(|entry| entry.at).collect();
        assert!(ats.is_sorted());
    }
}

#[test]
fn memory_that_no_recorder_wrote_is_nothing() {
    for byte in [0x00, 0x01, 0x5a, 0xa5, 0xff] {
        let memory = [byte; 400];
        let found = left(&memory);
        // Zeros decode as empty checkpoints at time zero.
        assert!(byte == 0 || found.iter().all(Vec::is_empty), "{byte:#x}");
    }
    assert_eq!(left(&[]), [Vec::new(), Vec::new()]);
    let mut memory = [0x5a; 64];
    let _ = Recorder::new(&mut memory);
    assert_eq!(left(&memory), [Vec::new(), Vec::new()], "a recorder that has recorded nothing");
    let mut memory = [0x5a; 400];
    assert!(Recorder::holding(&mut memory).is_enabled(), "it records at once");
}
