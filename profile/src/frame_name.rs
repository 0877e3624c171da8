//! Names of functions in the form in which all output has them.

/// The name of a frame whose function is not known.
pub const UNKNOWN: &str = "[unknown]";

/// The name of a frame of the kernel whose function is not known.
pub const KERNEL: &str = "[kernel]_[k]";

/// The name of a frame in code that was compiled at run time and is in no perf map.
pub const JIT: &str = "[jit]_[j]";

/// The name that stands for all stacks beyond the limit of memory.
pub const NOT_KEPT: &str = "[not kept]";

/// The longest name, in characters: types of generic code can be longer than any reader wants.
const LONGEST: usize = 500;

/// Outermost functions: of a process, of a thread, of a goroutine, of Go's scheduler on its own stack.
const ROOTS: &[&str] = &[
    "_start",
    "__clone",
    "__clone3",
    "__libc_start_call_main",
    "__libc_start_main",
    "__libc_start_main_impl",
    "_dl_start_user",
    "clone",
    "clone3",
    "main",
    "ret_from_fork_[k]",
    "ret_from_fork_asm_[k]",
    "runtime.goexit",
    "runtime.mcall",
    "runtime.mstart",
    "runtime.rt0_go",
    "start_thread",
    "thread_start",
];

/// Makes a name safe for the text form: `;` separates frames and a line break ends a stack. Never empty.
pub fn clean(name: &str) -> String {
    let mut clean = String::with_capacity(name.len().min(LONGEST));
    for (at, c) in name.trim().chars().enumerate() {
        if at == LONGEST {
            clean.push('…');
            break;
        }
        clean.push(match c {
            ';' => ',',
            c if c.is_control() => ' ',
            c => c,
        });
    }
    // A line that begins with this sign is a comment.
    if clean.starts_with('#') {
        clean.insert(0, '_');
    }
    let clean = clean.trim_end();
    if clean.is_empty() { UNKNOWN.to_owned() } else { clean.to_owned() }
}

/// How many frames may stand before an outermost function: the code that begins a thread, for example.
const BEFORE_ROOT: usize = 2;

/// Whether a stack, outermost function first, is whole: it begins with a known outermost function, or with the code that
/// starts one.
pub fn is_whole(stack: &[String]) -> bool {
    stack.iter().take(1 + BEFORE_ROOT).any(|name| is_root(name))
}

/// Whether this is an outermost function.
fn is_root(name: &str) -> bool {
    // Go's names may end in `.abi0`, glibc's in a version: `clone3@@GLIBC_2.34`.
    let name = name.strip_suffix(".abi0").unwrap_or(name);
    let name = name.split_once('@').map_or(name, |(name, _)| name);
    ROOTS.contains(&name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clean_name_can_stand_in_a_line_of_the_text_form() {
        assert_eq!(clean("<[u8; 8] as core::fmt::Debug>::fmt"), "<[u8, 8] as core::fmt::Debug>::fmt");
        assert_eq!(clean(" a\nb\t"), "a b");
        assert_eq!(clean("a\n"), "a");
        assert_eq!(clean("# a"), "_# a");
        assert_eq!(clean(" \n "), UNKNOWN);
        assert_eq!(clean(""), UNKNOWN);
        let long = clean(&"ä".repeat(1_000));
        assert_eq!(long.chars().count(), LONGEST + 1);
        assert!(long.ends_with('…'));
    }

    #[test]
    fn a_stack_is_whole_that_begins_with_a_root_or_with_what_starts_it() {
        let is = |stack: &str| is_whole(&stack.split(' ').map(str::to_owned).collect::<Vec<_>>());
        assert!(
            is("main handle")
                && is("[libc.so.6+0x12] main")
                && is("runtime/cgo(.text) runtime.mstart.abi0 a")
        );
        assert!(!is("handle write") && !is("a b c main"));
    }

    #[test]
    fn roots_are_known_with_the_endings_that_tools_add() {
        assert!(is_root("main") && is_root("runtime.goexit.abi0") && is_root("clone3@@GLIBC_2.34"));
        assert!(!is_root("handle") && !is_root("main.main") && !is_root(""));
    }
}
