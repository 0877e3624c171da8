//! `drome ui` over plain HTTP: who is let in, what a study does, what is said of bad input.

use crate::common::http;
use crate::common::ui;
use crate::common::{Home, run, wait_for};
use std::io::Write;
use std::time::Instant;

#[test]
fn a_foreign_host_or_origin_is_refused_everywhere() {
    let ui = ui::open(Home::new(), &[]);
    let port = ui.server.address.port();
    for host in [format!("localhost:{port}"), format!("127.0.0.1:{port}"), format!("[::1]:{port}")] {
        assert_eq!(ui.ask("GET /", &[("Host", &host)], b"").status, 200, "{host}");
    }
    for path in ["/", "/studies", "/live/events", "/assets/ui.js", "/nowhere"] {
        for host in ["evil.example", "localhost.evil.example", "192.168.0.1"] {
            let answer = ui.ask(&format!("GET {path}"), &[("Host", host)], b"");
            assert_eq!(answer.status, 403, "{host} {path}");
            assert!(!answer.text().contains("raspberry-pi"));
        }
    }
    assert!(matches!(ui.ask("GET /", &[], b"").status, 400 | 403), "no Host");
    for (path, body) in [("/studies/raspberry-pi", "how=quick"), ("/live/stop", ""), ("/imports", "x")] {
        let length = body.len().to_string();
        for origin in [None, Some("null"), Some("http://evil.example"), Some("http://localhost:1")] {
            let host = ui.host();
            let mut fields = vec![("Host", host.as_str()), ("Content-Length", &length)];
            fields.extend(origin.map(|origin| ("Origin", origin)));
            let answer = ui.ask(&format!("POST {path}"), &fields, body.as_bytes());
            assert_eq!(answer.status, 403, "{path} {origin:?}");
        }
    }
    assert_eq!(ui.ask("DELETE /", &[("Host", &ui.host())], b"").status, 403);
}

#[test]
fn every_answer_forbids_scripts_from_elsewhere_and_frames() {
    let ui = ui::open(Home::new(), &[]);
    for path in
        ["/", "/studies", "/contenders", "/compare", "/live", "/assets/ui.css", "/nowhere", "/runs/none"]
    {
        let answer = ui.get(path);
        let policy = answer.field("content-security-policy").unwrap();
        assert!(policy.contains("default-src 'none'") && !policy.contains("unsafe"), "{path}: {policy}");
        assert!(policy.contains("frame-ancestors 'none'") && policy.contains("form-action 'self'"));
        assert_eq!(answer.field("x-content-type-options"), Some("nosniff"), "{path}");
        assert_eq!(answer.field("cache-control"), Some("no-store"), "{path}");
        // What the policy forbids is not there either: it would only fail.
        let text = answer.text();
        assert!(!text.contains("style=") && !text.contains("<style") && !text.contains("onclick"), "{path}");
        assert_eq!(text.matches("<script").count(), text.matches("<script src=\"/assets/ui.js\"").count());
    }
}

