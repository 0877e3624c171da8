//! Tests that what is kept of profiles keeps to what is read, and that nothing else is read.

use super::*;

fn function(name: &str, ns: f64) -> ProfiledFunction {
    ProfiledFunction { name: name.to_owned(), ns_per_answer: ns, standard_error_ns: ns / 10.0 }
}

fn server(title: &str, difference: Option<ProfileDifference>) -> ProfiledServer {
    ProfiledServer {
        title: title.to_owned(),
        samples: 2_900,
        ns_per_answer: Some(19_500.0),
        functions: vec![function("write_[k]", 4_000.0)],
        difference,
        ..ProfiledServer::default()
    }
}

fn difference(more: Vec<ProfiledFunction>) -> ProfileDifference {
    ProfileDifference { ns_per_answer: 4_100.0, standard_error_ns: 200.0, more, less: Vec::new() }
}

fn two() -> VerdictProfile {
    let slower = difference(vec![function("to_vec", 2_600.0)]);
    VerdictProfile::new(vec![server("old", None), server("new", Some(slower))], None)
}

#[test]
fn what_fits_is_kept_as_it_is() {
    let profile = two();
    assert_eq!(profile.check(), Ok(()));
    let new = &profile.servers[1];
    assert_eq!((new.title.as_str(), new.samples, new.ns_per_answer), ("new", 2_900, Some(19_500.0)));
    let difference = new.difference.as_ref().unwrap();
    assert_eq!(difference.more, [function("to_vec", 2_600.0)]);
    assert!(difference.is_significant() && difference.margin_ns() == 600.0);
    let without = VerdictProfile::without("the kernel does not allow it");
    assert_eq!((without.check(), without.servers.len()), (Ok(()), 0));
}

#[test]
fn what_is_too_much_is_cut_and_what_is_no_number_is_left_out() {
    let long = format!("a\nb\u{1b}{}::write", "é".repeat(LONGEST_FUNCTION));
    let mut functions = vec![function("none", f64::NAN), function("endless", f64::INFINITY)];
    functions.extend((0..10_000).map(|_| function(&long, -1.0)));
    let own = ProfiledServer { functions, ns_per_answer: Some(f64::NAN), ..server(&long, None) };
    let broken = ProfileDifference { ns_per_answer: f64::NAN, ..ProfileDifference::default() };
    let mut all = vec![own, server("b", Some(broken)), ProfiledServer::without(&long, &long.repeat(9))];
    all.extend((0..MOST_PROFILED).map(|_| server("more", Some(difference(Vec::new())))));
    let profile = VerdictProfile::new(all, Some(&long.repeat(9)));
    assert_eq!(profile.check(), Ok(()), "{profile:?}");
    assert_eq!((profile.servers.len(), profile.left_out), (MOST_PROFILED, 3));
    let [own, b, without, ..] = &profile.servers[..] else { panic!("{profile:?}") };
    assert_eq!((own.functions.len(), own.ns_per_answer), (MOST_FUNCTIONS, None));
    assert_eq!((own.functions[0].name.as_str(), own.functions[0].ns_per_answer), ("endless", LONGEST_NS));
    let shown = &own.functions[1];
    assert!(shown.name.starts_with('…') && shown.name.ends_with("é::write"), "{}", shown.name);
    assert_eq!((shown.ns_per_answer, shown.standard_error_ns), (0.0, 0.0), "a time is not negative");
    assert_eq!(b.difference, None);
    assert!(without.why_not.as_ref().is_some_and(|why| why.starts_with("a b ") && why.ends_with('…')));
    let itself = VerdictProfile::new(vec![server("a", Some(difference(Vec::new())))], None);
    assert_eq!(itself.servers[0].difference, None, "nothing is compared with itself");
}

#[test]
fn what_drome_can_not_have_written_is_refused() {
    let wrong = |spoil: fn(&mut VerdictProfile)| {
        let mut profile = two();
        spoil(&mut profile);
        profile.check().unwrap_err()
    };
    assert!(wrong(|p| p.servers = vec![p.servers[0].clone(); MOST_PROFILED + 1]).contains("servers: 7"));
    assert!(wrong(|p| p.servers.reverse()).contains("compared with itself"));
    assert!(wrong(|p| p.left_out = usize::MAX).contains("left_out"));
    assert!(wrong(|p| p.why_not = Some("x".repeat(501))).contains("a sentence's bytes: 501"));
    assert!(wrong(|p| p.servers[1].hint = Some("x".repeat(501))).contains("a sentence's bytes"));
    assert!(wrong(|p| p.servers[1].title = "x".repeat(101)).contains("a name's bytes: 101"));
    assert!(wrong(|p| p.servers[1].samples = u64::MAX).contains("samples is out of range"));
    assert!(wrong(|p| p.servers[1].ns_per_answer = Some(-1.0)).contains("out of range"));
    assert!(wrong(|p| p.servers[1].ns_per_answer = Some(f64::NAN)).contains("out of range"));
    assert!(wrong(|p| p.servers[0].functions[0].ns_per_answer = -0.1).contains("function's CPU time"));
    assert!(wrong(|p| p.servers[0].functions[0].ns_per_answer = 1e300).contains("function's CPU time"));
    assert!(wrong(|p| p.servers[0].functions[0].standard_error_ns = f64::NAN).contains("standard error"));
    assert!(wrong(|p| p.servers[0].functions[0].name = "x".repeat(201)).contains("function's bytes: 201"));
    assert!(
        wrong(|p| p.servers[0].functions = vec![function("f", 1.0); 10_000]).contains("functions: 10000")
    );
    let of_new = |spoil: fn(&mut ProfileDifference)| {
        let mut profile = two();
        spoil(profile.servers[1].difference.as_mut().unwrap());
        profile.check().unwrap_err()
    };
    assert!(of_new(|d| d.ns_per_answer = f64::NEG_INFINITY).contains("a difference in CPU time"));
    assert!(of_new(|d| d.standard_error_ns = -1.0).contains("a standard error is out of range"));
    assert!(of_new(|d| d.more = vec![function("f", 1.0); 6]).contains("functions: 6"));
    assert!(of_new(|d| d.less = vec![function("f", f64::NAN)]).contains("function's CPU time"));
}
