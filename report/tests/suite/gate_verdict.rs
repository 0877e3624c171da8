//! The verdict's document: what drome writes, what it reads of what anyone may have written, and its Markdown, in which no foreign
//! text means anything.

use crate::made_up::{race, race_by};
use model::Metric;
use model::gate::{Gate, Outcome};
use model::gate_verdict::{
    GateVerdict, LONGEST_FUNCTION, LONGEST_NAME, LONGEST_SENTENCE, MOST_CHANGES, MOST_FUNCTIONS,
    MOST_PROFILED, MOST_REVISIONS, MOST_SENTENCES, ProfileDifference, ProfiledFunction, ProfiledServer,
    VerdictChange, VerdictProfile, VerdictRevision,
};
use report::gate_verdict::{MOST_BYTES, Marker, comment, document, read};
use report::json;
use serde_json::Value;

/// Texts of people who want more than to be read.
const FORGERIES: &[&str] = &[
    "</details><h1>passed</h1>",
    "@everyone @drome-bench/maintainers",
    "[x](javascript:alert(1)) [y]: http://a.example/",
    "![](http://a.example/pixel.png)",
    "http://a.example/ www.a.example a@b.example",
    "#1 GH-1 drome-bench/drome#1 0123456789abcdef0123456789abcdef01234567",
    "a | b || c \\| d \\",
    "`</details>` ``` ~~~",
    "\n```\n# heading\n\n<script>alert(1)</script>\n\n- item",
    "\r\n<!-- drome: other -->\r\n",
    "--> <img src=x onerror=alert(1)>",
    "::set-output name=outcome::passed",
    "\u{0}\u{7}\u{1b}[31mred\u{1b}]0;title\u{7}",
    "\u{202e}dessap\u{202c} \u{2066}x\u{2069} \u{200b}\u{feff}\u{ad}",
    "a\u{2028}b\u{2029}c\u{85}d\u{b}e\u{c}f",
    "**bold** _it_ ~~no~~ $x$ :smile: &lt;b&gt; &#64;everyone",
    "fn<T: Into<@everyone>>::call::{{closure}} | `x` \u{200b}\u{2067}\n</summary></details>",
    "core::ptr::drop_in_place<[x](http://a.example/)>_[k]",
    "",
    "   ",
];

fn written(b: f64) -> GateVerdict {
    let findings = race(100_000.0, b, 0.011);
    let revision = |title: &str, files: Option<&str>| VerdictRevision {
        title: title.to_owned(),
        commit: "0123456789abcdef0123456789abcdef01234567".to_owned(),
        files: files.map(str::to_owned),
    };
    let revisions = vec![revision("base", None), revision("working tree", Some("fedcba9876543210"))];
    GateVerdict::of_race(&Gate::of_race(&findings, 0.02), &findings, revisions)
}

fn function(name: &str, ns: f64) -> ProfiledFunction {
    ProfiledFunction { name: name.to_owned(), ns_per_answer: ns, standard_error_ns: 90.0 }
}

/// The profiles of two servers, the second of which is slower.
fn profiled(functions: [&str; 3]) -> VerdictProfile {
    let [more, less, own] = functions;
    let difference = ProfileDifference {
        ns_per_answer: 4_100.0,
        standard_error_ns: 210.0,
        more: vec![function(more, 2_610.0)],
        less: vec![function(less, 595.0)],
    };
    let server = |title: &str, difference| ProfiledServer {
        title: title.to_owned(),
        samples: 2_841,
        ns_per_answer: Some(20_000.0),
        functions: vec![function(own, 4_000.0)],
        difference,
        ..ProfiledServer::default()
    };
    VerdictProfile::new(vec![server("base", None), server("change", Some(difference))], None)
}

fn markdown(verdict: &GateVerdict) -> String {
    document(verdict).markdown()
}

/// All parts of a document that are text, replaced.
fn forged(text: &str) -> GateVerdict {
    let mut v = written(95_000.0);
    let mut profile = profiled([text; 3]);
    profile.why_not = Some(text.to_owned());
    for server in &mut profile.servers {
        text.clone_into(&mut server.title);
        (server.why_not, server.hint) = (Some(text.to_owned()), Some(text.to_owned()));
        let difference = server.difference.iter_mut().flat_map(|d| d.more.iter_mut().chain(&mut d.less));
        for function in server.functions.iter_mut().chain(difference) {
            text.clone_into(&mut function.name);
        }
    }
    v.profile = Some(profile);
    for own in [&mut v.title, &mut v.against, &mut v.drome] {
        text.clone_into(own);
    }
    (v.machine.cpu, v.machine.kernel) = (Some(text.to_owned()), Some(text.to_owned()));
    (v.changes[0].title, v.changes[0].cell) = (text.to_owned(), Some(text.to_owned()));
    v.unknown = vec![text.to_owned()];
    for revision in &mut v.revisions {
        text.clone_into(&mut revision.title);
        text.clone_into(&mut revision.commit);
        revision.files = Some(text.to_owned());
    }
    v
}

