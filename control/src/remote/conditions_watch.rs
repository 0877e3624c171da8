//! The conditions on both machines during a heat whose servers are on another machine.

use super::messages::RemoteRequest;
use super::remote_machine::RemoteMachine;
use crate::machine::cores::Cores;
use crate::machine::environment::ConditionsWatch;
use crate::machine::system::System;
use model::Conditions;

/// Watches the machine, or both machines.
#[derive(Clone, Debug)]
pub struct CombinedConditionsWatch {
    here: Box<ConditionsWatch>,
    far: Option<(RemoteMachine, Option<u64>)>,
}

impl CombinedConditionsWatch {
    /// Reads the conditions before the first start.
    pub fn begin(cores: &Cores, there: Option<&RemoteMachine>) -> Self {
        let Some(there) = there else {
            return Self { here: Box::new(ConditionsWatch::begin(&System::here(), cores)), far: None };
        };
        let of_client = Cores { client: cores.client.clone(), ..Cores::default() };
        let far = there.ask(&RemoteRequest::BeginConditions).ok();
        Self {
            here: Box::new(ConditionsWatch::begin(&System::here(), &of_client)),
            far: Some((there.clone(), far)),
        }
    }

    /// Reads them again.
    pub fn end(&self) -> Conditions {
        let here = ConditionsWatch::clone(&self.here).end();
        let Some((there, begun)) = &self.far else { return here };
        let far = begun.and_then(|begun| there.ask(&RemoteRequest::EndConditions(begun)).ok().flatten());
        merged(here, far.unwrap_or_default(), there.name())
    }
}

/// The conditions of the servers' machine, which has this name, except for those that the load generator's machine tells, too.
fn merged(here: Conditions, far: Conditions, name: &str) -> Conditions {
    let steal_ppm = far.steal_ppm.zip(here.steal_ppm).map(|(far, here)| far.max(here));
    let throttled = [(name, far.throttled), ("the load generator's machine", here.throttled)];
    Conditions { client_hz: here.client_hz, steal_ppm, throttled: throttled_of_both(throttled), ..far }
}

/// What throttled the processors of two machines of these names; `None` where no throttling is known, and that of one machine is unknown.
fn throttled_of_both(both: [(&str, Option<Vec<String>>); 2]) -> Option<Vec<String>> {
    let is_known = both.iter().all(|(_, why)| why.is_some());
    let named = |(name, why): (&str, Option<Vec<String>>)| {
        let all = why.unwrap_or_default().into_iter();
        all.map(|why| format!("{name}: {why}")).collect::<Vec<_>>()
    };
    let all: Vec<String> = both.into_iter().flat_map(named).collect();
    (is_known || !all.is_empty()).then_some(all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::environment::Ends;

    #[test]
    fn the_board_tells_its_heat_and_this_machine_the_load_generators_clock() {
        let hz = |hz| Ends { before: Some(hz), after: Some(hz) };
        let here =
            Conditions { client_hz: hz(4), server_hz: hz(4), steal_ppm: Some(9), ..Conditions::default() };
        let throttled = Some(vec!["under-voltage".to_owned()]);
        let far = Conditions { server_hz: hz(1), throttled, steal_ppm: Some(1), ..Conditions::default() };
        let both = merged(here, far, "pi");
        assert_eq!((both.client_hz, both.server_hz), (hz(4), hz(1)));
        assert_eq!(
            (both.throttled.unwrap(), both.steal_ppm),
            (vec!["pi: under-voltage".to_owned()], Some(9))
        );
    }

    #[test]
    fn both_machines_tell_what_throttled_them() {
        let throttled = |why: Option<&[&str]>| Conditions {
            throttled: why.map(|why| why.iter().map(ToString::to_string).collect()),
            ..Conditions::default()
        };
        let of = |here, far| merged(throttled(here), throttled(far), "pi").throttled;
        let hot = "the load generator's machine: too hot, 3 times";
        assert_eq!(of(Some(&["too hot, 3 times"]), None).unwrap(), [hot]);
        assert_eq!(of(Some(&["too hot, 3 times"]), Some(&["slow"])).unwrap(), ["pi: slow", hot]);
        assert_eq!(
            (of(Some(&[]), Some(&[])), of(Some(&[]), None), of(None, Some(&[]))),
            (Some(vec![]), None, None)
        );
    }
}
