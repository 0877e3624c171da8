//! `drome race --image`: real containers, run by podman with a store of its own, so that nothing of the user's is touched.

use crate::common::{DROME, Finished, Home, PATIENCE, process, processes_with, run, wait_for};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Slower by so much that every machine sees it.
const SLOW: &str = "20ms";

/// The server of an image whose entry point is a shell.
const START: &str = "'exec /drome serve --port {port} --spin $SPIN'";

const SHELL: &str = r#"ENTRYPOINT ["/bin/sh", "-c"]"#;

/// podman with a store in a folder, and a small root for images. The binary itself is mounted: it is large, and this store copies an image
/// for every container.
struct Podman {
    home: Home,
    words: Vec<String>,
}

impl Podman {
    fn new() -> Self {
        let home = Home::new();
        // Short names: the path of a container's socket has room for a hundred bytes.
        let folder = |name: &str| home.path().join(name).display().to_string();
        let line = format!(
            "podman --root {} --runroot {} --tmpdir {} --storage-driver vfs --cgroup-manager cgroupfs --events-backend file \
             --runtime runc",
            folder("r"),
            folder("q"),
            folder("t")
        );
        let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
        let podman = Self { home, words };
        fs::create_dir(podman.home.path().join("v")).unwrap();
        podman.make_root();
        podman
    }

    /// A shell and the libraries of the binary, as a tar.
    fn make_root(&self) {
        let root = self.home.path().join("root");
        for file in libraries("/bin/sh").into_iter().chain(libraries(DROME)).chain(["/bin/sh".to_owned()]) {
            let to = root.join(file.trim_start_matches('/'));
            fs::create_dir_all(to.parent().unwrap()).unwrap();
            fs::copy(file, to).unwrap();
        }
        fs::write(root.join("drome"), "").unwrap();
        let tar =
            Command::new("tar").arg("-C").arg(&root).arg("-cf").arg(self.tar()).arg(".").output().unwrap();
        assert!(tar.status.success(), "{}", String::from_utf8_lossy(&tar.stderr));
    }

    fn tar(&self) -> std::path::PathBuf {
        self.home.path().join("root.tar")
    }

    fn podman(&self, args: &[&str]) -> Finished {
        let mut command = Command::new(&self.words[0]);
        command.args(&self.words[1..]).args(args).env("TMPDIR", self.home.path().join("v"));
        run(&mut command)
    }

    /// What podman prints, where it must succeed.
    fn told(&self, args: &[&str]) -> String {
        let finished = self.podman(args);
        assert_eq!(finished.code, 0, "podman {args:?}: {}{}", finished.out, finished.err);
        finished.out.trim().to_owned()
    }

    /// Makes an image of the root with these settings, and returns its ID.
    fn image(&self, name: &str, settings: &[&str]) -> String {
        let tar = self.tar().display().to_string();
        let changes: Vec<&str> = settings.iter().flat_map(|setting| ["--change", setting]).collect();
        self.told(&[&["import"][..], &changes, &[tar.as_str(), name]].concat());
        self.told(&["image", "inspect", "--format", "{{.Id}}", name])
    }

    /// The IDs of all containers, running or not.
    fn containers(&self) -> Vec<String> {
        self.told(&["ps", "--all", "--quiet"]).lines().map(str::to_owned).collect()
    }

    fn race_command(&self, images: &[&str], args: &[&str]) -> Command {
        let mut command = self.home.drome(&["race"]);
        for image in images {
            command.args(["--image", image]);
        }
        command.args(["--container-tool", &self.words.join(" ")]);
        for option in ["--ulimit=nofile=20000:20000", "--ulimit=nproc=4096:4096"] {
            command.args(["--container-arg", option]);
        }
        command.arg(format!("--container-arg=--volume={DROME}:/drome:ro"));
        command.args(["--url", "http://127.0.0.1:{port}/hello", "-c", "1", "--seed", "1"]);
        command.args(["--warmup", "50ms", "--duration", "100ms"]).args(args);
        command
    }

    fn race(&self, images: &[&str], args: &[&str]) -> Finished {
        run(&mut self.race_command(images, args))
    }

