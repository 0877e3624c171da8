//! The placing of labels beside points that may overlap, each as close to its point as the others allow.

use super::canvas::Anchor;

/// The height of a label.
const HIGH: f64 = 15.0;

/// A disc that needs a label.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spot {
    /// The centre.
    pub at: (f64, f64),
    /// The horizontal extent from the centre, with everything that belongs to the disc.
    pub across: f64,
    /// The vertical extent from the centre.
    pub down: f64,
    /// The length of its label.
    pub length: f64,
}

/// The place of a label.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Place {
    /// The position of its text.
    pub at: (f64, f64),
    /// The alignment of the text to this position.
    pub anchor: Anchor,
    /// Whether it is so far from its disc that it needs a leader line.
    pub is_far: bool,
}

/// Left, top, right, bottom.
type Box4 = (f64, f64, f64, f64);

/// A place within a frame for each label, beside its disc or some way off, so that no labels overlap and, if possible, no label
/// covers a disc. `None` for a label that finds no room.
pub fn around(spots: &[Spot], frame: Box4) -> Vec<Option<Place>> {
    // The corners of the box around a disc are empty.
    let disc = |Spot { at: (x, y), across, down, .. }: &Spot| {
        (x - across * 0.8, y - down * 0.8, x + across * 0.8, y + down * 0.8)
    };
    let discs: Vec<Box4> = spots.iter().map(disc).collect();
    let mut taken: Vec<Box4> = Vec::new();
    let mut places = vec![None; spots.len()];
    for (i, spot) in spots.iter().enumerate() {
        let is_free = |place: &&(Place, Box4), of: &[Box4]| {
            let own = place.1;
            let is_inside = own.0 >= frame.0 && own.1 >= frame.1 && own.2 <= frame.2 && own.3 <= frame.3;
            is_inside && !of.iter().any(|other| do_overlap(own, *other))
        };
        let candidates = candidates(spot);
        let clear = candidates.iter().find(|place| is_free(place, &taken) && is_free(place, &discs));
        if let Some((place, own)) = clear.or_else(|| candidates.iter().find(|place| is_free(place, &taken))) {
            places[i] = Some(*place);
            taken.push(*own);
        }
    }
    places
}

fn do_overlap(a: Box4, b: Box4) -> bool {
    a.0 < b.2 && b.0 < a.2 && a.1 < b.3 && b.1 < a.3
}

/// The candidate places, from the nearest to the farthest: right, left, above, below, and then around in widening rings.
fn candidates(spot: &Spot) -> Vec<(Place, Box4)> {
    const AROUND: [(f64, f64); 12] = [
        (1.0, 0.0),
        (-1.0, 0.0),
        (0.0, -1.0),
        (0.0, 1.0),
        (0.8, -0.6),
        (0.8, 0.6),
        (-0.8, -0.6),
        (-0.8, 0.6),
        (0.5, -0.9),
        (0.5, 0.9),
        (-0.5, -0.9),
        (-0.5, 0.9),
    ];
    let mut all = Vec::new();
    for ring in [0.0, 10.0, 22.0, 36.0, 54.0, 76.0, 102.0, 132.0, 166.0, 204.0] {
        for (across, down) in AROUND {
            let (aside, above) = (spot.across + 4.0 + ring, spot.down + 4.0 + ring + HIGH / 2.0);
            let (x, y) = (spot.at.0 + across * aside, spot.at.1 + down * above);
            let (anchor, left) = match across {
                a if a > 0.0 => (Anchor::Start, x),
                a if a < 0.0 => (Anchor::End, x - spot.length),
                _ => (Anchor::Middle, x - spot.length / 2.0),
            };
            let own = (left, y - HIGH / 2.0, left + spot.length, y + HIGH / 2.0);
            all.push((Place { at: (x, y), anchor, is_far: ring > 0.0 }, own));
        }
    }
    all
}