/// `drome ui` that listens so asks every stranger for its token.
fn assert_takes_a_token(args: &[&str]) {
    let ui = ui::open(Home::new(), args);
    let token = &ui.token;
    assert_eq!(token.len(), 32, "{}", ui.url);
    let (host, origin) = (ui.host(), ui.origin());
    let get = |path: &str, fields: &[(&str, &str)]| {
        let fields = [&[("Host", host.as_str())], fields].concat();
        ui.ask_without_token(&format!("GET {path}"), &fields, b"")
    };
    for path in ["/", "/studies", "/live/events", "/assets/ui.css", "/nowhere", "/?token=", "/contenders"] {
        let refused = get(path, &[]);
        assert!(refused.status == 403 && refused.text().contains("token"), "{path}: {}", refused.text());
    }
    let fields = [("Host", &*host), ("Origin", &origin), ("Content-Length", "0")];
    for path in ["/live/stop", "/studies/raspberry-pi", "/imports", "/contenders/nginx"] {
        assert_eq!(ui.ask_without_token(&format!("POST {path}"), &fields, b"").status, 403, "{path}");
    }
    assert_eq!(get(&format!("/?token={}", "0".repeat(32)), &[]).status, 403);
    let let_in = get(&format!("/?token={token}"), &[]);
    assert_eq!((let_in.status, let_in.field("location")), (303, Some("/")), "the token leaves the address");
    let cookie = let_in.field("set-cookie").unwrap();
    assert!(cookie.contains("HttpOnly") && cookie.contains("SameSite=Strict"), "{cookie}");
    let pair = cookie.split(';').next().unwrap();
    assert_eq!(pair, ui.cookie(), "another drome at another port has another cookie");
    assert_eq!(get("/", &[("Cookie", pair)]).status, 200);
    assert_eq!(ui.ask("GET /", &[("Host", "evil.example")], b"").status, 403);
    let fields = [("Host", &*host), ("Origin", "http://evil.example"), ("Content-Length", "0")];
    assert_eq!(ui.ask("POST /live/stop", &fields, b"").status, 403);
    let two_slashes = get(&format!("//evil.example/?token={token}"), &[]);
    assert_eq!(two_slashes.field("location"), Some("/evil.example/"), "never to another host");
}

#[test]
fn it_takes_the_token_on_this_machine() {
    assert_takes_a_token(&[]);
}

#[test]
fn it_takes_the_token_beyond_this_machine() {
    assert_takes_a_token(&["--listen", "0.0.0.0"]);
}

