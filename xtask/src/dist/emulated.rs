//! `cargo xtask emulated`: the unit tests, `drome serve` and `drome load` on an emulated 64-bit ARM. User-mode emulation has neither
//! `io_uring` nor subreapers, so a race runs on a whole emulated machine with a kernel of its own.

use super::tools::{self, Tools};
use super::{TARGETS, Target, binary, virtual_machine};
use crate::{packages, root};
use anyhow::{Context, Result, bail};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

const EMULATOR: &str = "qemu-aarch64-static";

/// Requests of the load, more than a few times round all connections.
const REQUESTS: u64 = 2000;

/// Runs all of these on the emulated machine.
pub fn emulated() -> Result<()> {
    packages::ensure(packages::OF_EMULATION)?;
    let root = root();
    let tools = tools::cross_compiler(&root)?;
    let target = *TARGETS.iter().find(|target| target.machine == "aarch64").context("no target for ARM")?;
    let binary = binary::build(&root, &tools, target)?;
    serve_and_load(&binary)?;
    virtual_machine::race(&root, &binary)?;
    unit_tests(&tools, target)
}

fn unit_tests(tools: &Tools, target: Target) -> Result<()> {
    let test = ["test", "--locked", "--workspace", "--lib", "--bins", "--target", target.triple];
    let others = ["--exclude", "xtask", "--exclude", "drome-bench"];
    let runner = ("CARGO_TARGET_AARCH64_UNKNOWN_LINUX_MUSL_RUNNER", EMULATOR);
    tools.run("cargo-zigbuild", &[&test[..], &others].concat(), &[runner])
}

/// A running server, which is ended when this is dropped.
struct Served(Child);

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn serve_and_load(binary: &Path) -> Result<()> {
    let mut command = Command::new(EMULATOR);
    command.arg(binary).args(["serve", "--port", "0"]).stdout(Stdio::piped());
    let mut served = Served(command.spawn().with_context(|| format!("can't run {EMULATOR}"))?);
    let mut url = String::new();
    let printed = served.0.stdout.take().context("no output")?;
    BufReader::new(printed).read_line(&mut url)?;
    let url = format!("{}hello", url.trim());
    let requests = REQUESTS.to_string();
    let load =
        ["load", &url, "-c", "8", "-n", &requests, "--io", "epoll", "--format", "json", "--allow-busy"];
    let output = Command::new(EMULATOR).arg(binary).args(load).output()?;
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).with_context(|| {
        format!("`drome load` printed no JSON: {}", String::from_utf8_lossy(&output.stderr))
    })?;
    let (completed, errors) = (&json["requests"]["completed"], &json["errors"]["total"]);
    if completed.as_u64() != Some(REQUESTS) || errors != 0 {
        bail!("{completed} of {REQUESTS} requests completed, {errors} errors: {json}");
    }
    println!(
        "drome serve and drome load over epoll under {EMULATOR}: {completed} requests completed, no error"
    );
    Ok(())
}
