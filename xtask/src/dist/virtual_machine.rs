//! A race on a whole emulated machine: 64-bit ARM with a Debian kernel, where `io_uring` and subreapers work. Nothing is in it but
//! the binary and busybox.

use super::clean_debian::make_debian;
use crate::files::entries;
use crate::{emptied, packages, run};
use anyhow::{Context, Result, bail};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The emulator, and a time in seconds within which a slow machine has run the race.
const EMULATOR: [&str; 3] = ["timeout", "1200", "qemu-system-aarch64"];

/// The first and only process. The servers differ by more than emulation adds to a request, and the race may take as long as it needs where
/// the machine is busy: it ends when it is decided.
const INIT: &str = "#!/bin/busybox sh
/bin/busybox --install -s /bin
mount -t proc proc /proc; mount -t sysfs sysfs /sys; mount -t devtmpfs dev /dev; mount -t tmpfs tmp /tmp
ip link set lo up
export HOME=/tmp PATH=/bin
uname -a
drome --version
drome --quiet --color never race 'drome serve --port {port} --spin 2ms' 'drome serve --port {port} --spin 4ms' --allow-busy -c 8 \
    --budget 15min --url 'http://127.0.0.1:{port}/hello'
echo \"exit code $?\"
poweroff -f
";

/// Boots the machine, runs the race there, and prints the race's output.
pub fn race(root: &Path, binary: &Path) -> Result<()> {
    packages::ensure(packages::OF_VIRTUAL_MACHINE)?;
    let folder = root.join("target/virtual-machine");
    emptied(&folder)?;
    let debian = folder.join("debian");
    let options = ["--variant=extract", "--architectures=arm64"];
    make_debian(&options, &["linux-image-arm64", "busybox-static"], &debian)?;
    let initial = initial_files(&folder, &debian, binary)?;
    let kernel = kernel(&debian)?;
    let machine =
        ["-M", "virt", "-cpu", "max", "-smp", "2", "-m", "1024", "-nic", "none", "-nographic", "-no-reboot"];
    let mut command = Command::new(EMULATOR[0]);
    command.args(&EMULATOR[1..]).args(machine).arg("-kernel").arg(kernel).arg("-initrd").arg(initial);
    let output = command.args(["-append", "console=ttyAMA0 quiet"]).stdin(Stdio::null()).output()?;
    let text = String::from_utf8_lossy(&output.stdout);
    println!("{text}");
    if !text.contains("a request to B takes") || !text.contains("exit code 0") {
        let errors = String::from_utf8_lossy(&output.stderr);
        bail!("the race on the virtual machine has no verdict ({}): {errors}", output.status);
    }
    Ok(())
}

/// The archive that the kernel unpacks into memory.
fn initial_files(folder: &Path, debian: &Path, binary: &Path) -> Result<PathBuf> {
    let files = folder.join("initial");
    for name in ["bin", "proc", "sys", "dev", "tmp"] {
        std::fs::create_dir_all(files.join(name))?;
    }
    let busybox = ["usr/bin/busybox", "bin/busybox"]
        .map(|path| debian.join(path))
        .into_iter()
        .find(|path| path.is_file());
    super::copy(&busybox.context("the package busybox-static has no busybox")?, &files.join("bin/busybox"))?;
    super::copy(binary, &files.join("bin/drome"))?;
    std::fs::write(files.join("init"), INIT)?;
    std::fs::set_permissions(files.join("init"), PermissionsExt::from_mode(0o755))?;
    let archive = folder.join("initial.cpio");
    let pack = "cd \"$0\" && find . | cpio --quiet -o -H newc > \"$1\"";
    run("sh", &["-c", pack, &files.to_string_lossy(), &archive.to_string_lossy()])?;
    Ok(archive)
}

fn kernel(debian: &Path) -> Result<PathBuf> {
    let mut files = entries(&debian.join("boot"))?;
    files.retain(|file| file.file_name().is_some_and(|name| name.to_string_lossy().starts_with("vmlinuz")));
    files.pop().context("the package linux-image-arm64 has no kernel")
}
