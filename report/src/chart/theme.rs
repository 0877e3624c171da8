//! The look of charts: every class that a mark can have, light and dark. The rules apply only within a chart, so that a page
//! with charts can have classes of its own.

/// The fonts of all text, in order of preference.
pub const FONTS: &str = "system-ui, sans-serif";

/// The number of distinguishable curves: six hues and four patterns in turn, so that neighbours differ in print without colour.
/// Further curves are thin and grey.
pub const SERIES: usize = 12;

const PATTERNS: [&str; 4] = ["", " long", " short", " mixed"];

/// The light style. The hues are those of Okabe and Ito (2008), which colour-blind people can distinguish; light ones are
/// darkened to a contrast of 3 to 1 with white (WCAG 2.2, 1.4.11). The sixth is their black.
const LIGHT: &str = "
.chart .paper{fill:#fff}.chart .ink{fill:#1a1a1a}.chart .faint{fill:#595f66}
.chart .title{font-size:14px;font-weight:600}.chart .bold{font-weight:600}
.chart .rule{stroke:#e3e5e8}.chart .axis{stroke:#7b828a}.chart .leader{stroke:#a4aab0;stroke-width:.75}
.chart .band{fill:#f4f5f7}.chart .strip{fill:#e69f00;fill-opacity:.3}
.chart .ceiling{stroke:#c65500;stroke-width:1.5;stroke-dasharray:6 3}
.chart .curve{fill:none;stroke-width:1.75;stroke-linejoin:round}.chart .thin{stroke-width:1.1}
.chart .long{stroke-dasharray:7 3}.chart .short{stroke-dasharray:2 2.5}.chart .mixed{stroke-dasharray:9 3 2 3}
.chart .dot{fill:#0072b2}.chart .hollow{fill:#fff;stroke:#0072b2;stroke-width:1.5}.chart .whisker{stroke:#0072b2;stroke-width:2;fill:none}
.chart .level{stroke:#0072b2;stroke-opacity:.6}.chart .range{stroke:#a4aab0;fill:none}.chart .cross{stroke:#c65500;stroke-width:1.5;fill:none}
.chart .hatch{stroke:#6b7178;stroke-opacity:.45;fill:none}.chart .hover{fill-opacity:0}
.chart .bubble{fill-opacity:.3;stroke-width:1.25}
.chart .s0{stroke:#0072b2}.chart .s1{stroke:#c65500}.chart .s2{stroke:#008a64}.chart .s3{stroke:#b3588f}
.chart .s4{stroke:#a87400}.chart .s5{stroke:#4b5157}.chart .rest{stroke:#a4aab0;stroke-width:1}
.chart .f0{fill:#0072b2}.chart .f1{fill:#c65500}.chart .f2{fill:#008a64}.chart .f3{fill:#b3588f}
.chart .f4{fill:#a87400}.chart .f5{fill:#4b5157}.chart .frest{fill:#a4aab0}
";

/// The dark style, for readers who have chosen it.
const DARK: &str = "@media (prefers-color-scheme:dark){
.chart .paper{fill:#14171a}.chart .ink{fill:#eceff1}.chart .faint{fill:#a9b1b7}
.chart .rule{stroke:#2b3035}.chart .axis{stroke:#8d959c}.chart .leader{stroke:#6d757c}
.chart .band{fill:#1c2024}.chart .strip{fill-opacity:.28}.chart .ceiling{stroke:#f0893f}
.chart .dot{fill:#56b4e9}.chart .hollow{fill:#14171a;stroke:#56b4e9}.chart .whisker,.chart .level{stroke:#56b4e9}
.chart .level{stroke:#0072b2;stroke-opacity:.6}.chart .range{stroke:#6d757c}.chart .cross{stroke:#f0893f}.chart .hatch{stroke:#a9b1b7}
.chart .s0{stroke:#56b4e9}.chart .s1{stroke:#f0893f}.chart .s2{stroke:#2cc295}.chart .s3{stroke:#dd9cc2}
.chart .s4{stroke:#e6b032}.chart .s5{stroke:#d5dade}.chart .rest{stroke:#6d757c}
.chart .f0{fill:#56b4e9}.chart .f1{fill:#f0893f}.chart .f2{fill:#2cc295}.chart .f3{fill:#dd9cc2}
.chart .f4{fill:#e6b032}.chart .f5{fill:#d5dade}.chart .frest{fill:#6d757c}
}
";

/// The `style` element of every chart.
pub fn style() -> String {
    format!("<style>{LIGHT}{DARK}</style>\n")
}

/// A chart without its style, for a page with many charts that has [`css`] once.
pub fn bare(svg: &str) -> String {
    svg.replacen(&style(), "", 1)
}

/// A chart that is always light: for pictures, which cannot follow the reader's choice.
pub fn light(svg: &str) -> String {
    svg.replacen(DARK, "", 1)
}

/// The rules of the style, light and dark.
pub fn css() -> String {
    format!("{LIGHT}{DARK}")
}

/// The class for the stroke of the curve with this number.
pub fn stroke(i: usize) -> String {
    if i < SERIES { format!("s{}{}", i % 6, PATTERNS[i % 4]) } else { "rest".to_owned() }
}

/// The class for the fill of what belongs to this curve.
pub fn fill(i: usize) -> String {
    if i < SERIES { format!("f{}", i % 6) } else { "frest".to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The colour of a class in a style.
    fn colour(style: &str, class: &str) -> [f64; 3] {
        let (_, after) = style.split_once(&format!(".chart .{class}{{")).unwrap();
        let (_, hex) = after.split_once('#').unwrap();
        let digits: String = hex.chars().take_while(char::is_ascii_hexdigit).collect();
        let whole = if digits.len() == 3 { digits.chars().flat_map(|c| [c, c]).collect() } else { digits };
        [0, 2, 4].map(|at| f64::from(u8::from_str_radix(&whole[at..at + 2], 16).unwrap()) / 255.0)
    }

    /// WCAG 2.2: relative luminance.
    fn luminance(rgb: [f64; 3]) -> f64 {
        let linear = rgb.map(|c| if c <= 0.04045 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) });
        0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    }

    #[test]
    fn text_and_marks_stand_out_in_light_and_dark() {
        for style in [LIGHT, DARK] {
            let of = |class: &str| luminance(colour(style, class));
            let contrast = |a: f64, b: f64| (a.max(b) + 0.05) / (a.min(b) + 0.05);
            for (class, least) in
                [("ink", 7.0), ("faint", 4.5), ("axis", 3.0), ("dot", 3.0), ("ceiling", 3.0)]
                    .into_iter()
                    .chain(["s0", "s1", "s2", "s3", "s4", "s5", "f0", "f5"].map(|class| (class, 3.0)))
            {
                for ground in ["paper", "band"] {
                    let found = contrast(of(class), of(ground));
                    assert!(found >= least, "{class} on {ground}: {found:.2} in {style}");
                }
            }
        }
    }

    #[test]
    fn no_two_curves_look_alike_and_neighbours_differ_without_colour() {
        let all: std::collections::BTreeSet<String> = (0..SERIES).map(stroke).collect();
        assert_eq!(all.len(), SERIES);
        let pattern = |i: usize| stroke(i).split_once(' ').map(|(_, pattern)| pattern.to_owned());
        assert!((1..SERIES).all(|i| pattern(i) != pattern(i - 1)));
    }

    #[test]
    fn a_forced_light_has_no_dark_and_a_bare_one_no_style() {
        let svg = format!("<svg>{}</svg>", style());
        assert!(svg.contains("dark") && !light(&svg).contains("dark"));
        assert_eq!(bare(&svg), "<svg></svg>");
    }
}
