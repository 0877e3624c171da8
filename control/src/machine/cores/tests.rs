//! Machines as their kernels show them (`machines/`), and random ones.

use super::*;
use crate::machine::environment::fixture::Tree;
use proptest::prelude::*;
use std::collections::BTreeSet;
use std::ffi::OsStr;

/// The topology of a recorded machine, and what a process there gets. Lines are `path:content`, as `grep -r .` writes
/// them.
fn machine(dump: &str) -> (Topology, Cores) {
    let lines = dump.lines().filter(|line| !line.starts_with('#'));
    let files: Vec<(&str, &str)> = lines.map(|line| line.split_once(':').unwrap()).collect();
    let files: Vec<(&str, &str)> =
        files.into_iter().map(|(path, text)| (path.trim_start_matches('/'), text)).collect();
    let status = files.iter().find(|(path, _)| *path == "proc/self/status").unwrap().1;
    let tree = Tree::empty().with(&files).with(&[("allowed", status.split_once('\t').unwrap().1)]);
    let allowed = tree.system().cpu_list("allowed").unwrap();
    let topology = Topology::read(&tree.system(), &allowed);
    let cores = deal(&topology);
    (topology, cores)
}

fn sides(cores: &Cores) -> [String; 3] {
    [&cores.server, &cores.client, &cores.idle].map(|cpus| cpu_ranges(cpus))
}

#[test]
fn a_laptop_s_siblings_stay_on_one_side() {
    let (topology, cores) = machine(include_str!("machines/laptop.txt"));
    assert_eq!(topology.physical.len(), 4);
    assert_eq!(topology.physical[1].cpus, [1, 5]);
    assert_eq!(sides(&cores), ["0,1,4,5", "2,3,6,7", ""]);
    assert_eq!((cores.notes.len(), cores.client_may_poll), (0, true));
}

#[test]
fn a_virtual_machine_of_two_cpus_gives_one_to_either() {
    let (topology, cores) = machine(include_str!("machines/virtual-machine-2.txt"));
    assert_eq!((topology.physical[0].package, topology.physical[0].node), (Some(0), Some(0)));
    assert_eq!(sides(&cores), ["0", "1", ""]);
    assert_eq!((cores.notes.len(), cores.client_may_poll), (0, true));
}

#[test]
fn a_server_of_four_numa_nodes_is_used_on_one() {
    let (topology, cores) = machine(include_str!("machines/epyc-64.txt"));
    assert_eq!((topology.physical.len(), topology.allowed.len()), (64, 128));
    assert_eq!(sides(&cores), ["0-7,64-71", "8-15,72-79", "16-63,80-127"]);
    assert!(cores.notes[0].contains("NUMA node 0"), "{:?}", cores.notes);
    assert!(cores.trouble.is_none() && cores.client_may_poll);
    // Somebody chose another node, and with it one core more of the first.
    let allowed = (3..4).chain(32..48).chain(96..112).collect();
    let cores = deal(&Topology { allowed, ..topology });
    assert_eq!(sides(&cores), ["32-39,96-103", "40-47,104-111", "3"]);
}

#[test]
fn cpus_that_are_numbered_in_turns_over_two_packages_are_of_one_package() {
    let (_, cores) = machine(include_str!("machines/two-sockets.txt"));
    assert_eq!(cores.server, [0, 2, 4, 6, 8, 10, 24, 26, 28, 30, 32, 34]);
    assert_eq!(cores.client, [12, 14, 16, 18, 20, 22, 36, 38, 40, 42, 44, 46]);
}

#[test]
fn without_numa_nodes_a_package_is_kept_to() {
    let (mut topology, with_nodes) = machine(include_str!("machines/two-sockets.txt"));
    topology.physical.iter_mut().for_each(|core| core.node = None);
    let cores = deal(&topology);
    assert_eq!(sides(&cores), sides(&with_nodes));
    assert!(cores.notes[0].contains("package 0"), "{:?}", cores.notes);
}

