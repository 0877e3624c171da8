//! Refuses circles of imports between files: a file that imports itself by way of others can't be read, tested or moved alone. A module and
//! what is below it belong together and may import each other.

use crate::files::{entries, files};
use anyhow::Result;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fs;
use std::path::Path;

/// The path of a module in its crate; empty: the root.
type Module = Vec<String>;

/// The modules of a crate.
#[derive(Default)]
struct Modules {
    /// Their files, as shown, with the paths that each imports.
    files: BTreeMap<Module, (String, Vec<Module>)>,
    /// Names that a module only re-exports, with the paths from which it has them.
    passed_on: BTreeMap<(Module, String), Module>,
}

/// Lists every circle in the crates of the workspace.
pub fn check(root: &Path, wrong: &mut Vec<String>) -> Result<()> {
    for member in entries(root)? {
        let src = member.join("src");
        let mut modules = Modules::default();
        for file in if src.is_dir() { files(&src, "rs")? } else { Vec::new() } {
            let shown = file.strip_prefix(root)?.display().to_string();
            modules.add(module(file.strip_prefix(&src)?), shown, &fs::read_to_string(&file)?);
        }
        let instead = "imports in a circle; move what they share into a file of its own";
        wrong.extend(modules.circles().iter().map(|circle| format!("{circle}: {instead}")));
    }
    Ok(())
}

/// The module of a file below `src`.
fn module(file: &Path) -> Module {
    let file = file.with_extension("");
    let mut names: Module = file.iter().map(|name| name.to_string_lossy().into_owned()).collect();
    names.pop_if(|last| ["mod", "lib", "main"].contains(&last.as_str()));
    names
}

impl Modules {
    fn add(&mut self, own: Module, shown: String, text: &str) {
        // Tests may import anything.
        let text = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
        let lines = text.lines().map(str::trim).filter(|line| !line.starts_with("//"));
        let code: String = lines.flat_map(|line| ["\n", line]).collect();
        let is_inside = |c: char| is_of_name(c) || c == ':';
        let words = ["crate::", "super::"].into_iter().flat_map(|word| code.match_indices(word));
        let starts = words.map(|(at, _)| at).filter(|at| !code[..*at].ends_with(is_inside));
        let imported = starts.flat_map(|at| paths(&code[at..])).map(|path| absolute(&own, &path)).collect();
        for (at, _) in code.match_indices("\npub") {
            let Some((head, rest)) = code[at + 1..].split_once(" use ") else { continue };
            if head == "pub" || (head.starts_with("pub(") && head.ends_with(')')) {
                let named = paths(rest).into_iter().filter_map(|path| Some((path.last()?.clone(), path)));
                let named = named.map(|(name, path)| ((own.clone(), name), absolute(&own, &path)));
                self.passed_on.extend(named);
            }
        }
        self.files.insert(own, (shown, imported));
    }

    /// The module that defines the item at this path.
    fn home(&self, path: &[String]) -> Option<Module> {
        let mut path = path.to_vec();
        // A name is passed on a few times at most.
        for _ in 0..8 {
            let length = (0..=path.len()).rev().find(|length| self.files.contains_key(&path[..*length]))?;
            let (found, rest) = path.split_at(length);
            let name = rest.first().cloned().unwrap_or_default();
            let home = found.to_vec();
            let Some(target) = self.passed_on.get(&(home.clone(), name)) else { return Some(home) };
            path = [target, rest.get(1..).unwrap_or_default()].concat();
        }
        None
    }

    /// For each file that is in a circle, its shortest circle; each circle only once.
    fn circles(&self) -> BTreeSet<String> {
        let imports = |(own, (_, paths)): (&Module, &(String, Vec<Module>))| {
            let homes = paths.iter().filter_map(|path| self.home(path));
            let others = homes.filter(|home| !home.starts_with(own) && !own.starts_with(home));
            (own.clone(), others.collect::<BTreeSet<Module>>())
        };
        let graph: BTreeMap<Module, BTreeSet<Module>> = self.files.iter().map(imports).collect();
        let shown = |module: &Module| self.files[module].0.as_str();
        let from_least = |mut circle: Vec<Module>| {
            let least = (0..circle.len()).min_by_key(|at| &circle[*at]).unwrap_or(0);
            circle.rotate_left(least);
            circle.iter().chain(circle.first()).map(shown).collect::<Vec<_>>().join(" → ")
        };
        graph.keys().filter_map(|own| shortest(&graph, own)).map(from_least).collect()
    }
}

