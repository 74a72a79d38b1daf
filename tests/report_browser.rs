//! Reports in a browser: no error on the console, the network untouched, keys that do what the page says.
//!
//! The browser is `CHROMIUM`, else `chromium`. Without `REQUIRE_BROWSER=1` every trial is reported as
//! ignored. `SCREENSHOTS` names a folder for pictures of the pages, light and dark, wide and narrow.

use libtest_mimic::{Arguments, Completion, Failed, Trial};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Output};

/// A result to be shown, and what the page then has to say.
struct Case {
    name: &'static str,
    /// After `host run`.
    arguments: &'static [&'static str],
    check: fn(&Value) -> Result<(), Failed>,
}

const CASES: &[Case] = &[
    Case {
        name: "one_point",
        arguments: &["three_nodes"],
        check: |page| {
            hold(page["sweep"] == false, "no sweep is shown", page)?;
            hold(page["pictures"] == 3, "series, spectrum and profile are drawn", page)
        },
    },
    Case {
        name: "map_of_65536_points",
        arguments: &[
            "three_nodes",
            "--duration",
            "2",
            "--sweep",
            "I=0:0.6:256",
            "--sweep",
            "tau=5:25:256",
        ],
        check: |page| {
            let moved = page["moved"].as_str().unwrap_or_default();
            hold(
                moved.contains("I 0 ") && moved.contains("tau 25"),
                "Home and PageUp go there",
                page,
            )?;
            hold(page["moved"] != page["before"], "the marker moved", page)?;
            let milliseconds = page["milliseconds"].as_f64().unwrap_or(f64::MAX);
            hold(milliseconds < 500.0, "a step on the map takes less than half a second", page)
        },
    },
    Case {
        name: "line_and_matrix",
        arguments: &["rww_bold_fc", "--duration", "27000", "--dt", "1", "--points", "0,6"],
        check: |page| hold(page["sweep"] == true, "the sweep is shown", page),
    },
];

/// Put at the end of a page: moves the marker, and leaves what it saw in the document.
const PROBE: &str = r##"<script>
(() => {
  const seen = { errors: window.failures ?? [] };
  const frames = (n, then) => (n ? requestAnimationFrame(() => frames(n - 1, then)) : then());
  frames(3, () => {
    const sweep = document.getElementById("sweep");
    seen.sweep = !sweep.hidden;
    const canvases = [...document.querySelectorAll("canvas")];
    seen.pictures = canvases.length;
    seen.drawn = canvases.every((c) => c.getContext("2d").getImageData(0, 0, c.width, c.height).data.some((v) => v));
    seen.labels = canvases.every((c) => c.getAttribute("aria-label") && c.tabIndex === 0);
    seen.wide = document.documentElement.scrollWidth > innerWidth;
    const canvas = canvases[0];
    canvas.focus();
    seen.focus = document.activeElement === canvas;
    const readout = canvas.parentNode.querySelector(".readout");
    seen.before = readout.textContent;
    const press = (key) => canvas.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
    const start = performance.now();
    for (const key of ["ArrowLeft", "Home", "PageUp"]) press(key);
    frames(3, () => {
      seen.milliseconds = performance.now() - start;
      seen.moved = readout.textContent;
      for (const select of document.querySelectorAll("select")) {
        select.value = select.options[select.options.length - 1].value;
        select.dispatchEvent(new Event("change"));
      }
      frames(3, () => document.body.setAttribute("data-seen", JSON.stringify(seen)));
    });
  });
})();
</script>"##;

/// Put at a page's start, to hear of errors.
const LISTENER: &str = "<script>window.failures = []; \
    addEventListener('error', (e) => failures.push(e.message)); \
    addEventListener('securitypolicyviolation', (e) => failures.push(e.blockedURI));</script>";

fn hold(condition: bool, what: &str, page: &Value) -> Result<(), Failed> {
    if condition { Ok(()) } else { Err(format!("not so: {what}; the page: {page}").into()) }
}

