//! siege's resource file: `key = value`, with variables.

use super::settings::{NO_TRACE, Settings, atof, seconds};
use crate::Printed;
use crate::number::atoi;
use std::collections::HashMap;
use std::path::Path;

/// Reads the settings from `given` or else from the file that `SIEGERC` names; it must be readable. Without both, from `~/.siege/siege.conf`
/// or else `/etc/siege/siegerc`. Without any file, the defaults are those of Debian's file.
pub fn load(given: Option<&str>) -> Result<Settings, Printed> {
    let environment = std::env::var_os("SIEGERC").map(|path| path.to_string_lossy().into_owned());
    if let Some(path) = given.or(environment.as_deref()) {
        let text = std::fs::read_to_string(path).map_err(|_| missing(path))?;
        return read(path, &text);
    }
    let home = std::env::var_os("HOME").unwrap_or_default();
    let home = home.to_string_lossy();
    for path in [format!("{home}/.siege/siege.conf"), "/etc/siege/siegerc".to_owned()] {
        if let Ok(text) = std::fs::read_to_string(&path) {
            return read(&path, &text);
        }
    }
    Ok(Settings { rc: format!("{home}/.siege/siege.conf"), ..Settings::of_debian() })
}

fn missing(path: &str) -> Printed {
    let stars = "*".repeat(50);
    let how = "run 'siege.config' to generate a new config file";
    Printed::err(format!("{stars}\nsiege: could not open {path}\n{how}\n{stars}\n")).exit(1)
}

/// Parses a file's text.
pub fn read(path: &str, text: &str) -> Result<Settings, Printed> {
    let mut settings = Settings { rc: path.to_owned(), ..Settings::bare() };
    let mut variables = HashMap::new();
    for line in text.lines().map(str::trim) {
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let (key, value) = pair(line);
        let value = evaluate(value, &variables);
        if !key_is_known(&mut settings, key, value.trim())? {
            variables.insert(key.to_owned(), value);
        }
    }
    Ok(settings)
}

/// A line's key and value, which are separated by spaces, `=` or `:`.
pub fn pair(line: &str) -> (&str, &str) {
    let is_between = |c: char| c.is_whitespace() || c == '=' || c == ':';
    let (key, value) = line.split_at(line.find(is_between).unwrap_or(line.len()));
    (key, value.trim_start_matches(is_between))
}

/// Replaces `$NAME`, `${NAME}` and `$(NAME)` by their values; unknown names become empty.
pub fn evaluate(text: &str, variables: &HashMap<String, String>) -> String {
    let mut text = text.to_owned();
    // A variable may refer to others, but only to a limited depth.
    for _ in 0..100 {
        let Some((at, name, behind)) = reference(&text) else { break };
        let value = value(name, variables).unwrap_or_default();
        text = format!("{}{value}{behind}", &text[..at]);
    }
    text
}

/// The first reference to a variable that has no value.
pub fn unknown(text: &str, variables: &HashMap<String, String>) -> Option<String> {
    let mut text = text.to_owned();
    for _ in 0..100 {
        let (at, name, behind) = reference(&text)?;
        let Some(value) = value(name, variables) else {
            return Some(text[at..text.len() - behind.len()].to_owned());
        };
        text = format!("{}{value}{behind}", &text[..at]);
    }
    None
}

/// The first reference to a variable: where it begins, its name, and what follows it.
fn reference(text: &str) -> Option<(usize, &str, &str)> {
    let at = text.find('$')?;
    let after = &text[at + 1..];
    let name = after.strip_prefix(['{', '(']).unwrap_or(after);
    let (name, behind) = name.split_at(name.find(['}', ')', '/']).unwrap_or(name.len()));
    Some((at, name, behind.strip_prefix(['}', ')']).unwrap_or(behind)))
}

fn value(name: &str, variables: &HashMap<String, String>) -> Option<String> {
    let is_name = !name.is_empty() && !name.contains(['=', '\0']);
    variables.get(name).cloned().or_else(|| is_name.then(|| std::env::var(name).ok())?)
}

