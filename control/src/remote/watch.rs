//! The conditions on both machines during a heat whose servers are on another machine.

use super::messages::RemoteRequest;
use super::remote_machine::RemoteMachine;
use crate::machine::cores::Cores;
use crate::machine::environment::ConditionsWatch;
use crate::machine::system::System;
use model::Conditions;

/// Watches the machine, or both machines.
#[derive(Clone, Debug)]
pub struct AllWatch {
    here: Box<ConditionsWatch>,
    far: Option<(RemoteMachine, Option<u64>)>,
}

impl AllWatch {
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
        merged(&here, far.unwrap_or_default())
    }
}

/// The conditions of the servers' machine, except for those that only the load generator's machine can tell.
fn merged(here: &Conditions, far: Conditions) -> Conditions {
    let steal_ppm = far.steal_ppm.zip(here.steal_ppm).map(|(far, here)| far.max(here));
    Conditions { client_hz: here.client_hz, steal_ppm, ..far }
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
        let far = Conditions {
            server_hz: hz(1),
            throttled: throttled.clone(),
            steal_ppm: Some(1),
            ..Conditions::default()
        };
        let both = merged(&here, far);
        assert_eq!((both.client_hz, both.server_hz), (hz(4), hz(1)));
        assert_eq!((both.throttled, both.steal_ppm), (throttled, Some(9)));
    }
}