fn browser() -> String {
    std::env::var("CHROMIUM").unwrap_or_else(|_| "chromium".to_owned())
}

fn open(page: &Path, more: &[String]) -> Result<Output, Failed> {
    let profile = tempfile::tempdir()?;
    let mut command = Command::new(browser());
    // The sandbox of Chromium can't be had in most containers, and the page is our own.
    command.args(["--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"]);
    command.args(["--enable-logging=stderr", "--virtual-time-budget=8000", "--timeout=60000"]);
    command.arg(format!("--user-data-dir={}", profile.path().display())).args(more);
    Ok(command.arg(format!("file://{}", page.display())).output()?)
}

fn run(case: &Case) -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let (result, page) = (folder.path().join("r.npz"), folder.path().join("r.html"));
    let ran = Command::new(env!("CARGO_BIN_EXE_host"))
        .arg("run")
        .args(case.arguments)
        .args(["--device", "cpu", "--quiet", "--report", "--out"])
        .arg(&result)
        .output()?;
    if !ran.status.success() {
        return Err(String::from_utf8_lossy(&ran.stderr).into_owned().into());
    }
    let text = std::fs::read_to_string(&page)?;
    let probed = text.replacen("<head>", &format!("<head>{LISTENER}"), 1).replacen(
        "</body>",
        &format!("{PROBE}</body>"),
        1,
    );
    let copy = folder.path().join("probed.html");
    std::fs::write(&copy, probed)?;
    for size in ["1280,900", "700,900"] {
        let shown = open(&copy, &["--dump-dom".into(), format!("--window-size={size}")])?;
        let console = String::from_utf8_lossy(&shown.stderr).into_owned();
        let said: Vec<&str> = console.lines().filter(|l| l.contains("CONSOLE")).collect();
        let document = String::from_utf8_lossy(&shown.stdout).into_owned();
        let seen = document.split_once("data-seen=\"").and_then(|(_, rest)| rest.split_once('"'));
        let (seen, _) = seen.ok_or_else(|| format!("the page didn't come to its end: {said:?}"))?;
        let seen: Value =
            serde_json::from_str(&seen.replace("&quot;", "\"").replace("&amp;", "&"))?;
        hold(said.is_empty(), &format!("nothing is on the console: {said:?}"), &seen)?;
        hold(seen["errors"] == serde_json::json!([]), "there is no error", &seen)?;
        hold(seen["drawn"] == true, "every picture is drawn", &seen)?;
        hold(seen["labels"] == true, "every picture has a label and can have the focus", &seen)?;
        hold(seen["focus"] == true, "the first picture has the focus", &seen)?;
        hold(seen["wide"] == false, "the page is no wider than its window", &seen)?;
        (case.check)(&seen)?;
    }
    if let Some(to) = std::env::var_os("SCREENSHOTS").map(PathBuf::from) {
        std::fs::create_dir_all(&to)?;
        for (scheme, number) in [("light", 1), ("dark", 0)] {
            for (width, height) in [(1280, 2300), (700, 2700)] {
                let file = to.join(format!("{}-{width}-{scheme}.png", case.name));
                let picture = [
                    format!("--screenshot={}", file.display()),
                    format!("--window-size={width},{height}"),
                    format!("--blink-settings=preferredColorScheme={number}"),
                ];
                open(&page, &picture)?;
            }
        }
    }
    Ok(())
}

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let required = std::env::var_os("REQUIRE_BROWSER").is_some_and(|v| v == "1");
    let trials = CASES
        .iter()
        .map(|case| {
            let name = format!("browser::{}", case.name);
            if required {
                Trial::test(name, move || run(case))
            } else {
                let why = "needs Chromium; REQUIRE_BROWSER=1 runs it".to_owned();
                Trial::ignorable_test(name, move || Ok(Completion::ignored_with(why)))
            }
        })
        .collect();
    libtest_mimic::run(&arguments, trials).exit_code()
}