/// Applies a key. Returns false if siege does not know it, so that it is a variable.
fn key_is_known(settings: &mut Settings, key: &str, value: &str) -> Result<bool, Printed> {
    let key = key.to_ascii_lowercase();
    refuse(&key, value)?;
    let s = settings;
    let begins = |word: &str| value.get(..word.len()).is_some_and(|v| v.eq_ignore_ascii_case(word));
    let truth = begins("true");
    match key.as_str() {
        "verbose" => s.verbose = truth,
        "color" => s.color = !begins("off") && !begins("false"),
        "quiet" => s.quiet = truth,
        "json_output" => s.json = truth,
        "show-logfile" => s.show_log = truth,
        "logging" => s.logging = truth,
        "logfile" => value.clone_into(&mut s.log_file),
        "gmethod" => s.head = !value.eq_ignore_ascii_case("get"),
        "parser" => s.parser = truth,
        "nofollow" => s.no_follow.push(value.to_owned()),
        "csv" => s.csv = truth,
        "timestamp" => s.timestamp = truth,
        "fullurl" => s.full_url = truth,
        "display-id" => s.display_id = truth,
        "limit" => s.limit = atoi(value),
        "protocol" => s.http11 = begins("HTTP/1.1"),
        "connection" => s.keep_alive = begins("keep-alive"),
        "concurrent" => s.users = atoi(value),
        "time" => s.seconds = seconds(value),
        "reps" => s.reps = atoi(value),
        "file" => value.clone_into(&mut s.file),
        "url" => s.url = Some(value.to_owned()),
        "delay" => s.delay_s = atof(value),
        "cookies" => s.cookies = truth,
        "failures" => s.failures = u64::try_from(atoi(value)).unwrap_or(0),
        "internet" => s.internet = truth,
        "benchmark" => s.benchmark = truth,
        "user-agent" => value.clone_into(&mut s.agent),
        "accept-encoding" => value.clone_into(&mut s.encoding),
        "url-escaping" => s.escape = !begins("false"),
        "header" => s.header(value)?,
        "follow-location" => s.follow = truth,
        "zero-data-ok" => s.zero_ok = truth,
        "ssl-cert" => s.certificate = Some(value.to_owned()),
        "ssl-key" => s.key = Some(value.to_owned()),
        "unique" => s.unique = truth,
        // These settings have no effect: nothing is cached or traced, chunks are always read, no cookie outlives
        // its answer, and the others are for a proxy, which is not used, and for FTP.
        "cache" | "debug" | "chunked" | "expire-session" | "timeout" | "attempts" | "proxy-port"
        | "spinner" => {}
        _ => return Ok(false),
    }
    Ok(true)
}

/// Refuses a setting that drome does not support, and says why.
fn refuse(key: &str, value: &str) -> Result<(), Printed> {
    let truth = value.to_ascii_lowercase().starts_with("true");
    let why = match key {
        "cache" if truth => "requests would depend on earlier answers",
        "debug" if truth => NO_TRACE,
        "chunked" if !truth => "drome always reads chunks",
        "timeout" if atoi(value) != 30 => {
            "siege limits only connecting by it, and drome leaves that limit to the operating system"
        }
        "attempts" if atoi(value) != 1 => "drome does not repeat requests after 401 or 407",
        "proxy-host" | "proxy-login" => "drome uses no proxy here",
        "ftp-login" => "drome supports only HTTP",
        "ssl-ciphers" => "its names are those of OpenSSL, which drome does not use",
        "ssl-timeout" => "drome resumes no TLS sessions here",
        _ if key.starts_with("login") => {
            "drome does not answer challenges; `header = Authorization: …` is sent"
        }
        _ => return Ok(()),
    };
    Err(Printed::refuse("siege", &format!("`{key} = {value}` of the resource file"), why))
}

/// Whether a log can be written there.
pub fn can_hold_log(path: &str) -> bool {
    let path = Path::new(path);
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    path.is_file() || folder.is_none_or(Path::is_dir)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_variables_and_comments() {
        let text = "# c\nHERE = a/b\nlogfile=${HERE}/x.log\nfile: $(HERE)/u\nverbose = true\nlimit\t300\nreps = 7\nuser-agent = $NONE-here\n";
        let settings = read("f", text).unwrap();
        assert_eq!((settings.log_file.as_str(), settings.file.as_str()), ("a/b/x.log", "a/b/u"));
        assert_eq!((settings.verbose, settings.limit, settings.reps), (true, 300, 7));
        assert_eq!((settings.json, settings.agent.as_str()), (false, ""));
        let endless = HashMap::from([("A".to_owned(), "$A/$A".to_owned())]);
        assert!(evaluate("$A", &endless).len() < 10_000);
    }

    #[test]
    fn what_is_not_honoured_is_refused_by_name() {
        for line in [
            "cache = true",
            "debug = true",
            "chunked = false",
            "timeout = 5",
            "attempts = 3",
            "proxy-host = p",
            "login = a:b",
            "login-url = http://a/",
            "ssl-ciphers = x",
        ] {
            let printed = read("f", line).unwrap_err();
            assert!(
                printed.err.contains(line.split(' ').next().unwrap()) && printed.exit == Some(2),
                "{printed:?}"
            );
        }
        assert!(read("f", "cache = false\ntimeout = 30\nchunked = true\nspinner = true").is_ok());
    }
}
