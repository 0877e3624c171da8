//! siege's version and help.

use crate::Printed;

/// The supported version, as siege prints it, and a note that drome prints it.
pub const VERSION: &str = "SIEGE 4.0.7\n\nPrinted by drome, which contains no code of siege.\n\n";

/// The options in siege's order, in drome's words.
const HELP: &str = "\
Usage: siege [options]
       siege [options] URL
       siege -g URL
Options:
  -V, --version             the version
  -h, --help                this
  -C, --config              the settings as they are
  -v, --verbose             a line for every transaction
  -q, --quiet               neither lines nor report
  -g, --get                 asks once and shows the heads of request and answer
  -p, --print               asks once and shows the page
  -c, --concurrent=NUM      NUM users at the same time
  -r, --reps=NUM            transactions of each user, or `once` through all URLs
  -t, --time=NUMm           how long to run, in seconds (S), minutes (M) or hours (H)
  -d, --delay=NUM           each user waits up to NUM seconds after an answer
  -b, --benchmark           nobody waits
  -i, --internet            URLs in random order
  -f, --file=FILE           URLs, one per line
  -R, --rc=FILE             the resource file
  -l, --log[=FILE]          adds a line to a log
  -m, --mark=\"text\"         marks the log, and logs
  -H, --header=\"text\"       an additional header field; may be repeated
  -A, --user-agent=\"text\"   another User-Agent
  -T, --content-type=\"text\" another Content-Type
  -j, --json-output         the report as JSON on standard output
      --no-parser           what a page needs is not fetched; drome never does
      --no-follow           redirects are not followed; drome never does

";

/// The help, after which siege ends.
pub fn help() -> Printed {
    Printed { out: HELP.to_owned(), ..Printed::err("SIEGE 4.0.7\n") }.exit(0)
}
