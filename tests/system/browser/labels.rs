//! Labels of the live page: none covers another, and none is cut off.

use std::time::Duration;

use serde_json::{Value, json};

use super::driver::Browser;

/// Records the ink of every text that the page draws on a canvas, since the canvas was cleared, as the browser measures
/// it.
const RECORD: &str = "
    window.inked = new Map();
    const own = CanvasRenderingContext2D.prototype, clear = own.clearRect, fill = own.fillText;
    own.clearRect = function (...sizes) { inked.set(this.canvas, []); clear.apply(this, sizes); };
    own.fillText = function (text, x, y) {
        const m = this.measureText(text);
        if (inked.has(this.canvas)) inked.get(this.canvas).push([text, x - m.actualBoundingBoxLeft, y - m.actualBoundingBoxAscent,
            x + m.actualBoundingBoxRight, y + m.actualBoundingBoxDescent]);
        fill.call(this, text, x, y);
    };";

/// Gives the page long names: of joints, of the robot, of a sensor, and of faults that follow each other closely.
const LONG_NAMES: &str = "
    [angles, speeds].forEach(plot => plot.series.forEach((line, i) => { line.name = `joint ${i} with a long name`; }));
    robot = { ...robot, serial: '2020'.repeat(12) };
    marks = ['ProtectiveStop', 'StateStale', 'SpeedLimitExceeded', 'SourceTooOld'].map((name, i) => ({ name, time: latest() - 2 + 0.3 * i }));
    const heading = sensor.root.querySelector('h2'), title = 'Sensor “distance to the workpiece on the left of the second cell” [mm]';
    sensor.root.hidden = false;
    new MutationObserver(() => { if (heading.textContent !== title) heading.textContent = title; }).observe(heading, { childList: true });
    heading.textContent = title;";

/// Returns texts on canvases that overlap or are cut off, pairs of elements that overlap, and the number of texts.
const LOOK: &str = "
    const wrong = [];
    let texts = 0;
    const overlap = (a, b) => Math.min(a[2], b[2]) - Math.max(a[0], b[0]) > 0.5 && Math.min(a[3], b[3]) - Math.max(a[1], b[1]) > 0.5;
    for (const [canvas, list] of inked) {
        if (!canvas.isConnected || !canvas.clientWidth) continue;
        texts += list.length;
        list.forEach(([text, ...a], i) => {
            if (a[0] < -0.5 || a[1] < -0.5 || a[2] > canvas.clientWidth + 0.5 || a[3] > canvas.clientHeight + 0.5) wrong.push(`${text} is cut off`);
            list.slice(i + 1).forEach(([other, ...b]) => { if (overlap(a, b)) wrong.push(`${text} / ${other}`); });
        });
    }
    const boxes = (...selectors) => selectors.flatMap(selector => [...document.querySelectorAll(selector)]).filter(e => e.offsetParent && e.textContent)
        .map(e => { const range = document.createRange(); range.selectNodeContents(e); const b = range.getBoundingClientRect(); return [e.textContent, b.left, b.top, b.right, b.bottom]; });
    for (const list of [boxes('h1', '#connection', 'body > header button'), boxes('#plots h2', '#plots .value'), boxes('#figures h2', '#figures p'), boxes('#when', '#live')])
        list.forEach(([text, ...a], i) => list.slice(i + 1).forEach(([other, ...b]) => { if (overlap(a, b)) wrong.push(`${text} / ${other}`); }));
    return { wrong, texts };";

/// Checks the labels at two sizes, in both colour schemes, with usual and with long names.
pub(super) fn do_not_collide(browser: &Browser) {
    browser.run(RECORD);
    for long in [false, true] {
        if long {
            browser.run(LONG_NAMES);
        }
        for (width, height) in [(1280, 800), (390, 800)] {
            for scheme in ["light", "dark"] {
                let metrics = json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500});
                browser.tools("Emulation.setDeviceMetricsOverride", &metrics);
                let features = json!({"features": [{"name": "prefers-color-scheme", "value": scheme}]});
                browser.tools("Emulation.setEmulatedMedia", &features);
                for turn in 0..4 {
                    browser.run("Arm.turn(0.9, 0); redraw()");
                    std::thread::sleep(Duration::from_millis(300));
                    let seen = browser.run(LOOK);
                    let at = format!("{width}×{height}, {scheme}, long names: {long}, turn {turn}");
                    assert_eq!(seen["wrong"], json!([]), "{at}");
                    assert!(seen["texts"].as_u64() > Some(20), "{at}: {}", seen["texts"]);
                }
            }
        }
    }
    let named = browser.run("return [...inked.values()].flat().filter(([text]) => text.startsWith('joint ')).length");
    assert!(named.as_u64() > Some(5), "long names are shown, shortened: {named}");
    browser.run("marks = []; Arm.reset()");
    assert_ne!(browser.run("return document.getElementById('robot').textContent"), Value::Null);
}
