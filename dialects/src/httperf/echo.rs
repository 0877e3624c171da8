//! httperf's command line as the tool repeats it before it begins: with every option, including defaults.

use super::options::Options;
use super::values::{Pace, Part};
use crate::number::g;

/// The whole line.
pub fn echo(options: &Options, program: &str) -> String {
    let mut line = program.to_owned();
    let mut add = |is_said: bool, text: String| {
        if is_said {
            line.push_str(" --");
            line.push_str(&text);
        }
    };
    let flag = str::to_owned;
    add(options.verbose > 0, flag("verbose"));
    add(options.print_reply != Part::None, format!("print-reply{}", suffix(options.print_reply)));
    add(options.print_request != Part::None, format!("print-request{}", suffix(options.print_request)));
    add(options.hog, flag("hog"));
    add(options.close_with_reset, flag("close-with-reset"));
    add(options.think_timeout > 0.0, format!("think-timeout={}", g(options.think_timeout)));
    add(options.timeout > 0.0, format!("timeout={}", g(options.timeout)));
    add(true, format!("client={}/{}", options.client.0, options.client.1));
    add(true, format!("server={}", options.server));
    add(
        options.server_name.is_some(),
        format!("server_name={}", options.server_name.as_deref().unwrap_or_default()),
    );
    add(options.port() > 0, format!("port={}", options.port()));
    add(true, format!("uri={}", options.uri));
    add(options.failure_status > 0, format!("failure-status={}", options.failure_status));
    let (major, minor) = options.http_version;
    add((major, minor) != (1, 1), format!("http-version={major}.{minor}"));
    add(options.max_connections > 0, format!("max-connections={}", options.max_connections));
    add(options.max_piped_calls > 0, format!("max-piped-calls={}", options.max_piped_calls));
    match options.pace {
        Pace::Even(rate) => add(rate > 0.0, format!("rate={}", g(rate))),
        Pace::Uniform(least, most) => {
            add(least + most > 0.0, format!("period=u{},{}", g(least), g(most)));
        }
        Pace::Exponential(mean) => add(mean > 0.0, format!("period=e{}", g(mean))),
    }
    add(true, format!("send-buffer={}", options.send_buffer));
    add(options.retry_on_failure, flag("retry-on-failure"));
    add(true, format!("recv-buffer={}", options.recv_buffer));
    add(options.ssl, flag("ssl"));
    add(options.ssl_no_reuse, flag("ssl-no-reuse"));
    add(
        options.add_header.is_some(),
        format!("add-header='{}'", options.add_header.as_deref().unwrap_or_default()),
    );
    add(options.method.is_some(), format!("method={}", options.method.as_deref().unwrap_or_default()));
    add(options.num_conns > 0, format!("num-conns={}", options.num_conns));
    add(options.num_calls > 0, format!("num-calls={}", options.num_calls));
    add(options.burst_length != 1, format!("burst-length={}", options.burst_length));
    if let Some((files, rate)) = options.wset {
        add(files > 0, format!("wset={files},{rate:.3}"));
    }
    line + "\n"
}

fn suffix(part: Part) -> &'static str {
    match part {
        Part::Header => "=header",
        Part::Body => "=body",
        Part::None | Part::Both => "",
    }
}
