//! The TCP segments that this machine has sent, of which each is a packet or more: requests, and what acknowledges answers. On a connection
//! that rested, Linux acknowledges each of the first sixteen answers at once, so in a short turn there are more of them than requests.

/// Parses the text of `/proc/net/snmp`: a line with TCP's names, and one with its figures (proc(5)). Those of retransmissions are not among them.
pub fn sent(snmp: &str) -> Option<u64> {
    let mut lines = snmp.lines().filter_map(|line| line.strip_prefix("Tcp:"));
    let (names, figures) = (lines.next()?, lines.next()?);
    let at = names.split_whitespace().position(|name| name == "OutSegs")?;
    figures.split_whitespace().nth(at)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tcps_segments_are_found_by_their_name() {
        let text =
            "Ip: Forwarding OutSegs\nIp: 1 5\nTcp: RtoMin InSegs OutSegs RetransSegs\nTcp: 200 7 9 1\n";
        assert_eq!(sent(text), Some(9));
        for bad in ["", "Tcp: OutSegs", "Tcp: OutSegs\nTcp: x", "Tcp: a\nTcp: 1", "Tcp: a OutSegs\nTcp: 1"] {
            assert_eq!(sent(bad), None, "{bad}");
        }
        let here = || sent(&std::fs::read_to_string("/proc/net/snmp").ok()?);
        assert!(here().is_some(), "as this kernel writes it");
    }
}
