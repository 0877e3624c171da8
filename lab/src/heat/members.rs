//! The servers of a heat: started afresh, verified, watched for their end, stopped. A contender that does something wrong leaves the heat,
//! and the others go on.

use crate::heat::out_of_memory::{self, KillCause, OutOfMemory};
use crate::lab::{Lab, Show};
use control::fault::Fault;
use control::hub::Hub;
use control::machine::system::System;
use control::prepare::Prepared;
use control::processes::tree::Snapshot;
use control::remote::RemoteMachine;
use control::remote::conditions_watch::CombinedConditionsWatch;
use control::server::any_server::AnyServer;
use control::server::instance::Instance;
use control::supervise::server_end;
use control::verify::origin::Origin;
use control::verify::work::Work;
use judge::schedule::budget;
use judge::schedule::owed;
use model::heat::{HUB, Heat, Start, StartOutcome, Step};
use model::verdict::STOPPING;
use model::{Cell, Conditions, Run};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// Why a heat ended early.
#[derive(Debug, PartialEq, Eq)]
pub enum HeatError {
    /// A user asked to stop.
    Interrupted,
    /// The lab failed.
    Lab(String),
}

/// One server of a heat.
#[derive(Debug)]
pub struct Member {
    /// The start in the form in which it is stored.
    pub start: Start,
    /// The running server, while it is alive.
    instance: Option<Instance>,
}

/// All servers of a heat while it is measured.
pub struct HeatServers<'a> {
    pub lab: &'a Lab,
    pub run: &'a Run,
    pub heat: &'a Heat,
    pub members: Vec<Member>,
    /// The time that the run took before this heat.
    pub spent_before: Duration,
    hub: &'a Hub,
    /// The moment up to which all time was charged to members.
    charged: Instant,
    /// Watches the machine from before the first start.
    watch: CombinedConditionsWatch,
    memory: OutOfMemory,
}

impl Member {
    /// Whether it is alive, as far as is known.
    pub fn is_alive(&self) -> bool {
        self.instance.is_some()
    }

    /// Its server, while it is alive.
    pub fn server(&self) -> Option<&dyn AnyServer> {
        self.instance.as_ref().map(|instance| &*instance.server)
    }

    /// How its server ended, if it has.
    pub fn ended(&mut self) -> Option<String> {
        self.instance.as_mut()?.server.ended()
    }

    /// Reads what its processes use at the moment, and records its memory if that is a new maximum.
    pub fn snapshot(&mut self) -> Snapshot {
        let seen = self.server().map(AnyServer::snapshot).unwrap_or_default();
        let memory = Some(seen.rss_bytes).filter(|bytes| *bytes > 0);
        self.start.memory_bytes = self.start.memory_bytes.max(memory);
        seen
    }

    /// Takes it out of the heat, for this reason.
    pub fn leaves(&mut self, fault: Fault) {
        self.start.outcome = match fault {
            Fault::Contender(why) => StartOutcome::Failed(why),
            Fault::Lab(why) => StartOutcome::Spoiled(why),
        };
        self.stop();
    }

    /// Takes it out of the heat, because the machine had no memory for it beside other contenders.
    fn lacks_memory(&mut self, why: String) {
        self.start.outcome = StartOutcome::LackedMemory(why);
        self.stop();
    }

    /// Notes that one of two machines slowed its processor down: a board that is hot or has too weak a supply.
    fn note_slowed(&mut self, conditions: &Conditions) {
        let Some(why) = conditions.throttled.as_ref().filter(|why| !why.is_empty()) else { return };
        for measured in self.start.cells.values_mut().filter_map(|cell| cell.measurement.as_mut()) {
            let words = format!("a processor was slowed down during the start ({})", why.join("; "));
            measured.verdict.reasons.push(words);
        }
    }

    /// Asks its server to stop and does not wait for it, so that all servers of a heat stop at the same time.
    fn ask_to_stop(&mut self) {
        if let Some(instance) = self.instance.as_mut() {
            instance.server.ask_to_stop();
        }
    }

    /// Stops its server. What goes wrong then does not affect what was measured before.
    fn stop(&mut self) {
        let Some(instance) = self.instance.take() else { return };
        let Err(trouble) = instance.server.stop() else { return };
        for measured in self.start.cells.values_mut().filter_map(|cell| cell.measurement.as_mut()) {
            measured.verdict.reasons.push(format!("{STOPPING}{trouble}"));
        }
    }
}

