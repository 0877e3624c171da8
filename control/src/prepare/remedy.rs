//! Suggests the next step after a failed build or installation, from the output of the tool that failed.

/// What package managers, compilers and kernels say about a full disk.
const FULL: [&str; 4] = ["no space left on device", "enospc", "disk quota exceeded", "file too large"];

/// What they say about a registry that does not answer.
const UNREACHABLE: [&str; 17] = [
    "connection refused",
    "could not resolve",
    "couldn't resolve",
    "could not connect",
    "couldn't connect",
    "failed to connect",
    "failed to fetch",
    "failed to download",
    "failed to establish a new connection",
    "temporary failure in name resolution",
    "network is unreachable",
    "no such host",
    "could not transfer artifact",
    "timed out",
    "econnrefused",
    "enotfound",
    // pip, which says no more than that where it is told to be quiet.
    "(from versions: none)",
];

/// The next step after a contender's build failed with this output.
pub fn of_build(output: &str, name: &str) -> String {
    let again = format!("then `drome install {name}`");
    match first(output) {
        Some(what) => format!("{what}, {again}"),
        None => format!("fix that, {again}"),
    }
}

/// The next step after a package manager failed with this output.
pub fn of_packages(output: &str) -> &'static str {
    first(output).unwrap_or("fix that, or install the packages by hand")
}

fn first(output: &str) -> Option<&'static str> {
    let output = output.to_lowercase();
    let has = |words: &[&str]| words.iter().any(|words| output.contains(words));
    if has(&FULL) {
        return Some("the disk is full: free some space, or set DROME_CACHE to a folder on another disk");
    }
    has(&UNREACHABLE)
        .then_some("it could not reach the registry: check the network or the proxy (HTTPS_PROXY)")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_tools_say_is_understood() {
        let cases = [
            ("npm error code ECONNREFUSED", "registry"),
            (
                "Could not fetch URL: Failed to establish a new connection: [Errno 111] Connection refused",
                "registry",
            ),
            ("dial tcp: lookup proxy.golang.org: no such host", "registry"),
            ("[7] Could not connect to server (Failed to connect to 127.0.0.1 port 1)", "registry"),
            (
                "ERROR: Could not find a version that satisfies blinker==1.9.0 (from versions: none)",
                "registry",
            ),
            ("Could not transfer artifact org.x:y:pom:1 from/to central: Connection refused", "registry"),
            ("OSError: [Errno 28] No space left on device", "the disk is full"),
            ("error: linking failed", "fix that"),
        ];
        for (output, words) in cases {
            let next = of_build(output, "x");
            assert!(next.contains(words) && next.ends_with("then `drome install x`"), "{output}: {next}");
        }
        assert!(of_packages("E: Failed to fetch http://deb.debian.org").contains("registry"));
    }
}
