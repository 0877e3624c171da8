//! Every option of every tool, and what docs/dialects.md says is refused: the list there is made from these tables. An option that is not
//! in them must come to a measurement, or end as the tool's own help and version do.

use crate::harness::{self, file, listen, printed};
use dialects::Printed;
use dialects::wrk::REFUSED;
use std::path::Path;

/// A tool, how the name of an option appears in the documentation, and arguments that use it; `URL` is a URL at which somebody listens.
type Case = (&'static str, &'static str, &'static [&'static str]);

const CASES: &[Case] = &[
    ("ab", "`-b`", &["-b", "4096", "URL"]),
    ("ab", "`-Z`", &["-Z", "ALL", "URL"]),
    ("ab", "`-f` with a version before TLS 1.2", &["-f", "TLS1.1", "URL"]),
    ("siege", "`-D`", &["-D", "URL"]),
    ("siege", "words beside the URL", &["-c1", "one", "URL"]),
    ("siege", "words beside the URL", &["−c", "5", "URL"]),
    ("wrk", "words behind the URL without a script", &["URL", "−t4"]),
    ("wrk", "words behind the URL without a script", &["URL", "-t1", "--", "x"]),
    ("wrk2", "words behind the URL without a script", &["-R1", "URL", "x"]),
    ("http_load", "`-checksum`", &["-checksum", "-p", "1", "-f", "1", "URL"]),
    ("http_load", "`-throttle`", &["-throttle", "-p", "1", "-f", "1", "URL"]),
    ("http_load", "`-Throttle`", &["-Throttle", "9", "-p", "1", "-f", "1", "URL"]),
    ("http_load", "`-cipher`", &["-cipher", "x", "-p", "1", "-f", "1", "URL"]),
    ("httperf", "`--wsess`", &["--wsess=1,1,1"]),
    ("httperf", "`--wsesslog`", &["--wsesslog=1,1,x"]),
    ("httperf", "`--wsesspage`", &["--wsesspage=1,1,x"]),
    ("httperf", "`--wlog`", &["--wlog=y,x"]),
    ("httperf", "`--close-with-reset`", &["--close-with-reset"]),
    ("httperf", "`--ssl-ciphers`", &["--ssl-ciphers=x"]),
    ("httperf", "`--send-buffer`", &["--send-buffer=1"]),
    ("httperf", "`--recv-buffer`", &["--recv-buffer=1"]),
    (
        "httperf",
        "`--print-reply` and `--print-request` for more than one call",
        &["--print-reply", "--num-calls=2"],
    ),
    (
        "httperf",
        "`--print-reply` and `--print-request` for more than one call",
        &["--print-request", "--num-conns=2"],
    ),
    ("httperf", "words that are no options", &["−−num−conns", "5"]),
    ("httperf", "words that are no options", &["--num-conns=1", "stray"]),
    ("httperf", "words that are no options", &["--", "--num-conns=1"]),
    ("httperf", "words that are no options", &[""]),
    ("h2load", "`-r`", &["-r", "1", "URL"]),
    ("h2load", "`--rate-period`", &["--rate-period", "1s", "URL"]),
    ("h2load", "`-T`", &["-T", "1", "URL"]),
    ("h2load", "`-N`", &["-N", "1", "URL"]),
    ("h2load", "`--rps`", &["--rps", "1", "URL"]),
    ("h2load", "`--timing-script-file`", &["--timing-script-file", "FILE"]),
    ("h2load", "`--log-file`", &["--log-file", "x", "URL"]),
    ("h2load", "`-v`", &["-v", "URL"]),
    ("h2load", "`-w`", &["-w", "16", "URL"]),
    ("h2load", "`-W`", &["-W", "16", "URL"]),
    ("h2load", "`-f`", &["-f", "32K", "URL"]),
    ("h2load", "`--header-table-size`", &["--header-table-size", "4K", "URL"]),
    ("h2load", "`--encoder-header-table-size`", &["--encoder-header-table-size", "4K", "URL"]),
    ("h2load", "`--ciphers`", &["--ciphers", "x", "URL"]),
    ("h2load", "`--tls13-ciphers`", &["--tls13-ciphers", "x", "URL"]),
    ("h2load", "`--groups`", &["--groups", "x", "URL"]),
    ("h2load", "`--ktls`", &["--ktls", "URL"]),
    ("h2load", "`--qlog-file-base`", &["--qlog-file-base", "x", "URL"]),
    ("h2load", "`--no-udp-gso`", &["--no-udp-gso", "URL"]),
    ("h2load", "`--max-udp-payload-size`", &["--max-udp-payload-size", "1K", "URL"]),
    ("h2load", "`--npn-list`", &["--npn-list", "h3", "URL"]),
    ("h2load", "`--npn-list`", &["--npn-list", "http/1.1,h2", "URL"]),
    ("h2load", "`-m` above 10000", &["-m", "10001", "URL"]),
    ("h2load", "`--warm-up-time` without `-D`", &["--warm-up-time", "1", "URL"]),
    ("h2load", "`-i -`", &["-i", "-"]),
    ("h2load", "words beside a file of URIs", &["-i", "FILE", "URL"]),
    ("h2load", "`--connect-to` beside `-B unix:`", &["--connect-to", "a", "-B", "unix:/x", "URL"]),
    ("h2load", "`user:password@` in a URI", &["http://a:b@127.0.0.1/"]),
    ("h2load", "`-H` of other pseudo-headers and of fields that HTTP/2 lacks", &["-H", ":x: y", "URL"]),
    (
        "h2load",
        "`-H` of other pseudo-headers and of fields that HTTP/2 lacks",
        &["-H", ":scheme: https", "URL"],
    ),
    ("h2load", "`-H` of other pseudo-headers and of fields that HTTP/2 lacks", &["-H", "Host: x", "URL"]),
    (
        "h2load",
        "`-H` of other pseudo-headers and of fields that HTTP/2 lacks",
        &["-H", "Connection: x", "URL"],
    ),
];