/// Drome's own words, without inline code, and the code. No code is open at the end of a line.
fn parted(text: &str) -> (String, Vec<String>) {
    let (mut own, mut foreign) = (String::new(), Vec::new());
    for line in text.split('\n') {
        let parts: Vec<&str> = line.split('`').collect();
        assert_eq!(parts.len() % 2, 1, "code is open: {line}");
        own.extend(parts.iter().copied().step_by(2));
        own.push('\n');
        foreign.extend(parts.iter().skip(1).step_by(2).map(|part| (*part).to_owned()));
    }
    (own, foreign)
}

#[test]
fn what_is_written_is_read_again_and_says_what_the_gate_says() {
    let v = written(95_000.0);
    assert_eq!(read(json(&v).as_bytes()), Ok(v.clone()));
    let text = markdown(&v);
    let head = "**`./b {port}` is more than 2 % slower than `./a {port}`.**\n\n\
                | server | slowdown | 95 % interval | verdict |\n| --- | ---: | ---: | --- |\n\
                | `./b {port}` | 5.0 % slower | ";
    assert!(text.starts_with(head), "{text}");
    assert!(
        text.contains(" | more than 2 % slower |\n\nThese measurements are precise enough to show"),
        "{text}"
    );
    assert!(text.contains("\n- metric: rate\n") && text.contains("`base`: commit `0123456789`\n"), "{text}");
    assert!(text.contains("`working tree`: commit `0123456789`, and changes (files `fedcba9876`)"), "{text}");
    assert!(text.ends_with("\n</details>\n"), "{text}");
    assert!(markdown(&written(100_000.0)).starts_with("**`./b {port}` is not more than 2 % slower than"));
    assert!(
        markdown(&written(98_000.0)).starts_with("**It is open whether `./b {port}` is more than 2 % slower")
    );
}

#[test]
fn a_profile_says_what_the_slower_server_spends_its_time_on() {
    let mut v = written(95_000.0);
    let without = json(&v);
    assert!(!without.contains("profile") && !markdown(&v).contains("CPU time goes"), "{without}");
    v.profile = Some(profiled(["serde_json::ser::to_vec", "malloc", "write_[k]"]));
    assert_eq!(read(json(&v).as_bytes()), Ok(v.clone()));
    let text = markdown(&v);
    for line in [
        "<details><summary>Where the CPU time goes</summary>\n\n",
        "`change` spends 4.10 µs more CPU time per answer than `base` (standard error 210 ns).\n\n| function of `change` |",
        "\n| `serde_json::ser::to_vec` | 2.61 µs more | 90 ns |\n| `malloc` | 595 ns less | 90 ns |\n\n",
        "\n| `base` | `write_[k]` | 4.00 µs | 20.0 % |\n| `change` | `write_[k]` | 4.00 µs | 20.0 % |\n\n",
        "Samples, each of one more start after the race: 2,841 of `base`, 2,841 of `change`.\n",
    ] {
        assert!(text.contains(line), "no {line:?} in\n{text}");
    }
    assert!(text.contains("\n</details>\n\n<details><summary>How it was measured"), "{text}");
    assert!(!text.contains("could be sampled") && !text.contains("no profile"), "{text}");
    let long = format!("{}::write", "x".repeat(180));
    v.profile = Some(profiled([&long, "b", "c"]));
    let shown = markdown(&v);
    assert!(shown.contains(&format!("`…{}::write`", "x".repeat(92))), "{shown}");
    v.profile = Some(VerdictProfile::without("the kernel does not let this user profile process 7"));
    let shown = markdown(&v);
    assert!(shown.contains("Not all servers could be sampled: `the kernel does not let"), "{shown}");
    assert!(!shown.contains("| server | function |"), "{shown}");
    assert_eq!(read(json(&v).as_bytes()), Ok(v));
}