impl<'a> HeatServers<'a> {
    /// The numbers of these members on the other machine, if they are on one.
    pub fn numbers_elsewhere(&self, who: &[usize]) -> Vec<u64> {
        let number = |at: &usize| Some(self.members.get(*at)?.server()?.remote()?.id());
        who.iter().filter_map(number).collect()
    }

    /// Fails if the link to the servers' machine is lost.
    pub fn ensure_linked(&self) -> Result<(), HeatError> {
        match self.lab.remote.as_ref().and_then(RemoteMachine::lost) {
            Some(lost) => Err(HeatError::Lab(lost.to_string())),
            None => Ok(()),
        }
    }

    /// Starts all servers of a heat, one after the other. Those that fail are included, with the reason. The second value is what ended the
    /// heat early, if anything did.
    pub fn start(
        (lab, run, heat, hub): (&'a Lab, &'a Run, &'a Heat, &'a Hub),
        starts: &[Start],
        show: &mut dyn Show,
    ) -> (Self, Option<HeatError>) {
        let spent_before = budget::spent(starts);
        let (members, charged) = (Vec::new(), Instant::now());
        let watch = CombinedConditionsWatch::begin(&lab.cores, lab.remote.as_ref());
        let memory = OutOfMemory::begin(kills(lab, run));
        let mut servers = Self { lab, run, heat, members, spent_before, hub, charged, watch, memory };
        let names = heat.servers();
        for (nth, (name, copy)) in names.iter().enumerate() {
            if *name == HUB || !run.servers_already_ran() {
                let step = Step::Starting { name: (*name).to_owned(), nth: nth + 1, of: names.len() };
                show.step(run, heat, &step);
            }
            let attempt = owed::attempt(name, *copy, heat.round, starts);
            let started = servers.start_one(name, *copy);
            if lab.stop.load(Ordering::Relaxed) {
                return (servers, Some(HeatError::Interrupted));
            }
            let start = Start {
                round: heat.round,
                heat: heat.number,
                contender: (*name).to_owned(),
                copy: *copy,
                attempt,
                outcome: StartOutcome::Running,
                cells: BTreeMap::new(),
                memory_bytes: None,
                took_ns: 0,
                program: None,
                conditions: None,
            };
            let mut member = Member { start, instance: None };
            let fault = match started {
                Ok(instance) => {
                    member.start.program = instance.server.program();
                    member.instance = Some(instance);
                    None
                }
                Err(fault) => Some(servers.beside_its_copy(name, fault)),
            };
            servers.members.push(member);
            if let Some(fault) = fault {
                servers.loses(nth, fault);
            }
            servers.charge(nth);
            if *name == HUB && !servers.members[nth].is_alive() {
                let why = servers.members.last().map(|hub| why(&hub.start)).unwrap_or_default();
                let why = format!("the hub (`drome serve`) did not start: {why}");
                return (servers, Some(HeatError::Lab(why)));
            }
        }
        (servers, None)
    }

    fn start_one(&self, name: &str, copy: usize) -> Result<Instance, Fault> {
        let Self { lab, run, heat, .. } = self;
        let prepared = self.prepared(name)?;
        let cells: Vec<&Cell> = heat.cells.iter().filter_map(|cell| run.study.cells.get(*cell)).collect();
        let log = format!("{}-{}-{name}-{copy}", heat.round, heat.number);
        lab.run_prepare(run, &format!("{log}-"))?;
        let instance = lab.start(prepared, &cells, &log)?;
        if name != HUB {
            lab.verify_once(prepared, &instance, &cells)?;
        }
        Ok(instance)
    }

    /// Adds a hint to the fault of a race's start that failed while another start of the same command is alive: perhaps two can't run at
    /// once.
    fn beside_its_copy(&self, name: &str, fault: Fault) -> Fault {
        let has_copy = self.members.iter().any(|m| m.is_alive() && m.start.contender == name);
        match fault {
            Fault::Contender(why) if has_copy && self.run.race.is_some() => Fault::Contender(format!(
                "{why}\n  another instance of it is running: if two can't run side by side, because they share a file, a lock or a \
                 database, race them with --alone"
            )),
            fault => fault,
        }
    }

    fn prepared(&self, name: &str) -> Result<&Prepared, Fault> {
        if name == HUB {
            return Ok(&self.hub.prepared);
        }
        self.lab.prepared.get(name).ok_or_else(|| Fault::Lab("it is not prepared".to_owned()))
    }

