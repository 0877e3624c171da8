//! Studies that are measured in heats: several live servers, loaded in turns.

use crate::common::catalog::{cell, study};
use crate::common::{Home, OUT_OF_MEMORY, assert_as_schema, process, run, trials, wait_for};
use model::Measured;
use model::heat::{HUB, Start, StartOutcome};
use std::collections::BTreeSet;
use std::sync::PoisonError;
use store::Store;

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

/// A study of these in two cells.
fn small(contenders: &[&str], rounds: usize, design: &[(&str, &str)]) -> String {
    let cells = [("few connections", 2), ("more connections", 8)]
        .map(|(title, n)| cell(title, "hello", &format!("closed = {{ connections = {n} }}")));
    let rounds = format!("[{rounds}, {rounds}]");
    let own = [("rounds", rounds.as_str()), ("heat", "3"), ("measure", "'200ms'"), ("warmup", "'20ms'")];
    study(contenders, &cells.concat(), &[&own[..], design].concat())
}

fn home(contenders: &[(&str, String)], rounds: usize, design: &[(&str, &str)]) -> Home {
    let home = Home::new();
    let names: Vec<&str> = contenders.iter().map(|(name, _)| *name).collect();
    home.write_study("small", &small(&names, rounds, design));
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
    store.measured(&runs[0].id).unwrap()
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

#[test]
fn every_start_and_slice_of_live_servers_is_stored_and_their_order_is_what_is_known() {
    let home = home(&three(), 2, &[]);
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
    let all: Vec<_> = sound.into_iter().chain(ways.iter().map(of)).collect();
    let home = home(&all, 1, &[("heat", "6"), ("slice", "'100ms'"), ("measure", "'1s'")]);
    for (what, _) in ways {
        home.write(&format!("own/contenders/{what}/src/server.py"), FRAIL);
    }
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
fn a_run_that_is_interrupted_goes_on_and_nothing_is_measured_twice() {
    let home = home(&three(), 2, &[]);
    let child = process::spawn_heard(&mut home.with_catalog(&["run", "small"]));
    wait_for(|| trials(&home) >= 1, "a cell");
    process::signal(&child, "-INT");
    process::ended(child).assert_err(130, &["interrupted; every finished cell is kept"]);
    home.assert_clean();
    assert!(home.findings()["ended"].as_str().unwrap().contains("--resume"));
    let before = measured(&home);
    let resume = |more: &[&str]| run(home.with_catalog(&["run", "small", "--resume"]).args(more));
    let finished = resume(&[]);
    home.assert_clean();
    let after = measured(&home);
    assert_whole(&after, &["fast", "middle", "slow", "reference"], 2);
    assert!(before.slices.len() < after.slices.len(), "it was cut off");
    for kept in before.starts {
        assert!(after.starts.contains(&kept), "{kept:?}\n{}", finished.err);
    }
    assert!(before.slices.iter().all(|slice| after.slices.contains(slice)));
    resume(&[]).assert_err(2, &["all have ended"]);
    resume(&["--budget", "8s"]).assert_err(2, &["is too small: it covers the whole run, and run 2"]);
}

#[test]
fn what_it_takes_is_told_before_anything_is_started() {
    let home = home(&three(), 2, &[]);
    let refused = |args: &[&str], words: &str| run(&mut home.with_catalog(args)).assert_err(2, &[words]);
    refused(&["run", "small", "--budget", "1ms"], "is too short for one heat, which takes about");
    assert!(!home.store().exists() || Store::open(&home.store()).unwrap().runs().unwrap().is_empty());
    let told = run(&mut home.with_catalog(&["run", "small", "--dry-run"]));
    told.assert_out(0, &["4 contenders, 2 cells, 2 heats per round"]);
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
    let home = home(&[("fast", server(30))], 2, &[]);
    let study = small(&["fast", "absent"], 2, &[]);
    home.write_study("small", &format!("tracks = [\"default\", \"tuned\"]\n{study}"));
    home.write_contender("absent", ABSENT);
    let told = run(&mut home.with_catalog(&["run", "small", "--dry-run"]));
    let lines: Vec<&str> = told.out.lines().collect();
    told.assert_out(0, &["4 contenders, 2 cells, 2 heats per round"]);
    let last = "not installed, but counted: absent; `drome install small` installs what is missing";
    assert_eq!(lines.last(), Some(&last), "{}", told.out);
    let told = run(&mut home.with_catalog(&["run", "small", "--dry-run", "--format", "json"])).out;
    let json: serde_json::Value = serde_json::from_str(&told).unwrap();
    assert_eq!((&json["contenders"], &json["not_installed"]), (&4.into(), &vec!["absent"].into()));
    assert_as_schema(&home, "plan", &json);
}
