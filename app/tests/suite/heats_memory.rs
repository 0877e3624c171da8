//! A heat for which memory does not suffice: the kernel ends one of its servers.

use crate::common::catalog::{keep_alive, study};
use crate::common::{Home, OUT_OF_MEMORY, process, run};
use model::heat::{Start, StartOutcome};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::PoisonError;
use store::Store;

/// It takes two megabytes with every answer, until it has as many megabytes as it is told. So few answers are needed that a slow machine
/// gives them in the load of one start.
const HUNGRY: &str = r"
import asyncio, sys
port, most, eaten = int(sys.argv[1]), int(sys.argv[2]) // 2, []
async def serve(reader, writer):
    try:
        while True:
            head = await reader.readuntil(b'\r\n\r\n')
            is_hello = head.split(b' ')[1].split(b'?')[0] == b'/hello'
            status, body = (b'200 OK', b'Hello World\n') if is_hello else (b'404 Not Found', b'none')
            head = b'HTTP/1.1 %s\r\nContent-Type: text/plain\r\nContent-Length: %d\r\n\r\n' % (status, len(body))
            writer.write(head + body)
            if len(eaten) < most: eaten.append(b'x' * (1 << 21))
    except (asyncio.IncompleteReadError, ConnectionError):
        pass
    finally:
        writer.close()
async def main():
    await asyncio.start_server(serve, '127.0.0.1', port)
    await asyncio.sleep(1e6)
asyncio.run(main())
";

/// What the servers and drome may have together. One of the hungry servers fits; two do not.
const LIMIT: u64 = 420 << 20;

/// What each of the hungry servers takes, in megabytes.
const WANTS: u32 = 240;

/// A control group of the test's own whose memory is limited.
struct Limited(PathBuf);

impl Limited {
    fn new() -> Self {
        let (base, file) = if Path::new("/sys/fs/cgroup/cgroup.controllers").exists() {
            // Only groups whose parent hands the controller on have a limit of memory.
            let _given = fs::write("/sys/fs/cgroup/cgroup.subtree_control", "+memory");
            ("/sys/fs/cgroup", "memory.max")
        } else {
            ("/sys/fs/cgroup/memory", "memory.limit_in_bytes")
        };
        let group = Path::new(base).join(format!("drome-test-{}", std::process::id()));
        fs::create_dir(&group).unwrap_or_else(|why| panic!("{}: {why}: run it as root", group.display()));
        let limited = Self(group);
        fs::write(limited.0.join(file), LIMIT.to_string()).unwrap();
        limited
    }

    /// This command, in the group.
    fn command(&self, command: &Command) -> Command {
        let mut shell = Command::new("sh");
        shell.args(["-c", r#"echo $$ >"$0" && exec "$@""#]).arg(self.0.join("cgroup.procs"));
        process::run_by(shell, command)
    }
}

impl Drop for Limited {
    fn drop(&mut self) {
        // It can only be removed when nothing runs in it, which the test asserts before.
        let _removed = fs::remove_dir(&self.0);
    }
}

fn home() -> Home {
    let home = Home::new();
    let design = [("rounds", "[2, 2]"), ("heat", "4"), ("slice", "'50ms'"), ("measure", "'500ms'")];
    let design = [&design[..], &[("warmup", "'50ms'"), ("warmup_limit", "'1s'")]].concat();
    home.write_study("memory", &study(&["small", "large", "larger"], &keep_alive(2), &design));
    let small = r#"["{drome}", "serve", "--port", "{port}", "--spin", "100us"]"#.to_owned();
    let python = format!(r#"["python3", "{{src}}/server.py", "{{port}}", "{WANTS}"]"#);
    for (name, command) in [("small", &small), ("large", &python), ("larger", &python)] {
        home.add_contender(name, command);
        home.write(&format!("own/contenders/{name}/src/server.py"), HUNGRY);
    }
    home
}

#[test]
fn a_heat_whose_memory_does_not_fit_is_told_and_every_contender_is_measured() {
    let _alone = OUT_OF_MEMORY.write().unwrap_or_else(PoisonError::into_inner);
    let (limited, home) = (Limited::new(), home());
    let drome = home.with_catalog(&["run", "memory", "--seed", "5"]);
    let finished = run(&mut limited.command(&drome));
    home.assert_clean();
    assert_eq!(finished.code, 0, "{}{}", finished.out, finished.err);
    let store = Store::open(&home.store()).unwrap();
    let listed = store.runs().unwrap().remove(0);
    let measured = store.measured(&listed.id).unwrap();
    // The kernel chose one of the two; it is started once more, with no other contender, and in the second round too.
    let lacked: Vec<&Start> = measured
        .starts
        .iter()
        .filter(|start| matches!(start.outcome, StartOutcome::LackedMemory(_)))
        .collect();
    assert_eq!(lacked.len(), 1, "{:?}\n{}", measured.starts, finished.err);
    let ended = &lacked[0].contender;
    assert!(["large", "larger"].contains(&ended.as_str()), "{ended}");
    let told =
        format!("{ended}: start will be repeated alone: memory ran out while other contenders were alive");
    assert!(finished.err.contains(&told), "{}", finished.err);
    for name in ["small", "large", "larger", "reference"] {
        let of = |start: &&Start| start.contender == name && start.outcome == StartOutcome::Ended;
        let rounds: Vec<usize> = measured.starts.iter().filter(of).map(|start| start.round).collect();
        assert_eq!(rounds, [0, 1], "{name}: {:?}\n{}", measured.starts, finished.err);
    }
    assert!(finished.out.contains("started again alone: memory ran out"), "{}", finished.out);
}
