use std::os::unix::fs::PermissionsExt as _;

use super::*;

fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("outrigger-recordings-{}-{name}", std::process::id()));
    let _ = fs::remove_dir_all(&folder);
    folder
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<_> =
        fs::read_dir(folder).expect("it").map(|e| e.expect("one").file_name().into_string().expect("text")).collect();
    names.sort();
    names
}

fn stem(number: usize) -> String {
    format!("2026-01-31-12-00-{number:02}-UTC-StateStale-{number}")
}

/// Writes a recording, and waits for the result.
fn write_one(recordings: &mut Recordings, number: usize, bytes: &[u8]) -> Report {
    recordings.write("of a test".into(), stem(number), &[bytes]).expect("the disk is not behind");
    recordings.reports.blocking_recv().expect("a writer")
}

#[test]
fn many_are_written_by_one_thread_and_told_once_they_are_whole() {
    let folder = folder("many");
    let mut recordings = Recordings::start(&folder, 10, None).expect("a directory");
    let threads = || {
        fs::read_dir("/proc/self/task")
            .expect("threads")
            .filter_map(Result::ok)
            .filter(|task| {
                fs::read_to_string(task.path().join("comm")).is_ok_and(|name| name.starts_with("outrigger-recor"))
            })
            .count()
    };
    let before = threads();
    for number in 0..60 {
        let Report::Written { path, .. } = write_one(&mut recordings, number, b"0123456789") else {
            panic!("not written")
        };
        assert_eq!(fs::read(&path).expect("a file under its name"), b"0123456789");
    }
    // Other tests start and end threads meanwhile.
    assert!(threads() <= before + 8, "{} threads, {before} before", threads());
    assert_eq!(names(&folder).len(), 60);
    assert_eq!(recordings.finish(), []);
    fs::remove_dir_all(folder).expect("room");
}

#[test]
fn the_oldest_go_by_number_and_by_size_and_what_is_not_ours_stays() {
    let folder = folder("kept");
    fs::create_dir_all(&folder).expect("a folder");
    for other in
        ["notes.txt", "best.outrigger", "2026-01-31-12-00-00-UTC-192.168.56.60-00000001-StateStale-1.outrigger"]
    {
        fs::write(folder.join(other), [0; 1_000]).expect("room");
    }
    let others = names(&folder);
    let ours = || names(&folder).into_iter().filter(|name| !others.contains(name)).collect::<Vec<_>>();
    let mut recordings =
        Recordings::start(&folder, 10, Some(Kept { files: 5, bytes: 1_000, whose: RecordingOwner::Run }))
            .expect("a directory");
    for number in 0..20 {
        assert!(matches!(write_one(&mut recordings, number, &[7; 10]), Report::Written { .. }));
    }
    assert_eq!(ours(), (15..20).map(|number| format!("{}{SUFFIX}", stem(number))).collect::<Vec<_>>());
    // Two files of 400 bytes fit into the limit of a thousand.
    for number in 20..24 {
        assert!(matches!(write_one(&mut recordings, number, &[7; 400]), Report::Written { .. }));
    }
    assert_eq!(ours(), (22..24).map(|number| format!("{}{SUFFIX}", stem(number))).collect::<Vec<_>>());
    assert_eq!(recordings.finish(), []);
    assert!(others.iter().all(|name| names(&folder).contains(name)));
    fs::remove_dir_all(folder).expect("room");
}

#[test]
fn a_name_that_is_taken_is_not_overwritten_and_nothing_unfinished_stays() {
    let folder = folder("taken");
    let mut recordings = Recordings::start(&folder, 10, None).expect("a directory");
    for bytes in [b"first", b"other"] {
        assert!(matches!(write_one(&mut recordings, 0, bytes), Report::Written { .. }));
    }
    let taken = stem(0);
    assert_eq!(names(&folder), [format!("{taken}-2{SUFFIX}"), format!("{taken}{SUFFIX}")]);
    assert_eq!(fs::read(folder.join(format!("{taken}{SUFFIX}"))).expect("it"), b"first");
    // No file can be created there any more.
    fs::remove_dir_all(&folder).expect("it was there");
    let Report::Failed { why, .. } = write_one(&mut recordings, 1, b"lost") else { panic!("written into nothing") };
    assert!(why.contains("No such file"), "{why}");
    assert_eq!(recordings.finish(), []);
}

#[test]
fn a_directory_that_cannot_be_written_to_is_found_at_the_start() {
    let folder = folder("refused");
    fs::create_dir_all(&folder).expect("a folder");
    let file = folder.join("file");
    fs::write(&file, b"").expect("room");
    let why = Recordings::start(&file, 10, None).expect_err("it is a file").to_string();
    assert!(why.contains("cannot write recordings into") && why.contains("name a directory"), "{why}");
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o500)).expect("it is ours");
    // Root may write to any directory.
    if !rustix::process::geteuid().is_root() {
        assert!(Recordings::start(&folder, 10, None).is_err());
    }
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o700)).expect("it is ours");
    fs::remove_dir_all(folder).expect("room");
}

#[test]
fn what_comes_while_the_disk_is_behind_is_refused_and_the_end_waits_for_no_disk() {
    // This writer never returns from its first recording.
    let (sender, jobs) = sync_channel::<Job>(WAITING);
    let (give_back, spare) = sync_channel(WAITING);
    (0..WAITING).for_each(|_| give_back.send(Vec::with_capacity(10)).expect("room"));
    let (_tell, reports) = unbounded_channel();
    let (held, never) = sync_channel::<()>(0);
    let worker = Worker::start("hangs", move || {
        let _job = jobs.recv();
        assert!(never.recv().is_err());
    });
    let recordings = Recordings { sender, spare, reports, worker: worker.expect("a thread") };
    let results: Vec<_> = (0..5).map(|n| recordings.write("of a test".into(), stem(n), &[b"x"]).is_ok()).collect();
    assert_eq!(results, [true, true, false, false, false]);
    let report = recordings.finish();
    assert!(matches!(&report[..], [Report::Failed { why, .. }] if why.contains("within 5 s")), "{report:?}");
    drop(held);
}
