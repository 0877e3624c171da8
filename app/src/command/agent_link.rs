//! A link to drome on another machine. With `--put`, this drome is first copied there, completely or not at all: into a folder of the
//! user's own, under its digest.

use super::transport::Transport;
use crate::console;
use agent::{Hello, Link, RunError};
use anyhow::{Context, anyhow, bail};
use clap::Args;
use control::machine::digest;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// How long drome on another machine may take to answer: enough for ssh and a slow board.
const PATIENCE: Duration = Duration::from_secs(30);

/// How long a copy may take: some tens of megabytes over one megabit per second.
const LONGEST_COPY: Duration = Duration::from_mins(10);

/// The bar while drome is copied, which takes seconds over a slow link.
const TEMPLATE: &str = "{bar:24} {bytes} of {total_bytes}, {elapsed} so far, {eta} left";

/// This process's own program, even if its file was replaced.
const OWN: &str = "/proc/self/exe";

/// The digits of the digest that say which build it is.
const BUILD_DIGITS: usize = 12;

/// The folder of the copies on the other machine, and the path of this copy. [`LOOK`] and [`TAKE`] run after this; `$1` is the digest and
/// `$2` the size in bytes.
const FOLDER: &str = r#"set -eu; umask 077
d="${HOME:?has no value}/.cache/drome/agents"; f="$d/drome-$1"
"#;

/// Prints `there` if the copy is there and whole.
const LOOK: &str = r#"if [ -L "$d" ] || [ ! -O "$d" ] || [ ! -x "$f" ] || [ -L "$f" ] || [ ! -O "$f" ]; then exit 0; fi
s=$(sha256sum "$f" 2>/dev/null) || exit 0
[ "${s%% *}" = "$1" ] && "$f" --version >/dev/null && echo there
exit 0
"#;

/// Takes the copy from standard input. It gets its name when it is whole, on the disk, and can be run. Three copies are kept.
const TAKE: &str = r#"mkdir -p "$d"
if [ -L "$d" ] || [ ! -O "$d" ]; then echo "$d is not this user's own folder" >&2; exit 1; fi
chmod 700 "$d"
t="$d/.new-$$-$1"
trap 'rm -f "$t"' EXIT
trap 'exit 1' HUP INT TERM
cat > "$t"
n=$(wc -c < "$t")
if [ "$n" -ne "$2" ]; then echo "only $n of $2 bytes came" >&2; exit 1; fi
if s=$(sha256sum "$t" 2>/dev/null) && [ "${s%% *}" != "$1" ]; then echo "other bytes came than were sent" >&2; exit 1; fi
chmod 700 "$t"
sync "$t" 2>/dev/null || sync
"$t" --version >/dev/null
mv -f "$t" "$f"
ls -t "$d" | grep '^drome-' | tail -n +4 | while read -r old; do rm -f "$d/$old"; done
"#;

/// Runs the copy; `$1` is the digest, and the other words are drome's arguments.
const RUN: &str = r#"h=$1; shift; exec "$HOME/.cache/drome/agents/drome-$h" "$@""#;

/// Raw arguments.
#[derive(Clone, Debug, Default, Args)]
pub struct PutArgs {
    /// Copy this drome to the other machine first, unless it is there: into ~/.cache/drome/agents
    #[arg(long)]
    put: bool,
    /// Folder with builds for other architectures, named like drome-aarch64; implies --put [default: the folder of this drome]
    #[arg(long, value_name = "DIR")]
    put_from: Option<PathBuf>,
}

impl PutArgs {
    /// Whether anything is to be copied.
    pub fn is_given(&self) -> bool {
        self.put || self.put_from.is_some()
    }

    /// Starts a link by this transport, after drome was copied there if that is wanted.
    pub fn link(&self, transport: &Transport) -> anyhow::Result<Link> {
        if self.is_given() { link_to_copy(transport, self.put_from.as_deref()) } else { start_by(transport) }
    }
}

/// What this drome tells another about itself: its version and its build.
pub fn own_hello() -> Hello {
    let build =
        digest::sha256(Path::new(OWN)).and_then(|digest| Some(format!(" {}", digest.get(..BUILD_DIGITS)?)));
    agent::hello(&format!("{}{}", env!("CARGO_PKG_VERSION"), build.unwrap_or_default()))
}

