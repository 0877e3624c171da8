//! Installs Debian packages that are needed besides the toolchain: real servers for the tests, packaging tools.
//! A test without its server fails; no test is skipped.

use crate::{command, run, run_command};
use anyhow::{Context, Result, bail};
use std::path::{Path, PathBuf};

/// For the tests: a file that shows that the package or an equivalent is installed, and the package.
pub const OF_TESTS: &[(&str, &str)] = &[
    ("nginx", "nginx-light"),
    ("node", "nodejs"),
    ("python3", "python3"),
    ("curl", "curl"),
    ("nghttp", "nghttp2-client"),
    ("ab", "apache2-utils"),
    ("hypnotoad", "libmojolicious-perl"),
    ("apache2", "apache2-bin"),
    ("lighttpd", "lighttpd"),
    ("/usr/lib/lighttpd/mod_openssl.so", "lighttpd-mod-openssl"),
    ("haproxy", "haproxy"),
    ("caddy", "caddy"),
    ("h2o", "h2o"),
    ("nghttpd", "nghttp2-server"),
    ("/usr/lib/nginx/modules/ngx_http_lua_module.so", "libnginx-mod-http-lua"),
    ("/etc/mime.types", "media-types"),
    ("/usr/share/perl5/HTTP/Daemon.pm", "libhttp-daemon-perl"),
    ("/usr/share/perl5/HTTP/Server/Simple.pm", "libhttp-server-simple-perl"),
    ("starman", "starman"),
    ("/usr/share/nodejs/ws/index.js", "node-ws"),
    ("/usr/lib/python3/dist-packages/websockets/__init__.py", "python3-websockets"),
    ("/usr/share/gocode/src/github.com/gorilla/websocket/server.go", "golang-github-gorilla-websocket-dev"),
    ("/usr/lib/python3/dist-packages/bottle.py", "python3-bottle"),
    ("/usr/lib/python3/dist-packages/waitress/__init__.py", "python3-waitress"),
    ("/usr/lib/python3/dist-packages/grpc/__init__.py", "python3-grpcio"),
    ("/usr/share/java/grpc-netty.jar", "libgrpc-java"),
    ("/usr/share/java/netty-codec-http2.jar", "libnetty-java"),
    ("/usr/share/java/guava.jar", "libguava-java"),
    ("/usr/share/java/perfmark-api.jar", "libperfmark-java"),
    ("javac", "default-jdk-headless"),
    ("/usr/share/lua/5.1/cjson/util.lua", "lua-cjson"),
    ("ip", "iproute2"),
    ("siege", "siege"),
    ("wrk", "wrk"),
    ("httperf", "httperf"),
    ("chromium", "chromium"),
    ("chromedriver", "chromium-driver"),
    ("npm", "npm"),
    ("prometheus", "prometheus"),
    ("podman", "podman"),
    ("runc", "runc"),
    ("git", "git"),
    ("jq", "jq"),
    ("unzip", "unzip"),
    ("sshd", "openssh-server"),
    ("ssh", "openssh-client"),
    ("cc", "gcc"),
    ("make", "make"),
    ("/usr/include/stdlib.h", "libc6-dev"),
];

/// Packages that start a service when they are installed and whenever the machine starts, with the service's name.
/// The tests start their own servers, so these services are stopped.
const SERVICES: &[(&str, &str)] = &[
    ("nginx-light", "nginx"),
    ("lighttpd", "lighttpd"),
    ("haproxy", "haproxy"),
    ("caddy", "caddy"),
    ("h2o", "h2o"),
    ("prometheus", "prometheus"),
    ("openssh-server", "ssh"),
];

/// For `cargo xtask dist`.
pub const OF_DIST: &[(&str, &str)] = &[
    ("python3", "python3"),
    ("/usr/share/doc/python3-venv/copyright", "python3-venv"),
    ("dpkg-deb", "dpkg"),
];

/// For `cargo xtask installs`.
pub const OF_INSTALLS: &[(&str, &str)] =
    &[("mmdebstrap", "mmdebstrap"), ("unshare", "util-linux"), ("ip", "iproute2")];

/// For the container image.
pub const OF_IMAGE: &[(&str, &str)] = &[("podman", "podman"), ("runc", "runc")];

/// For `cargo xtask emulated`.
pub const OF_EMULATION: &[(&str, &str)] = &[("qemu-aarch64-static", "qemu-user-static")];

/// For the race on an emulated machine.
pub const OF_VIRTUAL_MACHINE: &[(&str, &str)] =
    &[("mmdebstrap", "mmdebstrap"), ("qemu-system-aarch64", "qemu-system-arm"), ("cpio", "cpio")];

