//! The live page in a real browser.
//!
//! With `demo --web` the page shows the values that the controller sends, logs no error and contacts no other host.
//! With `view` its memory does not grow, a page that is opened late has the curves from before, and its cursor shows
//! earlier moments. No label covers another. The charts of a report respond to the same mouse and touch gestures as the
//! plots of the page, and both draw the same ticks. Pictures of the page at three sizes and in two colour schemes are
//! written to `target/tmp/page`.
//!
//! `OUTRIGGER_BROWSER_SECONDS` sets for how long the memory is observed: 120 s by default, 1800 s in the nightly run.

mod driver;
mod labels;
mod past;
#[expect(dead_code, unused_imports, reason = "the report pages of `outrigger` use the rest")]
#[path = "../../../port-linux/cli/src/report/plot/mod.rs"]
mod plot;

use std::collections::HashMap;
use std::io::{BufRead as _, BufReader, Read as _};
use std::net::{Ipv4Addr, TcpStream};
use std::path::Path;
use std::process::{Child, Command, ExitCode, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use outrigger_sim::controller::{Controller, Options};
use outrigger_sim::tcp::Server;
use outrigger_tests::require::{self, Need};
use serde_json::{Value, json};

use self::driver::Browser;
use self::plot::{ChartMedium, Line, SCRIPT, STYLE, Span, TimeChart};

fn main() -> ExitCode {
    require::main_one_by_one(vec![require::test(
        "a_browser_shows_what_the_controller_sends_and_asks_nobody_else",
        &[Need::Chromium],
        watched,
    )])
}

/// The screen sizes at which the live page is checked and its picture is taken: name, width and height \[pixels\].
const SIZES: [(&str, u32, u32); 3] = [("wide", 1440, 1000), ("tablet", 820, 1100), ("phone", 390, 844)];

/// The limit on the growth of the live page's heap from the first to the last third of the test \[bytes\].
const GROWTH: f64 = 2e6;

fn seconds() -> u64 {
    std::env::var("OUTRIGGER_BROWSER_SECONDS").ok().and_then(|seconds| seconds.parse().ok()).unwrap_or(120)
}

/// A running `outrigger` process that serves the live page. Dropping it ends the process.
struct Paged(Child);

impl Drop for Paged {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Starts `outrigger` with these arguments and `--web`. Returns it with the URL of its live page.
fn paged(words: &[&str]) -> (Paged, String) {
    let mut child = Command::new(outrigger_system::program())
        .args(words)
        .args(["--web", "127.0.0.1:0"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the binary under test");
    let mut said = BufReader::new(child.stdout.take().expect("piped")).lines().map_while(Result::ok);
    let line = said.find(|line| line.contains("http://")).expect("it says where the page is");
    std::thread::spawn(move || said.for_each(drop));
    let url = line.split_once("http://").and_then(|(_, rest)| rest.split(' ').next()).expect("an address");
    (Paged(child), format!("http://{url}"))
}

type Angles = [f64; 6];

/// Records the joint angles that the controller sends on port 30003, by the bits of the controller's time stamp.
/// Decodes the packets by the offsets of UR's data sheet, without code of Outrigger.
fn sent(port: u16) -> Arc<Mutex<HashMap<u64, Angles>>> {
    let all = Arc::<Mutex<HashMap<u64, Angles>>>::default();
    let into = Arc::clone(&all);
    let mut stream = TcpStream::connect(("127.0.0.1", port)).expect("the simulated controller");
    std::thread::spawn(move || {
        let mut packet = vec![0; 1220];
        while stream.read_exact(&mut packet).is_ok() {
            let double = |at: usize| f64::from_be_bytes(packet[at..at + 8].try_into().expect("eight bytes"));
            let angles = std::array::from_fn(|joint| double(252 + 8 * joint));
            into.lock().expect("nobody panicked").insert(double(4).to_bits(), angles);
        }
    });
    all
}

/// Polls until `found` returns a value.
///
/// # Panics
/// If the program ends first.
fn until<T>(program: &mut Paged, mut found: impl FnMut() -> Option<T>) -> T {
    loop {
        if let Some(found) = found() {
            return found;
        }
        assert!(program.0.try_wait().expect("a child").is_none(), "the program has ended before");
        std::thread::sleep(Duration::from_millis(50));
    }
}

fn watched() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("page");
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("a folder");
    let (mut demo, url) = paged(&["demo"]);
    let browser = Browser::start(&folder.join("profile"));
    browser.open(&url);
    until(&mut demo, || (browser.run("return window.outrigger.frames").as_u64()? > 60).then_some(()));
    let robot = browser.run("return outrigger.status.robot");
    let base: u16 = robot.as_str().and_then(|robot| robot.rsplit(':').next()?.parse().ok()).expect("a port base");
    let sent = sent(base + 4);

    shows_what_is_sent(&mut demo, &browser, &sent);
    heeds_keys(&browser);
    has_the_ticks_of_a_report(&browser);
    heeds_pointers(&browser, "document.querySelector('#plots .plot:not([hidden]) canvas')", "shown()");
    for (size, width, height) in SIZES {
        for scheme in ["light", "dark"] {
            looks_well(&browser, (size, width, height), scheme, &folder);
        }
    }
    labels::do_not_collide(&browser);
    let complaints = browser.log("browser");
    assert!(complaints.is_empty(), "the console has {complaints:?}");
    let mut requests = 0;
    for line in browser.log("performance") {
        let message: Value = serde_json::from_str(line["message"].as_str().expect("text")).expect("JSON");
        if message["message"]["method"] == "Network.requestWillBeSent" {
            let asked = message["message"]["params"]["request"]["url"].as_str().unwrap_or_default().to_owned();
            // Other schemes (the browser's first page, pictures embedded in the page) do not leave the browser.
            if asked.starts_with("http") || asked.starts_with("ws") {
                assert!(asked.starts_with(&url), "the page asked for {asked}");
                requests += 1;
            }
        }
    }
    assert!(requests >= 4, "{requests} requests: page, two scripts, style, stream");
    drop(demo);
    says_that_it_is_over(&browser);
    reports_heed_pointers(&browser, &folder);
    past::is_shown(&browser);
    does_not_grow(&browser);
}

/// Checks that the page's script computes equal axis ticks for a span as the Rust code that draws the charts of a
/// report.
fn has_the_ticks_of_a_report(browser: &Browser) {
    let mut cases = vec![];
    for exponent in -5..=5 {
        for width in [1.0, 1.25, 1.7, 2.0, 3.3, 5.0, 6.4, 9.9].map(|width| width * 10_f64.powi(exponent)) {
            for from in [0.0, -width, -width / 3.0, width * 12.34, -width * 71.0] {
                cases.extend([2.0, 4.0, 5.5, 10.0].map(|count| (Span::new(from, from + width), count)));
            }
        }
    }
    let asked: Vec<_> = cases.iter().map(|(span, count)| json!([[span.from, span.to], count])).collect();
    let seen = browser.run(&format!(
        "return {}.map(([span, count]) => {{ const [values, decimals] = ticks(span, count); return values.map(v => v.toFixed(decimals)); }})",
        json!(asked)
    ));
    for ((span, count), seen) in cases.into_iter().zip(seen.as_array().expect("a list")) {
        let (values, decimals) = span.ticks(count);
        let drawn: Vec<_> = values.iter().map(|value| format!("{value:.decimals$}")).collect();
        assert_eq!(*seen, json!(drawn), "{count} ticks of {span:?}");
    }
}

/// Checks that the mouse, the wheel and touch gestures on `element` change the span of time that it shows. `shown` is
/// a script expression that returns the two ends of that span.
fn heeds_pointers(browser: &Browser, element: &str, shown: &str) {
    let place = browser.run(&format!(
        "const element = {element}; element.scrollIntoView({{block: 'center'}});
         const box = element.getBoundingClientRect(); return [box.left, box.width, (box.top + box.bottom) / 2]"
    ));
    let [left, width, y] = [0, 1, 2].map(|at| place[at].as_f64().expect("a number"));
    let x = |share: f64| left + share * width;
    let ends = || {
        let ends = browser.run(&format!("return {shown}"));
        [0, 1].map(|at| ends[at].as_f64().expect("an end"))
    };
    let length = || {
        let [from, to] = ends();
        to - from
    };
    let mouse = |what: &str, share: f64, more: Value| {
        let mut event = json!({"type": what, "x": x(share), "y": y, "button": "left"});
        event.as_object_mut().expect("an object").extend(more.as_object().cloned().unwrap_or_default());
        browser.tools("Input.dispatchMouseEvent", &event);
    };
    let touch = |what: &str, shares: &[f64]| {
        let points: Vec<_> =
            shares.iter().enumerate().map(|(id, share)| json!({"x": x(*share), "y": y, "id": id})).collect();
        browser.tools("Input.dispatchTouchEvent", &json!({"type": what, "touchPoints": points}));
    };
    let all = length();
    let is_about = |share: f64, what: &str| {
        let found = length() / all;
        assert!((found / share - 1.0).abs() < 0.25, "{what}: {found} of all is shown, {share} should be");
    };
    mouse("mouseWheel", 0.5, json!({"button": "none", "modifiers": 2, "deltaX": 0, "deltaY": -300}));
    is_about(0.37, "Ctrl and the wheel");
    let before = ends();
    mouse("mouseWheel", 0.5, json!({"button": "none", "deltaX": -200, "deltaY": 0}));
    let after = ends();
    assert!(after[1] < before[1], "the wheel goes back: {after:?} after {before:?}");
    assert_eq!(ends(), after, "there it stays");
    is_about(0.37, "the wheel sideways");
    for clicks in [1, 2] {
        mouse("mousePressed", 0.5, json!({"clickCount": clicks}));
        mouse("mouseReleased", 0.5, json!({"clickCount": clicks}));
    }
    is_about(1.0, "two clicks");
    mouse("mousePressed", 0.4, json!({"clickCount": 1}));
    mouse("mouseMoved", 0.6, json!({"buttons": 1}));
    mouse("mouseReleased", 0.6, json!({"clickCount": 1}));
    is_about(0.22, "dragged over");
    touch("touchStart", &[0.3, 0.7]);
    touch("touchMove", &[0.4, 0.6]);
    touch("touchEnd", &[]);
    is_about(0.44, "two fingers that come together");
    for _ in 0..2 {
        touch("touchStart", &[0.5]);
        touch("touchEnd", &[]);
    }
    is_about(1.0, "two taps");
}

/// Checks that a chart of a report zooms and scrolls like a plot of the live page, and shows the value at the cursor.
fn reports_heed_pointers(browser: &Browser, folder: &Path) {
    let chart = TimeChart {
        title: "Level",
        unit: "level [m]",
        height: 330.0,
        time: Span::new(0.0, 8.0),
        values: Span::new(0.0, 4.0),
        bands: &[],
        marks: &[],
        named: &[],
        limits: &[],
        lines: &[Line { name: "level", class: "", points: &[(0.0, 1.0), (4.0, 1.0), (4.1, 3.0), (8.0, 3.0)] }],
    };
    let page = format!(
        "<!doctype html><meta charset=\"utf-8\"><style>{STYLE}</style><figure><figcaption></figcaption>{}</figure><script>{SCRIPT}</script>",
        chart.svg(ChartMedium::Wide)
    );
    let file = folder.join("chart.html");
    std::fs::write(&file, page).expect("a file");
    browser.log("browser");
    browser.open(&format!("file://{}", file.display()));
    let data = "document.querySelector('svg.data').viewBox.baseVal";
    heeds_pointers(
        browser,
        "document.querySelector('svg[data-time]')",
        &format!("[{data}.x, {data}.x + {data}.width]"),
    );
    browser.run("document.querySelector('svg[data-time]').focus()");
    browser.press("\u{e014}");
    let read = browser.run("return document.querySelector('output').textContent");
    assert_eq!(read, "4.080 s · level 3.00 m", "a hundredth of all right of the middle");
    let complaints = browser.log("browser");
    assert!(complaints.is_empty(), "the console has {complaints:?}");
}

/// Checks that the page shows something other than "live" once its program has ended.
fn says_that_it_is_over(browser: &Browser) {
    let ended = (0..100).any(|_| {
        std::thread::sleep(Duration::from_millis(50));
        browser.run("return document.getElementById('connection').textContent") != "live"
    });
    assert!(ended, "the page says that it is live");
}

/// Checks that the numbers on the screen equal those of the controller's packet with the same time stamp.
fn shows_what_is_sent(program: &mut Paged, browser: &Browser, sent: &Mutex<HashMap<u64, Angles>>) {
    const LOOK: &str = "const t = document.getElementById('joint-table'); const s = outrigger.status;
        return {stamp: t.dataset.stamp, cells: [...t.tBodies[0].rows].map(r => r.cells[1].textContent),
                newest: s.controller_time, q: s.q_actual, frames: outrigger.frames, drawn: outrigger.drawn}";
    let (mut compared, mut before) = (0, [0; 2]);
    while compared < 20 {
        let seen = browser.run(LOOK);
        let counts = [&seen["frames"], &seen["drawn"]].map(|count| count.as_u64().expect("a count"));
        assert!(counts[0] >= before[0] && counts[1] >= before[1], "{counts:?} after {before:?}");
        before = counts;
        let stamp: f64 = seen["stamp"].as_str().and_then(|stamp| stamp.parse().ok()).expect("a stamp");
        let newest = seen["newest"].as_f64().expect("a stamp");
        // The packet may arrive here slightly later than at the program.
        let of = |stamp: f64| {
            let key = |stamp: f64| {
                sent.lock()
                    .expect("nobody panicked")
                    .iter()
                    .find(|(bits, _)| (f64::from_bits(**bits) - stamp).abs() < 1e-4)
                    .map(|(_, q)| *q)
            };
            (0..20).find_map(|_| {
                key(stamp).or_else(|| {
                    std::thread::sleep(Duration::from_millis(10));
                    None
                })
            })
        };
        let (Some(shown), Some(held)) = (of(stamp), of(newest)) else {
            assert!(program.0.try_wait().expect("a child").is_none(), "the program has ended before");
            continue;
        };
        for joint in 0..6 {
            let degrees = f64::from(shown[joint] as f32) * 180.0 / std::f64::consts::PI;
            let cell: f64 = seen["cells"][joint].as_str().and_then(|cell| cell.parse().ok()).expect("a number");
            assert!((cell - degrees).abs() <= 0.00501, "joint {joint} at {stamp} s: shown {cell}, sent {degrees}");
            let q = seen["q"][joint].as_f64().expect("a number");
            assert_eq!(q as f32, held[joint] as f32, "joint {joint} at {newest} s");
        }
        compared += 1;
    }
    let frames = || browser.run("return [outrigger.frames, outrigger.drawn]");
    let (first, mut next) = (frames(), Value::Null);
    until(program, || {
        next = frames();
        (next[0].as_u64() > first[0].as_u64() && next[1].as_u64() > first[1].as_u64()).then_some(())
    });
}

fn heeds_keys(browser: &Browser) {
    let is = |script: &str| browser.run(&format!("return {script}")) == Value::Bool(true);
    browser.press("?");
    assert!(is("!document.getElementById('words').hidden"), "? explains the words");
    browser.press("?");
    assert!(is("document.getElementById('words').hidden"));
    let scheme = browser.run("return document.documentElement.dataset.scheme");
    browser.press("d");
    assert_ne!(browser.run("return document.documentElement.dataset.scheme"), scheme, "d changes the scheme");
    browser.press("d");
    browser.press(" ");
    assert!(is("document.getElementById('pause').getAttribute('aria-pressed') === 'true'"), "space holds the plots");
    browser.press(" ");
}

fn looks_well(browser: &Browser, (size, width, height): (&str, u32, u32), scheme: &str, folder: &Path) {
    let mobile = width < 500;
    let metrics = |height: u64| json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": mobile});
    browser.tools("Emulation.setDeviceMetricsOverride", &metrics(height.into()));
    let features = json!({"features": [{"name": "prefers-color-scheme", "value": scheme}]});
    browser.tools("Emulation.setEmulatedMedia", &features);
    // The page is drawn anew within two frames.
    std::thread::sleep(Duration::from_millis(400));
    let seen = browser.run(
        "const drawn = document.getElementById('arm').toDataURL().length;
         return {scheme: document.documentElement.dataset.scheme, across: document.documentElement.scrollWidth - innerWidth,
                 height: document.documentElement.scrollHeight, drawn}",
    );
    assert_eq!(seen["scheme"], scheme, "{size}: the browser's wish is heeded");
    assert!(seen["across"].as_i64() <= Some(0), "{size}, {scheme}: wider than the screen by {}", seen["across"]);
    // The data URL of an empty canvas has less than a thousand characters, whatever its size.
    assert!(seen["drawn"].as_u64() > Some(5_000), "{size}, {scheme}: no arm is drawn");
    browser.tools("Emulation.setDeviceMetricsOverride", &metrics(seen["height"].as_u64().expect("a height")));
    std::thread::sleep(Duration::from_millis(300));
    let picture = bytes(&browser.picture());
    std::fs::write(folder.join(format!("{size}-{scheme}.png")), picture).expect("a file");
    browser.tools("Emulation.setDeviceMetricsOverride", &metrics(height.into()));
}

/// Checks that the memory of the page does not grow while a controller sends states continuously.
fn does_not_grow(browser: &Browser) {
    let controller = Controller::new(Options::default()).expect("the default arm");
    let server = Server::bind_from(controller, Ipv4Addr::LOCALHOST.into(), 53_500).expect("free ports");
    let server = server.spawn().expect("a thread");
    let (mut program, url) = paged(&["view", &format!("127.0.0.1:{}", server.port_base())]);
    let program = &mut program;
    browser.open(&url);
    until(program, || (browser.run("return window.outrigger.frames").as_u64()? > 60).then_some(()));
    // Measured after a garbage collection.
    let heap = || {
        browser.tools("HeapProfiler.collectGarbage", &json!({}));
        browser.tools("Runtime.getHeapUsage", &json!({}))["usedSize"].as_f64().expect("bytes")
    };
    let begun = browser.run("return outrigger.status.time").as_f64().expect("a time");
    let span = seconds() as f64;
    let mut samples = vec![];
    until(program, || {
        samples.push(heap());
        std::thread::sleep(Duration::from_millis(500));
        let at = browser.run("return outrigger.status.time").as_f64()?;
        (at - begun >= span).then_some(())
    });
    let least = |some: &[f64]| some.iter().copied().fold(f64::MAX, f64::min);
    let third = (samples.len() / 3).max(1);
    let (early, late) = (least(&samples[..third]), least(&samples[samples.len() - third..]));
    println!("the page's heap: {:.1} MB early, {:.1} MB after {span} s", early / 1e6, late / 1e6);
    assert!(late - early < GROWTH, "the page's heap grows: {early} bytes, {late} bytes after {span} s");
    let kept = browser.run("return document.querySelectorAll('*').length").as_u64();
    assert!(kept < Some(2_000), "{kept:?} elements");
}

/// Decodes a text in Base64.
fn bytes(text: &str) -> Vec<u8> {
    let value = |c: u8| match c {
        b'A'..=b'Z' => c - b'A',
        b'a'..=b'z' => c - b'a' + 26,
        b'0'..=b'9' => c - b'0' + 52,
        b'+' => 62,
        _ => 63,
    };
    let digits: Vec<u8> = text.bytes().filter(|c| *c != b'=').map(value).collect();
    let group = |four: &[u8]| {
        let bits = four.iter().fold(0_u32, |bits, digit| bits << 6 | u32::from(*digit)) << (6 * (4 - four.len()));
        bits.to_be_bytes()[1..four.len()].to_vec()
    };
    digits.chunks(4).flat_map(group).collect()
}
