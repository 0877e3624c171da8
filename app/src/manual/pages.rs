//! What the manual says of a command beside its options: examples, exit codes, and where more is said.

/// What an exit code means, in every command.
pub const CODES: &[(u8, &str)] = &[
    (0, "fine"),
    (1, "the lab failed"),
    (2, "the command line, or a file that it names, is wrong"),
    (3, "a gate failed"),
    (4, "the measurement was void"),
    (130, "interrupted; what was finished is kept and shown"),
];

/// What is said of one command.
#[derive(Debug)]
pub struct Page {
    /// The command.
    pub command: &'static str,
    /// Command lines, each with what it is for.
    pub examples: &'static [(&'static str, &'static str)],
    /// The codes that it can end with, and what they mean here where [`CODES`] does not say it all.
    pub exits: &'static [(u8, &'static str)],
    /// Pages of docs/ that say more, with their titles.
    pub see: &'static [(&'static str, &'static str)],
}

/// The codes of a command that reads and prints.
const READS: &[(u8, &str)] = &[(0, ""), (1, ""), (2, "")];

/// One a command, in the order in which `drome --help` lists them.
pub const PAGES: &[Page] = &[
    Page {
        command: "load",
        examples: &[
            ("drome load http://127.0.0.1:8080/ -c 64 -d 10s", "how much can it take?"),
            ("drome load http://127.0.0.1:8080/ --rate 2000 -d 30s", "how long does it take, at this rate?"),
            (
                "drome load http://127.0.0.1:8080/ --ramp 1k..20k/30s --series course.csv",
                "a rate that rises, second by second",
            ),
            ("drome load http://127.0.0.1:8080/ -n 10000 --json", "so many requests; the result as JSON"),
        ],
        exits: &[
            (0, ""),
            (1, "the server can't be reached"),
            (2, ""),
            (4, ""),
            (130, "interrupted; the part that was measured is shown"),
        ],
        see: &[
            ("rate.md", "Measure latency at a rate"),
            ("loads.md", "Closed and open load"),
            ("reference/load-json.md", "The JSON"),
        ],
    },
    Page {
        command: "race",
        examples: &[
            ("drome race './old --port {port}' './new --port {port}'", "answers per second"),
            (
                "drome race --metric server-cpu './old --port {port}' './new --port {port}'",
                "CPU time for an answer",
            ),
            (
                "drome race --metric p99@5k './old --port {port}' './new --port {port}'",
                "latency at 5,000 requests a second",
            ),
        ],
        exits: &[
            (0, ""),
            (1, ""),
            (2, "the command line is wrong, such as a command that starts no server"),
            (4, "no trial of one of the commands was sound"),
            (130, "interrupted; `drome report` shows what was finished"),
        ],
        see: &[("race.md", "A race, and what its verdict rests on"), ("report.md", "Read a report")],
    },
    Page {
        command: "sweep",
        examples: &[
            ("drome sweep http://127.0.0.1:8080/hello", "a server that runs"),
            (
                "drome sweep --start './server --port {port}' --keep 'p99 < 10ms'",
                "the highest rate that keeps a promise",
            ),
            ("drome sweep --start './one {port}' --start './other {port}'", "several, side by side"),
        ],
        exits: &[
            (0, ""),
            (1, ""),
            (2, ""),
            (4, "no step was sound"),
            (130, "interrupted; what was measured is shown"),
        ],
        see: &[("sweep.md", "The knee and the promise"), ("rate.md", "Measure latency at a rate")],
    },
    Page {
        command: "run",
        examples: &[
            ("drome run raspberry-pi --install --yes", "get what is missing, then race"),
            ("drome run raspberry-pi --quick", "a first look in two minutes"),
            ("drome run raspberry-pi --resume", "go on with a run that was cut off"),
            (
                "drome run raspberry-pi --resume --budget 1h",
                "go on with the latest run until an hour is spent on it",
            ),
            ("drome run my-study --catalog .", "a study of one's own"),
        ],
        exits: &[
            (0, ""),
            (1, "the lab failed, or with --all a study could not be run"),
            (2, ""),
            (4, "a contender that is installed has no sound trial in some cell; the report says why"),
            (130, "interrupted; `--resume` goes on"),
        ],
        see: &[
            ("tutorial.md", "From clone to a first study"),
            ("report.md", "Read a report"),
            ("reference/study.md", "The file"),
        ],
    },
    Page {
        command: "plan",
        examples: &[
            ("drome plan raspberry-pi --precision 1%", "how long would ±1 % take?"),
            ("drome plan raspberry-pi --pilot", "told from four blocks that are run now"),
        ],
        exits: &[
            (0, ""),
            (1, ""),
            (2, "the command line is wrong, or there is no run to tell it from"),
            (130, "interrupted"),
        ],
        see: &[("race.md", "How long will it take?")],
    },
    Page {
        command: "list",
        examples: &[
            ("drome list contenders", "servers and frameworks, and which are on this machine"),
            ("drome list runs", "what was measured"),
        ],
        exits: READS,
        see: &[],
    },
    Page {
        command: "show",
        examples: &[
            ("drome show nginx", "a contender as it is declared"),
            ("drome show raspberry-pi", "a study"),
        ],
        exits: READS,
        see: &[],
    },
    Page {
        command: "install",
        examples: &[
            ("drome install nginx go", "two contenders"),
            ("drome install raspberry-pi --yes", "all that a study needs"),
        ],
        exits: &[(0, ""), (1, "something is still missing"), (2, "")],
        see: &[],
    },
    Page {
        command: "catalog",
        examples: &[
            ("drome catalog verify nginx node", "do they do the work, to the byte?"),
            ("drome catalog verify my-server --install --catalog .", "one of one's own"),
        ],
        exits: &[
            (0, ""),
            (1, "a contender is not what its folder says, or one that was named is missing"),
            (2, ""),
            (130, "interrupted"),
        ],
        see: &[("contender.md", "Add a contender")],
    },
    Page {
        command: "new",
        examples: &[("drome new contender my-server --from python", "a folder that verifies as it is")],
        exits: READS,
        see: &[("contender.md", "Add a contender")],
    },
    Page {
        command: "report",
        examples: &[
            ("drome report", "the latest run"),
            ("drome report --format markdown", "for a page"),
            ("drome report --format json", "for a program"),
            ("drome report --output study.html", "one page that needs nothing else"),
        ],
        exits: &[(0, ""), (1, ""), (2, "the command line is wrong, or there is no such run")],
        see: &[("report.md", "Read a report"), ("reference/report-json.md", "The JSON")],
    },
    Page {
        command: "import",
        examples: &[
            ("drome import page.md", "read the reports in a page and keep them"),
            ("drome import page.md --dry-run", "read and show only"),
        ],
        exits: &[(0, ""), (1, ""), (2, "a file can't be read, or there is no report in it")],
        see: &[("import.md", "Bring in old reports")],
    },
    Page {
        command: "chart",
        examples: &[
            ("drome chart page.md", "bars, as code for a page"),
            ("drome chart --bare report.txt", "bars for a terminal"),
        ],
        exits: &[(0, ""), (1, ""), (2, "a file can't be read, or there is no report in it")],
        see: &[("import.md", "Bring in old reports")],
    },
    Page {
        command: "serve",
        examples: &[
            ("drome serve", "the reference pages on port 8080"),
            ("drome serve --port 8081 --root public", "the files of a folder"),
            ("drome serve --port 8082 --spin-ns 20000", "a server that takes 20 µs longer for each request"),
        ],
        exits: &[(0, "told to stop"), (1, ""), (2, "")],
        see: &[],
    },
    Page {
        command: "compare",
        examples: &[
            ("drome compare OLD NEW", "two runs, as `drome list runs` names them"),
            ("drome compare old.json new.json --format markdown", "two files of findings"),
        ],
        exits: &[(0, ""), (1, ""), (2, "the two can't be compared, or one of them is not there")],
        see: &[("continuous-integration.md", "A gate for performance")],
    },
    Page {
        command: "gate",
        examples: &[(
            "drome gate --against baseline.json --margin 3%",
            "the latest run against a file of findings",
        )],
        exits: &[
            (0, "no regression that is sure and larger than the margin"),
            (1, ""),
            (2, "the two can't be compared, or one of them is not there"),
            (3, "a contender is surely slower, by more than the margin"),
            (
                4,
                "no such regression, but a contender failed, vanished or could not be judged; `--allow-unknown` passes",
            ),
        ],
        see: &[("continuous-integration.md", "A gate for performance")],
    },
    Page {
        command: "history",
        examples: &[
            ("drome history raspberry-pi", "what changed, when, and whether it was the machine"),
            ("drome history raspberry-pi --contender nginx --format csv", "one contender, for a program"),
        ],
        exits: READS,
        see: &[("history.md", "A study over many runs")],
    },
    Page {
        command: "dialects",
        examples: &[
            ("drome dialects", "which tools drome speaks"),
            ("drome dialects link bin", "links by their names"),
            ("drome ab -k -c 10 -n 10000 http://127.0.0.1:8080/", "one of them"),
        ],
        exits: READS,
        see: &[("dialects.md", "The tools that drome speaks")],
    },
    Page {
        command: "doctor",
        examples: &[
            ("drome doctor", "what would spoil a measurement here, and the remedy"),
            ("drome doctor --least 7", "fail below 7 of 10 points"),
        ],
        exits: &[(0, ""), (1, ""), (2, ""), (3, "fewer points than were asked for")],
        see: &[("quiet-machine.md", "Make a machine quiet")],
    },
    Page {
        command: "ui",
        examples: &[("drome ui", "runs, comparisons and live measurements in a browser")],
        exits: READS,
        see: &[("ui.md", "Look at runs and watch a study in the browser")],
    },
    Page {
        command: "completions",
        examples: &[
            ("drome completions bash > ~/.local/share/bash-completion/completions/drome", "for bash"),
            ("drome completions zsh > _drome", "for zsh, in a folder of $fpath"),
            ("drome completions fish > ~/.config/fish/completions/drome.fish", "for fish"),
        ],
        exits: READS,
        see: &[],
    },
];

/// The page of a command, if it has one.
pub fn of(command: &str) -> Option<&'static Page> {
    PAGES.iter().find(|page| page.command == command)
}

impl Page {
    /// The codes with what they mean.
    pub fn codes(&self) -> impl Iterator<Item = (u8, &'static str)> {
        self.exits.iter().map(|(code, said)| {
            let usual = CODES.iter().find(|(known, _)| known == code).map_or("", |(_, usual)| usual);
            (*code, if said.is_empty() { usual } else { said })
        })
    }
}