#[test]
fn the_browser_is_started_with_an_address_that_is_valid_once() {
    let home = Home::new();
    let opened = home.path().join("opened");
    let script = home.write("bin/xdg-open", &format!("#!/bin/sh\nprintf %s \"$1\" > {}\n", opened.display()));
    std::fs::set_permissions(&script, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let path = format!("{}:{}", script.parent().unwrap().display(), std::env::var("PATH").unwrap());
    let ui = ui::open_with(home, &["--open"], &[("PATH", &path)]);
    let read = || std::fs::read_to_string(&opened).unwrap_or_default();
    wait_for(|| !read().is_empty(), "the browser");
    let url = read();
    assert!(url.starts_with("http://127.0.0.1:") && !url.contains(&ui.token), "{url}");
    let visit = || {
        ui.ask_without_token(
            &format!("GET /?{}", url.split_once('?').unwrap().1),
            &[("Host", &ui.host())],
            b"",
        )
    };
    let first = visit();
    assert_eq!((first.status, first.field("location")), (303, Some("/")));
    assert!(first.field("set-cookie").unwrap().starts_with(&ui.cookie()));
    assert_eq!(visit().status, 403, "all users of the machine can read the command line of a browser");
}

#[test]
fn nothing_happens_by_a_link_or_in_a_frame() {
    let ui = ui::open(ui::home("2, 2"), &[]);
    let host = ui.host();
    for path in ["/contenders", "/contenders/plain", "/contenders?installed"] {
        let fields =
            [("Host", host.as_str()), ("Sec-Fetch-Site", "cross-site"), ("Sec-Fetch-Mode", "navigate")];
        let framed = [&fields[..], &[("Sec-Fetch-Dest", "iframe")]].concat();
        assert_eq!(ui.ask(&format!("GET {path}"), &framed, b"").status, 403, "{path}");
        let linked = [&fields[..], &[("Sec-Fetch-Dest", "document")]].concat();
        let linked = ui.ask(&format!("GET {path}"), &linked, b"");
        assert!(!linked.text().contains("installed</span>"), "{path} has asked: {}", linked.text());
    }
    let asked = ui.post("/contenders", "").text();
    assert!(asked.contains("installed</span>") && asked.contains("1.0"), "{asked}");
}

#[test]
fn a_port_that_is_taken_and_an_address_that_is_not_here() {
    let ui = ui::open(Home::new(), &[]);
    let (home, port) = (Home::new(), ui.server.address.port().to_string());
    let finished = run(&mut home.drome(&["ui", "--port", &port]));
    finished.assert_err(2, &["is in use", "--port 0"]);
    let finished = run(&mut home.drome(&["ui", "--port", "0", "--listen", "192.0.2.7"]));
    finished.assert_err(2, &["does not have that address"]);
    let finished = run(&mut home.drome(&["ui", "--port", "0", "--listen", "no such name"]));
    finished.assert_err(2, &["such as 127.0.0.1"]);
    home.write("drome.sqlite", &"no store at all ".repeat(99));
    let finished = run(&mut home.drome(&["ui", "--port", "0"]));
    finished.assert_err(1, &["--store"]);
}

#[test]
fn an_empty_store_says_what_to_do_and_unknown_names_are_pages() {
    let ui = ui::open(Home::new(), &[]);
    let page = ui.get("/");
    assert!(page.status == 200 && page.text().contains("No runs yet"), "{}", page.text());
    assert!(page.text().contains("href=\"/studies\"") && page.text().contains("type=\"file\""));
    assert!(ui.get("/studies").text().contains("Raspberry Pi httpd benchmark"));
    assert!(ui.get("/live").text().contains("Nothing is being measured"));
    assert!(ui.get("/compare").text().contains("A comparison needs two runs"));
    let none = ui.get("/runs/none");
    assert!(none.status == 404 && none.text().contains("no run none"), "{}", none.text());
    let near = ui.get("/studies/rasberry-pi");
    assert!(near.status == 404 && near.text().contains("did you mean `raspberry-pi`?"), "{}", near.text());
    assert_eq!(ui.get("/live/events").status, 409);
    assert_eq!(ui.post("/live/stop", "").status, 409);
    assert_eq!(ui.post("/studies/raspberry-pi", "how=quick").status, 400, "nobody takes part");
    assert_eq!(ui.post("/studies/raspberry-pi", "how=quick&contender=snap").status, 400, "not of this study");
}

#[test]
fn queries_that_make_no_sense_are_pages() {
    let ui = ui::open(Home::new(), &[]);
    let foolish = "?kind=x&class=&installed=maybe&language=%3Cb%3E";
    for query in ["?q=%zz", "?page=-1&q=%00", foolish, "?&&=&kind", "?run=&run="] {
        for path in ["/", "/contenders", "/compare", "/studies", "/live"] {
            let answer = ui.get(&format!("{path}{query}"));
            assert!(matches!(answer.status, 200 | 400), "{path}{query}: {}", answer.status);
            assert!(!answer.text().contains("<b>"), "{path}{query}: {}", answer.text());
        }
    }
    let go = ui.get("/contenders?language=Go").text();
    let asks_for = |name: &str| go.contains(&format!("data-ask=\"/contenders/{name}\""));
    assert!(asks_for("go") && !asks_for("nginx"), "{go}");
}

#[test]
fn no_path_leads_out_of_the_store() {
    let ui = ui::open(Home::new(), &[]);
    ui.home.write("secret.txt", "the secret");
    for path in [
        "/../secret.txt",
        "/..%2fsecret.txt",
        "/%2e%2e/secret.txt",
        "/assets/../secret.txt",
        "/assets/..%2f..%2f..%2fsecret.txt",
        "/assets/%2fetc%2fpasswd",
        "/runs/..%2f..%2fsecret.txt",
        "/runs/..%2fsecret.txt/markdown",
        "/studies/..%2f..%2fsecret.txt",
        "/contenders/..%2f..%2fsecret.txt",
        "//etc/passwd",
        "/etc/passwd",
    ] {
        let answer = ui.get(path);
        assert!(matches!(answer.status, 400 | 404 | 405), "{path}: {}", answer.status);
        assert!(!answer.text().contains("the secret") && !answer.text().contains("root:"), "{path}");
    }
}

#[test]
fn what_is_too_large_is_refused_before_it_is_read() {
    let ui = ui::open(Home::new(), &[]);
    let (host, origin) = (ui.host(), ui.origin());
    let fields = |length: (&'static str, &'static str)| {
        [
            ("Cookie", ui.cookie()),
            ("Host", host.clone()),
            ("Origin", origin.clone()),
            (length.0, length.1.to_owned()),
        ]
    };
    // A gigabyte is announced and none of it sent: the answer comes at once.
    let announced = fields(("Content-Length", "1073741824"));
    let announced: Vec<(&str, &str)> = announced.iter().map(|(n, v)| (*n, v.as_str())).collect();
    let answer = ui.ask_without_token("POST /imports", &announced, b"");
    assert!(answer.status == 413 && answer.text().contains("larger than 20 MiB"), "{}", answer.text());

    // It is not announced, but comes piece by piece: the end is not waited for.
    let chunked = fields(("Transfer-Encoding", "chunked"));
    let chunked: String = chunked.iter().map(|(n, v)| format!("{n}: {v}\r\n")).collect();
    let mut stream = http::connect(ui.server.address);
    write!(stream, "POST /imports HTTP/1.1\r\nConnection: close\r\n{chunked}\r\n").unwrap();
    let piece = [b"10000\r\n".as_slice(), &vec![b'x'; 65536], b"\r\n"].concat();
    let mut sent = 0_usize;
    while sent < 1 << 30 && stream.write_all(&piece).is_ok() {
        sent += 65536;
    }
    assert!(sent < 64 << 20, "{sent} bytes were taken");
    assert_eq!(ui.get("/").status, 200);
    assert_eq!(ui.trials(), 0);
}

/// What `ab` prints, with a name of one's own.
fn report_of_ab(name: &str) -> String {
    format!(
        "# {name}\n\nServer Software:        {name}\nServer Hostname:        127.0.0.1\nServer Port:            80\n\
         Document Path:          /hello\nDocument Length:        12 bytes\n\nConcurrency Level:      10\n\
         Time taken for tests:   2.845 seconds\nComplete requests:      1000\nFailed requests:        0\n\
         Total transferred:      438000 bytes\nHTML transferred:       228000 bytes\n\
         Requests per second:    351.49 [#/sec] (mean)\nTime per request:       28.450 [ms] (mean)\n"
    )
}

#[test]
fn a_report_is_imported_and_markup_in_it_is_text() {
    let ui = ui::open(Home::new(), &[]);
    let evil = "<img src=x onerror=alert(1)>";
    let kept = ui.import(evil, &report_of_ab(evil));
    assert_eq!(kept.status, 201, "{}", kept.text());
    let page = ui.get(kept.field("location").unwrap());
    assert!(page.status == 200 && page.text().contains("351"), "{}", page.text());
    for text in [page.text(), ui.get("/").text()] {
        assert!(!text.contains("<img src=x") && text.contains("&lt;img src=x"), "{text}");
    }
    let nothing = ui.import("empty.txt", "no figures at all");
    assert!(nothing.status == 400 && nothing.text().contains("no report and no table"), "{}", nothing.text());
    let binary = ui.import("zeros", "\0\0\0");
    assert!(binary.status == 400 && binary.text().contains("not text"), "{}", binary.text());
    let form = ui.post("/imports", "file=x");
    assert!(form.status == 400 && form.text().contains("No file was sent"), "{}", form.text());
    let id = kept.field("location").unwrap().trim_start_matches("/runs/").to_owned();
    assert_eq!(ui.get(&format!("/compare?run={id}&run={id}")).status, 400, "an import has no starts");
}

#[test]
fn a_study_is_started_watched_stopped_and_kept() {
    let ui = ui::open(ui::home("40, 40"), &[]);
    let form = "how=full&contender=plain&contender=spins";
    let started = ui.post("/studies/small", form);
    assert_eq!((started.status, started.field("location")), (303, Some("/live")), "{}", started.text());
    let second = ui.post("/studies/small", form);
    assert!(second.status == 409 && second.text().contains("only one is measured"), "{}", second.text());

    // One event as each step of a heat begins, whenever one begins to watch.
    let words = ["Spins &amp; spins", "Plain &lt;script&gt;", "keep-alive", " of at least 40 heats", "left"];
    let told = ui.events(|told| {
        told.matches("event: piece").count() >= 7 && words.iter().all(|word| told.contains(word))
    });
    assert!(told.contains("round 1 of 40, heat 1 ("), "{told}");
    assert!(told.contains("data-label=\"CPU use\">") && told.contains("MB"), "CPU and memory of the server");
    assert!(!told.contains("<script>alert"), "{told}");
    // While a study is under way every other page is still answered, between two steps.
    assert!(
        ui.get("/").text().contains("unfinished") && ui.get("/studies/small").text().contains("is running")
    );

    // A whole round of two contenders and the reference, so that there is something to rank.
    wait_for(|| ui.trials() >= 3, "a whole round");
    let stopped = ui.post("/live/stop", "");
    assert_eq!(stopped.status, 303);
    let before = ui.trials();
    let page = ui.wait_for_end();
    assert!(page.contains("stopped; every finished cell is kept"), "{page}");
    let kept = ui.trials();
    assert!(kept >= before, "{kept} of {before}");
    let id = page.split("href=\"/runs/").nth(1).unwrap().split('"').next().unwrap().to_owned();
    let report = ui.get(&format!("/runs/{id}"));
    assert!(
        report.status == 200 && report.text().contains("A small &lt;b&gt;study&lt;/b&gt;"),
        "{}",
        report.text()
    );
    assert!(!report.text().contains("<script>alert") && !report.text().contains("<b>study"));
    let chart = ui.get(&format!("/runs/{id}/chart"));
    assert!(chart.text().starts_with("<svg") && chart.field("content-type") == Some("image/svg+xml"));
    assert_eq!(ui.get(&format!("/runs/{id}/chart/7")).status, 404);
    let (verdict, table) = (report.text().find("id=\"verdict\""), report.text().find("<table"));
    assert!(verdict.is_some() && verdict < table, "the verdict stands above the figures: {}", report.text());
    let json: serde_json::Value = serde_json::from_str(&ui.get(&format!("/runs/{id}/json")).text()).unwrap();
    assert_eq!(json["run"], id.as_str());
    assert!(ui.get(&format!("/runs/{id}/markdown")).text().contains("| rank | letters |"));
    assert!(ui.get(&format!("/runs/{id}/csv")).text().contains("spins"));
    let whole = ui.get(&format!("/runs/{id}/report"));
    let policy = whole.field("content-security-policy").unwrap();
    assert!(policy.contains("sandbox") && !policy.contains("allow-same-origin"), "{policy}");
    assert!(whole.status == 200 && !whole.text().contains("<script>alert"), "{}", whole.text());
    assert_eq!(ui.get(&format!("/runs/{id}/secrets")).status, 404);
    let (code, err, home) = ui.interrupt();
    assert_eq!(code, Some(0), "{err}");
    home.assert_clean();
}

#[test]
fn only_who_is_chosen_takes_part_and_two_runs_are_compared() {
    let ui = ui::open(ui::home("2, 2"), &[]);
    let mut ids = Vec::new();
    for _ in 0..2 {
        assert_eq!(ui.post("/studies/small", "how=full&contender=plain").status, 303);
        let page = ui.wait_for_end();
        assert!(
            page.contains("the design's maximum is reached: 2 rounds") && !page.contains("Spins"),
            "{page}"
        );
        ids.push(page.split("href=\"/runs/").nth(1).unwrap().split('"').next().unwrap().to_owned());
    }
    assert_eq!(ui.trials(), 2 * 2 * 2);
    // What a page shows is what the report says, of all starts and not of the last.
    let told: serde_json::Value =
        serde_json::from_str(&ui.get(&format!("/runs/{}/json", ids[0])).text()).unwrap();
    let shown = ui.get(&format!("/runs/{}", ids[0])).text();
    for contender in told["cells"][0]["contenders"].as_array().unwrap() {
        let memory = report::units::bytes(contender["rss_max_bytes"].as_f64().unwrap());
        assert!(shown.contains(&format!("data-label=\"Memory\">{memory}<")), "{memory}: {shown}");
        if let Some(cores) = contender["server_core_use"]["median"].as_f64() {
            let cores = format!("data-label=\"CPU use\">{:.0} %<", cores * 100.0);
            assert!(shown.contains(&cores), "{cores}: {shown}");
        }
    }
    // The earlier is the old one, in whatever order they are selected.
    let compared = ui.get(&format!("/compare?run={}&run={}", ids[1], ids[0])).text();
    assert!(compared.contains(&format!("{} against {}", ids[1], ids[0])), "{compared}");
    // What two rounds of the same server say is the machine's affair: the page says what the command says.
    let said = run(ui.home.drome(&["compare", &ids[0], &ids[1]]).args(["--format", "markdown"])).out;
    let headline = said.lines().next().unwrap().trim_matches('*').to_owned();
    assert!(headline.contains(": 1 ") && compared.contains(&headline), "{headline}: {compared}");
    assert!(!compared.contains("<script>alert"), "{compared}");
    assert_eq!(ui.get(&format!("/compare?run={}&run={}&run={}", ids[0], ids[1], ids[0])).status, 400);
    assert!(ui.get(&format!("/compare?run={}", ids[0])).text().contains("Choose a second run"));
    let asked = ui.post("/contenders/plain", "").text();
    assert!(asked.contains("installed") && asked.contains("1.0"), "{asked}");
    let listed = ui.get("/contenders").text();
    assert!(!listed.contains("javascript:") && listed.contains("data-ask=\"/contenders/plain\""), "{listed}");
}

#[test]
fn ctrl_c_stops_a_study_and_leaves_nothing_behind() {
    let ui = ui::open(ui::home("40, 40"), &[]);
    assert_eq!(ui.post("/studies/small", "how=full&contender=plain").status, 303);
    wait_for(|| ui.trials() >= 2, "two trials");
    let (code, err, home) = ui.interrupt();
    assert_eq!(code, Some(130), "{err}");
    assert!(err.contains("interrupted; every finished cell is kept"), "{err}");
    home.assert_clean();
}

#[test]
fn ten_thousand_starts_are_listed_page_by_page() {
    let (home, _) = ui::with_runs();
    ui::fill(&home, 400, 25);
    let ui = ui::open(home, &[]);
    for path in ["/", "/?page=8", "/?q=small", "/?q=run-0399"] {
        let began = Instant::now();
        let page = ui.get(path);
        let text = page.text();
        println!("{path}: {} bytes in {:.0} ms", text.len(), began.elapsed().as_secs_f64() * 1e3);
        assert!(page.status == 200 && text.len() < 60_000, "{path}: {} bytes", text.len());
        let rows = text.matches("<th scope=\"row\"").count();
        assert_eq!(rows, if path.contains("0399") { 1 } else { 50 }, "{path}");
    }
    assert!(ui.get("/").text().contains("403 runs"));
    assert!(ui.get("/?page=99").text().contains("page 9 of 9"), "beyond the last is the last");
    assert!(ui.get("/?q=%3Ci%3E").text().contains("“&lt;i&gt;”"), "what is sought is text");
}
