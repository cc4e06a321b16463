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
