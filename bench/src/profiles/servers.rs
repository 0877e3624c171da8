//! The servers that know what their answers cost: what each needs, and how it is built and started.

use anyhow::{Context, Result, bail};
use std::path::Path;
use std::process::Command;
use xtask::{packages, printed};

/// A server that knows what its answers cost.
#[derive(Clone, Copy, Debug)]
pub struct Spins {
    /// Selects it on the command line.
    pub name: &'static str,
    /// What the table calls it.
    pub title: &'static str,
    /// The program that builds it, or runs it.
    tool: &'static str,
    /// How the tool is installed.
    install: &'static str,
    /// The source's name, and the source.
    source: (&'static str, &'static str),
    /// What the tool is told before the source.
    options: &'static [&'static str],
    /// Whether the tool compiles the source; otherwise it runs it.
    is_compiled: bool,
    /// The length of the load before the sampled one, after which code that is compiled at run time is compiled.
    pub warmup: &'static str,
    /// The command that makes a warm server write the names of what it has compiled; `{pid}` stands for the server's process ID. Empty: no
    /// command is needed, or there is none.
    pub names: &'static [&'static str],
    /// The remark where no stack names its functions.
    pub unnamed: &'static str,
}

const JAVASCRIPT: (&str, &str) = ("spins.js", include_str!("spins.js"));
const PYTHON: (&str, &str) = ("spins.py", include_str!("spins.py"));

/// Options of the JVM: it keeps frame pointers; it does not inline the callers, because its perf map has no names of inlined functions; it
/// sends small packets at once.
const JAVA: [&str; 3] = [
    "-XX:+PreserveFramePointer",
    "-XX:CompileCommand=dontinline,Spins.caller_*",
    "-Dsun.net.httpserver.nodelay=true",
];

/// What most servers have in common.
const SPINS: Spins = Spins {
    name: "",
    title: "",
    tool: "",
    install: "",
    source: ("", ""),
    options: &[],
    is_compiled: false,
    warmup: "2s",
    names: &[],
    unnamed: "no stack names its functions",
};

/// All of them, in the order of the table.
pub const SERVERS: [Spins; 8] = [
    Spins {
        name: "c",
        title: "C",
        tool: "cc",
        install: "apt install gcc libc6-dev",
        source: ("spins.c", include_str!("spins.c")),
        options: &["-O2", "-g"],
        is_compiled: true,
        ..SPINS
    },
    Spins {
        name: "rust",
        title: "Rust",
        tool: "rustc",
        install: "https://rustup.rs",
        source: ("spins.rs", include_str!("spins.rs")),
        options: &["--edition", "2021", "-O", "-g"],
        is_compiled: true,
        ..SPINS
    },
    Spins {
        name: "go",
        title: "Go",
        tool: "go",
        install: "https://go.dev/dl",
        source: ("spins.go", include_str!("spins.go")),
        options: &["build"],
        is_compiled: true,
        ..SPINS
    },
    Spins {
        name: "node",
        title: "Node.js",
        tool: "node",
        install: "apt install nodejs",
        source: JAVASCRIPT,
        unnamed: "V8 names its functions only with --perf-basic-prof",
        ..SPINS
    },
    Spins {
        name: "node-perf",
        title: "Node.js, perf flags",
        tool: "node",
        install: "apt install nodejs",
        source: JAVASCRIPT,
        options: &["--perf-basic-prof", "--interpreted-frames-native-stack"],
        ..SPINS
    },
    Spins {
        name: "java",
        title: "Java",
        tool: "java",
        install: "apt install default-jdk-headless",
        source: ("spins.java", include_str!("spins.java")),
        options: &JAVA,
        // A map that is written before the last function is compiled lacks its name.
        warmup: "8s",
        // A map written at the JVM's end would come too late: drome does not end this server.
        names: &["jcmd", "{pid}", "Compiler.perfmap"],
        unnamed: "needs JDK 17 or later, whose jcmd writes a perf map",
        ..SPINS
    },
    Spins {
        name: "python",
        title: "Python",
        tool: "python3",
        install: "apt install python3",
        source: PYTHON,
        unnamed: "only the interpreter's own functions have names without -X perf",
        ..SPINS
    },
    Spins {
        name: "python-perf",
        title: "Python, -X perf",
        tool: "python3",
        install: "apt install python3",
        source: PYTHON,
        options: &["-X", "perf"],
        unnamed: "needs Python 3.12 or later, built with -fno-omit-frame-pointer",
        ..SPINS
    },
];

impl Spins {
    /// Fails if its tool is missing, and names it.
    pub fn ensure_installed(&self) -> Result<()> {
        let Self { name, tool, install, .. } = self;
        if packages::find(tool).is_some() {
            return Ok(());
        }
        bail!("`{tool}` is not on PATH, which {name} needs: install it ({install}), or name other servers")
    }

    /// Makes the warm server with this process ID write the names of what it has compiled.
    pub fn tell_names(&self, pid: u32) -> Result<()> {
        let words: Vec<String> =
            self.names.iter().map(|word| word.replace("{pid}", &pid.to_string())).collect();
        let Some((program, args)) = words.split_first() else { return Ok(()) };
        printed(Command::new(program).args(args)).map(drop)
    }

    /// Writes its source into the folder, and compiles it where its language is compiled; returns the command that starts it, without the
    /// port.
    pub fn command(&self, folder: &Path) -> Result<Command> {
        let (file, text) = self.source;
        let source = folder.join(file);
        std::fs::write(&source, text).with_context(|| format!("can't write {}", source.display()))?;
        let mut command = Command::new(self.tool);
        command.args(self.options);
        if !self.is_compiled {
            command.arg(source);
            return Ok(command);
        }
        let program = folder.join(format!("spins-{}", self.name));
        printed(command.arg("-o").args([&program, &source]).current_dir(folder))?;
        Ok(Command::new(program))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_source_has_the_loop_and_both_callers() {
        for Spins { name, source: (_, text), .. } in SERVERS {
            for word in ["busy_work", "caller_a", "caller_b", "/truth"] {
                assert!(text.contains(word), "{name}: {word}");
            }
        }
    }

    #[test]
    fn a_missing_tool_is_named_with_its_remedy() {
        let missing = Spins { tool: "no-such-tool", ..SERVERS[2] };
        let why = missing.ensure_installed().unwrap_err().to_string();
        assert!(why.contains("`no-such-tool` is not on PATH") && why.contains("https://go.dev/dl"), "{why}");
    }

    #[test]
    fn an_interpreted_server_is_started_by_its_tool() {
        let folder = tempfile::tempdir().unwrap();
        let command = SERVERS[7].command(folder.path()).unwrap();
        let source = folder.path().join("spins.py");
        let words: Vec<_> = command.get_args().collect();
        assert_eq!(command.get_program(), "python3");
        assert_eq!(words, ["-X".as_ref(), "perf".as_ref(), source.as_os_str()]);
        assert_eq!(std::fs::read_to_string(source).unwrap(), PYTHON.1);
    }
}
