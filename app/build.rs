//! The templates are compiled in, so a change to one is a change to this crate.

fn main() {
    println!("cargo::rerun-if-changed=templates");
}