/// Installs what is missing. Each item is like those of [`OF_TESTS`].
pub fn ensure(needed: &[(&str, &str)]) -> Result<()> {
    let missing: Vec<&str> =
        needed.iter().filter(|(program, _)| find(program).is_none()).map(|(_, package)| *package).collect();
    if missing.is_empty() {
        return Ok(());
    }
    if find("apt-get").is_none() {
        bail!("{} missing: install them with this system's package manager", missing.join(", "));
    }
    run_as_root(&["apt-get", "update", "-q"])?;
    let install = ["apt-get", "install", "-y", "-q", "--no-install-recommends"];
    run_as_root(&[&install, &missing[..]].concat())?;
    let services = services_of(&missing);
    if services.is_empty() || !Path::new("/run/systemd/system").exists() {
        return Ok(());
    }
    run_as_root(&[&["systemctl", "disable", "--now"], &services[..]].concat())
}

/// The folder of the browser tests. Its `package-lock.json` pins the exact npm packages that they need.
const OF_BROWSER: &str = "app/tests/browser";

/// Installs the npm packages of the browser tests, unless they are installed.
pub fn ensure_for_browser(root: &Path) -> Result<()> {
    let folder = root.join(OF_BROWSER);
    let wanted = std::fs::read_to_string(folder.join("package-lock.json"))?;
    // In this file npm records what it has installed.
    let there = std::fs::read_to_string(folder.join("node_modules/.package-lock.json")).unwrap_or_default();
    let mut digests = wanted.lines().filter(|line| line.contains("\"integrity\""));
    if digests.all(|digest| there.contains(digest.trim())) {
        return Ok(());
    }
    run("npm", &["ci", "--prefix", OF_BROWSER, "--ignore-scripts", "--no-audit", "--no-fund"])
}

/// A checker of HTTP/2 servers, which Go builds, for `app/tests/suite/serve_http2.rs`; and its version, which is above 1 without being in the
/// module's path.
const H2SPEC: (&str, &str) = ("github.com/summerwind/h2spec/cmd/h2spec", "v2.2.1+incompatible");

/// Builds h2spec where Go is installed. Where it is not, the test that needs it says so, and fails in CI.
pub fn ensure_h2spec(root: &Path) -> Result<()> {
    if find("go").is_none() {
        return Ok(());
    }
    go_program(root, H2SPEC.0, H2SPEC.1).map(drop)
}

/// Builds the judge of `app/tests/suite/judges/grpc.rs` that is written in Go, whose `go.sum` pins what it is built of. Where Go is not
/// installed, the test says so, and fails in CI.
pub fn ensure_grpc_judge(root: &Path) -> Result<()> {
    if find("go").is_none() {
        return Ok(());
    }
    let mut go = command("go");
    go.args(["build", "-trimpath", "-o"]).arg(root.join("target/tools/grpc-judge")).arg(".");
    go.current_dir(root.join("app/tests/suite/judges/grpc_go"));
    run_command(go.envs([("CGO_ENABLED", "0"), ("GOFLAGS", "-buildvcs=false")]))
}

/// The program that Go builds of a module's package, in target/tools, built unless this version is there.
pub fn go_program(root: &Path, package: &str, version: &str) -> Result<PathBuf> {
    let name = package.rsplit('/').next().unwrap_or_default();
    let folder = root.join("target/tools").join(format!("{name}-{version}"));
    let program = folder.join(name);
    if !program.is_file() {
        find("go").with_context(|| format!("{name} is built with Go: install it from https://go.dev/dl"))?;
        let mut go = command("go");
        go.args(["install", &format!("{package}@{version}")]).current_dir(root);
        run_command(go.env("GOBIN", folder).envs([("CGO_ENABLED", "0"), ("GOFLAGS", "")]))?;
    }
    Ok(program)
}

fn run_as_root(command: &[&str]) -> Result<()> {
    let is_root = std::fs::metadata("/proc/self").is_ok_and(|m| std::os::unix::fs::MetadataExt::uid(&m) == 0);
    if is_root { run(command[0], &command[1..]) } else { run("sudo", command) }
}

/// The services of newly installed packages. A service that was there before must keep running.
fn services_of(installed: &[&str]) -> Vec<&'static str> {
    SERVICES.iter().filter(|(package, _)| installed.contains(package)).map(|(_, service)| *service).collect()
}

/// Finds a program on PATH, or in the folder where Debian keeps servers, which is not on an ordinary user's PATH.
pub fn find(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut folders = std::env::split_paths(&path).chain([Path::new("/usr/sbin").to_owned()]);
    folders.find_map(|folder| Some(folder.join(program)).filter(|file| file.is_file()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_just_installed_is_stopped() {
        assert_eq!(services_of(&["curl", "lighttpd", "lighttpd-mod-openssl"]), ["lighttpd"]);
        assert_eq!(services_of(&["apache2-bin"]), Vec::<&str>::new());
    }

    #[test]
    fn every_service_is_of_a_package_that_the_tests_need() {
        let all: Vec<&str> = OF_TESTS.iter().map(|(_, package)| *package).collect();
        assert_eq!(services_of(&all).len(), SERVICES.len());
    }
}