#[test]
fn a_difference_that_sampling_explains_is_none() {
    let mut v = written(95_000.0);
    let mut profile = profiled(["a", "b", "c"]);
    let difference = profile.servers[1].difference.as_mut().unwrap();
    *difference = ProfileDifference { standard_error_ns: 1_400.0, ..ProfileDifference::default() };
    difference.ns_per_answer = -4_100.0;
    v.profile = Some(profile.clone());
    let text = markdown(&v);
    let words =
        "`change` and `base` spend the same CPU time per answer, within the error of sampling (±4.20 µs).";
    assert!(text.contains(words) && !text.contains("| function of"), "{text}");
    profile.servers[1].difference.as_mut().unwrap().standard_error_ns = 1_300.0;
    v.profile = Some(profile);
    let text = markdown(&v);
    assert!(text.contains("`change` spends 4.10 µs less CPU time per answer than `base`"), "{text}");
}

#[test]
fn a_difference_that_clocks_tell_has_no_error_of_sampling() {
    let shown = |ns_per_answer: f64| {
        let (mut v, mut profile) = (written(95_000.0), profiled(["a", "b", "c"]));
        profile.servers[0].ns_per_answer = Some(100_000.0);
        profile.servers[1].difference =
            Some(ProfileDifference { ns_per_answer, ..ProfileDifference::default() });
        v.profile = Some(profile);
        markdown(&v)
    };
    let more =
        "`change` spends 1.00 µs more CPU time per answer than `base` (1.0 %, by their processes' clocks).";
    assert!(shown(1_000.0).contains(more), "{}", shown(1_000.0));
    // As the report of the same samples says: two starts of one program differ by that.
    let within = "`change` and `base` spend the same CPU time per answer, to within 1 % (`change` spends 400 ns less).";
    assert!(shown(-400.0).contains(within), "{}", shown(-400.0));
    let same = "`change` and `base` spend the same CPU time per answer.";
    assert!(shown(0.0).contains(same) && !shown(0.0).contains("error of sampling"), "{}", shown(0.0));
}

#[test]
fn servers_of_which_it_is_unknown_whether_they_were_warm_are_named() {
    let mut v = written(95_000.0);
    assert!(!markdown(&v).contains("warm"));
    v.warm_unknown = vec!["base".to_owned(), "a|b".to_owned()];
    let text = markdown(&v);
    assert!(text.contains("- it is unknown whether these were warm: `base`, "), "{text}");
    assert_eq!(read(json(&v).as_bytes()), Ok(v.clone()));
    v.warm_unknown = vec!["x".repeat(1_000)];
    assert!(read(json(&v).as_bytes()).is_err());
}

#[test]
fn where_less_is_better_it_says_what_speed_is() {
    let findings = race_by(Metric::ServerCpu, 1.1);
    let v = GateVerdict::of_race(&Gate::of_race(&findings, 0.02), &findings, Vec::new());
    let text = markdown(&v);
    assert!(text.contains("\nSpeed here is the inverse of the CPU time:"), "{text}");
    assert!(text.contains("- metric: server-cpu\n") && v.outcome == Outcome::Slower, "{text}");
    let document: Value = serde_json::from_str(&json(&v)).unwrap();
    assert!(document["outcome"] == "slower" && document["changes"][0]["judged"] == "slower", "{document}");
    assert!(document.get("revisions").is_none(), "{document}");
}

#[test]
fn no_foreign_text_means_anything() {
    let marker: Marker = "race".parse().unwrap();
    let shown = |v: &GateVerdict| parted(&comment(v, &marker));
    let (fair, count) = (shown(&forged("nginx")), shown(&forged("nginx")).1.len());
    assert!(fair.0.starts_with("<!-- drome: race -->\n\n**"), "{}", fair.0);
    for text in FORGERIES {
        let (own, foreign) = shown(&forged(text));
        assert_eq!((&own, foreign.len()), (&fair.0, count), "{text:?}");
        for code in foreign {
            let is_fine =
                |c: char| !c.is_control() && !"|\u{202e}\u{2066}\u{200b}\u{feff}\u{ad}\u{2028}".contains(c);
            assert!(!code.trim().is_empty() && code.chars().all(is_fine), "{code:?}");
        }
    }
}

/// As much as a document may have, of this letter.
fn largest_profile(letter: &str) -> VerdictProfile {
    let time_ns = 100_000.0 / 3.0;
    let functions = vec![function(&letter.repeat(LONGEST_FUNCTION), time_ns); MOST_FUNCTIONS];
    let sentence = Some(letter.repeat(LONGEST_SENTENCE));
    let difference = ProfileDifference {
        ns_per_answer: time_ns,
        standard_error_ns: 90.0,
        more: functions.clone(),
        less: functions.clone(),
    };
    let server = ProfiledServer {
        title: letter.repeat(LONGEST_NAME),
        why_not: sentence.clone(),
        samples: 1 << 40,
        ns_per_answer: Some(time_ns),
        functions,
        difference: Some(difference),
        hint: sentence.clone(),
    };
    let mut profile = VerdictProfile::new(vec![server; MOST_PROFILED + 3], sentence.as_deref());
    profile.left_out = 1_000;
    profile
}

