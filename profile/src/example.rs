//! Profiles for tests.

use crate::stacks::Profile;

/// The profile of lines such as `main;handle;write 12`, and `# period_ns=1000000 has_kernel=true` for what else is known.
pub fn folded(lines: &str) -> Profile {
    let mut profile = Profile::default();
    for line in lines.lines() {
        if let Some(settings) = line.strip_prefix('#') {
            for (name, value) in settings.split_whitespace().filter_map(|setting| setting.split_once('=')) {
                match name {
                    "period_ns" => profile.period_ns = value.parse().unwrap(),
                    "has_kernel" => profile.has_kernel = value.parse().unwrap(),
                    _ => panic!("no setting is called {name}"),
                }
            }
        } else {
            let (stack, samples) = line.rsplit_once(' ').unwrap();
            let samples: u64 = samples.parse().unwrap();
            profile.samples += samples;
            *profile.stacks.entry(stack.split(';').map(str::to_owned).collect()).or_default() += samples;
        }
    }
    profile
}
