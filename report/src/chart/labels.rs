//! Labels beside points that may lie on one another: each as near to its point as the others let it.

/// Moves places apart until each is at least `gap` from the next, and all lie between `low` and `high`, the order kept.
/// Where there is no room for all, they are spread evenly.
pub fn apart(places: &[f64], gap: f64, low: f64, high: f64) -> Vec<f64> {
    if places.is_empty() {
        return Vec::new();
    }
    let needed = gap * (places.len() - 1) as f64;
    let gap =
        if needed > high - low && places.len() > 1 { (high - low) / (places.len() - 1) as f64 } else { gap };
    let mut order: Vec<usize> = (0..places.len()).collect();
    order.sort_by(|a, b| places[*a].total_cmp(&places[*b]));
    // Groups of labels that touch lie around the mean of where they would be.
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

/// What lies beyond the end comes back, and moves those before it.
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
    fn too_many_are_spread_evenly() {
        let moved = apart(&[5.0; 11], 50.0, 0.0, 100.0);
        assert!(moved.windows(2).all(|pair| (pair[1] - pair[0] - 10.0).abs() < 1e-9), "{moved:?}");
        assert!(apart(&[], 1.0, 0.0, 1.0).is_empty());
    }
}
