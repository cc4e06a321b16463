//! The past on the live page: curves from before it was opened, and the time cursor.

use std::collections::HashMap;
use std::io::Write as _;
use std::net::{Ipv4Addr, TcpStream};
use std::sync::Mutex;
use std::time::Duration;

use outrigger_sim::controller::{Controller, Options};
use outrigger_sim::tcp::Server;
use serde_json::{Value, json};

use super::driver::Browser;
use super::{Angles, paged, sent, until};

/// The time for which the arm moves before the page is opened.
const BEFORE: Duration = Duration::from_secs(8);

/// Checks that a page which is opened late has the states from before, and that its cursor shows each moment with the
/// values that the controller sent.
pub(super) fn is_shown(browser: &Browser) {
    let controller = Controller::new(Options::default()).expect("the default arm");
    let server = Server::bind_from(controller, Ipv4Addr::LOCALHOST.into(), 53_600).expect("free ports");
    let server = server.spawn().expect("a thread");
    let base = server.port_base();
    let sent = sent(base + 4);
    let (mut program, url) = paged(&["view", &format!("127.0.0.1:{base}")]);
    let program = &mut program;
    let mut primary = TcpStream::connect(("127.0.0.1", base + 2)).expect("the primary interface");
    std::thread::sleep(Duration::from_secs(2));
    primary.write_all(b"movej([0.9, -1.2, -1.3, -1.4, 1.3, 0.4], a=0.4, v=0.25)\n").expect("a program");
    std::thread::sleep(BEFORE);
    browser.open(&url);
    until(program, || (browser.run("return outrigger.frames").as_u64()? > 30).then_some(()));

    let kept = browser.run("return [outrigger.past, latest() - times[oldest()]]");
    assert!(kept[0].as_u64() > Some(40) && kept[1].as_f64() > Some(6.0), "states from before, over seconds: {kept}");
    let head = browser.run("return document.getElementById('robot').textContent");
    let head = head.as_str().expect("text");
    assert!(head.contains("UR5e") && head.contains("serial number 20205500001"), "{head}");
    stands_where_the_controller_says(browser);

    let is = |script: &str| browser.run(&format!("return {script}")) == Value::Bool(true);
    let settle = || std::thread::sleep(Duration::from_millis(400));
    let picture = || {
        settle();
        browser.run("return document.getElementById('arm').toDataURL()")
    };
    let live = picture();
    let newest = shown(browser);
    assert!(!is("document.body.classList.contains('past')"));

    browser.run("const slider = document.getElementById('cursor'), first = times.findIndex((time, i) => Number.isFinite(angles.series[0].values[i]));
         slider.value = (times[first] + 0.2).toFixed(1); slider.dispatchEvent(new Event('input'))");
    assert_ne!(picture(), live, "another arm is drawn");
    assert!(is("document.body.classList.contains('past')"));
    let first = shown(browser);
    assert!((first[0] - newest[0]).abs() > 20.0, "the base joint has moved: {first:?}, {newest:?}");
    was_sent(&first, &sent);
    let events = browser.run(
        "return [...document.querySelectorAll('#event-list li')].every(item => item.classList.contains('later') === (parseFloat(item.firstChild.textContent) > cursor + 0.005)
             || Math.abs(parseFloat(item.firstChild.textContent) - cursor) < 0.01)",
    );
    assert_eq!(events, true, "later events are marked");

    for (keys, back) in [(",", 1.0), (",", 2.0), (".", 1.0)] {
        if back == 1.0 && keys == "," {
            browser.press("l");
        }
        browser.press(keys);
        let at = browser.run("return latest() - cursor").as_f64().expect("a time");
        assert!((back - 0.2..back + 3.0).contains(&at), "{at} s back after {keys}, about {back} s expected");
        settle();
        was_sent(&shown(browser), &sent);
    }
    browser.press("l");
    settle();
    assert!(!is("document.body.classList.contains('past')") && is("cursor === null && held === null"));

    let place = browser.run(
        "const canvas = angles.canvas; canvas.scrollIntoView({block: 'center'});
         const box = canvas.getBoundingClientRect(); return [box.left + LEFT, box.width - LEFT - RIGHT, (box.top + box.bottom) / 2]",
    );
    let [left, width, y] = [0, 1, 2].map(|at| place[at].as_f64().expect("a number"));
    for what in ["mousePressed", "mouseReleased"] {
        let event = json!({"type": what, "x": left + 0.3 * width, "y": y, "button": "left", "clickCount": 1});
        browser.tools("Input.dispatchMouseEvent", &event);
    }
    settle();
    let share = browser.run("const [from, to] = shown(); return (cursor - from) / (to - from)").as_f64();
    assert!((0.2..0.4).contains(&share.expect("a share")), "a click shows its moment: {share:?}");
    was_sent(&shown(browser), &sent);
    browser.run("document.getElementById('live').click()");
    settle();
    assert!(is("cursor === null && !document.body.classList.contains('past')"), "a click returns to live");

    returns_to_live_at_its_right_end(browser);
    keeps_ten_minutes(browser);
    forgets_an_earlier_session(browser);
}

