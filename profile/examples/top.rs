//! Prints the functions in which a process, and what it starts from now on, spends the most CPU time: `cargo run --example top -- PID SECONDS`.

use profile::{Options, Sampling, Work};
use std::time::Duration;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args_os().skip(1).map(|arg| arg.to_string_lossy().into_owned());
    let pid: i32 = args.next().ok_or("the number of a process is missing")?.parse()?;
    let seconds: u64 = args.next().map_or(Ok(5), |seconds| seconds.parse())?;
    let sampling = Sampling::begin(move || vec![pid], &Options::default())?;
    std::thread::sleep(Duration::from_secs(seconds));
    let profile = sampling.end()?.resolve();
    println!("{} samples, {} lost, {} incomplete", profile.samples, profile.lost, profile.unrooted);
    for cost in profile.costs(&Work { answers: 1, cpu_ns: None }).iter().take(20) {
        println!(
            "{:8.1} ms {:8.1} ms  {}",
            cost.self_ns_per_answer / 1e6,
            cost.total_ns_per_answer / 1e6,
            cost.frame
        );
    }
    Ok(())
}
