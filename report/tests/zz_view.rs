//! Throw-away.
#![allow(clippy::unwrap_used)]
use report::chart::course::{Row as TrialsRow, State, Trial, Trials};
use report::chart::heat::Heat;
use report::chart::history::{Mark, Panel, Timeline};
use report::chart::load::{Course, LoadChart, Step};
use report::chart::percentiles::{Curve, Percentiles};
use report::chart::ranked::{Ranked, Row};
use report::chart::scatter::{Bubble, Scatter};
use report::chart::slope::{Line, Slope};
use report::chart::{Caption, Point, Unit};

fn r(i: usize, k: usize) -> f64 {
    let x = ((i * 7919 + k * 104_729 + 13) as f64 * 0.618_033_988_7).fract();
    x
}
fn name(i: usize) -> String {
    let a = [
        "Perl Mojolicious under hypnotoad",
        "Go",
        "Rust axum",
        "Java Netty",
        "Python uvicorn + FastAPI",
        "Node.js",
        "nginx",
        "Ruby Puma",
        "C# Kestrel minimal API",
    ];
    format!("{} {i}", a[i % a.len()])
}
fn put(name: &str, svg: String) {
    std::fs::create_dir_all("/tmp/charts-pics/v").unwrap();
    std::fs::write(format!("/tmp/charts-pics/v/{name}.svg"), svg).unwrap();
}
#[test]
fn view() {
    for n in [1_usize, 10, 60] {
        let c = |t: &str| {
            Caption::new(
                t,
                "nginx leads with 52,300/s; not to be told from it: Go fasthttp, Rust axum and 3 others; last Perl HTTP::Server::Simple under hypnotoad, 1,210/s (0.0231 of the first).",
            )
        };
        let value = |i: usize| 120_000.0 / 10_f64.powf(4.0 * i as f64 / 60.0);
        let p = |v: f64, h: f64| Point::new(v, Some(v * (1.0 - h)), Some(v * (1.0 + h)));
        let rows = (0..n)
            .map(|i| Row {
                label: name(i),
                point: p(value(i), 0.01 + 0.05 * r(i, 1)),
                is_floor: i == 0,
                tier: Some(1 + i / 4),
            })
            .collect();
        put(
            &format!("ranked-{n}"),
            Ranked {
                caption: c("keep-alive: answers per second"),
                axis: "answers per second".into(),
                unit: Unit::Rate,
                rows,
                ceiling: Some(120_000.0),
                noise_floor: Some(0.013),
            }
            .svg(),
        );
        let bubbles = (0..n)
            .map(|i| Bubble {
                label: name(i),
                cpu_ns: p(1e9 / value(i) * (0.7 + r(i, 2)), 0.03).unwrap(),
                p99_ns: p(1e10 / value(i) * (0.3 + 3.0 * r(i, 3)), 0.1).unwrap(),
                rss_bytes: Some(4e6 * 10_f64.powf(2.0 * r(i, 4))),
                is_reference: i == 0,
            })
            .collect();
        put(
            &format!("scatter-{n}"),
            Scatter {
                caption: c("keep-alive: CPU for an answer, p99 and memory"),
                axis: "p99 at saturation".into(),
                bubbles,
            }
            .svg(),
        );
        let curves = (0..n)
            .map(|i| Curve {
                label: name(i),
                points: (0..=40)
                    .map(|k| 1.0 - 10_f64.powf(-f64::from(k) / 8.0))
                    .map(|s| (s, 1e9 / value(i) * (0.3 - (1.0 - s).ln() * (0.3 + r(i, 5)))))
                    .collect(),
            })
            .collect();
        put(
            &format!("percentiles-{n}"),
            Percentiles {
                caption: c("keep-alive: latency at saturation"),
                axis: "latency at saturation".into(),
                curves,
            }
            .svg(),
        );
        let courses = (0..n)
            .map(|i| Course {
                label: name(i),
                steps: [0.05, 0.2, 0.4, 0.6, 0.8, 0.9, 0.95, 1.05]
                    .map(|s| Step {
                        offered_per_s: value(i) * s,
                        latency_ns: (s < 1.0).then(|| 1e10 / value(i) * (1.0 + 0.4 * s / (1.0 - s))),
                        server_cores: Some(s.min(1.0)),
                    })
                    .to_vec(),
            })
            .collect();
        put(
            &format!("load-{n}"),
            LoadChart {
                caption: c("Latency and server CPU over the offered rate"),
                percentile: "p99".into(),
                courses,
            }
            .svg(),
        );
        let lines = (0..n)
            .map(|i| Line {
                label: name(i),
                published: 400.0 / 10_f64.powf(r(i, 6) * 1.5),
                measured: value(i),
            })
            .collect();
        put(&format!("slope-{n}"), Slope { caption: c("keep-alive: published and measured"), lines }.svg());
        let ratios = (0..n)
            .map(|i| {
                (0..5)
                    .map(|j| {
                        (r(i, j + 7) > 0.05).then(|| p(10_f64.powf(2.0 * r(i, j + 8) - 1.0), 0.1).unwrap())
                    })
                    .collect()
            })
            .collect();
        put(
            &format!("heat-{n}"),
            Heat {
                caption: c("Answers per second, as a multiple of the reference's"),
                rows: (0..n).map(name).collect(),
                columns: ["keep-alive", "a new connection every time", "50 kB png", "json", "fortunes"]
                    .map(String::from)
                    .to_vec(),
                ratios,
            }
            .svg(),
        );
        let rows = (0..n)
            .map(|i| TrialsRow {
                label: name(i),
                trials: (0..12)
                    .map(|b| {
                        let rate = value(i) * (1.0 + 0.02 * (r(i, b) - 0.5)) * if b > 7 { 0.96 } else { 1.0 };
                        let state = if r(i, b + 40) < 0.04 {
                            State::Void("the host took 20 % of this machine's time".into())
                        } else if r(i, b + 41) < 0.02 {
                            State::Failed("it died".into())
                        } else {
                            State::Valid
                        };
                        let f = matches!(state, State::Failed(_));
                        Trial {
                            nth: b * n + (i * 7) % n,
                            block: b,
                            copy: 0,
                            rate_per_s: (!f).then_some(rate),
                            course_per_s: if f {
                                vec![]
                            } else {
                                (0..40).map(|k| rate * (1.0 + 0.05 * (r(i * 3 + b, k) - 0.5))).collect()
                            },
                            state,
                        }
                    })
                    .collect(),
            })
            .collect();
        put(&format!("course-{n}"), Trials { caption: c("keep-alive: every trial"), rows }.svg());
        let panels = (0..=n)
            .map(|i| {
                let own = i % 3 == 1;
                Panel {
                    label: if i == 0 { "reference, drome serve".into() } else { name(i) },
                    unit: if i == 0 { Unit::Rate } else { Unit::Ratio },
                    points: (0..60)
                        .map(|k| {
                            let base = if i == 0 {
                                if k < 20 { 150_000.0 } else { 110_000.0 }
                            } else {
                                0.8 * r(i, 9) + 0.05
                            };
                            p(
                                base * (1.0 + 0.02 * (r(i, k) - 0.5))
                                    * if own && k > 40 { 0.85 } else { 1.0 },
                                0.01,
                            )
                            .filter(|_| r(i, k + 1) > 0.03)
                        })
                        .collect(),
                    steps: if i == 0 {
                        vec![Mark { at: 20, words: "−26.6 % (−27.0 to −26.1)".into(), is_own: false }]
                    } else if own {
                        vec![Mark {
                            at: 41,
                            words: "−15.2 % (−15.9 to −14.1), 1.2.3 → 1.3.0".into(),
                            is_own: true,
                        }]
                    } else {
                        vec![]
                    },
                }
            })
            .collect();
        put(
            &format!("history-{n}"),
            Timeline {
                caption: c("keep-alive: history"),
                days: (0..60).map(|k| format!("2026-{:02}-{:02}", 1 + k / 28, 1 + k % 28)).collect(),
                panels,
            }
            .svg(),
        );
    }
}
