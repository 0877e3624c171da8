//! What the manual says about a command besides its options: examples, exit codes, and pages to read next.

use crate::failure::{CHECK_FAILED, FAILED, INTERRUPTED, VOID, WRONG};

/// The meaning of each exit code, in every command.
pub const CODES: &[(u8, &str)] = &[
    (0, "success"),
    (FAILED, "drome could not do its work"),
    (WRONG, "the command line, or a file or run that it names, is wrong or can't be used"),
    (CHECK_FAILED, "a check failed"),
    (VOID, "the measurement was void"),
    (INTERRUPTED, "interrupted; finished measurements are kept and shown"),
];

/// What is said of each command, below its name: examples with their purpose, the exit codes with what they mean here (what stands in [`CODES`]
/// where nothing follows), and further pages of docs/ with their titles.
const PAGES: &str = r"
# load
drome load http://127.0.0.1:8080/ -c 64 -d 10s  # the highest throughput of a server
drome load http://127.0.0.1:8080/ --rate 2000 -d 30s  # latency at a fixed rate
drome load http://127.0.0.1:8080/ --ramp 1k..20k/30s --series course.csv  # a rising rate, recorded second by second
drome load http://127.0.0.1:8080/ -n 10000 -o load.json  # 10,000 requests, reported as JSON
drome load http://127.0.0.1:8080/ --profile server.svg  # where the server spends its CPU time
0
1 drome could not do its work; for example, the server can't be reached
2
4
130 interrupted; what was measured is shown
> rate.md Measure latency at a rate
> loads.md Closed and open load
> profile.md Where a server spends its CPU time
> reference/load-json.md The JSON of `drome load --format json`
# race
drome race './old --port {port}' './new --port {port}'  # which has the higher throughput?
drome race --metric server-cpu './old --port {port}' './new --port {port}'  # which takes less CPU time per request?
drome race --metric p99@5k './old --port {port}' './new --port {port}'  # which has the lower p99 latency at 5,000 requests/s?
drome race --fail-if-slower 2% './old --port {port}' './new --port {port}'  # for CI: the new one must not be more than 2 % slower
drome race --image localhost/app:old --image localhost/app:new --start '/app --port {port}'  # container images, run by podman or docker
drome race http://127.0.0.1:8080/ http://127.0.0.1:8081/  # servers that already run
drome race --profile why './old --port {port}' './new --port {port}'  # and where does each spend its CPU time? Writes flame graphs to the folder `why`
0 success; with --fail-if-slower: no command is slower than the first by more than the share
1
2 the command line is wrong, a command starts no server, or an image does not exist
3 with --fail-if-slower: a command is certainly slower by more than the share
4 no start of one of the commands was sound; with --fail-if-slower: not decided, or another command than the first does not build or start, or answers wrongly
130 interrupted; `drome report` shows what was measured
> race.md Race servers
> report.md Read a report
> guard-pull-requests.md Guard a pull request in ten minutes
> profile.md Where a server spends its CPU time
# sweep
drome sweep http://127.0.0.1:8080/hello  # a server that is already running
drome sweep --start './server --port {port}' --keep 'p99 < 10ms'  # the highest rate with a p99 below 10 ms
drome sweep --start './one {port}' --start './other {port}'  # several servers, side by side
0
1
2 the command line is wrong, or a command starts no server
4 no step was sound
130 interrupted; what was measured is shown
> sweep.md `drome sweep`
> rate.md Measure latency at a rate
# run
drome run raspberry-pi --install --yes  # install what is missing, then measure
drome run raspberry-pi --quick  # a first look in a few minutes
drome run raspberry-pi --resume  # continue a run that was interrupted
drome run raspberry-pi --resume --budget 1h  # continue the latest run until it has taken an hour
drome run raspberry-pi --profile why  # what does each contender spend more CPU time on than the reference?
drome run my-study --catalog .  # a study of your own
drome run today --dry-run --cell JSON --budget 30m  # how long does a part of a study take?
drome run raspberry-pi --dry-run --pilot  # the same, from two rounds that are run first
0
1 drome could not do its work, or with --all a study could not be run
2 the command line is wrong, no contender is installed, or there is no run to resume
4 a contender that is installed has no sound start in some cell; the report says why
130 interrupted; `--resume` continues the run
> tutorial.md Tutorial
> report.md Read a report
> race.md#how-long-will-it-take How long will it take?
> profile.md Where a server spends its CPU time
> reference/study.md A study
# heat
drome heat plan raspberry-pi --machines 4  # begin a run for four machines; prints its name
drome heat owed RUN  # the heats that it needs, a line each
drome heat measure heat.json -o result.jsonl  # measure one of them, on any machine
drome heat commit result.jsonl  # add the result to the run, once
0
1 drome could not do its work; a heat that was to be measured has no result and can be tried again
2 the command line is wrong, or a file is not a spec or a result, or is not one of the run
130 interrupted; the heat has no result
> fleet.md A fleet
# list
drome list contenders  # servers and frameworks, and which are installed
drome list runs  # all stored runs
drome list nginx  # a contender as it is declared
0
1
2
# install
drome install nginx go  # two contenders
drome install raspberry-pi --yes  # everything that a study needs
0
1 drome could not do its work, or something is still missing
2
# verify
drome verify nginx node  # are their answers correct, to the byte?
drome verify my-server --install --catalog .  # a contender of your own
0
1 drome could not do its work, or a contender that was named is missing
2
3 a contender gives wrong answers
130 interrupted
> contender.md Add a contender
# new
drome new contender my-server --from python  # a folder that passes verification as it is
0
1
2
> contender.md Add a contender
# report
drome report  # the latest run
drome report --format markdown  # as Markdown, for a page
drome report --format json  # as JSON, for a program
drome report --output study.html  # as one self-contained page
drome report verdict.json --marker nightly  # the verdict that --verdict verdict.json wrote, as Markdown for a comment
0
1
2 the command line is wrong, the run does not exist, or the file is not a verdict
> report.md Read a report
> guard-pull-requests.md Guard a pull request in ten minutes
> reference/report-json.md The JSON of `drome report --format json`
# import
drome import page.md  # read the reports in a page, and store them
drome import page.md --dry-run  # read and show them only
drome import page.md --chart  # show them as a bar chart
0
1
2 a file can't be read, or has no report in it
> import.md Bring in old reports
# push
drome push runs.jsonl  # the latest run, to a file
drome push --all --redact - | gzip > runs.jsonl.gz  # all runs, without what may be private
drome push --to 'ssh HOST' --study raspberry-pi  # all runs of a study, to another machine's store
0
1 drome could not do its work, the other machine can't be reached, or a run is being measured
2 the command line is wrong, or a run does not exist
3 with --to: the other store has a run of the same name with other content
> share-runs.md Share runs between machines
# pull
drome pull runs.jsonl  # all runs of a file
drome pull --from 'ssh HOST'  # the latest run of another machine
drome pull --from 'ssh HOST' --all --machine ci-1  # all of its runs, under a name for the machine
0 all runs are stored now, or were before
1 drome could not do its work, or the other machine can't be reached
2 the command line is wrong, or the file is not one of `drome push`, is incomplete or was changed
3 the store has a run of the same name with other content, which it keeps
> share-runs.md Share runs between machines
# serve
drome serve  # the reference pages on port 8080
drome serve --port 8081 --root public  # the files of a folder
drome serve --port 8080 --tls  # over TLS, with HTTP/2; WebSocket messages come back on /websocket
drome serve --port 8082 --spin 20us  # a server that takes 20 µs longer for each request
0 stopped by a signal
1
2
# compare
drome compare OLD NEW  # two runs, as `drome list runs` names them
drome compare old.json new.json --format markdown  # two JSON reports
drome compare baseline.json --fail-if-slower 3%  # for CI: the latest run must not be more than 3 % slower
0 success; with --fail-if-slower: no contender is slower by more than the share, or, with --allow-unknown, some could not be judged
1
2 the two can't be compared, or one of them does not exist
3 a contender is certainly slower by more than the share
4 a contender could not be judged, or the share lies within its interval
> continuous-integration.md A gate for performance in continuous integration
# history
drome history raspberry-pi  # what changed, when, and whether the machine caused it
drome history raspberry-pi --contender nginx --format csv  # one contender, as CSV for a program
0
1
2
> history.md History: a study over many runs
# ui
drome ui  # runs, comparisons and live measurements in a browser
0 stopped by a signal
1
2
130 stopped while a study was running
> ui.md The web interface: `drome ui`
# dialects
drome dialects  # the tools whose command lines drome accepts
drome dialects link bin  # links with their names in the folder bin
drome ab -k -c 10 -n 10000 http://127.0.0.1:8080/  # the command line of one of them
0
1
2
> dialects.md Command lines of older tools
# doctor
drome doctor  # what would disturb a measurement, and the remedies
drome doctor --least 7  # fail if the score is below 7 of 10
0
1
2
3 the score is lower than required
> quiet-machine.md Make a machine quiet
# agent
drome agent --check 'ssh pi@board'  # whether drome on another machine can be used from here
drome agent --check 'ssh pi@board' --put  # the same, after a copy of this drome was put there
0 the link worked; without --check: standard input has ended
1 the other machine can't be used, or the link was lost
2
> agent.md drome on another machine
";

