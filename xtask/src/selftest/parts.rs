//! The races: between equals, and between servers of which one costs so much more time a request.

/// Races of one difference.
pub struct Part {
    /// What it is asked for by.
    pub name: &'static str,
    /// How much more time a request costs the slower one.
    pub cost: f64,
    /// How many races, unless told.
    pub races: usize,
}

/// A request costs both servers so much, so that the server is the bound.
pub const SERVICE_NS: u64 = 20_000;

/// All of them, the longest first.
pub const PARTS: [Part; 6] = [
    Part { name: "equal", cost: 0.0, races: 40 },
    Part { name: "1%", cost: 0.01, races: 20 },
    Part { name: "2%", cost: 0.02, races: 20 },
    Part { name: "3%", cost: 0.03, races: 20 },
    Part { name: "5%", cost: 0.05, races: 20 },
    Part { name: "10%", cost: 0.10, races: 20 },
];
