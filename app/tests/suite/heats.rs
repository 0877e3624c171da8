//! Studies that are measured in heats: several live servers, loaded in turns.

use crate::common::{
    Finished, Home, OUT_OF_MEMORY, assert_as_schema, process, processes_with, run, wait_for,
};
use lab::heat::Measured;
use model::heat::{HUB, Start, StartOutcome};
use std::collections::BTreeSet;
use std::process::{Child, Command, Stdio};
use std::sync::PoisonError;
use store::Store;

const STUDY: &str = r#"
title = "A small study in heats"
contenders = [CONTENDERS]
[[cell]]
title = "few connections"
workload = "hello"
load = { closed = { connections = 2 } }
[[cell]]
title = "more connections"
workload = "hello"
load = { closed = { connections = 8 } }
[design]
rounds = [ROUNDS, ROUNDS]
heat = 3
slice = "20ms"
measure = "200ms"
warmup = "20ms"
warmup_limit = "300ms"
budget = "2h"
"#;

/// A contender on two tracks that can't report its version.
const ABSENT: &str = r#"
title = "absent"
language = "C"
kind = "server"
homepage = "http://localhost/"
[version]
command = ["no-such-program", "--version"]
[run]
command = ["no-such-program", "{port}"]
[tuned]
because = "it is faster: http://localhost/"
command = ["no-such-program", "--fast", "{port}"]
[serves]
hello = "/hello"
"#;

