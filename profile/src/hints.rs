//! How to start a program so that it names the functions that it compiles or interprets: as environment variables, and as advice for
//! profiles in which such names are missing.

use crate::stacks::Profile;
use std::ffi::OsString;

/// A hint is given if more than this share of all samples have no name of a function that was compiled or interpreted.
const MOST: f64 = 0.5;

/// The prefix that Python gives to the names of its functions in a perf map.
const PYTHON_FUNCTION: &str = "py::";

/// The first version of Python that names its functions.
const PYTHON_WITH_NAMES: (u32, u32) = (3, 12);

/// Options of Node.js; all may stand in this variable.
const NODE: (&str, &str) = ("NODE_OPTIONS", "--perf-basic-prof --interpreted-frames-native-stack");

/// Options of the JVM. The first one makes JVMs before JDK 17, which can't write a perf map, start all the same.
const JAVA: (&str, &str) = (
    "JAVA_TOOL_OPTIONS",
    "-XX:+IgnoreUnrecognizedVMOptions -XX:+PreserveFramePointer -XX:+UnlockDiagnosticVMOptions -XX:+DumpPerfMapAtExit",
);

/// Switches. Those that the user has set keep the user's value.
const SWITCHES: [(&str, &str); 2] = [("PYTHONPERFSUPPORT", "1"), ("DOTNET_PerfMapEnabled", "1")];

/// The variables that make runtimes name their functions to a profiler; programs of other kinds ignore them. `own` gives the value that a
/// variable already has; options are added to that.
pub fn environment(own: &dyn Fn(&str) -> Option<OsString>) -> Vec<(String, String)> {
    let added = [NODE, JAVA].into_iter().filter_map(|(name, options)| {
        let value = match own(name).map(OsString::into_string) {
            Some(Ok(value)) if !value.trim().is_empty() => format!("{value} {options}"),
            Some(Ok(_)) | None => options.to_owned(),
            // A value that is not UTF-8 can't be passed on to the server, so the variable stays as it is.
            Some(Err(_)) => return None,
        };
        Some((name.to_owned(), value))
    });
    let set = SWITCHES.into_iter().filter(|(name, _)| own(name).is_none());
    added.chain(set.map(|(name, value)| (name.to_owned(), value.to_owned()))).collect()
}

/// A program that compiles at run time, or interprets, other programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Runtime {
    Node,
    Java,
    DotNet,
    /// With its version, if the program's name has that.
    Python(Option<(u32, u32)>),
}

impl Runtime {
    /// Recognizes a runtime by the file name of its program or of its library.
    fn of(program: &str) -> Option<Self> {
        match program {
            "node" | "nodejs" => Some(Self::Node),
            "java" => Some(Self::Java),
            "dotnet" => Some(Self::DotNet),
            _ => {
                let version = program.strip_prefix("lib").unwrap_or(program).strip_prefix("python")?;
                let is_it = version.chars().next().is_none_or(|c| c.is_ascii_digit());
                is_it.then(|| Self::Python(python_version(version)))
            }
        }
    }

    /// What the user can do to get names, as the end of a sentence.
    fn remedy(self) -> String {
        match self {
            Self::Node => "start it with `node --perf-basic-prof --interpreted-frames-native-stack`".to_owned(),
            Self::Java => "start it with `-XX:+PreserveFramePointer`, and let it write a perf map: with \
                           `-XX:+UnlockDiagnosticVMOptions -XX:+DumpPerfMapAtExit` where drome stops it, else by `jcmd PID \
                           Compiler.perfmap` under load (JDK 17 and later)"
                .to_owned(),
            Self::DotNet => "set the environment variable DOTNET_PerfMapEnabled=1".to_owned(),
            Self::Python(Some(version)) if version < PYTHON_WITH_NAMES => {
                format!("Python {}.{} can't name them; Python 3.12 and later can, with `-X perf`", version.0, version.1)
            }
            Self::Python(_) => {
                "start it with `python3 -X perf` (Python 3.12 and later, built with frame pointers)".to_owned()
            }
        }
    }
}

/// The version at the beginning of a text such as `3.12` or `3.12.so.1.0`.
fn python_version(text: &str) -> Option<(u32, u32)> {
    let (major, rest) = text.split_once('.')?;
    let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
    Some((major.parse().ok()?, digits.parse().ok()?))
}

/// Whether this is Python, or a library of it.
pub fn is_python(program: &str) -> bool {
    matches!(Runtime::of(program), Some(Runtime::Python(_)))
}

/// Whether Python gave this name to one of its functions.
pub fn is_python_function(frame: &str) -> bool {
    frame.starts_with(PYTHON_FUNCTION)
}

