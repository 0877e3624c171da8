//! Slices of real servers, by every back end: a known service time, connections that are closed in between, TLS, Unix
//! sockets. No bound depends on the machine's speed.

use load::{AfterLook, Generator, LoadError, SlicePlan};
use model::{Address, Arrivals, Ask, Expect, IoChoice, Load, Plan, Target, Until, Verify};
use net::tls::ServerOptions;
use serve::{Config, Faults, Listen, Server, Site};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

const BODY: &[u8] = b"Hello World\n";

/// A server with one thread; nothing wrong with it.
fn config() -> Config {
    Config {
        listen: Listen::Tcp("127.0.0.1:0".parse().unwrap()),
        threads: 1,
        root: None,
        idle_timeout: Duration::from_mins(1),
        access_log: None,
        spin: Duration::ZERO,
        messages: serve::Messages::default(),
        faults: Faults::default(),
        io: None,
        tls: None,
    }
}

fn spinning(us: u64) -> Config {
    Config { spin: Duration::from_micros(us), ..config() }
}

/// Starts it for the rest of the test. Where it is.
fn start(config: Config) -> String {
    let is_encrypted = config.tls.is_some();
    let server = Server::bind(config).unwrap();
    let place = server.place();
    std::thread::spawn(move || {
        let mut site = Site::new();
        site.page("/", "text/plain", BODY);
        server.run(&site, &AtomicBool::new(false), |_| ()).unwrap();
    });
    if is_encrypted { place.replacen("http:", "https:", 1) } else { place }
}

fn plan(url: &str, io: IoChoice, load: Load) -> Plan {
    let target = match url.strip_prefix("unix:") {
        Some(path) => {
            Target { address: Address::Unix(path.into()), ..Target::resolve("http://localhost/").unwrap() }
        }
        None => Target::resolve(url).unwrap(),
    };
    let expect = Expect { status: Some(200), body: Some(BODY.to_vec()), ..Expect::default() };
    let ask = Ask { expect, ..Ask::get(&target) };
    let until = Until::Elapsed(Duration::from_secs(1));
    let mut plan = Plan { io, verify: Verify::All, ..Plan::new(target, ask, load, until) };
    plan.tls.insecure = true;
    plan
}

fn closed() -> Load {
    Load::Closed { connections: 8, per_connection: None }
}

fn generator(urls: &[String], io: IoChoice, threads: usize, load: &Load) -> Generator {
    let plans = urls.iter().map(|url| Plan { threads, ..plan(url, io, load.clone()) }).collect();
    Generator::start(plans, Arc::default()).unwrap()
}

/// The pooled rates of two targets in slices by turns, without a single error.
fn rates(generator: &mut Generator, cycles: u64) -> [f64; 2] {
    let (mut sums, mut answered) = ([(0, 0); 2], [(0, 0); 2]);
    for nth in 0..2 * cycles {
        let target = [0, 1, 1, 0][nth as usize % 4];
        let slice = SlicePlan { length: Duration::from_millis(40), ..SlicePlan::of(target).jittered(1, nth) };
        let outcome = generator.slice(&slice).unwrap();
        let tally = &outcome.tally;
        assert_eq!(
            (tally.errors.total(), outcome.uncounted.errors.total()),
            (0, 0),
            "{:?}",
            (&tally.error_causes, &outcome.uncounted)
        );
        assert_eq!(tally.sent, tally.completed + tally.in_flight_at_end);
        assert_eq!(tally.verified, tally.completed);
        assert!(tally.client_cpu_ns > 0 && outcome.carried_over <= 8);
        answered[target].0 += tally.completed + outcome.uncounted.completed;
        answered[target].1 += tally.served.iter().sum::<u64>();
        sums[target].0 += tally.completed;
        sums[target].1 += tally.duration_ns;
    }
    // Connections have all answers, counted or not, but those that came after the last counted part: at most one each.
    assert!(answered.iter().all(|(all, served)| (all - 8..=*all).contains(served)), "{answered:?}");
    sums.map(|(answers, ns)| answers as f64 * 1e9 / ns as f64)
}

#[test]
fn a_server_that_takes_twice_as_long_has_half_the_rate() {
    let urls = [start(spinning(400)), start(spinning(800))];
    for (io, threads) in [(IoChoice::Epoll, 1), (IoChoice::Best, 2)] {
        let mut generator = generator(&urls, io, threads, &closed());
        let mut outcome = Vec::new();
        // Each answer takes a little more than the spin. Other work on this machine may hide the difference, but not always.
        let is_as_known = (0..5).any(|_| {
            let [one, two] = rates(&mut generator, 8);
            assert!(one < 2600.0 && two < 1300.0, "no server is faster than its service time: {one}, {two}");
            outcome.push((one, two));
            (0.35..0.85).contains(&(two / one))
        });
        assert!(is_as_known, "{outcome:?}");
    }
}

#[test]
fn encrypted_targets_and_unix_sockets_take_turns_like_others() {
    let folder = tempfile::tempdir().unwrap();
    let tls = || Some(ServerOptions::default().config().unwrap());
    let unix = |name: &str| Config { listen: Listen::Unix(folder.path().join(name)), ..spinning(100) };
    let encrypted =
        [start(Config { tls: tls(), ..spinning(100) }), start(Config { tls: tls(), ..spinning(300) })];
    let local = [start(unix("one")), start(unix("two"))];
    for urls in [encrypted, local] {
        for io in [IoChoice::Epoll, IoChoice::Best] {
            let [one, two] = rates(&mut generator(&urls, io, 1, &closed()), 3);
            assert!(one > 0.0 && two > 0.0);
        }
    }
}

