//! Measures a heat's overhead: reading the CPU clocks of all processes between two turns, and writing a cycle or a cell to the
//! store. Run by hand, on a quiet machine: `cargo run --release -p drome-lab --example heat_costs`.

use control::processes::cpu_sampler::{CpuSampler, SampledProcesses};
use control::processes::tree::Tree;
use model::heat::{Heat, Ran, Slice, Start, StartOutcome};
use model::{Design, Environment, Metric, Run, Study};
use std::collections::BTreeMap;
use std::error::Error;
use std::path::PathBuf;
use std::process::{Child, Command};
use std::time::{Duration, Instant};
use store::Store;

const SLEEPERS: usize = 100;
const MEMBERS: usize = 7;
const CYCLES: usize = 20;

fn main() -> Result<(), Box<dyn Error>> {
    samples()?;
    store()
}

fn samples() -> Result<(), Box<dyn Error>> {
    let start = || Command::new("sleep").arg("1000").spawn();
    let mut sleepers: Vec<Child> = (0..SLEEPERS).map(|_| start()).collect::<Result<_, _>>()?;
    let members = sleepers.iter().take(MEMBERS).map(|child| Some(Tree::Below(child.id() as i32))).collect();
    let is_process = |name: &std::ffi::OsStr| name.to_string_lossy().parse::<i32>().is_ok();
    let processes =
        std::fs::read_dir("/proc")?.flatten().filter(|entry| is_process(&entry.file_name())).count();
    println!("{processes} processes, {MEMBERS} members");
    let mut sampler = CpuSampler::begin(SampledProcesses {
        members,
        server_cpus: [0].into(),
        client_cpus: [1].into(),
        ..SampledProcesses::default()
    });
    let mut quiet = Vec::new();
    for _ in 0..500 {
        std::thread::sleep(Duration::from_millis(2));
        let begun = Instant::now();
        sampler.sample();
        quiet.push(begun.elapsed());
    }
    told("a sample", quiet);
    let mut started = Vec::new();
    for _ in 0..200 {
        Command::new("true").status()?;
        let begun = Instant::now();
        sampler.sample();
        started.push(begun.elapsed());
    }
    told("a sample after a program was started and ended", started);
    for child in &mut sleepers {
        child.kill()?;
        child.wait()?;
    }
    Ok(())
}

fn store() -> Result<(), Box<dyn Error>> {
    // A file system in memory would flatter it.
    let path = PathBuf::from(format!("target/heat_costs-{}.sqlite", std::process::id()));
    let store = Store::open(&path)?;
    store.add_run(&run())?;
    let names: Vec<String> = (0..MEMBERS).map(|member| format!("member-{member}")).collect();
    let heat = |number| Heat {
        round: 0,
        number,
        members: names.clone(),
        copies: 1,
        hub: false,
        cells: vec![0],
        seed: 0,
        started_at: String::new(),
        machine: None,
    };
    let (mut cycles, mut cells) = (Vec::new(), Vec::new());
    for number in 0..10 {
        store.begin_heat("costs", &heat(number))?;
        store.keep_starts("costs", &starts(number, &names), &[])?;
        for cycle in 0..CYCLES {
            let begun = Instant::now();
            store.keep_starts("costs", &[], &slices(number, 0, cycle, &names))?;
            cycles.push(begun.elapsed());
        }
        let all: Vec<Slice> = (0..CYCLES).flat_map(|cycle| slices(number, 1, cycle, &names)).collect();
        let begun = Instant::now();
        store.keep_starts("costs", &starts(number, &names), &all)?;
        cells.push(begun.elapsed());
    }
    told("keeping a cycle", cycles);
    told(&format!("keeping a cell of {CYCLES} cycles"), cells);
    println!("{} bytes a slice", std::fs::metadata(&path)?.len() as usize / (10 * 2 * CYCLES * MEMBERS));
    drop(store);
    Ok(std::fs::remove_file(path)?)
}

fn run() -> Run {
    let budget = Duration::from_mins(1);
    let design = Design {
        rounds: [4, 13],
        heat: Design::HEAT,
        slice: Design::SLICE,
        warmup: Duration::ZERO,
        warmup_limit: Design::WARMUP_LIMIT,
        measure: Duration::from_secs(2),
        decide: false,
        margin: None,
        metric: Metric::Rate,
        precision: 0.03,
        budget,
    };
    let study = Study {
        title: String::new(),
        source: None,
        contenders: Vec::new(),
        tracks: Vec::new(),
        cells: Vec::new(),
        design,
        server_on: None,
        published: None,
        as_published: Vec::new(),
        unequal: Vec::new(),
    };
    Run {
        id: "costs".to_owned(),
        name: "costs".to_owned(),
        study,
        seed: 0,
        started_at: String::new(),
        workloads: BTreeMap::new(),
        quick: false,
        environment: Environment::default(),
        contenders: BTreeMap::new(),
        copies: 1,
        race: None,
        allow_busy: None,
        command: Vec::new(),
        fleet: None,
    }
}

fn starts(heat: usize, names: &[String]) -> Vec<Start> {
    let start = |name: &String| Start {
        round: 0,
        heat,
        contender: name.clone(),
        copy: 0,
        attempt: 0,
        outcome: StartOutcome::Running,
        cells: BTreeMap::new(),
        memory_bytes: None,
        took_ns: 0,
        conditions: None,
        program: None,
    };
    names.iter().map(start).collect()
}

fn slices(heat: usize, cell: usize, cycle: usize, names: &[String]) -> Vec<Slice> {
    let slice = |(place, name): (usize, &String)| Slice {
        round: 0,
        heat,
        cell,
        cycle,
        place,
        contender: name.clone(),
        copy: 0,
        answers: 10_000 + place as u64,
        ns: 100_123_456,
        turn_ns: 112_345_678,
        ran: Ran {
            owner_ns: Some(99_123_456),
            members_ns: Some(1_234),
            others_ns: Some(123_456),
            others_on_server_ns: Some(12_345),
            stolen_ns: Some(0),
        },
        void: None,
    };
    names.iter().enumerate().map(slice).collect()
}

fn told(what: &str, mut took: Vec<Duration>) {
    took.sort_unstable();
    let at = |share: f64| took.get((took.len() as f64 * share) as usize).map_or(0, Duration::as_micros);
    println!("{what}: median {} µs, 90 % {} µs, 99 % {} µs", at(0.5), at(0.9), at(0.99));
}