#[test]
fn the_largest_document_is_read_and_fits_into_a_comment() {
    let mut v = written(95_000.0);
    let name = |letter: &str| letter.repeat(LONGEST_NAME);
    for letter in ["\"", "\\", "`", "|"] {
        (v.title, v.against, v.drome) = (name(letter), name(letter), name(letter));
        (v.machine.cpu, v.machine.kernel) = (Some(name(letter)), Some(name(letter)));
        let mut change = v.changes[0].clone();
        (change.title, change.cell) = (name(letter), Some(name(letter)));
        (v.changes, v.left_out) = (vec![change; MOST_CHANGES], 7);
        v.unknown = vec![letter.repeat(LONGEST_SENTENCE); MOST_SENTENCES];
        let revision =
            VerdictRevision { title: name(letter), commit: name(letter), files: Some(name(letter)) };
        v.revisions = vec![revision; MOST_REVISIONS];
        v.profile = Some(largest_profile(letter));
        let text = json(&v);
        assert!(text.len() <= MOST_BYTES, "{letter}: {}", text.len());
        assert_eq!(read(text.as_bytes()), Ok(v.clone()));
        let text = markdown(&v);
        assert!(text.chars().count() < 65_000, "{letter}: {}", text.chars().count());
        assert!(text.starts_with("**At least 200 of 207 comparisons with `"), "{text}");
        assert!(
            text.contains("Not shown: 150 more comparisons, none of them with a worse verdict.")
                && text.contains("The verdict's file lacks 7 more comparisons")
                && text.contains("- and 20 more\n"),
            "{text}"
        );
    }
}

#[test]
fn what_is_not_shown_has_no_worse_verdict_whatever_the_files_order() {
    let mut v = written(100_000.0);
    let mut change = v.changes[0].clone();
    let named = |judged: Outcome, i: usize, change: &mut VerdictChange| {
        (change.judged, change.title) = (judged, format!("{judged:?} {i}"));
        change.clone()
    };
    let passed: Vec<VerdictChange> = (0..70).map(|i| named(Outcome::Passed, i, &mut change)).collect();
    let open = (0..3).map(|i| named(Outcome::Open, i, &mut change));
    v.changes = passed.into_iter().chain(open).collect();
    v.changes.push(named(Outcome::Slower, 0, &mut v.changes[0].clone()));
    let text = markdown(&v);
    for name in ["`Slower 0`", "`Open 0`", "`Open 2`", "`Passed 45`"] {
        assert!(text.contains(name), "{name} is not in\n{text}");
    }
    assert!(!text.contains("`Passed 46`") && text.contains("Not shown: 24 more comparisons"), "{text}");
}

/// The document with this value at a path, or without it.
fn changed(path: &str, value: Option<Value>) -> String {
    let mut verdict = written(95_000.0);
    verdict.profile = Some(profiled(["to_vec", "malloc", "write_[k]"]));
    let mut document: Value = serde_json::from_str(&json(&verdict)).unwrap();
    let (parent, key) = path.rsplit_once('/').unwrap();
    let parent = document.pointer_mut(parent).unwrap().as_object_mut().unwrap();
    match value {
        Some(value) => parent.insert(key.to_owned(), value),
        None => parent.remove(key),
    };
    document.to_string()
}

#[track_caller]
fn refused(document: &str, why: &str) {
    let error = read(document.as_bytes()).unwrap_err();
    assert!(error.contains(why), "{error}");
    assert!(error.chars().count() <= 200 && !error.contains(['\n', '\u{1b}', '\u{0}']), "{error:?}");
}

