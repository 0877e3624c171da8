//! The catalog is compiled in, so a change to it is a change to this crate.

fn main() {
    for folder in ["contenders", "workloads", "studies"] {
        println!("cargo::rerun-if-changed={folder}");
    }
}
