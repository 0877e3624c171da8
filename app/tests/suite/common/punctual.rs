//! What a machine that is busy with something else can make void. Whether it was busy is measured here, and not taken from
//! what is tested: an error that makes everything void must not pass for a busy machine.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// So often it is tried.
const ATTEMPTS: usize = 5;

/// Who sleeps for a while is woken no later than this, 99 times in a hundred, where a load generator can be punctual.
const LATE: Duration = Duration::from_millis(1);

/// Repeats an attempt until it is not void. `None`: it was void again and again on a machine that was late meanwhile, which is
/// said. On a machine that kept time that is a failure.
pub fn until_sound<T>(mut attempt: impl FnMut() -> Result<T, String>) -> Option<T> {
    let (mut lates, mut reasons) = (Vec::new(), Vec::new());
    while reasons.len() < ATTEMPTS {
        let sleeper = Sleeper::start();
        match attempt() {
            Ok(sound) => return Some(sound),
            Err(why) => reasons.push(why),
        }
        lates.push(sleeper.p99_late());
    }
    lates.sort();
    let (late, reasons) = (lates[ATTEMPTS / 2], reasons.join("\n"));
    assert!(
        late > LATE,
        "void in each of {ATTEMPTS} attempts, and the machine kept time to {late:?}:\n{reasons}"
    );
    eprintln!("nothing can be said here: the machine was {late:?} late, and all was void:\n{reasons}");
    None
}

/// Sleeps again and again and notes how late it is woken.
struct Sleeper {
    is_over: Arc<AtomicBool>,
    lates: JoinHandle<Vec<Duration>>,
}

impl Sleeper {
    fn start() -> Self {
        let is_over = Arc::new(AtomicBool::new(false));
        let until = Arc::clone(&is_over);
        let lates = std::thread::spawn(move || {
            let (mut lates, nap) = (Vec::new(), Duration::from_millis(2));
            while !until.load(Ordering::Relaxed) {
                let begin = Instant::now();
                std::thread::sleep(nap);
                lates.push(begin.elapsed().saturating_sub(nap));
            }
            lates
        });
        Self { is_over, lates }
    }

    fn p99_late(self) -> Duration {
        self.is_over.store(true, Ordering::Relaxed);
        let mut lates = self.lates.join().unwrap();
        lates.sort();
        lates.get(lates.len() * 99 / 100).copied().unwrap_or_default()
    }
}

#[test]
fn what_is_sound_is_not_repeated_and_what_is_void_is_until_it_is_sound() {
    let mut attempts = 0;
    let mut third = || {
        attempts += 1;
        if attempts == 3 { Ok(attempts) } else { Err("void".to_owned()) }
    };
    assert_eq!(until_sound(&mut third), Some(3));
    assert_eq!(until_sound(|| Ok(1)), Some(1));
}