#[test]
fn what_is_no_verdict_of_this_version_is_refused() {
    for (path, value, why) in [
        ("/schema", Some(2.into()), "its schema is 2, and this drome reads 1"),
        ("/schema", Some("1".into()), "invalid type"),
        ("/schema", None, "missing field"),
        ("/more", Some(1.into()), "unknown field 'more'"),
        ("/\n::error::\u{1b}[2J", Some(1.into()), "unknown field"),
        ("/machine/more", Some(1.into()), "unknown field 'more'"),
        ("/changes/0/why", Some(Value::Array(Vec::new())), "unknown field 'why'"),
        ("/outcome", Some("fine".into()), "unknown variant"),
        ("/outcome", Some("passed".into()), "does not follow"),
        ("/outcome", None, "missing field"),
        ("/margin", Some(Value::Null), "invalid type"),
        ("/changes/0/speed", Some((-1.0).into()), "out of range"),
        ("/changes/0/metric", Some("x\ny".into()), "must be one of"),
        ("/rounds", Some((-1).into()), "invalid value"),
        ("/title", Some("x".repeat(1_000_000).into()), "more than 262,144 bytes"),
        ("/title", Some("x".repeat(100_000).into()), "more than 100"),
        ("/unknown", Some(vec!["x"; 10_000].into()), "more than 40"),
        ("/unknown", Some(vec![vec!["x"]].into()), "invalid type"),
        ("/profile", Some("x".into()), "invalid type"),
        ("/profile", Some(serde_json::json!({})), "missing field"),
        ("/profile/more", Some(1.into()), "unknown field 'more'"),
        ("/profile/servers/1/title", Some("x".repeat(10_000).into()), "more than 100"),
        ("/profile/servers/1/samples", Some((-1).into()), "invalid value"),
        ("/profile/servers/1/hint", Some("x".repeat(501).into()), "more than 500"),
        ("/profile/servers/1/@everyone", Some(1.into()), "unknown field"),
        ("/profile/servers/1/difference/more/0/name", Some("x".repeat(10_000).into()), "more than 200"),
        ("/profile/servers/1/difference/more/0/name", Some(Value::Null), "invalid type"),
        ("/profile/servers/1/difference/more/0/ns_per_answer", Some((-0.5).into()), "out of range"),
        ("/profile/servers/1/difference/less/0/standard_error_ns", Some(Value::Null), "invalid type"),
        ("/profile/servers/0/functions/0/ns_per_answer", Some(1e13.into()), "out of range"),
        ("/profile/servers/0/functions/0/ns_per_answer", Some("NaN".into()), "invalid type"),
    ] {
        refused(&changed(path, value), why);
    }
}

#[test]
fn a_profile_of_ten_thousand_functions_or_servers_is_refused() {
    // Short ones, so that the document is small enough to be read.
    let f = serde_json::json!({ "name": "f", "ns_per_answer": 1.0, "standard_error_ns": 0.1 });
    let functions = |n: usize| Some(Value::Array(vec![f.clone(); n]));
    refused(
        &changed("/profile/servers/1/difference/more", functions(3_000)),
        "functions: 3000 is more than 5",
    );
    refused(&changed("/profile/servers/1/functions", functions(3_000)), "functions: 3000 is more than 5");
    refused(&changed("/profile/servers/1/functions", functions(10_000)), "more than 262,144 bytes");
    let mut document: Value = serde_json::from_str(&changed("/left_out", Some(0.into()))).unwrap();
    let servers = document.pointer_mut("/profile/servers").unwrap().as_array_mut().unwrap();
    let last = servers[1].clone();
    servers.extend(vec![last; 100]);
    refused(&document.to_string(), "profiled servers: 102 is more than 6");
}

#[test]
fn what_is_no_json_or_has_no_sound_numbers_is_refused() {
    let fair = changed("/margin", Some(0.02.into()));
    for (number, why) in
        [("NaN", "expected"), ("1e999", "out of range"), ("-Infinity", "number"), ("2", "range")]
    {
        refused(&fair.replace("\"margin\":0.02", &format!("\"margin\":{number}")), why);
    }
    for number in ["NaN", "1e999", "-Infinity", "-2610"] {
        let forged = fair.replacen("\"ns_per_answer\":2610.0", &format!("\"ns_per_answer\":{number}"), 1);
        assert!(forged != fair && read(forged.as_bytes()).is_err(), "{number}");
    }
    refused(&fair.replacen('{', "{\"margin\":0.02,", 1), "duplicate field");
    refused("", "EOF");
    refused("{\"schema\":1", "EOF");
    refused(&"[".repeat(100_000), "");
    refused(&format!("{{\"schema\":1,\"title\":{}", "[".repeat(100_000)), "");
    refused(&format!("{{\"schema\":1,\"more\":{}", "{\"a\":".repeat(30_000)), "");
    assert!(read(&[b'{', 0, 0xff, 0xfe]).is_err());
    assert!(read(&vec![b' '; MOST_BYTES + 1]).is_err());
}

#[test]
fn a_marker_can_not_end_its_comment() {
    for name in ["race", "race-2", "A", "a-b-c"] {
        assert_eq!(name.parse::<Marker>().unwrap().to_string(), format!("<!-- drome: {name} -->"));
    }
    for name in ["", "-", "a-", "-a", "a--b", "a>b", "a b", "a\nb", "ä", "-->", &"x".repeat(41)] {
        assert!(name.parse::<Marker>().is_err(), "{name:?}");
    }
}
