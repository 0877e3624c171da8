//! Guesses the class of a program, where none is declared, from the names of its processes' programs and threads.

use crate::server::tree::{self, Tree};
use model::contender::Class;
use std::path::PathBuf;

/// Names of runtimes that compile while the program runs, and of their compilers' threads, which show this whatever the program is called.
const JIT: [&str; 13] = [
    "c1 compiler",
    "c2 compiler",
    "jvmci",
    "java",
    ".net",
    "dotnet",
    "node",
    "v8worker",
    "bun",
    "deno",
    "luajit",
    "beam",
    "julia",
];

/// Names of interpreters.
const INTERPRETERS: [&str; 8] = ["python", "perl", "ruby", "puma", "php", "lua", "raku", "tclsh"];

/// Names of servers that start more processes as load rises.
const PREFORKING: [&str; 3] = ["apache2", "httpd", "php-fpm"];

/// The class that these names suggest; native if none of them is known.
pub fn class<'n>(names: impl IntoIterator<Item = &'n str>) -> Class {
    let of = |name: &str| {
        let name = name.to_ascii_lowercase();
        let is_any = |known: &[&str]| known.iter().any(|known| name.starts_with(known));
        if is_any(&JIT) {
            Class::Jit
        } else if is_any(&PREFORKING) {
            Class::Prefork
        } else if is_any(&INTERPRETERS) {
            Class::Managed
        } else {
            Class::Native
        }
    };
    // A shell that starts a JVM, or a script that starts a native server: what takes longest to get warm is what counts.
    let order = |class: &Class| match class {
        Class::Native => 0,
        Class::Managed => 1,
        Class::Prefork => 2,
        Class::Jit => 3,
    };
    names.into_iter().map(of).max_by_key(order).unwrap_or(Class::Native)
}

/// The programs and threads of all processes of a server, by name.
pub fn names(tree: &Tree) -> Vec<String> {
    let of_threads = tree::thread_clocks(tree).into_keys();
    let names = of_threads.flat_map(|(pid, tid)| {
        let comm = std::fs::read_to_string(format!("/proc/{pid}/task/{tid}/comm")).ok();
        let exe = std::fs::read_link(format!("/proc/{pid}/exe")).ok();
        let file = |path: PathBuf| Some(path.file_name()?.to_string_lossy().into_owned());
        [comm.map(|name| name.trim_end().to_owned()), exe.and_then(file)]
    });
    names.flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Command, Stdio};

    #[test]
    fn names_tell_what_compiles_interprets_or_forks() {
        let cases: [(&[&str], Class); 8] = [
            (&["sh", "java", "GC Thread#0", "C2 CompilerThre"], Class::Jit),
            (&["my-server", "C1 CompilerThre"], Class::Jit),
            (&["app", ".NET Tiered Com"], Class::Jit),
            (&["MainThread", "node", "libuv-worker"], Class::Jit),
            (&["sh", "python3.11"], Class::Managed),
            (&["apache2", "apache2"], Class::Prefork),
            (&["nginx", "nginx"], Class::Native),
            (&[], Class::Native),
        ];
        for (names, expected) in cases {
            assert_eq!(class(names.iter().copied()), expected, "{names:?}");
        }
    }

    #[test]
    fn a_program_is_seen_behind_its_shell() {
        let script = "python3 -c 'import time; print(1, flush=True); time.sleep(1000)'; true";
        let mut child = Command::new("sh").args(["-c", script]).stdout(Stdio::piped()).spawn().unwrap();
        let out = child.stdout.take().unwrap();
        std::io::BufRead::read_line(&mut std::io::BufReader::new(out), &mut String::new()).unwrap();
        let names = names(&Tree::From(child.id() as i32));
        let below = tree::living(child.id() as i32);
        for pid in below.into_iter().filter_map(rustix::process::Pid::from_raw) {
            let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
        }
        let _ = child.wait();
        assert!(names.iter().any(|name| name.starts_with("python3")), "{names:?}");
        assert_eq!(class(names.iter().map(String::as_str)), Class::Managed, "{names:?}");
    }
}
