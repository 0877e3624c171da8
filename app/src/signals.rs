//! The signals that ask drome to stop.

use crate::failure::INTERRUPTED;
use lab::LabError;
use signal_hook::consts::{SIGINT, SIGTERM};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// The flag of this process, once it was asked for.
static STOP: Mutex<Option<Arc<AtomicBool>>> = Mutex::new(None);

/// The flag that SIGINT or SIGTERM sets; a second signal ends drome at once. All parts of a command share it, so that a signal between two
/// of them, such as two studies or two cells, is not lost.
pub fn stop_flag() -> anyhow::Result<Arc<AtomicBool>> {
    let mut known = STOP.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(stop) = &*known {
        return Ok(Arc::clone(stop));
    }
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        signal_hook::flag::register_conditional_shutdown(signal, INTERRUPTED.into(), Arc::clone(&stop))?;
        signal_hook::flag::register(signal, Arc::clone(&stop))?;
    }
    *known = Some(Arc::clone(&stop));
    Ok(stop)
}

/// Fails if drome was asked to stop.
pub fn ensure_not_stopped(stop: &AtomicBool) -> Result<(), LabError> {
    if stop.load(Ordering::Relaxed) { Err(LabError::Interrupted) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signal_between_two_parts_of_a_command_is_not_lost() {
        assert!(Arc::ptr_eq(&stop_flag().unwrap(), &stop_flag().unwrap()));
    }
}