#[test]
fn connections_that_the_server_closes_while_idle_are_opened_again() {
    let brief = || Config { idle_timeout: Duration::from_millis(60), ..spinning(100) };
    let urls = [start(brief()), start(brief())];
    for io in [IoChoice::Epoll, IoChoice::Best] {
        let mut generator = generator(&urls, io, 1, &closed());
        rates(&mut generator, 4);
        std::thread::sleep(Duration::from_secs(2));
        let outcome = generator.slice(&SlicePlan::of(0)).unwrap();
        assert_eq!((outcome.uncounted.connections_opened, outcome.uncounted.errors.total()), (8, 0));
    }
}

#[test]
fn a_window_of_open_load_has_what_was_offered() {
    let urls = [start(spinning(50)), start(spinning(100))];
    let load = Load::Open {
        rate_per_s: 500.0.into(),
        connections: 8,
        arrivals: Arrivals::Poisson,
        per_connection: None,
    };
    let mut generator = generator(&urls, IoChoice::Best, 2, &load);
    for target in [0, 1, 1, 0] {
        let window = SlicePlan::window(target, Duration::from_millis(200), 50, Duration::from_secs(5));
        let outcome = generator.slice(&window).unwrap();
        assert!(outcome.tally.completed >= 50, "{}", outcome.tally.completed);
        let due = outcome.tally.due.unwrap();
        assert!(outcome.tally.completed_of_due() <= due && outcome.tally.errors.total() == 0);
        assert_eq!(outcome.tally.sent, outcome.tally.completed + outcome.tally.in_flight_at_end);
    }
}

#[test]
fn a_look_ends_a_long_window_and_the_next_one_is_whole() {
    let load = Load::Open {
        rate_per_s: 500.0.into(),
        connections: 8,
        arrivals: Arrivals::Constant,
        per_connection: None,
    };
    // Slower than the load, so that answers are outstanding at any time.
    let mut generator = generator(&[start(spinning(3_000))], IoChoice::Best, 2, &load);
    let (long, most) = (Duration::from_mins(4), Duration::from_mins(1));
    let window = SlicePlan { wait: Duration::from_secs(10), ..SlicePlan::window(0, long, 1, long) };
    for end in [AfterLook::Stop, AfterLook::End] {
        let (begun, mut looks) = (Instant::now(), 0);
        let mut look = |counted_from_ns: Option<u64>| {
            looks += u32::from(counted_from_ns.is_some_and(|ns| ns <= net::clock::now_ns()));
            if looks < 3 { AfterLook::GoOn } else { end }
        };
        let outcome = generator.slice_with_looks(&window, Duration::from_millis(100), &mut look).unwrap();
        assert!(outcome.tally.completed > 0 && outcome.tally.duration_ns < most.as_nanos() as u64);
        assert_eq!(outcome.carried_over > 0, end == AfterLook::Stop, "{}", outcome.carried_over);
        assert!(begun.elapsed() < most && looks >= 3, "{looks} looks in {:?}", begun.elapsed());
        let brief = Duration::from_millis(200);
        let outcome = generator.slice(&SlicePlan::window(0, brief, 1, brief)).unwrap();
        assert!(outcome.tally.duration_ns >= brief.as_nanos() as u64, "{}", outcome.tally.duration_ns);
    }
}

#[test]
fn a_server_that_is_gone_is_told_of_and_the_other_goes_on() {
    let urls = [start(spinning(100)), "http://127.0.0.1:1/".to_owned()];
    let plans = urls.iter().map(|url| Plan { probe: false, ..plan(url, IoChoice::Best, closed()) }).collect();
    let mut generator = Generator::start(plans, Arc::default()).unwrap();
    let brief = |target| SlicePlan {
        longest_lead_in: Duration::from_millis(50),
        longest: Duration::from_millis(100),
        length: Duration::from_millis(50),
        ..SlicePlan::of(target)
    };
    for _ in 0..2 {
        let outcome = generator.slice(&brief(1)).unwrap();
        assert!(outcome.tally.completed == 0 && outcome.is_cut);
        assert!(outcome.uncounted.errors.connect + outcome.tally.errors.connect > 0);
        assert!(generator.slice(&brief(0)).unwrap().tally.completed > 0);
    }
}

#[test]
fn what_can_not_be_is_refused() {
    let start_all = |plans| Generator::start(plans, Arc::default()).err().map(|error| error.to_string());
    assert!(start_all(Vec::new()).unwrap().contains("there are none"));
    let url = start(config());
    let open = Load::Open {
        rate_per_s: 100.0.into(),
        connections: 1,
        arrivals: Arrivals::Constant,
        per_connection: None,
    };
    let best = IoChoice::Best;
    let mixed = vec![plan(&url, best, closed()), plan(&url, best, open)];
    assert!(start_all(mixed).unwrap().contains("open load"));
    let encrypted = url.replacen("http:", "https:", 1);
    let mixed = vec![plan(&url, best, closed()), plan(&encrypted, best, closed())];
    assert!(start_all(mixed).unwrap().contains("encrypted"));
    assert!(matches!(
        Generator::start(vec![plan("http://127.0.0.1:1/", best, closed())], Arc::default()).err(),
        Some(LoadError::Connect { .. })
    ));
    let mut generator = generator(&[url], best, 1, &closed());
    assert!(matches!(generator.slice(&SlicePlan::of(1)), Err(LoadError::Slice(_))));
    assert!(generator.slice(&SlicePlan::of(0)).is_ok(), "and goes on after that");
}
