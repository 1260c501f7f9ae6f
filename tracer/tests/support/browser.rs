//! Headless Chromium for tests of pages: it is told what to do over its debugging pipe, and tells what the page did.
//!
//! The protocol: one JSON object per message, with a zero byte behind it.
//! <https://chromedevtools.github.io/devtools-protocol/>

#![allow(dead_code, reason = "each test file includes this module and uses a part of it")]

use std::{
    io::{BufRead as _, BufReader, Write as _},
    path::{Path, PathBuf},
    process::{Child, ChildStdin, Command, Stdio},
    sync::mpsc::{Receiver, channel},
    thread,
    time::{Duration, Instant},
};

use serde_json::{Value, json};

/// The longest that anything here may take.
const LIMIT: Duration = Duration::from_secs(60);

/// Between two looks at something that can't be waited for.
const LOOK_AGAIN: Duration = Duration::from_millis(20);

/// Puts the descriptors of the pipe where Chromium looks for them.
const PIPED: &str = r#"exec "$0" "$@" 3<&0 4>&1 </dev/null >/dev/null 2>/dev/null"#;

/// A browser with one page.
#[derive(Debug)]
pub(crate) struct Browser {
    child: Child,
    to: ChildStdin,
    from: Receiver<Value>,
    session: Option<String>,
    next: u64,
    events: Vec<Value>,
    _profile: tempfile::TempDir,
}

/// Colours that the system prefers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scheme {
    Light,
    Dark,
}

/// The command that becomes Chromium.
fn fetched() -> PathBuf {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../scripts/fetch-browser");
    let output = Command::new(&script).output().expect("the script can be run");
    assert!(output.status.success(), "scripts/fetch-browser:\n{}", String::from_utf8_lossy(&output.stderr));
    PathBuf::from(String::from_utf8_lossy(&output.stdout).trim_end())
}

impl Browser {
    /// Starts it with an empty page.
    pub(crate) fn start() -> Self {
        let profile = tempfile::tempdir().unwrap();
        let mut child = Command::new("bash")
            .args(["-c", PIPED])
            .arg(fetched())
            .args(["--remote-debugging-pipe", "--hide-scrollbars", "--force-color-profile=srgb"])
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let to = child.stdin.take().unwrap();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let (send, from) = channel();
        thread::spawn(move || {
            let mut message = Vec::new();
            while out.read_until(0, &mut message).is_ok_and(|read| read > 0) {
                message.pop();
                if send.send(serde_json::from_slice(&message).unwrap_or_default()).is_err() {
                    return;
                }
                message.clear();
            }
        });
        let mut browser =
            Self { child, to, from, session: None, next: 0, events: Vec::new(), _profile: profile };
        let target = browser.ask("Target.createTarget", json!({"url": "about:blank"}))["targetId"].clone();
        let attached = browser.ask("Target.attachToTarget", json!({"targetId": target, "flatten": true}));
        browser.session = attached["sessionId"].as_str().map(str::to_owned);
        for domain in ["Page", "Runtime", "Log", "Network"] {
            browser.ask(&format!("{domain}.enable"), json!({}));
        }
        browser
    }

    /// Asks it for something, and waits for the answer.
    #[track_caller]
    pub(crate) fn ask(&mut self, method: &str, parameters: Value) -> Value {
        self.next += 1;
        let mut message = json!({"id": self.next, "method": method, "params": parameters});
        if let Some(session) = &self.session {
            message["sessionId"] = json!(session);
        }
        let mut bytes = serde_json::to_vec(&message).unwrap();
        bytes.push(0);
        self.to.write_all(&bytes).unwrap();
        loop {
            let message = self.from.recv_timeout(LIMIT).unwrap_or_else(|error| panic!("{method}: {error}"));
            if message["id"] == self.next {
                assert!(message["error"].is_null(), "{method}: {message}");
                return message["result"].clone();
            }
            self.events.push(message);
        }
    }

