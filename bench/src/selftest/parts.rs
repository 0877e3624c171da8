//! The races: between equal servers, on a quiet machine and on one with a neighbour, and between servers of which one needs more time for a
//! request.

/// A series of races with the same difference.
pub struct Part {
    /// Selects it on the command line.
    pub name: &'static str,
    /// How much longer the slower server takes for a request, as a share of the faster one's time.
    pub cost: f64,
    /// The default number of races.
    pub races: usize,
    /// Whether another program takes half of the servers' core meanwhile.
    pub neighbour: bool,
}

/// The time that both servers spin for each request, long enough that the server is the bottleneck.
pub const SERVICE_NS: u64 = 20_000;

/// All of them, in the order of the table.
pub const PARTS: [Part; 7] = [
    Part { name: "equal", cost: 0.0, races: 40, neighbour: false },
    Part { name: "1%", cost: 0.01, races: 20, neighbour: false },
    Part { name: "2%", cost: 0.02, races: 20, neighbour: false },
    Part { name: "3%", cost: 0.03, races: 20, neighbour: false },
    Part { name: "5%", cost: 0.05, races: 20, neighbour: false },
    Part { name: "10%", cost: 0.10, races: 20, neighbour: false },
    Part { name: "neighbour", cost: 0.0, races: 10, neighbour: true },
];