/// Moves positions apart until each is at least `gap` from the next and all lie between `low` and `high`, in the same order. If
/// there is not enough room, they are spread evenly.
pub fn apart(places: &[f64], gap: f64, low: f64, high: f64) -> Vec<f64> {
    if places.is_empty() {
        return Vec::new();
    }
    let needed = gap * (places.len() - 1) as f64;
    let gap =
        if needed > high - low && places.len() > 1 { (high - low) / (places.len() - 1) as f64 } else { gap };
    let mut order: Vec<usize> = (0..places.len()).collect();
    order.sort_by(|a, b| places[*a].total_cmp(&places[*b]));
    // A group of labels that touch is centred on the mean of their own positions.
    let mut groups: Vec<(f64, Vec<usize>)> = Vec::new();
    for i in order {
        groups.push((places[i], vec![i]));
        while groups.len() > 1 && do_touch(&groups[groups.len() - 2], &groups[groups.len() - 1], gap) {
            let (_, members) = groups.pop().unwrap_or_default();
            if let Some((centre, before)) = groups.last_mut() {
                before.extend(members);
                *centre = before.iter().map(|i| places[*i]).sum::<f64>() / before.len() as f64;
            }
        }
    }
    let mut moved = vec![low; places.len()];
    let mut least = low;
    for (centre, members) in &groups {
        let half = gap * (members.len() - 1) as f64 / 2.0;
        let first = (centre - half).max(least);
        for (k, i) in members.iter().enumerate() {
            moved[*i] = first + gap * k as f64;
        }
        least = first + 2.0 * half + gap;
    }
    push_back(&mut moved, &groups, gap, high);
    moved
}

fn do_touch(one: &(f64, Vec<usize>), next: &(f64, Vec<usize>), gap: f64) -> bool {
    let half = |members: &[usize]| gap * (members.len() - 1) as f64 / 2.0;
    next.0 - half(&next.1) - (one.0 + half(&one.1)) < gap
}

/// Moves labels beyond the end back, and with them those before.
fn push_back(moved: &mut [f64], groups: &[(f64, Vec<usize>)], gap: f64, high: f64) {
    let mut most = high;
    for i in groups.iter().flat_map(|(_, members)| members).rev() {
        moved[*i] = moved[*i].min(most);
        most = moved[*i] - gap;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_far_apart_stays() {
        assert_eq!(apart(&[10.0, 90.0, 50.0], 12.0, 0.0, 100.0), [10.0, 90.0, 50.0]);
    }

    #[test]
    fn what_touches_is_spread_around_its_middle() {
        assert_eq!(apart(&[50.0, 50.0, 50.0], 10.0, 0.0, 100.0), [40.0, 50.0, 60.0]);
        assert_eq!(apart(&[0.0, 0.0], 10.0, 0.0, 100.0), [0.0, 10.0]);
        assert_eq!(apart(&[100.0, 99.0], 10.0, 0.0, 100.0), [100.0, 90.0]);
    }

    #[test]
    fn labels_lie_around_what_they_name_and_not_on_one_another() {
        let frame = (0.0, 0.0, 600.0, 400.0);
        let spot = |x: f64, y: f64| Spot { at: (x, y), across: 5.0, down: 5.0, length: 80.0 };
        let alone = around(&[spot(300.0, 200.0)], frame);
        assert_eq!(alone[0].map(|p| (p.at, p.is_far)), Some(((309.0, 200.0), false)));
        // At the right edge it stands to the left.
        assert_eq!(around(&[spot(590.0, 200.0)], frame)[0].map(|p| p.anchor), Some(Anchor::End));
        let crowd = around(&[spot(300.0, 200.0); 40], frame);
        assert!(crowd.iter().flatten().count() >= 30, "{crowd:?}");
        assert!(around(&[spot(5.0, 5.0)], (0.0, 0.0, 20.0, 20.0))[0].is_none());
    }

    #[test]
    fn too_many_are_spread_evenly() {
        let moved = apart(&[5.0; 11], 50.0, 0.0, 100.0);
        assert!(moved.windows(2).all(|pair| (pair[1] - pair[0] - 10.0).abs() < 1e-9), "{moved:?}");
        assert!(apart(&[], 1.0, 0.0, 1.0).is_empty());
    }
}
