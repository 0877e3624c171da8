//! Installs what contenders lack: packages with the system's package manager, builds in the cache folder. What is there
//! already stays as it is, and one failure does not stop the others.

use crate::prepare::remedy;
use crate::prepare::{Prepared, command, on_path};
use crate::shell;
use std::collections::BTreeSet;

/// Installs what these contenders lack. `ask` is shown the command and may refuse; `say` is told each step. The error
/// names everything that failed.
pub fn install(all: &[Prepared], ask: &dyn Fn(&str) -> bool, say: &dyn Fn(&str)) -> Result<(), String> {
    let lacking: Vec<&Prepared> = all.iter().filter(|p| p.version().is_err()).collect();
    if lacking.is_empty() {
        return Ok(());
    }
    say(&price(&lacking));
    let mut failed = Vec::new();
    let packages: BTreeSet<&str> =
        lacking.iter().filter(|p| p.is_absent()).flat_map(|p| packages(p)).collect();
    if !packages.is_empty() {
        let packages: Vec<&str> = packages.into_iter().collect();
        failed.extend(apt(&packages, &lacking, ask, say).err());
    }
    for prepared in lacking.iter().filter(|p| p.needs_build() && !p.is_absent()) {
        say(&format!("building {}", prepared.name));
        if let Err(why) = prepared.build() {
            failed.push(format!("{}: {why}", prepared.name));
        }
    }
    if failed.is_empty() { Ok(()) } else { Err(failed.join("\ndrome: ")) }
}

/// What will be installed, with the estimated time and disk space.
fn price(lacking: &[&Prepared]) -> String {
    let names: Vec<&str> = lacking.iter().map(|p| p.name.as_str()).collect();
    let sum = |of: fn(&Prepared) -> Option<f64>| {
        let known: Vec<f64> = lacking.iter().filter_map(|p| of(p)).collect();
        (known.iter().sum::<f64>(), lacking.len() - known.len())
    };
    let (minutes, without_time) = sum(|p| p.contender.install.minutes);
    let (disk_mb, without_room) = sum(|p| p.contender.install.disk_mb);
    let others = |n: usize| if n > 0 { format!(" without {n} that give no estimate") } else { String::new() };
    let mut text = format!("to install: {}", names.join(", "));
    if minutes > 0.0 {
        text += &format!("; about {} min{}", minutes.ceil(), others(without_time));
    }
    if disk_mb > 0.0 {
        // Packages that several of them need are got once, and some may be there.
        text += &format!("; at most about {} MB{}", disk_mb.ceil(), others(without_room));
    }
    text
}

fn packages(prepared: &Prepared) -> impl Iterator<Item = &str> {
    prepared.contender.install.apt.iter().map(String::as_str)
}

/// Installs all packages at once; if that fails, contender by contender, so that a missing package affects only the contenders that need
/// it.
fn apt(
    all: &[&str],
    lacking: &[&Prepared],
    ask: &dyn Fn(&str) -> bool,
    say: &dyn Fn(&str),
) -> Result<(), String> {
    if !on_path("apt-get") {
        return Err(format!(
            "this system has no apt-get: install {} with its own package manager",
            all.join(" ")
        ));
    }
    let sudo: &[&str] = if rustix::process::geteuid().is_root() { &[] } else { &["sudo"] };
    let shown = getting(sudo, all).join(" ");
    if !ask(&format!("drome will run: {shown}")) {
        return Err(format!("skipped; the command is: {shown}"));
    }
    // An old package list names files that the mirror no longer has; if it can't be updated, the old one may be enough.
    say("updating the package list");
    let _ = quiet(&[sudo, &["apt-get", "update", "-q"]].concat());
    say(&shown);
    let Err(why) = quiet(&getting(sudo, all)) else { return Ok(()) };
    let mut failed = Vec::new();
    for prepared in lacking.iter().filter(|p| p.is_absent() && packages(p).next().is_some()) {
        let own: Vec<&str> = packages(prepared).collect();
        if own == all {
            return Err(why);
        }
        failed.extend(quiet(&getting(sudo, &own)).err().map(|why| format!("{}: {why}", prepared.name)));
    }
    if failed.is_empty() { Ok(()) } else { Err(failed.join("\n")) }
}

fn getting<'w>(sudo: &[&'w str], packages: &[&'w str]) -> Vec<&'w str> {
    [sudo, &["apt-get", "install", "-y", "-q", "--no-install-recommends"], packages].concat()
}

/// Runs a command; its output is shown only if it fails.
fn quiet(words: &[&str]) -> Result<(), String> {
    let words: Vec<String> = words.iter().map(ToString::to_string).collect();
    let run = command(&words).env("DEBIAN_FRONTEND", "noninteractive").output();
    let output = run.map_err(|e| format!("`{}` can't be run: {e}", words.join(" ")))?;
    if output.status.success() {
        return Ok(());
    }
    let text = String::from_utf8_lossy(&output.stderr);
    let (last, next) = (shell::last_lines(&text), remedy::of_packages(&text));
    Err(format!("`{}` failed ({}):\n    {last}\n  {next}", words.join(" "), output.status))
}

#[cfg(test)]
mod tests {
    use crate::Catalog;

    #[test]
    fn whatever_is_got_says_beforehand_how_long_it_takes_and_how_much_room() {
        for (name, entry) in Catalog::built_in().unwrap().contenders {
            let (contender, install) = (&entry.contender, &entry.contender.install);
            if contender.build.is_some() || !install.apt.is_empty() {
                assert!(install.minutes.is_some_and(|m| m > 0.0 && m <= 10.0), "{name}");
                assert!(install.disk_mb.is_some_and(|mb| (1.0..=2000.0).contains(&mb)), "{name}");
            }
        }
    }
}