    /// How large the window is, and which colours the system prefers.
    pub(crate) fn window(&mut self, width: u32, height: u32, scheme: Scheme) {
        let size = json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500});
        self.ask("Emulation.setDeviceMetricsOverride", size);
        let value = match scheme {
            Scheme::Light => "light",
            Scheme::Dark => "dark",
        };
        let features = json!({"features": [{"name": "prefers-color-scheme", "value": value}]});
        self.ask("Emulation.setEmulatedMedia", features);
    }

    /// Whether scripts of pages run from the next page on.
    pub(crate) fn scripts(&mut self, run: bool) {
        self.ask("Emulation.setScriptExecutionDisabled", json!({"value": !run}));
    }

    /// Opens a file and waits until it is loaded and its scripts have run.
    pub(crate) fn open(&mut self, file: &Path) {
        self.events.clear();
        self.ask("Page.navigate", json!({"url": format!("file://{}", file.display())}));
        let url = file.display().to_string();
        self.until(&format!("document.readyState === 'complete' && location.pathname === {}", json!(url)));
    }

    /// The value of an expression in the page.
    #[track_caller]
    pub(crate) fn value(&mut self, expression: &str) -> Value {
        let asked = json!({"expression": expression, "returnByValue": true, "awaitPromise": true});
        let answer = self.ask("Runtime.evaluate", asked);
        assert!(answer["exceptionDetails"].is_null(), "{expression}: {answer}");
        answer["result"]["value"].clone()
    }

    /// Text of an expression in the page.
    #[track_caller]
    pub(crate) fn text(&mut self, expression: &str) -> String {
        match self.value(expression) {
            Value::String(text) => text,
            other => panic!("{expression} is no text: {other}"),
        }
    }

    /// Whether an expression is true in the page.
    #[track_caller]
    pub(crate) fn holds(&mut self, expression: &str) -> bool {
        self.value(expression) == json!(true)
    }

    /// Waits until an expression is true in the page.
    #[track_caller]
    pub(crate) fn until(&mut self, expression: &str) {
        let deadline = Instant::now() + LIMIT;
        while !self.holds(expression) {
            assert!(Instant::now() < deadline, "not within {LIMIT:?}: {expression}");
            thread::sleep(LOOK_AGAIN);
        }
    }

    /// Presses a key, as a person does.
    pub(crate) fn press(&mut self, key: &str) {
        self.press_with(key, 0);
    }

    /// The same with modifiers held down: 8 is shift.
    pub(crate) fn press_with(&mut self, key: &str, modifiers: u32) {
        let code = match key {
            "Enter" => 13,
            "Escape" => 27,
            "Tab" => 9,
            "ArrowLeft" => 37,
            "ArrowUp" => 38,
            "ArrowRight" => 39,
            "ArrowDown" => 40,
            "Home" => 36,
            "End" => 35,
            _ => 0,
        };
        let mut down = json!({"type": "rawKeyDown", "key": key, "code": key, "windowsVirtualKeyCode": code, "modifiers": modifiers});
        let text = if key == "Enter" { "\r" } else { key };
        if text.chars().count() == 1 {
            down["type"] = json!("keyDown");
            down["text"] = json!(text);
        }
        self.ask("Input.dispatchKeyEvent", down);
        self.ask(
            "Input.dispatchKeyEvent",
            json!({"type": "keyUp", "key": key, "windowsVirtualKeyCode": code}),
        );
    }

    /// Types text.
    pub(crate) fn write(&mut self, text: &str) {
        self.ask("Input.insertText", json!({"text": text}));
    }

    /// Clicks at a place of the window.
    pub(crate) fn click(&mut self, x: f64, y: f64) {
        for kind in ["mouseMoved", "mousePressed", "mouseReleased"] {
            let count = i32::from(kind != "mouseMoved");
            let button = if count == 1 { "left" } else { "none" };
            let event = json!({"type": kind, "x": x, "y": y, "button": button, "clickCount": count});
            self.ask("Input.dispatchMouseEvent", event);
        }
    }

    /// Presses at one place of the window, moves to another one, and lets go.
    pub(crate) fn drag(&mut self, (from_x, from_y): (f64, f64), (to_x, to_y): (f64, f64)) {
        for (kind, x, y) in [
            ("mouseMoved", from_x, from_y),
            ("mousePressed", from_x, from_y),
            ("mouseMoved", (from_x + to_x) / 2.0, to_y),
            ("mouseMoved", to_x, to_y),
            ("mouseReleased", to_x, to_y),
        ] {
            let buttons = i32::from(kind != "mouseMoved" || x != from_x);
            let event =
                json!({"type": kind, "x": x, "y": y, "button": "left", "buttons": buttons, "clickCount": 1});
            self.ask("Input.dispatchMouseEvent", event);
        }
    }

    /// Brings an element into sight, and tells where in the window it is: left, top, width, height.
    #[track_caller]
    pub(crate) fn place(&mut self, selector: &str) -> [f64; 4] {
        let place = self.value(&format!(
            "(() => {{ const e = document.querySelector({}); e.scrollIntoView({{block: 'center', behavior: 'instant'}}); \
             const b = e.getBoundingClientRect(); return [b.left, b.top, b.width, b.height]; }})()",
            json!(selector)
        ));
        serde_json::from_value(place).unwrap()
    }

    /// Clicks an element in its middle.
    #[track_caller]
    pub(crate) fn click_on(&mut self, selector: &str) {
        let [left, top, width, height] = self.place(selector);
        self.click(left + width / 2.0, top + height / 2.0);
    }

    /// A picture of the window, or of the page down to `most` pixels, as PNG.
    pub(crate) fn picture(&mut self, path: &Path, most: Option<u32>) {
        let mut asked = json!({});
        if let Some(most) = most {
            let size = self.ask("Page.getLayoutMetrics", json!({}))["cssContentSize"].clone();
            let (width, height) = (size["width"].as_f64().unwrap(), size["height"].as_f64().unwrap());
            let clip =
                json!({"x": 0, "y": 0, "width": width, "height": height.min(f64::from(most)), "scale": 1});
            asked = json!({"captureBeyondViewport": true, "clip": clip});
        }
        use base64::Engine as _;
        let taken = self.ask("Page.captureScreenshot", asked);
        let bytes =
            base64::engine::general_purpose::STANDARD.decode(taken["data"].as_str().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }

    /// What went wrong in the page since it was opened: exceptions, messages of the console, refused loads, dialogs, and
    /// anything that was asked for besides the page itself.
    pub(crate) fn complaints(&mut self) -> Vec<String> {
        // Whatever is under way has been told when this is answered.
        self.ask("Runtime.evaluate", json!({"expression": "1"}));
        let of_itself = |event: &Value| {
            let url = event["params"]["request"]["url"].as_str().unwrap_or_default();
            event["params"]["type"] == "Document" && url.starts_with("file://")
        };
        self.events
            .iter()
            .filter(|event| match event["method"].as_str().unwrap_or_default() {
                "Runtime.exceptionThrown"
                | "Runtime.consoleAPICalled"
                | "Log.entryAdded"
                | "Page.javascriptDialogOpening"
                | "Network.webSocketCreated" => true,
                "Network.requestWillBeSent" => !of_itself(event),
                _ => false,
            })
            .map(Value::to_string)
            .collect()
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // Its own children end when it does.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
