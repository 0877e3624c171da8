//! Commands that carry a link, or don't.

use super::link::own;
use agent::{Link, LinkError, Message, RunError, run};
use std::process::Command;
use std::time::{Duration, Instant};

fn start(script: &str, patience: Duration) -> Result<Link, String> {
    let mut command = Command::new("sh");
    command.args(["-c", script]);
    Link::start("board", command, &own(), patience).map_err(|error| error.to_string())
}

fn refused(script: &str) -> String {
    start(script, Duration::from_mins(1)).err().unwrap()
}

#[test]
fn what_stands_in_the_way_is_told_in_a_sentence() {
    for (script, told) in [
        ("exec drome-that-is-nowhere agent", "board has no drome"),
        ("echo 'root@board: Permission denied (publickey).' >&2; exit 255", "board refuses the key"),
        (
            "echo 'Host key verification failed.' >&2; exit 255",
            "board has a host key that `ssh` does not know",
        ),
        ("echo 'Welcome to board!'; cat >/dev/null", "its first words are \"Welcome to board!\""),
        ("printf '\\033[31moh\\n' >&2; exit 3", "with exit code 3 before drome answered and printed: oh"),
        ("kill -9 $$", "by signal 9"),
    ] {
        let refused = refused(script);
        assert!(refused.contains(told) && !refused.contains('\u{1b}'), "{script}: {refused}");
    }
    let none = Link::start("board", Command::new("/nowhere/at-all"), &own(), Duration::from_mins(1));
    assert!(none.err().unwrap().to_string().contains("`/nowhere/at-all` can't be run"));
}

#[test]
fn a_command_that_does_not_answer_is_killed_with_what_it_started() {
    let folder = std::env::temp_dir().join(format!("drome-agent-{}", std::process::id()));
    let script = format!("sleep 1000 & echo $! > {}; wait", folder.display());
    let told = start(&script, Duration::from_secs(2)).err().unwrap();
    assert!(told.contains("did not answer there within 2 s"), "{told}");
    let pid = std::fs::read_to_string(&folder).unwrap();
    let _ = std::fs::remove_file(&folder);
    let began = Instant::now();
    while is_running(pid.trim()) {
        assert!(began.elapsed() < Duration::from_mins(1), "{pid} still runs");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn is_running(pid: &str) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(')').is_some_and(|(_, rest)| !rest.trim_start().starts_with('Z'))
}

#[test]
fn a_link_ends_its_command_and_says_goodbye_first() {
    let file = std::env::temp_dir().join(format!("drome-hello-{}", std::process::id()));
    std::fs::write(&file, Message::Hello(own()).frame()).unwrap();
    let heard = file.with_extension("heard");
    let link =
        start(&format!("cat {}; cat > {}", file.display(), heard.display()), Duration::from_mins(1)).unwrap();
    assert_eq!(link.name(), "board");
    drop(link);
    let bytes = std::fs::read(&heard).unwrap();
    assert!(bytes.ends_with(&Message::Goodbye.frame()), "{bytes:?}");
    let _ = (std::fs::remove_file(&file), std::fs::remove_file(&heard));
}

#[test]
fn other_commands_get_bytes_and_their_failure_is_told() {
    let shell = |script: &str| {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    };
    let minute = Duration::from_mins(1);
    assert_eq!(run("board", shell("cat"), &b"a\x1b[1mb\n"[..], minute).unwrap(), "ab\n");
    let failed = |script, patience| run("board", shell(script), std::io::empty(), patience).unwrap_err();
    for (script, patience, told) in [
        ("echo no room >&2; exit 4", minute, "no room"),
        ("exit 4", minute, "the command ended with exit code 4"),
        ("sleep 1000", Duration::from_secs(1), "the command did not end within 1 s"),
    ] {
        let failed = failed(script, patience);
        assert!(matches!(&failed, RunError::Failed(why) if why == told), "{script}: {failed:?}");
    }
    let denied = failed("echo 'a password is required' >&2; exit 1", minute);
    assert!(matches!(denied, RunError::Link(LinkError::Denied { .. })), "{denied:?}");
}