impl Profile {
    /// How to get the names of functions: a sentence for each program that left most samples without any of its functions' names. Empty
    /// where most samples have names, or where nothing can be done.
    pub fn hints(&self) -> Vec<String> {
        let all = self.samples as f64;
        let has_python_names = self.stacks.keys().flatten().any(|frame| is_python_function(frame));
        let mut hints = Vec::new();
        for (program, count) in &self.unnamed {
            let share = *count as f64 / all.max(1.0);
            let Some(runtime) = Runtime::of(program).filter(|_| share > MOST) else { continue };
            // Python was started in the right way; what has no name is something else.
            if has_python_names && matches!(runtime, Runtime::Python(_)) {
                continue;
            }
            let percent = (share * 100.0).min(100.0);
            hints.push(format!(
                "{percent:.0} % of the samples have functions of {program} without names: {}",
                runtime.remedy()
            ));
        }
        hints
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example;
    use std::collections::BTreeMap;
    use std::os::unix::ffi::OsStringExt;

    fn hints(text: &str, unnamed: &[(&str, u64)]) -> Vec<String> {
        let unnamed = unnamed.iter().map(|(program, count)| ((*program).to_owned(), *count)).collect();
        Profile { unnamed, ..example::folded(text) }.hints()
    }

    #[test]
    fn options_are_added_to_the_users_and_switches_stay_as_they_are() {
        let with = |own: &[(&str, &str)]| -> BTreeMap<String, String> {
            let find =
                |name: &str| own.iter().find(|(other, _)| *other == name).map(|(_, value)| value.into());
            environment(&find).into_iter().collect()
        };
        let alone = with(&[]);
        assert_eq!(alone["NODE_OPTIONS"], "--perf-basic-prof --interpreted-frames-native-stack");
        assert!(alone["JAVA_TOOL_OPTIONS"].starts_with("-XX:+IgnoreUnrecognizedVMOptions "), "{alone:?}");
        assert_eq!(
            (alone["PYTHONPERFSUPPORT"].as_str(), alone["DOTNET_PerfMapEnabled"].as_str()),
            ("1", "1")
        );
        let own = [
            ("NODE_OPTIONS", "--max-old-space-size=512"),
            ("JAVA_TOOL_OPTIONS", " "),
            ("PYTHONPERFSUPPORT", "0"),
        ];
        let beside = with(&own);
        assert_eq!(
            beside["NODE_OPTIONS"],
            "--max-old-space-size=512 --perf-basic-prof --interpreted-frames-native-stack"
        );
        assert_eq!(beside["JAVA_TOOL_OPTIONS"], alone["JAVA_TOOL_OPTIONS"]);
        assert!(!beside.contains_key("PYTHONPERFSUPPORT"), "{beside:?}");
        let odd = environment(&|_| Some(OsString::from_vec(vec![0xff])));
        assert_eq!(odd, [], "it can't be kept in a text, so it is not touched");
    }

    #[test]
    fn a_runtime_whose_functions_have_no_names_gets_its_remedy() {
        let of = |program: &str| hints("main;[jit]_[j] 60\nmain;write 40\n", &[(program, 60)]).join("\n");
        assert_eq!(
            of("node"),
            "60 % of the samples have functions of node without names: start it with `node --perf-basic-prof \
             --interpreted-frames-native-stack`"
        );
        let java = of("java");
        assert!(java.contains("-XX:+PreserveFramePointer") && java.contains("DumpPerfMapAtExit"), "{java}");
        assert!(of("dotnet").contains("DOTNET_PerfMapEnabled=1"));
        assert!(of("python3.12").contains("`python3 -X perf`") && of("python3").contains("-X perf"));
        assert!(of("libpython3.13.so.1.0").contains("`python3 -X perf`"));
        assert!(of("python3.9").contains("Python 3.9 can't name them; Python 3.12 and later can"));
        assert_eq!([of("nginx"), of("[unknown]"), of("pythons")], [""; 3]);
    }

    #[test]
    fn a_few_samples_without_names_are_no_reason_for_a_hint() {
        let text = "main;[jit]_[j] 50\nmain;write 50\n";
        assert_eq!(hints(text, &[("node", 50)]), Vec::<String>::new(), "half of them are not most");
        assert_eq!(hints(text, &[("node", 51)]).len(), 1);
        assert_eq!(hints(text, &[]), Vec::<String>::new());
        assert_eq!(hints("", &[("node", 1)]).len(), 1, "whatever a file says");
        let hostile = hints("a 1\n", &[("node", u64::MAX)]);
        assert!(hostile[0].starts_with("100 % of the samples"), "{hostile:?}");
    }

    #[test]
    fn python_that_was_started_in_the_right_way_gets_no_hint() {
        let text = "main;py::handle:/srv/a.py_[j] 1\nmain;write 99\n";
        assert_eq!(hints(text, &[("python3.12", 99)]), Vec::<String>::new());
    }

    #[test]
    fn the_version_of_python_is_in_its_name() {
        let of = |program| Runtime::of(program);
        assert_eq!(of("python3.12"), Some(Runtime::Python(Some((3, 12)))));
        assert_eq!(of("libpython3.11.so.1.0"), Some(Runtime::Python(Some((3, 11)))));
        assert_eq!([of("python3"), of("python")], [Some(Runtime::Python(None)); 2]);
        assert!(is_python("python3.12") && !is_python("node") && !is_python("libc.so.6"));
        assert!(is_python_function("py::f:/srv/a.py_[j]") && !is_python_function("numpy::f"));
    }
}