#[test]
fn nodes_of_one_core_each_do_not_suffice() {
    let (mut topology, _) = machine(include_str!("machines/laptop.txt"));
    for (number, core) in (0..).zip(&mut topology.physical) {
        (core.node, core.package) = (Some(number), Some(number / 2));
    }
    let cores = deal(&topology);
    assert_eq!(sides(&cores), ["0,4", "1,5", "2,3,6,7"], "two nodes of one package");
    topology.physical.iter_mut().for_each(|core| core.package = core.node);
    let cores = deal(&topology);
    assert_eq!(sides(&cores), ["0,1,4,5", "2,3,6,7", ""]);
    assert!(cores.notes[0].contains("different NUMA nodes"), "{:?}", cores.notes);
}

#[test]
fn both_sides_have_the_big_cores_of_a_board() {
    let (topology, cores) = machine(include_str!("machines/big-little-4-4.txt"));
    assert_eq!((topology.physical[0].capacity, topology.physical[7].capacity), (Some(530), Some(1024)));
    assert_eq!(sides(&cores), ["4,5", "6,7", "0-3"]);
    assert!(cores.notes[0].contains("their speed differs"), "{:?}", cores.notes);
    let (topology, cores) = machine(include_str!("machines/big-little-4-2.txt"));
    assert_eq!(topology.physical[0].package, None, "-1 is not a package");
    assert_eq!(sides(&cores), ["4", "5", "0-3"]);
}

/// As kernel 5.10 showed it on a ROCK 5B; the board is in `environment/boards/`.
#[test]
fn clusters_that_an_old_kernel_numbers_as_packages_are_one_processor() {
    let package = |cpu: usize, n: u32| format!("/cpu{cpu}/topology/physical_package_id:{n}\n");
    let mut dump = include_str!("machines/big-little-4-4.txt").to_owned();
    for (cpu, number) in [(4, 1), (5, 1), (6, 2), (7, 2)] {
        assert!(dump.contains(&package(cpu, 0)));
        dump = dump.replace(&package(cpu, 0), &package(cpu, number));
    }
    let (topology, _) = machine(&dump);
    assert_eq!(topology.physical[7].package, Some(2), "nothing says that it is a board");
    let board = "/proc/cpuinfo:CPU implementer\t: 0x41\n/proc/device-tree/model:Radxa ROCK 5B\n";
    let (topology, cores) = machine(&format!("{dump}{board}"));
    assert!(topology.physical.iter().all(|core| core.package.is_none()), "{topology:?}");
    assert_eq!(sides(&cores), ["4,5", "6,7", "0-3"]);
}

#[test]
fn a_big_core_and_little_ones_leave_the_big_one_idle() {
    let (topology, _) = machine(include_str!("machines/big-little-4-2.txt"));
    let cores = deal(&Topology { allowed: vec![1, 2, 3, 5], ..topology.clone() });
    assert_eq!(sides(&cores), ["1,2", "3", "5"]);
    let cores = deal(&Topology { allowed: vec![2, 5], ..topology });
    assert_eq!(sides(&cores), ["5", "2", ""], "no two are equal: the server has the fast one");
    assert!(cores.notes[0].contains("not comparable"), "{:?}", cores.notes);
}

#[test]
fn a_hybrid_processor_s_kinds_are_told_apart_though_the_kernel_does_not_rate_them() {
    let (topology, cores) = machine(include_str!("machines/hybrid-laptop.txt"));
    assert_eq!(topology.physical[0].kind.as_deref(), Some("performance"));
    assert_eq!(topology.physical[11].kind.as_deref(), Some("efficiency"));
    assert_eq!(sides(&cores), ["0-3", "4-7", "8-15"]);
}

#[test]
fn favoured_cores_are_no_class_of_their_own() {
    let (mut topology, _) = machine(include_str!("machines/laptop.txt"));
    for (core, capacity) in topology.physical.iter_mut().zip([993, 1024, 993, 1009]) {
        core.capacity = Some(capacity);
    }
    assert_eq!(sides(&deal(&topology)), ["0,1,4,5", "2,3,6,7", ""], "and by number, not by speed");
}