/// What is said of one command.
#[derive(Debug, Default)]
pub struct ManualPage {
    /// Command lines, each with its purpose.
    pub examples: Vec<(&'static str, &'static str)>,
    /// The exit codes of the command, and what they mean here.
    pub codes: Vec<(u8, &'static str)>,
    /// Further pages in docs/, with their titles.
    pub see: Vec<(&'static str, &'static str)>,
}

/// The page of a command, if it has one.
pub fn of(command: &str) -> Option<ManualPage> {
    let text = PAGES.split("\n# ").find_map(|text| text.strip_prefix(command)?.strip_prefix('\n'))?;
    let mut page = ManualPage::default();
    for line in text.lines() {
        if let Some(example) = line.split_once("  # ") {
            page.examples.push(example);
        } else if let Some(see) = line.strip_prefix("> ") {
            page.see.extend(see.split_once(' '));
        } else {
            let (code, own) = line.split_once(' ').unwrap_or((line, ""));
            let usual = CODES.iter().find(|(known, _)| known.to_string() == code);
            page.codes.extend(usual.map(|(code, usual)| (*code, if own.is_empty() { usual } else { own })));
        }
    }
    Some(page)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_is_read() {
        for text in PAGES.split("\n# ").skip(1) {
            let (command, text) = text.split_once('\n').unwrap();
            let page = of(command).unwrap();
            let read = page.examples.len() + page.codes.len() + page.see.len();
            assert_eq!(read, text.lines().count(), "{command}: {page:?}");
        }
    }
}