    /// No container is left, and no process that has to do with one.
    fn assert_nothing_is_left(&self, what: &str) {
        let mark = self.home.path().display().to_string();
        wait_for(|| processes_with(&mark).is_empty(), &format!("every process to be gone {what}"));
        assert_eq!(self.containers(), Vec::<String>::new(), "{what}");
    }
}

impl Drop for Podman {
    fn drop(&mut self) {
        // A test that failed may have left some.
        let mut command = Command::new(&self.words[0]);
        command.args(&self.words[1..]).args(["rm", "--all", "--force"]).stdin(Stdio::null());
        let _ = command.stdout(Stdio::null()).stderr(Stdio::null()).status();
    }
}

/// The libraries that a program is linked with.
fn libraries(program: &str) -> BTreeSet<String> {
    let output = Command::new("ldd").arg(program).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let is_file = |word: &&str| word.starts_with('/') && Path::new(word).is_file();
    text.split_whitespace().filter(is_file).map(str::to_owned).collect()
}

#[test]
fn images_race_pinned_and_the_report_names_them() {
    let podman = Podman::new();
    let old = podman.image("localhost/app:old", &[SHELL, "ENV SPIN=0s"]);
    let new = podman.image("localhost/app:new", &[SHELL, &format!("ENV SPIN={SLOW}")]);
    assert_ne!(old, new);
    let args = ["--start", START, "--fail-if-slower", "2%", "--rounds", "8", "--budget", "4min"];
    let slower = podman.race(&["localhost/app:old", "localhost/app:new"], &args);
    assert_eq!(slower.code, 3, "{}{}", slower.out, slower.err);
    // By how much depends on what else runs on the machine.
    assert!(slower.err.contains("app:new is more than 2 % slower: "), "{}", slower.err);
    assert!(!slower.err.contains("same image"), "{}", slower.err);
    podman.assert_nothing_is_left("after a race");
    let report = run(&mut podman.home.drome(&["report"])).out;
    for (label, id) in [("A, app:old: localhost/app:old", &old), ("B, app:new: localhost/app:new", &new)] {
        // Lines may be wrapped.
        assert!(report.contains(label) && report.contains(&format!("sha256:{id}")), "{label} {id}: {report}");
    }
    assert!(!report.contains("after the measurement"), "all were stopped: {report}");
    assert!(!report.contains("no control group of its own"), "{report}");
    let json = podman.home.findings();
    assert_eq!(json["entrants"]["A"]["image"]["id"], format!("sha256:{old}"));
    assert_eq!(json["entrants"]["B"]["image"]["name"], "localhost/app:new");
    let figure = |name: &str, of: &str| {
        let rows = json["cells"][0]["contenders"].as_array().unwrap();
        let row = rows.iter().find(|row| row["name"] == name).unwrap();
        row[of]["median"].as_f64().unwrap_or_else(|| panic!("{of}: {row}"))
    };
    // The CPU time is the container's: the slow one computes for 20 ms of the clock, less what others take of its core meanwhile.
    let cpu = |name| figure(name, "server_cpu_ns_per_request");
    assert!(cpu("B") > 3.0 * cpu("A"), "{} {}", cpu("A"), cpu("B"));
}

