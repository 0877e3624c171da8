//! Monkey and `OpenResty` are in no package registry. Stand-ins of their names on PATH read the very configuration that drome
//! writes for them, so that what it says is checked all the same: where to listen, what to serve, and as what.

use crate::common::{Finished, Home, run};
use serde_json::Value;
use std::os::unix::fs::PermissionsExt;

/// Monkey, as far as its configuration in `--configdir` says what it does.
const MONKEY: &str = r"#!/usr/bin/env python3
import os, sys
from http.server import *
if '--version' in sys.argv:
    print('Monkey HTTP Server v1.6.9 (a stand-in)')
    sys.exit()
folder = sys.argv[sys.argv.index('--configdir') + 1]
def read(name):
    sections = {}
    for line in open(os.path.join(folder, name)):
        line = line.strip()
        if line.startswith('['): sections[line.strip('[]')] = section = {}
        elif line and not line.startswith('#'):
            key, value = line.split(None, 1)
            section[key] = value
    return sections
server, kinds = read('monkey.conf')['SERVER'], read('monkey.mime')['MIMETYPES']
root = read('sites/default')['HOST']['DocumentRoot']
host, port = server['Listen'].split(':')
open(server['PidFile'], 'w').write(str(os.getpid()))
class Handler(BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1' if server['KeepAlive'] == 'On' else 'HTTP/1.0'
    def do_GET(self):
        path = self.path.split('?')[0]
        name = server['Indexfile'] if path == '/' else path[1:]
        try: status, body = 200, open(os.path.join(root, name), 'rb').read()
        except OSError: status, body = 404, b'not found'
        # Monkey 1.6 never sends its DefaultMimeType.
        kind = kinds.get(name.rpartition('.')[2])
        self.send_response(status)
        if kind: self.send_header('Content-Type', kind)
        self.send_header('Content-Length', str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    def log_message(self, *_): pass
ThreadingHTTPServer((host, int(port)), Handler).serve_forever()
";

/// `OpenResty` is nginx with `ngx_lua`, which Debian's modules make of Debian's nginx. What is before this server's own
/// directives, `-g`, is the one place for them that is not the configuration.
const OPENRESTY: &str = r#"#!/bin/sh
PATH="$PATH:/usr/sbin"
[ "$1" = -v ] && { echo "nginx version: openresty/1.21.4.1 (a stand-in)" >&2; exit; }
[ "$1 $3 $5" = "-p -c -g" ] || { echo "what is $*?" >&2; exit 2; }
modules=/usr/lib/nginx/modules
exec nginx -p "$2" -c "CONF" -g "load_module $modules/ndk_http_module.so; load_module $modules/ngx_http_lua_module.so; $6"
"#;

/// drome, on whose PATH the stand-ins come first.
fn drome(home: &Home, args: &[&str]) -> Finished {
    let path = format!("{}:{}", home.path().join("bin").display(), std::env::var("PATH").unwrap());
    run(home.drome(args).env("PATH", path))
}

fn program(home: &Home, name: &str, text: &str) {
    let file = home.write(&format!("bin/{name}"), text);
    std::fs::set_permissions(file, std::fs::Permissions::from_mode(0o755)).unwrap();
}

fn stand_ins() -> Home {
    let home = Home::new();
    program(&home, "monkey", MONKEY);
    program(&home, "openresty", &OPENRESTY.replace("CONF", "$4"));
    home
}

fn verify(home: &Home) -> (i32, Vec<Value>) {
    let finished = drome(home, &["verify", "monkey", "openresty", "--format", "json"]);
    let rows = serde_json::from_str(&finished.out);
    (finished.code, rows.unwrap_or_else(|e| panic!("{e}: {}", finished.err)))
}

#[test]
fn what_is_declared_of_monkey_and_openresty_is_verified_on_every_workload() {
    let home = stand_ins();
    let (code, rows) = verify(&home);
    assert_eq!(code, 0, "{rows:#?}");
    let seen: Vec<_> =
        rows.iter().map(|row| (row["name"].as_str().unwrap(), &row["served"], &row["right"])).collect();
    let (of_seven, of_nine) = (Value::from(7), Value::from(9));
    let all = [
        ("monkey", &of_seven, &of_seven),
        ("openresty", &of_nine, &of_nine),
        ("openresty@tuned", &of_nine, &of_nine),
    ];
    assert_eq!(seen, all);
    assert_eq!((&rows[0]["version"], &rows[1]["version"]), (&"1.6.9".into(), &"1.21.4.1".into()));
    home.assert_clean();
}

#[test]
fn they_run_in_the_studies_of_their_pages() {
    let home = stand_ins();
    for (study, name) in [("monkey", "monkey"), ("openresty", "openresty")] {
        let finished = drome(
            &home,
            &["run", study, "--quick", "--contender", name, "--cell", "keep-alive", "--format", "json"],
        );
        assert_eq!(finished.code, 0, "{}", finished.err);
        let json: Value = serde_json::from_str(&finished.out).unwrap();
        let rows = json["cells"][0]["contenders"].as_array().unwrap();
        let row = rows.iter().find(|row| row["name"] == name).unwrap_or_else(|| panic!("{json}"));
        assert_eq!(row["failed"], 0, "{row}");
    }
    home.assert_clean();
}

#[test]
fn a_stand_in_that_gives_one_wrong_byte_is_refused() {
    let home = stand_ins();
    let wrong = "body = body.replace(b'PONG', b'PONK')\n        kind = kinds";
    program(&home, "monkey", &MONKEY.replace("kind = kinds", wrong));
    let script = OPENRESTY
        .replace("modules=", "sed 's/\"PONG\"/\"PONK\"/' \"$4\" > \"$2/wrong.conf\"\nmodules=")
        .replace("CONF", "$2/wrong.conf");
    program(&home, "openresty", &script);
    let (code, rows) = verify(&home);
    assert_eq!(code, 3, "{rows:#?}");
    for row in &rows {
        let wrong = row["wrong"].to_string();
        assert!(
            wrong.contains("the body differs from byte 3 on") && wrong.contains("pong (/pong"),
            "{row:#}"
        );
        assert_eq!(row["right"].as_u64().unwrap() + 1, row["served"].as_u64().unwrap(), "{row:#}");
    }
    home.assert_clean();
}

#[test]
fn a_stand_in_without_ngx_lua_is_no_openresty() {
    let home = stand_ins();
    let script = OPENRESTY.replace("CONF", "$4");
    let (before, modules) = script.split_once("load_module").unwrap();
    let after = modules.rsplit_once("$6").unwrap().1;
    program(&home, "openresty", &format!("{before}$6{after}"));
    let finished = drome(&home, &["verify", "openresty"]);
    assert!(
        finished.code == 3 && finished.out.contains("init_by_lua_block"),
        "{}{}",
        finished.out,
        finished.err
    );
    home.assert_clean();
}