#[test]
fn a_container_gets_what_its_cpuset_and_its_quota_allow() {
    let (topology, cores) = machine(include_str!("machines/container-cpuset.txt"));
    assert_eq!((topology.physical.len(), topology.limit_millicores), (8, None));
    assert_eq!(sides(&cores), ["0,8", "1", ""]);
    let (topology, cores) = machine(include_str!("machines/container-quota.txt"));
    assert_eq!(topology.limit_millicores, Some(3500));
    assert_eq!(sides(&cores), ["0,1", "2", "3-15"]);
    assert!(cores.client_may_poll, "a limit of 3.5 CPUs is enough for three that are always busy");
    let cores = deal(&Topology { limit_millicores: Some(1500), ..topology });
    assert_eq!(sides(&cores), ["0", "1", "2-15"]);
    assert!(!cores.client_may_poll, "CPU time that the client spends polling would be taken from the server");
    assert!(cores.notes[0].contains("both are throttled"), "{:?}", cores.notes);
}

#[test]
fn a_load_generator_alone_takes_what_its_control_group_keeps_busy() {
    let (topology, _) = machine(include_str!("machines/container-quota.txt"));
    let with = |limit_millicores| of_load_alone(&Topology { limit_millicores, ..topology.clone() });
    let cores = with(None);
    assert_eq!(sides(&cores), ["", "0-15", ""]);
    assert!(cores.client_may_poll && cores.notes.is_empty());
    let cores = with(Some(3500));
    assert_eq!(sides(&cores), ["", "0-2", "3-15"]);
    assert!(cores.client_may_poll && cores.notes[0].contains("3.50 CPUs"), "{:?}", cores.notes);
    let cores = with(Some(500));
    assert_eq!(sides(&cores), ["", "0", "1-15"]);
    assert!(!cores.client_may_poll && cores.notes[0].contains("it is throttled"), "{:?}", cores.notes);
    let (laptop, _) = machine(include_str!("machines/laptop.txt"));
    let one = Topology { allowed: vec![2, 6], limit_millicores: Some(1000), ..laptop };
    assert_eq!(sides(&of_load_alone(&one)), ["", "2", "6"]);
}

#[test]
fn one_core_is_shared_and_that_is_told() {
    let (topology, _) = machine(include_str!("machines/laptop.txt"));
    let cores = deal(&Topology { allowed: vec![2], ..topology.clone() });
    assert_eq!(sides(&cores), ["2", "2", ""]);
    assert!(!cores.client_may_poll && cores.trouble.unwrap().contains("only one CPU"));
    let cores = deal(&Topology { allowed: vec![2, 6], ..topology });
    assert_eq!(sides(&cores), ["2", "6", ""]);
    assert!(!cores.client_may_poll && cores.trouble.unwrap().contains("only one physical core"));
}

#[test]
fn a_load_generator_that_is_told_not_to_poll_sleeps_and_that_is_told() {
    let free = || Cores { client_may_poll: true, ..Cores::default() };
    for polls in [None, Some("1"), Some("yes"), Some("")] {
        assert_eq!(free().with_poll(polls.map(OsStr::new)), free(), "{polls:?}");
    }
    let sleeping = free().with_poll(Some(OsStr::new("0")));
    assert_eq!(
        (sleeping.client_may_poll, &sleeping.notes[..]),
        (false, &[model::environment::SLEEPS.to_owned()][..])
    );
    assert!(sleeping.may_sleep, "and so do idle cores");
    // Where it sleeps anyway, nothing else is different.
    let may_sleep = Cores { may_sleep: true, ..Cores::default() };
    assert_eq!(Cores::default().with_poll(Some(OsStr::new("no"))), may_sleep);
}

#[test]
fn where_the_system_says_nothing_cpus_are_cores_and_that_is_told() {
    let cores = deal(&Topology { allowed: vec![0, 1, 2, 3, 4], ..Topology::default() });
    assert_eq!(sides(&cores), ["0-2", "3,4", ""]);
    assert!(cores.notes[0].contains("does not tell"), "{:?}", cores.notes);
    assert_eq!(deal(&Topology::default()), Cores { client_may_poll: true, ..Cores::default() });
}