/// Starts a link by this command to a machine of this name.
pub fn start(name: &str, command: Command) -> anyhow::Result<Link> {
    Ok(Link::start(name, command, &own_hello(), PATIENCE)?)
}

fn start_by(transport: &Transport) -> anyhow::Result<Link> {
    start(&transport.name(), transport.command(&["agent".to_owned()]))
}

fn link_to_copy(transport: &Transport, folder: Option<&Path>) -> anyhow::Result<Link> {
    let program = program_for(&machine(transport)?, transport, folder)?;
    let shown = program.display();
    let digest = digest::sha256(&program)
        .ok_or_else(|| anyhow!("{shown} can't be read: name another folder with --put-from"))?;
    let file = File::open(&program).with_context(|| format!("can't read {shown}"))?;
    let bytes = file.metadata().with_context(|| format!("can't read {shown}"))?.len();
    let script = |rest: &str| transport.with_program(&["sh", "-c", &format!("{FOLDER}{rest}"), "sh"]);
    let words = [digest.clone(), bytes.to_string()];
    let name = transport.name();
    let look = agent::run(&name, script(LOOK).command(&words), std::io::empty(), PATIENCE);
    if look.map_err(|error| not_taken(error, &name))?.trim() != "there" {
        note!("copying drome to {name} ({} MB)", bytes.div_ceil(1_000_000));
        let bar = console::bar(bytes, TEMPLATE);
        let taken = agent::run(&name, script(TAKE).command(&words), bar.wrap_read(file), LONGEST_COPY);
        taken.map_err(|error| not_taken(error, &name))?;
    }
    start_by(&transport.with_program(&["sh", "-c", RUN, "sh", &digest]))
}

/// The operating system and the architecture there.
fn machine(transport: &Transport) -> anyhow::Result<String> {
    let command = transport.with_program(&["uname"]).command(&["-sm".to_owned()]);
    let told = agent::run(&transport.name(), command, std::io::empty(), PATIENCE);
    let told = told.map_err(|error| match error {
        RunError::Link(error) => error.into(),
        RunError::Failed(why) => {
            anyhow!("{}: `uname` failed ({why}): run it there by hand to see why", transport.name())
        }
    })?;
    let words: Vec<&str> = told.split_whitespace().collect();
    match words[..] {
        ["Linux", arch] => Ok(if arch == "arm64" { "aarch64".to_owned() } else { arch.to_owned() }),
        _ => bail!(
            "{}: `uname -sm` printed {told:?} there, not `Linux` and an architecture: drome runs only on Linux; if this is Linux, make \
             sure that the command prints nothing else",
            transport.name()
        ),
    }
}

/// The build for an architecture: `drome-ARCH` in the folder if it exists, else this program if it is for that architecture.
fn program_for(arch: &str, transport: &Transport, folder: Option<&Path>) -> anyhow::Result<PathBuf> {
    // The other side names the architecture, so it must be checked: a plain name, not a path.
    if !super::transport::is_plain(arch) {
        bail!("{} reports an invalid architecture: {arch:?}", transport.name());
    }
    let own_folder = std::env::current_exe().ok().and_then(|own| Some(own.parent()?.to_owned()));
    let name = format!("drome-{arch}");
    let built = folder.map(Path::to_owned).or(own_folder).map(|folder| folder.join(&name));
    if let Some(built) = built.as_ref().filter(|built| built.is_file()) {
        return Ok(built.clone());
    }
    if arch == std::env::consts::ARCH {
        return Ok(PathBuf::from(OWN));
    }
    bail!(
        "{} is {arch}, and this drome is for {}: put a build for it at {}, or name its folder with --put-from",
        transport.name(),
        std::env::consts::ARCH,
        built.unwrap_or_else(|| name.into()).display()
    )
}

/// The error for a copy that failed, with what to do.
fn not_taken(error: RunError, name: &str) -> anyhow::Error {
    let why = match error {
        RunError::Link(error) => return error.into(),
        RunError::Failed(why) => why,
    };
    let full = ["No space left on device", "Disk quota exceeded", "File too large", "File size limit"];
    if full.iter().any(|full| why.contains(full)) {
        return anyhow!("{name} has no room for drome in its home folder ({why}): free some and try again");
    }
    anyhow!(
        "drome could not be put on {name} ({why}): check the home folder there, or install drome there by hand"
    )
}