#[test]
fn the_same_image_twice_is_told_and_a_variable_hands_the_port_over() {
    let podman = Podman::new();
    // The first process is a shell that does nothing on SIGTERM.
    podman.image("localhost/app:one", &[r#"CMD ["/bin/sh", "-c", "/drome serve --port $PORT; true"]"#]);
    podman.told(&["tag", "localhost/app:one", "localhost/app:other"]);
    let args = ["--env", "PORT={port}", "--rounds", "1"];
    let same = podman.race(&["localhost/app:one", "localhost/app:other"], &args);
    assert!(same.err.contains("app:one and localhost/app:other are the same image (sha256:"), "{}", same.err);
    same.assert_out(0, &["A, app:one: ", "B, app:other: "]);
    assert!(!same.out.contains("after the measurement"), "to be killed is no fault: {}", same.out);
    podman.assert_nothing_is_left("after servers that had to be killed");
}

#[test]
fn a_killed_drome_leaves_no_container() {
    let podman = Podman::new();
    podman.image("localhost/app:old", &[SHELL, "ENV SPIN=0s"]);
    podman.image("localhost/app:new", &[SHELL, "ENV SPIN=1us"]);
    // While the first container is made, a moment after that, when all are there, and under load.
    for (containers, pause_ms) in [(1, 0), (1, 300), (4, 0), (4, 2000)] {
        let mut command = podman
            .race_command(&["localhost/app:old", "localhost/app:new"], &["--start", START, "--any-body"]);
        let command = command.args(["--precision", "0.001%", "--budget", "1h"]);
        let mut child = process::spawn_unheard(command);
        let deadline = Instant::now() + PATIENCE;
        while podman.containers().len() < containers {
            assert!(Instant::now() < deadline, "no {containers} containers");
            assert!(child.try_wait().unwrap().is_none(), "the race ended");
        }
        std::thread::sleep(Duration::from_millis(pause_ms));
        child.kill().unwrap();
        process::wait(&mut child);
        podman.assert_nothing_is_left(&format!("after a kill with {containers} containers"));
        let is_empty = || fs::read_dir(podman.home.temporary()).unwrap().next().is_none();
        wait_for(is_empty, "every folder to be gone");
    }
}

#[test]
fn what_can_not_be_raced_is_refused_with_the_reason() {
    let podman = Podman::new();
    podman.image("localhost/app:old", &[SHELL, "ENV SPIN=0s"]);
    let both = ["localhost/app:old", "localhost/app:old"];
    let refused = |finished: Finished, why: &[&str]| {
        let has_all = why.iter().all(|words| finished.err.contains(words));
        assert!(finished.code == 2 && has_all, "{why:?}: {} {}", finished.code, finished.err);
    };
    let unknown = podman.race(&["localhost/app:old", "localhost/no-such:1"], &["--start", START]);
    refused(
        unknown,
        &["there is no image localhost/no-such:1", "pull localhost/no-such:1` failed", "\n    "],
    );
    refused(podman.race(&both, &["--start", "/drome"]), &["neither --start nor --env has {port}"]);
    refused(podman.race(&both, &[]), &["--start '/app --port {port}'", "--env 'PORT={port}'"]);
    refused(podman.race(&both[..1], &["--start", START]), &["--image: a race needs 2 to 26 images"]);
    refused(podman.race(&both, &["--start", "/drome {port} $SPIN"]), &["--start", "single quotes"]);
    refused(podman.race(&both, &["./one {port}", "./other {port}"]), &["cannot be used with"]);
    let revisions = ["--rev", "main", "--rev", ".", "--start", START];
    refused(podman.race(&both, &revisions), &["cannot be used with"]);
    let absent =
        ["race", "--image", "a", "--image", "b", "--env", "P={port}", "--container-tool", "/no/tool"];
    let absent = run(&mut podman.home.drome(&absent));
    absent.assert_err(1, &["can't run `/no/tool`", "apt install podman"]);
    let folder = podman.home.path().join("folder");
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("drome.toml"), "[race]\nimages = [\"a\", \"b\"]\nenv = [\"PORT=80\"]\n").unwrap();
    let file = run(podman.home.drome(&["race"]).current_dir(&folder));
    refused(file, &["neither --start nor --env has {port}"]);
    podman.assert_nothing_is_left("after refusals");
}

#[test]
fn an_image_that_ignores_the_port_is_told_where_it_listens() {
    let podman = Podman::new();
    podman.image("localhost/app:old", &[SHELL]);
    podman.image("localhost/app:new", &[SHELL, "ENV OTHER=1"]);
    let port = control::machine::ports::free_port().unwrap();
    let start = format!("'exec /drome serve --port {port}' {{port}}");
    let args = ["--start", &start, "--ready", "10s"];
    let finished = podman.race(&["localhost/app:old", "localhost/app:new"], &args);
    let why = format!("listens on 127.0.0.1:{port}: its command or its files must use {{port}}");
    finished.assert_err(2, &[&why]);
    podman.assert_nothing_is_left("after a server that was not ready");
}
