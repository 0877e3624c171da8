//! The TCP segments that this machine has sent and received, of which each is a packet or more: requests, answers, and what acknowledges
//! them. On a connection that rested, Linux acknowledges each of the first sixteen answers at once, so in a short turn there are more of
//! them than requests.

use model::network::Segments;

/// All since boot, by `/proc/net/snmp`; `None` where the kernel does not tell.
pub fn now() -> Option<Segments> {
    of(&std::fs::read_to_string("/proc/net/snmp").ok()?)
}

/// Parses the file's text: a line with TCP's names, and one with its figures (proc(5)).
fn of(snmp: &str) -> Option<Segments> {
    let mut lines = snmp.lines().filter_map(|line| line.strip_prefix("Tcp:"));
    let (names, figures) = (lines.next()?, lines.next()?);
    let figure = |wanted: &str| {
        let at = names.split_whitespace().position(|name| name == wanted)?;
        figures.split_whitespace().nth(at)?.parse().ok()
    };
    Some(Segments { sent: figure("OutSegs")?, received: figure("InSegs")? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tcps_segments_are_found_by_their_names() {
        let text =
            "Ip: Forwarding OutSegs\nIp: 1 5\nTcp: RtoMin InSegs OutSegs RetransSegs\nTcp: 200 7 9 1\n";
        assert_eq!(of(text), Some(Segments { sent: 9, received: 7 }));
        for bad in
            ["", "Tcp: OutSegs", "Tcp: OutSegs InSegs\nTcp: x 1", "Tcp: a\nTcp: 1", "Tcp: a OutSegs\nTcp: 1"]
        {
            assert_eq!(of(bad), None, "{bad}");
        }
        assert!(now().is_some(), "as this kernel writes it");
    }
}
