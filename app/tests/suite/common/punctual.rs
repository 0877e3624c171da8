//! What a machine that is busy with something else can make void: it is tried again, and a machine that spoils every attempt fails
//! the test.

/// So often it is tried.
const ATTEMPTS: usize = 5;

/// Repeats an attempt until it is not void; every attempt must check by itself what holds on any machine.
pub fn until_sound<T>(mut attempt: impl FnMut() -> Result<T, String>) -> T {
    let mut reasons = Vec::new();
    while reasons.len() < ATTEMPTS {
        match attempt() {
            Ok(sound) => return sound,
            Err(why) => reasons.push(why),
        }
        eprintln!("void, attempt {} of {ATTEMPTS}: {}", reasons.len(), reasons[reasons.len() - 1]);
    }
    panic!("void in each of {ATTEMPTS} attempts:\n{}", reasons.join("\n"));
}

#[test]
fn what_is_sound_is_not_repeated_and_what_is_void_is_until_it_is_sound() {
    let mut attempts = 0;
    let mut third = || {
        attempts += 1;
        if attempts == 3 { Ok(attempts) } else { Err("void".to_owned()) }
    };
    assert_eq!(until_sound(&mut third), 3);
    assert_eq!(until_sound(|| Ok(1)), 1);
    let mut attempts = 0;
    let never = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        until_sound(|| -> Result<(), String> {
            attempts += 1;
            Err("void".to_owned())
        });
    }));
    assert!(never.is_err() && attempts == ATTEMPTS);
}
