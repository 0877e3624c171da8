//! Finds out the class of a program, where none is declared, from what its processes show.
//!
//! A program that compiles code while it runs must have memory that can be executed and comes from no file; the kernel shows it, whatever the
//! program is called. Names of programs, threads and libraries are hints beside that: of runtimes that have compiled nothing yet, and of what
//! is no compiler and still slow at first.

use crate::processes::tree::{self, Tree};
use model::contender::Class;
use std::path::PathBuf;

/// Names of runtimes that compile while the program runs, of their compilers' threads and of their libraries.
const JIT: [&str; 24] = [
    "c1 compilerthre",
    "c2 compilerthre",
    "jvmci",
    "java",
    "libjvm",
    ".net",
    "dotnet",
    "libclrjit",
    "libcoreclr",
    "libmonosgen",
    "node",
    "v8worker",
    "libnode",
    "libv8",
    "bun",
    "deno",
    "pypy",
    "libpypy",
    "luajit",
    "libluajit",
    "beam",
    "hhvm",
    "julia",
    "libjulia",
];

/// Stands among the names of a server of which a process has more executable memory of its own than [`LEAST_CODE_BYTES`].
const COMPILES: &str = "\0compiles";

/// Stands among the names of a server of which a process does not show its memory, so that the server may compile unseen.
const HIDDEN: &str = "\0hidden";

/// A process with no more executable memory of its own compiles regular expressions at most: PCRE2 takes it in pieces of 64 KiB
/// (in lighttpd and PHP, for example). What compiles while it runs has several times as much before its first request (`docs/decisions.md`).
const LEAST_CODE_BYTES: u64 = 64 * 1024;

/// Names of interpreters.
const INTERPRETERS: [&str; 8] = ["python", "perl", "ruby", "puma", "php", "lua", "raku", "tclsh"];

/// Names of servers that start more processes as load rises.
const PREFORKING: [&str; 3] = ["apache2", "httpd", "php-fpm"];