#[test]
fn a_load_generator_alone_takes_the_client_s_cpus_first_and_never_one_twice() {
    let (_, cores) = machine(include_str!("machines/laptop.txt"));
    assert_eq!(cores.for_load(2), [6, 7]);
    assert_eq!(cores.for_load(4), cores.client);
    assert_eq!(cores.for_load(5), [2, 3, 5, 6, 7]);
    assert_eq!(cores.for_load(100), (0..8).collect::<Vec<_>>());
    let (_, cores) = machine(include_str!("machines/big-little-4-2.txt"));
    assert_eq!(cores.for_load(2), [3, 5], "an idle core before the server's");
    assert!(cores.for_load(0).is_empty());
}

prop_compose! {
    fn some_topology()(
        threads in proptest::collection::vec(1_usize..4, 1..24),
        shuffle in any::<u64>(),
        places in proptest::collection::vec((proptest::option::of(0_u32..3), proptest::option::of(0_u32..5)), 24),
        speeds in proptest::collection::vec((proptest::option::of(proptest::sample::select(vec![1024_u32, 1000, 530, 0])), 0_u8..3), 24),
        chosen in proptest::collection::vec(any::<bool>(), 72),
        unknown in proptest::bool::weighted(0.1),
        limit_millicores in proptest::option::of(0_u64..40_000),
    ) -> Topology {
        let count: usize = threads.iter().sum();
        let mut cpus: Vec<usize> = (0..count).collect();
        cpus.sort_by_key(|cpu| stats::random::derive(&[shuffle, *cpu as u64]));
        let mut left = cpus.into_iter();
        let cores = threads.iter().zip(places).zip(speeds).map(|((n, (package, node)), (capacity, kind))| {
            let kind = [None, Some("performance"), Some("efficiency")][usize::from(kind)].map(str::to_owned);
            PhysicalCore { cpus: sorted(left.by_ref().take(*n)), package, node, capacity, kind }
        });
        let cores: Vec<PhysicalCore> = cores.collect();
        let mut allowed: Vec<usize> = (0..count).filter(|cpu| chosen[*cpu]).collect();
        if allowed.is_empty() {
            allowed.push(count - 1);
        }
        Topology { physical: if unknown { Vec::new() } else { cores }, allowed, limit_millicores }
    }
}

proptest! {
    #[test]
    fn on_any_machine_no_physical_core_is_on_both_sides(topology in some_topology()) {
        let cores = deal(&topology);
        let set = |cpus: &[usize]| cpus.iter().copied().collect::<BTreeSet<_>>();
        let [server, client, idle] = [&cores.server, &cores.client, &cores.idle].map(|side| set(side));
        prop_assert!(!server.is_empty() && !client.is_empty());
        prop_assert_eq!(cores.allowed(), topology.allowed.clone(), "all are somewhere, and none that is not allowed");
        prop_assert!(idle.is_disjoint(&server) && idle.is_disjoint(&client));
        prop_assert!(server.is_disjoint(&client) || topology.allowed.len() == 1);
        let usable = usable(&topology);
        let is_split = |core: &&PhysicalCore| {
            core.cpus.iter().any(|cpu| server.contains(cpu)) && core.cpus.iter().any(|cpu| client.contains(cpu))
        };
        let is_split = usable.iter().any(|core| is_split(&core));
        prop_assert_eq!(is_split, usable.len() == 1);
        prop_assert_eq!(cores.trouble.is_some(), is_split);
        prop_assert!(idle.is_empty() || !cores.notes.is_empty(), "that CPUs are left idle is told");
        let on_side = |side: &BTreeSet<usize>| usable.iter().filter(|core| core.cpus.iter().any(|cpu| side.contains(cpu))).count();
        let (servers, clients) = (on_side(&server), on_side(&client));
        prop_assert!(servers == clients || servers == clients + 1, "{} and {} physical cores", servers, clients);
        for threads in 1..5 {
            let load = cores.for_load(threads);
            prop_assert_eq!(load.len(), threads.min(topology.allowed.len()));
            prop_assert!(load.iter().all(|cpu| topology.allowed.contains(cpu)));
        }
    }
}

#[test]
fn the_used_cpus_are_those_of_both_sides_each_once() {
    let cores = Cores { server: vec![5, 1], client: vec![0, 1], idle: vec![7], ..Cores::default() };
    assert_eq!(cores.used(), [0, 1, 5]);
}