/// A server that works for so many microseconds for every answer.
fn server(spin_us: u32) -> String {
    format!(r#"["{{drome}}", "serve", "--port", "{{port}}", "--spin", "{spin_us}us"]"#)
}

fn home(contenders: &[(&str, String)], rounds: usize) -> Home {
    let home = Home::new();
    let names: Vec<String> = contenders.iter().map(|(name, _)| format!("\"{name}\"")).collect();
    let study = STUDY.replace("CONTENDERS", &names.join(", ")).replace("ROUNDS", &rounds.to_string());
    home.write("own/studies/small.toml", &study);
    for (name, command) in contenders {
        home.add_contender(name, command);
    }
    home
}

/// Each four times as fast as the next.
fn three() -> Vec<(&'static str, String)> {
    vec![("fast", server(30)), ("middle", server(120)), ("slow", server(480))]
}

fn measured(home: &Home) -> Measured {
    let store = Store::open(&home.store()).unwrap();
    let runs = store.runs().unwrap();
    assert_eq!(runs.len(), 1);
    Measured::of(&store, &runs[0].id).unwrap()
}

fn starts_of<'m>(measured: &'m Measured, name: &'m str) -> impl Iterator<Item = &'m Start> {
    measured.starts.iter().filter(move |start| start.contender == name)
}

/// Requests/s over all slices of a contender in a cell.
fn rate(measured: &Measured, name: &str, cell: usize) -> f64 {
    let own = measured.slices.iter().filter(|slice| slice.contender == name && slice.cell == cell);
    let (answers, ns) = own.fold((0, 0), |sum, slice| (sum.0 + slice.answers, sum.1 + slice.ns));
    answers as f64 * 1e9 / ns as f64
}

/// Each contender was measured in each cell of each round, and in none twice.
fn assert_whole(measured: &Measured, names: &[&str], rounds: usize) {
    for name in names {
        let mut had = BTreeSet::new();
        for start in starts_of(measured, name) {
            for cell in start.cells.keys() {
                assert!(had.insert((start.round, *cell)), "{name}: round {}, cell {cell} twice", start.round);
            }
        }
        assert_eq!(had.len(), rounds * 2, "{name}: {had:?}");
    }
}

fn interrupt(child: &mut Child) {
    run(Command::new("kill").args(["-INT", &child.id().to_string()]));
    assert_eq!(process::wait(child).code(), Some(130));
}

fn spawned(home: &Home, args: &[&str]) -> Child {
    process::spawn(home.with_catalog(args).stdout(Stdio::null()).stderr(Stdio::null()))
}

/// The run is in the store and has this many cells of starts.
fn has_cells(home: &Home, least: usize) -> bool {
    let Ok(store) = Store::open(&home.store()) else { return false };
    let Some(listed) = store.runs().unwrap().first().cloned() else { return false };
    let starts = store.starts(&listed.id).unwrap();
    starts.iter().filter(|start| start.contender != HUB).map(|start| start.cells.len()).sum::<usize>()
        >= least
}

#[test]
fn every_start_and_slice_of_live_servers_is_stored_and_their_order_is_what_is_known() {
    let home = home(&three(), 2);
    let finished = run(&mut home.with_catalog(&["run", "small", "--seed", "7"]));
    home.assert_clean();
    let measured = measured(&home);
    assert_whole(&measured, &["fast", "middle", "slow", "reference"], 2);
    for start in &measured.starts {
        assert_eq!(start.outcome, StartOutcome::Ended, "{start:?}\n{}", finished.err);
        assert!(start.took_ns > 0 && start.memory_bytes.is_some() && start.program.is_some(), "{start:?}");
        for cell in start.cells.values() {
            let measurement = cell.measurement.as_ref().unwrap();
            let cpu_ns = measurement.usage.as_ref().map(|usage| usage.cpu_ns);
            assert!(measurement.tally.completed > 0 && cpu_ns > Some(0));
            assert!(
                cell.warmup_ns >= 20_000_000 && cell.turns >= 10,
                "{} ns, {}",
                cell.warmup_ns,
                cell.turns
            );
        }
    }
    for cell in 0..2 {
        let rates = ["fast", "middle", "slow"].map(|name| rate(&measured, name, cell));
        assert!(rates[0] > rates[1] && rates[1] > rates[2], "{rates:?}");
    }
    // The hub is in every heat, four contenders are dealt into two of them, and the second round turns the cells round.
    // One that the machine did not let have its turns may be dealt once more, alone.
    assert_eq!(measured.heats.iter().filter(|heat| heat.round == 0).count(), 2);
    assert_eq!(starts_of(&measured, HUB).count(), measured.heats.len());
    assert!(measured.heats.iter().all(|heat| heat.cells == if heat.round == 0 { [0, 1] } else { [1, 0] }));
    assert!(finished.err.contains("round 1 of 2, heat 1 ("), "{}", finished.err);
}

#[test]
fn a_contender_that_fails_is_told_and_the_others_are_measured() {
    let _others = OUT_OF_MEMORY.read().unwrap_or_else(PoisonError::into_inner);
    let mut contenders = three();
    contenders[1] = ("middle", r#"["sh", "-c", "echo no such port >&2; exit 3"]"#.to_owned());
    let home = home(&contenders, 2);
    let finished = run(&mut home.with_catalog(&["run", "small"]));
    home.assert_clean();
    let measured = measured(&home);
    assert_whole(&measured, &["fast", "slow", "reference"], 2);
    let why: Vec<_> =
        starts_of(&measured, "middle").map(|start| start.failed().unwrap().to_owned()).collect();
    assert_eq!(why.len(), 2, "it is started once a round, and not again: {why:?}");
    assert!(
        why[0].contains("no such port") && finished.err.contains("middle: failed: it ended"),
        "{}",
        finished.err
    );
}

#[test]
fn a_server_that_dies_in_its_turn_is_told_and_the_heat_goes_on() {
    let _others = OUT_OF_MEMORY.read().unwrap_or_else(PoisonError::into_inner);
    let mut contenders = three();
    // It is there for a while, and then it is not.
    let command_line = r#"["sh", "-c", "timeout -s KILL 3 {drome} serve --port {port}; exit 7"]"#;
    contenders[1] = ("middle", command_line.to_owned());
    let home = home(&contenders, 1);
    let study = home.path().join("own/studies/small.toml");
    let text = std::fs::read_to_string(&study).unwrap().replace("measure = \"200ms\"", "measure = \"1s\"");
    std::fs::write(&study, text).unwrap();
    run(&mut home.with_catalog(&["run", "small"]));
    home.assert_clean();
    let measured = measured(&home);
    assert_whole(&measured, &["fast", "slow", "reference"], 1);
    let dead = starts_of(&measured, "middle").next().unwrap();
    assert!(dead.failed().is_some_and(|why| why.contains("it ended")), "{dead:?}");
    let slices = measured.slices.iter().filter(|slice| slice.contender == "middle");
    assert!(slices.into_iter().all(|slice| dead.has(slice.cell)), "no slice of a cell that it has not");
}

/// It answers as it should so many times, and then does something else.
const FRAIL: &str = r"
import asyncio, os, signal, sys, time
port, what, well = int(sys.argv[1]), sys.argv[2], int(sys.argv[3])
answers, last, clients, leak = 0, time.monotonic(), set(), []
def fail():
    global answers
    if what == 'halts':
        os.kill(os.getpid(), signal.SIGSTOP)
    elif what == 'closes':
        listener.close()
        for client in list(clients): client.transport.abort()
    elif what == 'leaks':
        leak.append(bytearray(1 << 20))
async def serve(reader, writer):
    global answers, last
    clients.add(writer)
    try:
        while True:
            head = await reader.readuntil(b'\r\n\r\n')
            is_hello = head.split(b' ')[1].split(b'?')[0] == b'/hello'
            status, body = (b'200 OK', b'Hello World\n') if is_hello else (b'404 Not Found', b'none')
            head = b'HTTP/1.1 %s\r\nContent-Type: text/plain\r\nContent-Length: %d\r\n\r\n' % (status, len(body))
            writer.write(head + body)
            answers, last = answers + 1, time.monotonic()
            if answers > well: fail()
    except MemoryError:
        os.abort()
    except (asyncio.IncompleteReadError, ConnectionError):
        pass
    finally:
        clients.discard(writer)
        writer.close()
async def main():
    global listener
    listener = await asyncio.start_server(serve, '127.0.0.1', port)
    while True:
        await asyncio.sleep(0.01)
        if what == 'tires' and answers > well and time.monotonic() - last > 0.2: os._exit(7)
asyncio.run(main())
";

/// A home with sound servers and these, which fail in this way after so many answers. All of them are in one heat.
fn frail(ways: &[(&'static str, u32)]) -> Home {
    let of = |(what, well): &(&'static str, u32)| {
        let python = format!("exec python3 {{src}}/server.py {{port}} {what} {well}");
        // Of 400 MB, the one that leaks a megabyte with every answer soon has none left.
        (*what, format!(r#"["sh", "-c", "ulimit -c 0; ulimit -v 400000; {python}"]"#))
    };
    let sound = [("fast", server(30)), ("slow", server(480))];
    let home = home(&sound.into_iter().chain(ways.iter().map(of)).collect::<Vec<_>>(), 1);
    for (what, _) in ways {
        home.write(&format!("own/contenders/{what}/src/server.py"), FRAIL);
    }
    let study = home.path().join("own/studies/small.toml");
    let text = std::fs::read_to_string(&study).unwrap().replace("heat = 3", "heat = 6");
    let text = text.replace("\"20ms\"\nmeasure = \"200ms\"", "\"100ms\"\nmeasure = \"1s\"");
    std::fs::write(&study, text).unwrap();
    home
}

/// Runs it, and checks that these words are told of each start that failed, and that all others are whole.
fn assert_told(home: &Home, told: &[(&str, &str)]) {
    let _others = OUT_OF_MEMORY.read().unwrap_or_else(PoisonError::into_inner);
    let finished = run(&mut home.with_catalog(&["run", "small"]));
    home.assert_clean();
    let measured = measured(home);
    assert_whole(&measured, &["fast", "slow", "reference"], 1);
    assert!(measured.heats[0].members.len() == 3 + told.len(), "{:?}", measured.heats);
    for (name, words) in told {
        let starts: Vec<&Start> = starts_of(&measured, name).collect();
        let why = starts[0].failed().unwrap_or_default();
        assert!(starts.len() == 1 && why.contains(words), "{starts:?}\n{}", finished.err);
        assert!(finished.err.contains(&format!("{name}: failed: {why}")), "{}", finished.err);
        let slices = measured.slices.iter().filter(|slice| slice.contender == *name);
        assert!(
            slices.into_iter().all(|slice| starts[0].has(slice.cell)),
            "a slice of a cell that it has not"
        );
    }
}

#[test]
fn servers_that_stop_answering_or_accepting_are_told_and_the_rest_of_the_heat_is_kept() {
    let home = frail(&[("halts", 300), ("closes", 300)]);
    let refused = "it gave no correct answer in 3 turns in a row (connect: ";
    assert_told(&home, &[("halts", "it gave no correct answer in 3 turns in a row"), ("closes", refused)]);
}

#[test]
fn a_server_that_leaks_until_it_is_killed_and_one_that_ends_between_its_turns_are_told() {
    let home = frail(&[("leaks", 100), ("tires", 100)]);
    let tired = "between its turns it ended (exit status: 7)";
    assert_told(&home, &[("leaks", "it ended (signal: 6 (SIGABRT)"), ("tires", tired)]);
}

#[test]
fn a_run_that_is_cut_off_goes_on_and_nothing_is_measured_twice() {
    for kills in [false, true] {
        let home = home(&three(), 2);
        let mut child = spawned(&home, &["run", "small"]);
        wait_for(|| has_cells(&home, 1), "a cell");
        if kills {
            child.kill().unwrap();
            process::wait(&mut child);
            // Their guards are the last to go, after they have removed the folders.
            wait_for(
                || processes_with(&home.path().display().to_string()).is_empty(),
                "the servers to be gone",
            );
        } else {
            interrupt(&mut child);
        }
        home.assert_clean();
        let before = measured(&home);
        let finished = run(&mut home.with_catalog(&["run", "small", "--resume"]));
        home.assert_clean();
        let after = measured(&home);
        assert_whole(&after, &["fast", "middle", "slow", "reference"], 2);
        assert!(before.slices.len() < after.slices.len(), "it was cut off: {kills}");
        for kept in before.starts {
            assert!(after.starts.contains(&kept), "{kept:?}\n{}", finished.err);
        }
        assert!(before.slices.iter().all(|slice| after.slices.contains(slice)));
        let finished = run(&mut home.with_catalog(&["run", "small", "--resume", "--budget", "8s"]));
        assert!(
            finished.code == 2 && finished.err.contains("is too small: it covers the whole run, and run 2"),
            "{}",
            finished.err
        );
    }
}

#[test]
fn what_it_takes_is_told_before_anything_is_started() {
    let home = home(&three(), 2);
    let refused = |args: &[&str], words: &str| {
        let Finished { code, err, .. } = run(&mut home.with_catalog(args));
        assert!(code == 2 && err.contains(words), "{code}: {err}");
    };
    refused(&["run", "small", "--budget", "1ms"], "is too short for one heat, which takes about");
    assert!(!home.store().exists() || Store::open(&home.store()).unwrap().runs().unwrap().is_empty());
    let told = run(&mut home.with_catalog(&["run", "small", "--dry-run"]));
    assert!(told.code == 0 && told.out.contains("4 contenders, 2 cells, 2 heats per round"), "{}", told.out);
    let json: serde_json::Value = serde_json::from_str(
        &run(&mut home.with_catalog(&["run", "small", "--dry-run", "--format", "json"])).out,
    )
    .unwrap();
    assert_eq!((json["heats_a_round"].as_u64(), json["looks"][0]["rounds"].as_u64()), (Some(2), Some(2)));
    assert_as_schema(&home, "plan", &json);
    let of_one = &["run", "small", "--dry-run", "--cell", "2", "--budget", "1ms"];
    let told = run(&mut home.with_catalog(of_one)).out;
    assert!(told.contains("4 contenders, 1 cell, 2 heats per round"), "{told}");
    assert!(told.contains("budget: 1ms\nthe budget of 1ms is too short for one heat"), "{told}");
    let quick = run(&mut home.with_catalog(&["run", "small", "--dry-run", "--quick"])).out;
    let contains = |words: &str| quick.contains(words);
    assert!(contains("2 rounds: about") && !contains("3 rounds") && !contains("4 rounds"), "{quick}");
    refused(&["run", "small", "--dry-run", "--cell", "3"], "3");
    refused(&["run", "small", "--dry-run", "--quick", "--budget", "1h"], "cannot be used with");
}

#[test]
fn a_plan_counts_what_is_not_installed_and_names_it() {
    let home = home(&[("fast", server(30))], 2);
    let study = STUDY.replace("CONTENDERS", r#""fast", "absent""#).replace("ROUNDS", "2");
    let tracks = "tracks = [\"default\", \"tuned\"]\n[[cell]]";
    home.write("own/studies/small.toml", &study.replacen("[[cell]]", tracks, 1));
    home.write("own/contenders/absent/contender.toml", ABSENT);
    let told = run(&mut home.with_catalog(&["run", "small", "--dry-run"]));
    let lines: Vec<&str> = told.out.lines().collect();
    assert!(told.code == 0 && told.out.contains("4 contenders, 2 cells, 2 heats per round"), "{}", told.out);
    let last = "not installed, but counted: absent; `drome install small` installs what is missing";
    assert_eq!(lines.last(), Some(&last), "{}", told.out);
    let told = run(&mut home.with_catalog(&["run", "small", "--dry-run", "--format", "json"])).out;
    let json: serde_json::Value = serde_json::from_str(&told).unwrap();
    assert_eq!((&json["contenders"], &json["not_installed"]), (&4.into(), &vec!["absent"].into()));
    assert_as_schema(&home, "plan", &json);
}