/// Checks that dragging the slider of the time to its right end, and the End key, show the newest state again.
fn returns_to_live_at_its_right_end(browser: &Browser) {
    let settle = || std::thread::sleep(Duration::from_millis(400));
    let is_past = || browser.run("return cursor !== null && document.body.classList.contains('past')") == true;
    let place = browser.run(
        "const box = document.getElementById('cursor').getBoundingClientRect();
         return [box.left + 8, box.width - 16, (box.top + box.bottom) / 2]",
    );
    let [left, width, y] = [0, 1, 2].map(|at| place[at].as_f64().expect("a number"));
    let mouse = |what: &str, share: f64| {
        let event =
            json!({"type": what, "x": left + share * width, "y": y, "button": "left", "buttons": 1, "clickCount": 1});
        browser.tools("Input.dispatchMouseEvent", &event);
    };
    mouse("mousePressed", 0.5);
    settle();
    assert!(is_past(), "the middle of the slider is in the past");
    for share in [0.6, 0.8, 1.0, 1.02] {
        mouse("mouseMoved", share);
    }
    mouse("mouseReleased", 1.02);
    settle();
    assert!(!is_past(), "the slider was dragged to its right end");
    mouse("mousePressed", 0.4);
    mouse("mouseReleased", 0.4);
    settle();
    assert!(is_past());
    browser.press("\u{e010}");
    settle();
    assert!(!is_past(), "the End key was pressed on the slider");
}

/// Checks that ten minutes are stored and not more, whatever comes; that an earlier moment has its own mode and grade
/// while these change with every state; and that a cursor which is older shows the oldest state, and says so.
fn keeps_ten_minutes(browser: &Browser) {
    let full = browser.run(
        "const [s, l, begun] = [outrigger.status, outrigger.live, latest()];
         const of = i => ({ mode: i % 3 ? 'Monitor' : 'Command', grade: i % 2 ? 'Ok' : 'Bad' });
         for (let i = 1; i <= KEPT + 5000; i++) state({ ...s, ...of(i), time: begun + i / 60 }, l, true);
         const wrong = [];
         for (const back of [1, 100, 5001, 20004, 30000, 35900]) {
             const i = KEPT + 5000 - back, { mode, grade } = of(i);
             cursor = begun + i / 60; held = latest(); figures();
             const seen = ['mode', 'grade'].map(id => document.getElementById(id).textContent);
             if (seen[0] !== mode || seen[1] !== grade) wrong.push([back, mode, grade, ...seen]);
         }
         cursor = begun; keepCursor(); tellMoment();
         const begunDrawing = performance.now(); show(whole()); drawPlots();
         const seen = { states: count - oldest(), span: latest() - times[oldest() % KEPT], wrong, words: words.length, pieces: pieces.length,
                        apart: cursor - times[oldest() % KEPT], when: document.getElementById('when').textContent,
                        drawn: performance.now() - begunDrawing };
         words = [{ time: latest(), said: wordsOf(status, l) }]; cursor = latest() - 60; figures();
         seen.attention = document.getElementById('attention').textContent;
         seconds = USUAL; hold(null); return seen",
    );
    println!("ten minutes are drawn in {} ms", full["drawn"]);
    assert!(full["states"].as_u64() < Some(36_865), "{full}");
    assert!(full["span"].as_f64().is_some_and(|span| (599.0..=600.1).contains(&span)), "{full}");
    assert_eq!(full["wrong"], json!([]), "seconds back, mode and grade that were, and that are shown");
    assert!(full["words"].as_u64() <= Some(1_024) && full["pieces"].as_u64() <= Some(600), "{full}");
    assert_eq!(full["apart"], 0.0, "the cursor is at the oldest state");
    assert!(full["when"].as_str().is_some_and(|when| when.ends_with("600.0 s ago, the oldest kept")), "{full}");
    assert_eq!(full["attention"], "–", "no words are old enough");
}