    /// The origin, the path and the workload to request from a member in a cell; `None` if the member is gone or does not serve the
    /// workload.
    pub fn asked(&self, at: usize, cell: &Cell) -> Option<(Origin, &str, &Work)> {
        let member = self.members.get(at)?;
        let origin = member.instance.as_ref()?.origin_in(cell)?;
        let prepared = self.prepared(&member.start.contender).ok()?;
        let (path, work) =
            (prepared.contender.serves.get(&cell.workload), self.lab.works.get(&cell.workload));
        match path.zip(work) {
            Some((path, work)) => Some((origin, path, work)),
            None if member.start.contender == HUB => {
                self.hub.plainest(cell.protocol).map(|(path, work)| (origin, path, work))
            }
            None => None,
        }
    }

    /// Takes a member that could not be started or can't go on out of the heat, and notes whether that is its own fault or the machine has
    /// no memory for it beside others.
    pub fn loses(&mut self, at: usize, fault: Fault) {
        let Fault::Contender(why) = fault else { return self.members[at].leaves(fault) };
        let own = self.members[at].start.contender.as_str();
        let is_other = |name: &&str| *name != own && *name != HUB;
        let alive = self.members.iter().filter(|member| member.is_alive());
        let others: BTreeSet<&str> =
            alive.map(|member| member.start.contender.as_str()).filter(is_other).collect();
        let others = others.len();
        let may_be_by_the_kernel = server_end::may_be_by_the_kernel(&why);
        match self.memory.cause(kills(self.lab, self.run), others, may_be_by_the_kernel) {
            KillCause::SharedMemory => {
                let beside = if others == 1 { "another contender was" } else { "other contenders were" };
                self.members[at].lacks_memory(format!("memory ran out while {beside} alive: {why}"));
            }
            KillCause::OwnMemory => {
                let why = format!("the machine's memory ran out while no other contender was running: {why}");
                self.members[at].leaves(Fault::Contender(why));
            }
            KillCause::Unknown => self.members[at].leaves(Fault::Contender(why)),
        }
    }

    /// The living members, by index.
    pub fn alive(&self) -> Vec<usize> {
        (0..self.members.len()).filter(|at| self.members[*at].is_alive()).collect()
    }

    /// Whether a contender, and not only the hub, is alive.
    pub fn has_contender(&self) -> bool {
        self.members.iter().any(|member| member.is_alive() && member.start.contender != HUB)
    }

    /// Charges the time since the last charge to this member.
    pub fn charge(&mut self, at: usize) {
        let took = self.passed_ns();
        self.members[at].start.took_ns += took;
    }

    /// Charges the time since the last charge to all living members, or to all that were alive, if none is.
    pub fn charge_all(&mut self) {
        let took = self.passed_ns();
        let alive = self.alive();
        let who = if alive.is_empty() { (0..self.members.len()).collect() } else { alive };
        for at in &who {
            self.members[*at].start.took_ns += took / who.len() as u64;
        }
    }

    fn passed_ns(&mut self) -> u64 {
        let now = Instant::now();
        let passed = now.duration_since(self.charged).as_nanos() as u64;
        self.charged = now;
        passed
    }

    /// The starts of all members, in the form in which they are stored.
    pub fn starts(&self) -> Vec<Start> {
        self.members.iter().map(|member| member.start.clone()).collect()
    }

    /// Stops all servers. Those that were alive to the end have ended well, unless the heat was cut off.
    pub fn stop(&mut self, is_whole: bool) {
        self.charge_all();
        let conditions = self.watch.end();
        for member in self.members.iter_mut().filter(|_| is_whole) {
            member.start.conditions = Some(conditions.clone());
            if self.lab.remote.is_some() {
                member.note_slowed(&conditions);
            }
        }
        self.members.iter_mut().for_each(Member::ask_to_stop);
        for at in self.alive() {
            let member = &mut self.members[at];
            if is_whole {
                member.start.outcome = StartOutcome::Ended;
            }
            member.stop();
            self.charge(at);
        }
    }
}

/// The number of processes that the kernel has killed since boot because memory ran out. `None` if the kernel does not report it, and if
/// drome did not start the servers on this machine.
fn kills(lab: &Lab, run: &Run) -> Option<u64> {
    if lab.remote.is_some() || run.servers_already_ran() {
        return None;
    }
    out_of_memory::kills(&System::here().read("proc/vmstat")?)
}

/// Why a start did not complete.
pub fn why(start: &Start) -> String {
    match &start.outcome {
        StartOutcome::Failed(why) | StartOutcome::Spoiled(why) | StartOutcome::LackedMemory(why) => {
            why.clone()
        }
        StartOutcome::Running | StartOutcome::Ended => String::new(),
    }
}