/// The path from the root of the crate, of one that begins with `crate` or `super`; any other is below the module.
fn absolute(own: &Module, path: &[String]) -> Module {
    let up = path.iter().take_while(|name| *name == "super").count();
    let (base, rest) = match path.first().map(String::as_str) {
        Some("crate") => (&own[..0], &path[1..]),
        _ => (&own[..own.len().saturating_sub(up)], &path[up..]),
    };
    [base, rest].concat()
}

/// The shortest way from a module back to itself.
fn shortest(graph: &BTreeMap<Module, BTreeSet<Module>>, own: &Module) -> Option<Vec<Module>> {
    let (mut before, mut queue) = (BTreeMap::new(), VecDeque::from([own]));
    while let Some(at) = queue.pop_front() {
        for next in graph.get(at)? {
            if next == own {
                let way = std::iter::successors(Some(at), |at| before.get(at).copied());
                return Some(way.cloned().collect::<Vec<_>>().into_iter().rev().collect());
            }
            if !before.contains_key(next) {
                before.insert(next, at);
                queue.push_back(next);
            }
        }
    }
    None
}

fn is_of_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// The paths of a text that begins with one, or with a tree of them in braces.
fn paths(text: &str) -> Vec<Module> {
    let mut found = Vec::new();
    tree(text, Vec::new(), &mut found);
    found
}

/// Reads a tree of paths; gives what follows.
fn tree<'t>(text: &'t str, mut prefix: Module, found: &mut Vec<Module>) -> &'t str {
    let text = text.trim_start();
    if let Some(mut rest) = text.strip_prefix('{') {
        while !rest.trim_start().starts_with('}') {
            let after = tree(rest, prefix.clone(), found).trim_start();
            if after.len() == rest.len() {
                return ""; // It is no tree.
            }
            rest = after.strip_prefix(',').unwrap_or(after);
        }
        return &rest.trim_start()[1..];
    }
    let end = text.find(|c| !is_of_name(c)).unwrap_or(text.len());
    let (name, rest) = text.split_at(end);
    prefix.extend(Some(name.to_owned()).filter(|name| !name.is_empty() && name != "self"));
    if let Some(rest) = rest.strip_prefix("::") {
        return tree(rest, prefix, found);
    }
    found.push(prefix);
    // `*`, and `as` with another name, which is not followed.
    &rest[rest.find([',', '}', ';', '\n', ')']).unwrap_or(rest.len())..]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn circles(files: &[(&str, &str)]) -> Vec<String> {
        let mut modules = Modules::default();
        files.iter().for_each(|(name, text)| modules.add(module(Path::new(name)), (*name).to_owned(), text));
        modules.circles().into_iter().collect()
    }

    #[test]
    fn files_that_import_each_other_are_named_in_order() {
        let a = ("a.rs", "//! A.\nuse crate::b::{Two, self};\n");
        let b = ("b/mod.rs", "use super::{c::Three};\n");
        let c = ("c.rs", "fn f() -> crate::a::One { todo() }\n");
        assert_eq!(circles(&[("main.rs", "mod a;"), a, b, c]), ["a.rs → b/mod.rs → c.rs → a.rs"]);
        assert_eq!(circles(&[a, b]), [""; 0]);
        let in_words = ("c.rs", "//! Of crate::a.\n#[cfg(test)]\nmod tests {\n    use crate::a::One;\n}\n");
        assert_eq!(circles(&[a, b, in_words]), [""; 0], "comments and tests");
    }

    #[test]
    fn a_module_and_what_is_below_it_may_import_each_other() {
        let parent = ("a.rs", "mod b;\npub use b::{\n    One,\n    Two as Three,\n};\nuse crate::Four;\n");
        let child = ("a/b.rs", "use super::Five;\nuse super::super::a::Five;\n");
        let root = ("lib.rs", "pub use a::Four;\n");
        assert_eq!(circles(&[root, parent, child]), [""; 0]);
    }

    #[test]
    fn a_name_that_a_module_passes_on_is_imported_from_where_it_is() {
        let root = ("lib.rs", "mod a;\nmod b;\npub use a::One;\n");
        let a = ("a/mod.rs", "mod deep;\npub(crate) use self::deep::One;\n");
        let deep = ("a/deep.rs", "use crate::b::Two;\n");
        let b = ("b.rs", "use crate::One;\n");
        assert_eq!(circles(&[root, a, deep, b]), ["a/deep.rs → b.rs → a/deep.rs"]);
    }
}