/// Checks that a page which is connected to another session shows nothing of the session before, and that states from
/// before it was opened do not count as live. That events were lost has no button.
fn forgets_an_earlier_session(browser: &Browser) {
    let seen = browser.run(
        "const ids = ['robot', 'mode', 'grade', 'link-words', 'age-words', 'robot-mode', 'attention', 'remedy', 'tool-words'];
         const look = () => { figures(); connection(); return ids.map(id => document.getElementById(id).textContent); };
         const { about, status, live } = outrigger, line = JSON.stringify, before = look();
         message(line({ ...about, session: 'another' }));
         const blank = look(), waits = document.getElementById('connection').textContent;
         message([{ type: 'past' }, { ...status, type: 'status' }, { ...live, type: 'live' }].map(part => line(part)).join('\\n'));
         connection();
         const past = document.getElementById('connection').textContent;
         message(line({ type: 'event', kind: 'events-lost', text: '7 events lost' }));
         const lost = document.getElementById('event-list').firstChild;
         return { before, blank, waits, past, lost: lost.textContent, buttons: lost.querySelectorAll('button').length }",
    );
    assert_ne!(seen["before"][0], "…", "{seen}");
    assert_eq!(seen["blank"], json!(["…", "–", "–", "", "", "–", "–", "", "–"]));
    assert_eq!(seen["waits"], "waiting for the first state");
    assert_eq!(seen["past"], "waiting for the first state");
    assert_eq!(seen["lost"], "7 events lost");
    assert_eq!(seen["buttons"], 0);
}

/// Returns the joint angles in the page's table \[deg\].
fn shown(browser: &Browser) -> Angles {
    let cells = browser.run("return [...document.getElementById('joint-table').tBodies[0].rows].map(row => Number(row.cells[1].textContent))");
    std::array::from_fn(|joint| cells[joint].as_f64().expect("a number"))
}

/// Checks that the controller has sent these angles \[deg\], within the two decimals that are shown.
fn was_sent(angles: &Angles, sent: &Mutex<HashMap<u64, Angles>>) {
    let sent = sent.lock().expect("nobody panicked");
    let is_it =
        |of: &Angles| of.iter().zip(angles).all(|(sent, shown)| (sent.to_degrees() - shown).abs() < 0.0051 + 1e-4);
    assert!(sent.values().any(is_it), "{angles:?} was never sent");
}

/// Checks that the tool of the picture is where the controller computes it.
fn stands_where_the_controller_says(browser: &Browser) {
    let apart = browser.run(
        "const { q_actual, tcp_pose } = outrigger.status, { tool } = Arm.at(q_actual); return Math.hypot(...tool.map((v, i) => v - tcp_pose[i]))",
    );
    assert!(apart.as_f64().is_some_and(|apart| apart < 1e-3), "the tool is drawn {apart} m from where it is");
}
