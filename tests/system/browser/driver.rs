//! A headless browser, controlled through ChromeDriver over plain HTTP (W3C WebDriver).

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use rustix::process::{Pid, Signal, kill_process_group};
use serde_json::{Value, json};

/// A browser with one page. Dropping it ends both ChromeDriver and the browser.
pub(super) struct Browser {
    driver: Child,
    port: u16,
    session: String,
}

impl Browser {
    /// Starts a browser that stores its files in `profile` and resolves no host name except 127.0.0.1.
    pub(super) fn start(profile: &Path) -> Self {
        let mut driver = Command::new("chromedriver")
            .arg("--port=0")
            .process_group(0)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("chromedriver");
        let mut said = BufReader::new(driver.stdout.take().expect("piped")).lines().map_while(Result::ok);
        let started = said.find(|line| line.contains("started successfully on port")).expect("it says its port");
        let port = started.rsplit(' ').next().and_then(|port| port.trim_end_matches('.').parse().ok()).expect("a port");
        let arguments = [
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-quic",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
            &format!("--user-data-dir={}", profile.display()),
        ];
        let wanted = json!({"capabilities": {"alwaysMatch": {
            "browserName": "chrome",
            "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"},
            "goog:chromeOptions": {"args": arguments},
        }}});
        let mut browser = Self { driver, port, session: String::new() };
        let session = browser.call("POST", "", &wanted);
        browser.session = format!("/{}", session["sessionId"].as_str().expect("a session"));
        browser
    }

    pub(super) fn open(&self, url: &str) {
        self.call("POST", "/url", &json!({"url": url}));
    }

    /// Runs `script` in the page and returns its result.
    pub(super) fn run(&self, script: &str) -> Value {
        self.call("POST", "/execute/sync", &json!({"script": script, "args": []}))
    }

    /// Sends a command of the DevTools protocol and returns its result.
    pub(super) fn tools(&self, command: &str, parameters: &Value) -> Value {
        self.call("POST", "/goog/cdp/execute", &json!({"cmd": command, "params": parameters}))
    }

    /// Returns the entries that the browser's log `of` (`browser` or `performance`) has received since the previous
    /// call.
    pub(super) fn log(&self, of: &str) -> Vec<Value> {
        self.call("POST", "/se/log", &json!({"type": of})).as_array().cloned().unwrap_or_default()
    }

    /// Presses and releases a key. The focused element receives it.
    pub(super) fn press(&self, key: &str) {
        let strokes = json!([{"type": "keyDown", "value": key}, {"type": "keyUp", "value": key}]);
        self.call("POST", "/actions", &json!({"actions": [{"type": "key", "id": "keyboard", "actions": strokes}]}));
    }

    /// Returns a picture of the page as PNG, in Base64.
    pub(super) fn picture(&self) -> String {
        self.call("GET", "/screenshot", &Value::Null).as_str().expect("a picture").to_owned()
    }

    fn call(&self, method: &str, path: &str, body: &Value) -> Value {
        let Self { port, session, .. } = self;
        let mut stream = TcpStream::connect(("127.0.0.1", *port)).expect("chromedriver listens");
        let body = if body.is_null() { String::new() } else { body.to_string() };
        write!(
            stream,
            "{method} /session{session}{path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Type: application/json\r\n\
             Content-Length: {}\r\nConnection: close\r\n\r\n{body}",
            body.len()
        )
        .expect("chromedriver reads");
        let mut answer = BufReader::new(stream);
        let mut length = 0;
        loop {
            let mut line = String::new();
            assert!(answer.read_line(&mut line).expect("an answer") > 0, "chromedriver hung up at {method} {path}");
            if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                length = value.trim().parse().expect("a number");
            }
            if line == "\r\n" {
                break;
            }
        }
        let mut text = vec![0; length];
        answer.read_exact(&mut text).expect("a whole answer");
        let value: Value = serde_json::from_slice(&text).expect("JSON");
        assert!(value["value"]["error"].is_null(), "{method} {path}: {}", value["value"]);
        value["value"].clone()
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        if !self.session.is_empty() && !std::thread::panicking() {
            self.call("DELETE", "", &Value::Null);
        }
        // This also ends the browser if its session was not deleted: both are in the same process group.
        let _ = kill_process_group(Pid::from_child(&self.driver), Signal::KILL);
        let _ = self.driver.wait();
    }
}