/// What a line of a file of URLs says, and how docs/dialects.md names it.
const LINES: &[(&str, &str)] = &[
    ("`$` before a name that has no value in a file of URLs", "URL POST {\"price\": \"$5\"}"),
    ("`$` before a name that has no value in a file of URLs", "URL?a=$NO_SUCH_NAME"),
    ("`$` before a name that has no value in a file of URLs", "URL POST cost=$"),
    ("`$` before a name that has no value in a file of URLs", "URL POST a$/b"),
    ("`$` before a name that has no value in a file of URLs", "URL POST a=${NO_SUCH_NAME}"),
    ("URLs of FTP or with a password", "ftp://127.0.0.1/"),
    ("URLs of FTP or with a password", "http://a:b@127.0.0.1/"),
];

/// Values of httperf's options that drome does not honour, which the documentation need not list, and the option that is named.
const OF_HTTPERF: &[(&str, &str)] = &[
    ("--num-calls 0", "--num-calls"),
    ("--num-conns 0", "--num-conns"),
    ("--num-conns -1 --rate 5 --burst-length 9 --num-calls 9", "--burst-length"),
    ("--timeout -1", "--timeout"),
    ("--wset 1000000,1 --num-conns 1000000", "--wset"),
];

/// Options that are honoured, with a value, and the words that every call has: every option of the tool's own list that is not in the tables
/// above.
const HONOURED: &[(&str, &str, &str)] = &[
    (
        "ab",
        "-n3|-c1|-t1|-s9|-pFILE|-uFILE|-Ta/b|-v1|-w|-i|-xa|-ya|-za|-Ca=b|-HA: b|-Aa:b|-Pa:b|\
         -X127.0.0.1:1|-k|-d|-q|-S|-l|-gFILE|-eFILE|-r|-mPATCH|-I|-fTLS1.3|-B127.0.0.1",
        "URL",
    ),
    (
        "siege",
        "-c2|-r2|-t1S|-d1|-b|-i|-HA: b|-Ax|-Ta/b|-j|-lFILE|-q|-v|-mtext|-N|-p|--no-follow|\
         --json-output",
        "-r1 URL",
    ),
    ("wrk", "-t1|-c2|-d1|-HA: b|-T1|-L|--latency|--timeout=1|--header=A: b", "URL"),
    ("wrk2", "-t1|-c2|-d1|-HA: b|-T1|-L|-U|-B|--u_latency|--batch_latency", "-R1 URL"),
    ("http_load", "-v|-verbose|-timeout=5", "-p 1 -f 1 URL"),
    ("weighttp", "-t1|-c1|-k|-HA: b", "-n1 URL"),
    (
        "h2load",
        "-n2|-c1|-t1|-m9|-D1|--warm-up-time=1s|-dCargo.toml|-BURL|-Bunix:/x|--connect-to=127.0.0.1|-HA: b|-ph2c|\
         --npn-list=h2,http/1.1|--h1|-w30|-W30|-f16K",
        "-D1 URL",
    ),
    (
        "httperf",
        "--add-header=A: b\\n|--burst-length=2|--client=0/1|--debug=1|--failure-status=500|--hog|\
         --http-version=1.0|--max-connections=1|--max-piped-calls=1|--method=HEAD|--no-host-hdr|\
         --num-calls=2|--num-conns=2|--period=d1|--port=80|--print-reply|--print-request|--rate=1|\
         --retry-on-failure|--server=127.0.0.1|--server-name=a|--ssl|--ssl-no-reuse|--think-timeout=1|\
         --timeout=1|--uri=/x|-v|--wset=2,1|--recv-buffer=16384|--send-buffer=4096",
        "",
    ),
];

