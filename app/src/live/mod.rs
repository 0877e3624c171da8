//! `drome load --tui`: shows the measurement while it runs, on the terminal of standard error. The terminal is
//! restored at the end, however it ends.

mod bars;
mod draw;
mod state;
mod sum;

pub use sum::LiveSum;

use crate::failure::INTERRUPTED;
use control::processes::usage::UsageSoFar;
use load::View;
use model::Plan;
use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;
use ratatui::crossterm::event::{self, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use ratatui::crossterm::terminal::{
    EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};
use ratatui::crossterm::{cursor, execute};
use state::LiveState;
use std::io::{Stderr, stderr};
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// The time between two drawings of the screen; workers publish their counts at the same interval.
const REDRAW: Duration = Duration::from_millis(250);

/// How often drome checks whether the measurement has ended.
const POLL: Duration = Duration::from_millis(50);

/// Shows the measurement until it is over. If it can't be shown, the measurement continues. `usage`: what a server on this machine has
/// used so far.
pub fn show(
    plan: &Plan,
    view: &View,
    stop: &AtomicBool,
    usage: impl Fn() -> Option<UsageSoFar>,
    is_over: impl Fn() -> bool,
) {
    if let Err(error) = try_to_show(plan, view, stop, usage, is_over) {
        alert!("drome: can't draw on the terminal ({error}); the measurement continues");
    }
}

fn try_to_show(
    plan: &Plan,
    view: &View,
    stop: &AtomicBool,
    usage: impl Fn() -> Option<UsageSoFar>,
    is_over: impl Fn() -> bool,
) -> std::io::Result<()> {
    let mut screen = Screen::open()?;
    let mut state = LiveState::new(plan);
    let started = Instant::now();
    let mut drawn: Option<Instant> = None;
    while !is_over() {
        if drawn.is_none_or(|at| at.elapsed() >= REDRAW) {
            state.take(&view.take());
            if let Some(so_far) = usage() {
                state.take_usage(&so_far);
            }
            state.tick(started.elapsed());
            screen.terminal.draw(|frame| draw::draw(frame, &state))?;
            drawn = Some(Instant::now());
        }
        if event::poll(POLL)? {
            match event::read()? {
                Event::Key(key) if asks_to_stop(key) && stop.swap(true, Ordering::Relaxed) => {
                    // A second request ends drome at once, as without a viewer.
                    drop(screen);
                    std::process::exit(INTERRUPTED.into());
                }
                Event::Resize(..) => drawn = None,
                _ => {}
            }
        }
    }
    Ok(())
}

/// Whether a key stops the measurement. In raw mode the terminal sends no signal for Ctrl-C.
fn asks_to_stop(key: KeyEvent) -> bool {
    let is_control_c = key.code == KeyCode::Char('c') && key.modifiers.contains(KeyModifiers::CONTROL);
    key.kind == KeyEventKind::Press && (is_control_c || matches!(key.code, KeyCode::Char('q') | KeyCode::Esc))
}

/// The alternate screen of the terminal; leaves it when it is dropped.
struct Screen {
    terminal: Terminal<CrosstermBackend<Stderr>>,
}

impl Screen {
    fn open() -> std::io::Result<Self> {
        restore_on_panic();
        enable_raw_mode()?;
        let entered = execute!(stderr(), EnterAlternateScreen, cursor::Hide);
        let terminal = entered.and_then(|()| Terminal::new(CrosstermBackend::new(stderr())));
        terminal.map(|terminal| Self { terminal }).inspect_err(|_| restore())
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        restore();
    }
}

fn restore() {
    let _ = execute!(stderr(), LeaveAlternateScreen, cursor::Show);
    let _ = disable_raw_mode();
}

/// Restores the terminal before a panic prints its message, which would vanish with the alternate screen.
fn restore_on_panic() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            restore();
            before(info);
        }));
    });
}