/// The class that these names suggest, which [`names`] has found: native if none of them is known; `None` if that may be wrong, because not
/// all processes show what they are.
fn class<'n>(names: impl IntoIterator<Item = &'n str>) -> Option<Class> {
    let mut is_hidden = false;
    let mut of = |name: &str| {
        is_hidden |= name == HIDDEN;
        let name = name.to_ascii_lowercase();
        // `bun` is the beginning of no `bundle`.
        let is = |known: &str| {
            name.strip_prefix(known)
                .is_some_and(|rest| !rest.starts_with(|next: char| next.is_ascii_lowercase()))
        };
        let is_any = |known: &[&str]| known.iter().any(|known| is(known));
        if name == COMPILES || is_any(&JIT) {
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
    let found = names.into_iter().map(&mut of).max_by_key(order).unwrap_or(Class::Native);
    (found == Class::Jit || !is_hidden).then_some(found)
}

/// The class that the processes of a server show; `None` also where none can be seen.
pub fn of(tree: &Tree) -> Option<Class> {
    let names = names(tree);
    if names.is_empty() { None } else { class(names.iter().map(String::as_str)) }
}

/// What shows the class of a server: the names of the programs, threads and libraries of all its processes, and whether one has made code.
fn names(tree: &Tree) -> Vec<String> {
    let threads: Vec<(i32, i32)> = tree::thread_clocks(tree).into_keys().collect();
    let of_thread = |(pid, tid): &(i32, i32)| {
        let comm = std::fs::read_to_string(format!("/proc/{pid}/task/{tid}/comm")).ok();
        comm.map(|name| name.trim_end().to_owned())
    };
    let mut pids: Vec<i32> = threads.iter().map(|(pid, _)| *pid).collect();
    pids.dedup();
    let file = |path: PathBuf| Some(path.file_name()?.to_string_lossy().into_owned());
    let programs = pids.iter().filter_map(|pid| std::fs::read_link(format!("/proc/{pid}/exe")).ok());
    let mut names: Vec<String> =
        threads.iter().filter_map(of_thread).chain(programs.filter_map(file)).collect();
    names.extend(pids.iter().flat_map(|pid| match std::fs::read_to_string(format!("/proc/{pid}/maps")) {
        Ok(maps) => of_memory(&maps),
        // One that has just ended hides nothing.
        Err(_) if !std::path::Path::new(&format!("/proc/{pid}")).exists() => Vec::new(),
        Err(_) => vec![HIDDEN.to_owned()],
    }));
    names.sort_unstable();
    names.dedup();
    names
}

/// What a process's memory shows (`/proc/PID/maps`): the files from which it has code, and whether it has made code.
fn of_memory(maps: &str) -> Vec<String> {
    let mut own_bytes: u64 = 0;
    let mut names = Vec::new();
    for line in maps.lines() {
        let mut fields = line.split_ascii_whitespace();
        let (Some(range), Some(access)) = (fields.next(), fields.next()) else { continue };
        let (inode, path) = (fields.nth(2).unwrap_or("0"), fields.next().unwrap_or_default());
        // The kernel's own code, which every process has, and the stack, whatever the program's linker asked for.
        if !access.contains('x') || matches!(path, "[vdso]" | "[vsyscall]" | "[stack]" | "[uprobes]") {
            continue;
        }
        // Memory that several mappings share is a file without a name on a disk.
        let is_shared_memory =
            ["/memfd:", "/dev/zero", "/dev/shm/", "/SYSV"].iter().any(|of| path.starts_with(of));
        if inode == "0" || is_shared_memory {
            own_bytes = own_bytes.saturating_add(length(range).unwrap_or(0));
        } else if let Some((_, name)) = path.rsplit_once('/') {
            names.push(name.to_owned());
        }
    }
    if own_bytes > LEAST_CODE_BYTES {
        names.push(COMPILES.to_owned());
    }
    names
}

/// The length in bytes of a range such as `7f00-7fff`.
fn length(range: &str) -> Option<u64> {
    let (from, to) = range.split_once('-')?;
    let number = |text: &str| u64::from_str_radix(text, 16).ok();
    number(to)?.checked_sub(number(from)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Command, Stdio};

    #[test]
    fn names_tell_what_compiles_interprets_or_forks() {
        let cases: [(&[&str], Option<Class>); 18] = [
            (&["sh", "java", "GC Thread#0", "C2 CompilerThre"], Some(Class::Jit)),
            (&["my-server", "C1 CompilerThre"], Some(Class::Jit)),
            (&["my-server", "JVMCI CompilerT"], Some(Class::Jit)),
            (&["app", ".NET Tiered Com"], Some(Class::Jit)),
            (&["app", "libclrjit.so"], Some(Class::Jit)),
            (&["MainThread", "node", "libuv-worker"], Some(Class::Jit)),
            (&["pypy3"], Some(Class::Jit)),
            (&["serve", "libpypy3.9-c.so"], Some(Class::Jit)),
            (&["nginx", "libluajit-5.1.so.2.1.0"], Some(Class::Jit)),
            (&["sh", "python3.11"], Some(Class::Managed)),
            (&["bundle", "ruby3.1"], Some(Class::Managed)),
            (&["bun"], Some(Class::Jit)),
            (&["apache2", "apache2"], Some(Class::Prefork)),
            (&["nginx", "nginx"], Some(Class::Native)),
            (&[], Some(Class::Native)),
            // Whatever it is called.
            (&["server", COMPILES], Some(Class::Jit)),
            (&["server", HIDDEN], None),
            (&["java", HIDDEN], Some(Class::Jit)),
        ];
        for (names, expected) in cases {
            assert_eq!(class(names.iter().copied()), expected, "{names:?}");
        }
    }

    #[test]
    fn code_that_comes_from_no_file_is_seen_and_regular_expressions_are_not_taken_for_it() {
        let compiles = |maps: &str| of_memory(maps).iter().any(|name| name == COMPILES);
        let common = "5555-5556 r-xp 00001000 fe:00 123 /usr/bin/serv er\n7000-7001 rw-p 00000000 00:00 0 [heap]\n\
                      7ffd0000-7fff0000 rwxp 00000000 00:00 0 [stack]\n7fff0000-7fff2000 r-xp 00000000 00:00 0 [vdso]\n\
                      ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0 [vsyscall]\n";
        let cases = [
            ("", false),
            // One piece of PCRE2, and two.
            ("10000-20000 rwxp 00000000 00:00 0\n", false),
            ("10000-20000 rwxp 00000000 00:00 0\n30000-40000 rwxp 00000000 00:00 0\n", true),
            // Reserved, and read only.
            ("10000000-20000000 ---p 00000000 00:00 0\n20000000-30000000 rw-p 00000000 00:00 0\n", false),
            // A JVM, V8, .NET, PHP's cache in shared memory, and memory with a name.
            ("7f00000-7f90000 rwxp 00000000 00:00 0\n", true),
            ("7f00000-7f90000 r-xp 00000000 00:00 0\n", true),
            ("7f00000-7f90000 r-xs 00000000 00:01 2049 /memfd:doublemapper (deleted)\n", true),
            ("7f00000-7f90000 rwxs 00000000 00:01 77 /dev/zero (deleted)\n", true),
            ("7f00000-7f90000 rwxp 00000000 00:00 0 [anon:code]\n", true),
            // A program that was replaced while it runs.
            ("7f00000-7f90000 r-xp 00000000 fe:00 99 /usr/lib/libc.so.6 (deleted)\n", false),
            ("x-y rwxp 0 0 0\n\nrwxp\n90000-10000 rwxp 00000000 00:00 0\n", false),
        ];
        for (maps, expected) in cases {
            assert_eq!(compiles(&format!("{common}{maps}")), expected, "{maps}");
        }
        assert!(of_memory("1-2 r-xp 0 fe:00 5 /usr/lib/jvm/libjvm.so\n").contains(&"libjvm.so".to_owned()));
    }

    #[test]
    fn a_program_that_makes_code_is_found_under_any_name() {
        let maps = |length: usize| {
            let script = format!(
                "import mmap, time; m = mmap.mmap(-1, {length}, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, 7); print(1, flush=True); time.sleep(1000)"
            );
            let mut child =
                Command::new("python3").args(["-c", &script]).stdout(Stdio::piped()).spawn().unwrap();
            let out = child.stdout.take().unwrap();
            std::io::BufRead::read_line(&mut std::io::BufReader::new(out), &mut String::new()).unwrap();
            let names = names(&Tree::From(child.id() as i32));
            let _ = child.kill();
            let _ = child.wait();
            class(names.iter().map(String::as_str))
        };
        assert_eq!((maps(256 * 1024), maps(16 * 1024)), (Some(Class::Jit), Some(Class::Managed)));
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
        assert_eq!(class(names.iter().map(String::as_str)), Some(Class::Managed), "{names:?}");
    }
}