fn parse(tool: &str, args: &[&str]) -> Result<(), Printed> {
    let ((_listener, url), (_file, path)) = (listen(), file(""));
    let args: Vec<String> = args.iter().map(|arg| arg.replace("URL", &url).replace("FILE", &path)).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    harness::parse(tool, &args).map(drop)
}

/// What is refused, where the message begins with that and gives a reason.
fn refused<'a>(printed: &'a Printed, tool: &str) -> Option<&'a str> {
    let message = printed.err.strip_prefix(&format!("drome {tool}: "))?;
    let (what, reason) = message.split_once(" is not supported: ")?;
    let is_whole = printed.exit == Some(2) && printed.out.is_empty() && reason.len() > 10;
    is_whole.then_some(what)
}

#[test]
fn what_is_listed_is_refused_by_name() {
    for (tool, name, args) in CASES {
        let printed = parse(tool, args).err().unwrap_or_else(|| panic!("{tool} {args:?} was not refused"));
        let mut words = name.split('`').skip(1).step_by(2).peekable();
        let is_named = |what: &str| {
            (words.peek().is_none() && what.starts_with("the word `"))
                || words.any(|word| what.starts_with(word))
        };
        assert!(refused(&printed, tool).is_some_and(is_named), "{tool} {args:?}: {printed:?}");
    }
    for (name, line) in LINES {
        let (_file, path) = file(&line.replace("URL", "http://127.0.0.1:9/"));
        let printed = parse("siege", &["-f", &path]).err().unwrap_or_else(|| panic!("{line}: {name}"));
        assert!(refused(&printed, "siege").is_some(), "{line}: {printed:?}");
    }
}

#[test]
fn values_that_httperf_would_take_are_refused_with_a_reason() {
    for (line, option) in OF_HTTPERF {
        let printed = printed("httperf", line);
        assert_eq!(refused(&printed, "httperf"), Some(*option), "{line}: {printed:?}");
    }
}

#[test]
fn a_dash_that_is_none_is_named() {
    let printed = parse("httperf", &["–num-conns", "2"]).expect_err("refused");
    assert!(printed.err.contains("another character than the dash"), "{printed:?}");
}

