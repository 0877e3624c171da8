//! What every page has around its content: the head, the navigation and the footer.

use maud::{DOCTYPE, Markup, html};

/// The section to which a page belongs; its link in the navigation is marked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SitePlace {
    Runs,
    Studies,
    Contenders,
    Compare,
    Live,
    Nowhere,
}

/// Every section with its address and name.
const SECTIONS: [(SitePlace, &str, &str); 5] = [
    (SitePlace::Runs, "/", "Runs"),
    (SitePlace::Compare, "/compare", "Compare"),
    (SitePlace::Studies, "/studies", "Studies"),
    (SitePlace::Contenders, "/contenders", "Contenders"),
    (SitePlace::Live, "/live", "Live"),
];

/// A whole page; `is_running`: whether a study is running, which the link to the section *Live* shows.
pub fn shell(is_running: bool, title: &str, place: SitePlace, body: &Markup) -> Markup {
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (title) " · drome" }
                link rel="icon" href="/assets/icon.svg" type="image/svg+xml";
                link rel="stylesheet" href="/assets/ui.css";
                script src="/assets/ui.js" defer {}
            }
            body {
                a.skip href="#content" { "Skip to the content" }
                header.top {
                    a.brand href="/" aria-label="drome, the list of runs" {
                        svg viewBox="0 0 34 20" width="34" height="20" aria-hidden="true" {
                            rect x="1.5" y="1.5" width="31" height="17" rx="8.5" class="brand-outer" {}
                            rect x="8" y="7" width="18" height="6" rx="3" class="brand-inner" {}
                        }
                        "drome"
                    }
                    nav aria-label="Sections" {
                        ul {
                            @for (section, address, name) in SECTIONS {
                                li {
                                    a href=(address) aria-current=[(section == place).then_some("page")] {
                                        (name)
                                        @if section == SitePlace::Live && is_running {
                                            span.beacon { span.unseen { " (a study is running)" } }
                                        }
                                    }
                                }
                            }
                        }
                    }
                }
                main id="content" tabindex="-1" { (body) }
                footer {
                    p { "drome " (env!("CARGO_PKG_VERSION")) " · unknown values are shown as unknown, never as 0" }
                }
            }
        }
    }
}

/// A time as people read it (`2026-11-21 19:25`), with the full timestamp for programs.
pub fn moment(rfc3339: &str) -> Markup {
    let shown = rfc3339.get(..16).map_or_else(|| rfc3339.to_owned(), |text| text.replace('T', " "));
    html! { time datetime=(rfc3339) { (shown) " UTC" } }
}
