//! How servers of a race start and stop: slowly, in the background, unwillingly.

use crate::common::{Finished, Home, run};

/// A server that is not well for its first requests, or that stops badly.
const SERVER: &str = r"
import http.server, os, signal, subprocess, sys, time
port, how = int(sys.argv[1]), sys.argv[2]
left = 20 if how.isdigit() or how == 'reset' else 0
class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'
    def do_GET(self):
        global left
        left -= 1
        if left >= 0 and how == 'reset':
            self.close_connection = True
            return
        body = b'wait' if left >= 0 else b'ok'
        self.send_response(int(how) if left >= 0 else 200)
        self.send_header('Content-Length', str(len(body))); self.end_headers(); self.wfile.write(body)
    def log_message(self, *_): pass
if how == 'deaf': signal.signal(signal.SIGTERM, signal.SIG_IGN)
if how == 'parent': subprocess.Popen(['sleep', '1000'], start_new_session=True)
first = os.getpid()
if how == 'daemon' and os.fork(): os._exit(0)
# Like most daemons, it listens when its parent has ended.
while how == 'daemon' and os.getppid() == first: time.sleep(0.01)
http.server.ThreadingHTTPServer(('127.0.0.1', port), Handler).serve_forever()
";

/// Races these servers for one round.
fn race(home: &Home, how: &[&str], args: &[&str]) -> Finished {
    let script = home.write("server.py", SERVER).display().to_string();
    let commands: Vec<String> = how.iter().map(|how| format!("python3 {script} {{port}} {how}")).collect();
    let mut command =
        home.drome(&["race", "--rounds", "1", "--duration", "100ms", "--warmup", "50ms", "-c", "1"]);
    run(command.args(commands).args(args))
}

#[test]
fn a_server_that_is_not_well_at_first_is_waited_for() {
    let home = Home::new();
    let finished = race(&home, &["503", "reset"], &[]);
    assert_eq!(finished.code, 0, "{}{}", finished.out, finished.err);
    assert!(!finished.out.contains("failed"), "{}", finished.out);
    home.assert_clean();
}

#[test]
fn a_server_that_stays_unwell_is_told_after_its_time() {
    let home = Home::new();
    let script = "import http.server as h
class H(h.BaseHTTPRequestHandler):
    def do_GET(self): self.send_response(503); self.end_headers()
    def log_message(self, *a): pass
h.HTTPServer(('127.0.0.1', int(__import__('sys').argv[1])), H).serve_forever()";
    let script = home.write("unwell.py", script).display().to_string();
    let unwell = format!("python3 {script} {{port}}");
    let finished = run(&mut home.drome(&["race", &unwell, &unwell, "--ready", "10s"]));
    finished.assert_err(2, &["status 503 for /, not 200"]);
}

#[test]
fn a_command_whose_server_goes_to_the_background_is_told_to_keep_it_in_the_foreground() {
    let home = Home::new();
    let finished = race(&home, &["daemon", "well"], &[]);
    let has = |words: &str| finished.err.contains(words);
    assert!(finished.code == 2 && has("1 process(es) in the background"), "{}", finished.err);
    assert!(has("must stay in the foreground") && has("daemon off;"), "{}", finished.err);
    home.assert_clean();
}

#[test]
fn a_server_that_stops_badly_is_measured_and_the_report_says_so() {
    let home = Home::new();
    let finished = race(&home, &["deaf", "parent"], &["--format", "json"]);
    assert_eq!(finished.code, 0, "{}{}", finished.out, finished.err);
    let trouble = [
        "after the measurement, it did not stop within 5s of SIGTERM",
        "after the measurement, it left 1 process(es)",
    ];
    assert!(trouble.iter().all(|words| finished.out.contains(words)), "{}", finished.out);
    home.assert_clean();
}