#[test]
fn every_other_option_is_honoured() {
    for (tool, options, always) in HONOURED {
        let always: Vec<&str> = always.split_whitespace().collect();
        for option in options.split('|') {
            let option: &[&str] =
                if *tool == "http_load" { &option.split('=').collect::<Vec<_>>() } else { &[option] };
            let ended = parse(tool, &[option, &always].concat());
            assert!(ended.is_ok(), "{tool} {option:?}: {ended:?}");
        }
    }
}

#[test]
fn a_line_of_siege_with_known_names_is_sent() {
    let (_file, path) = file("HERE=http://127.0.0.1:9\n$(HERE)/a POST x=${PATH}\n$(HERE)/b POST @x\n");
    assert!(parse("siege", &["-r1", "-c1", "-f", &path]).is_ok());
}

/// Other tools take a type or a file from such words; what siege makes of them is said, because the request is another one then.
#[test]
fn a_body_that_siege_takes_as_it_is_is_told() {
    let told = |data: &str| {
        let (_file, path) = file(&format!("http://127.0.0.1:9/ POST {data}\n"));
        let mut job = harness::parse("siege", &["-r1", "-c1", "-f", &path]).expect("it runs");
        let sent = job.plan().asks[0].request.clone();
        assert!(sent.ends_with(data.as_bytes()), "{}", String::from_utf8_lossy(&sent));
        let printed = job.begin();
        printed.out + &printed.err
    };
    for data in ["-T application/json {}", "@body.json"] {
        let words = format!("siege sends `{data}` as it is");
        assert!(told(data).contains(&words), "{}", told(data));
    }
    assert!(!told("a=b").contains("as it is"), "{}", told("a=b"));
}

/// The words between two headings of docs/dialects.md.
fn documented() -> String {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/dialects.md");
    std::fs::read_to_string(file).expect("docs/dialects.md")
}

#[test]
fn the_documentation_lists_all_of_it() {
    let text = documented();
    for (tool, name, _) in CASES {
        let row = text.lines().find(|line| {
            line.starts_with("| ")
                && line[2..]
                    .split('|')
                    .next()
                    .is_some_and(|tools| tools.split(", ").any(|t| t.trim() == *tool))
        });
        let row = row.unwrap_or_else(|| panic!("no row for {tool}"));
        let words: Vec<&str> = name.split('`').collect();
        assert!(words.iter().all(|word| row.contains(word)), "{tool}: {name} is not in {row}");
    }
    for (name, _) in LINES {
        assert!(text.contains(name) || name.starts_with("URLs"), "{name}");
    }
    let list: String = listed();
    let begin = "<!-- scripts: this list is made by a test -->\n";
    let (before, rest) = text.split_once(begin).expect("the list's beginning");
    let (now, after) = rest.split_once("<!-- scripts end -->").expect("the list's end");
    if now != list && std::env::var_os("DROME_UPDATE_DOCS").is_some() {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/dialects.md");
        std::fs::write(file, format!("{before}{begin}{list}<!-- scripts end -->{after}")).expect("written");
        return;
    }
    assert_eq!(now, list, "run this test with DROME_UPDATE_DOCS=1, and look at what it writes");
}

/// What scripts of wrk can't do in drome, as a table; names with the same reason share a row.
fn listed() -> String {
    let mut rows: Vec<(Vec<&str>, &str)> = Vec::new();
    for (name, why) in REFUSED {
        match rows.iter_mut().find(|(_, known)| known == why) {
            Some((names, _)) => names.push(name),
            None => rows.push((vec![name], why)),
        }
    }
    let row = |(names, why): &(Vec<&str>, &str)| format!("| {} | {why} |\n", names.join(", "));
    let rows: String = rows.iter().map(row).collect();
    format!("\n| in a script | why it is refused |\n| --- | --- |\n{rows}\n")
}
