//! Chains of return addresses: how the kernel's own chain is split, and how it continues an unwound stack.

/// Values from here on are marks, not addresses: `PERF_CONTEXT_MAX`.
const MARKS: u64 = (-4095_i64) as u64;

/// What follows is the kernel's part: `PERF_CONTEXT_KERNEL`.
const KERNEL: u64 = (-128_i64) as u64;

/// What follows is the part of user code: `PERF_CONTEXT_USER`.
const USER: u64 = (-512_i64) as u64;

/// A chain in its parts, innermost first. The first address of each part is an instruction; every other one is a return address minus
/// one, which is in the call that it belongs to.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Chain {
    /// In the kernel.
    pub kernel: Vec<u64>,
    /// In user code, by frame pointers: wrong or short where code does without them.
    pub user: Vec<u64>,
}

/// Splits a chain as the kernel gives it.
pub fn split(values: &[u64]) -> Chain {
    let mut chain = Chain::default();
    let mut mark = 0;
    for value in values {
        if *value >= MARKS {
            mark = *value;
            continue;
        }
        let part = match mark {
            KERNEL => &mut chain.kernel,
            USER => &mut chain.user,
            // Of a guest or a hypervisor.
            _ => continue,
        };
        part.push(if part.is_empty() { *value } else { value.saturating_sub(1) });
    }
    chain
}

/// A stack of user code, innermost first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Walk {
    /// The instruction, then return addresses minus one.
    pub addresses: Vec<u64>,
    /// Whether it ends because it reached the outermost function.
    pub is_complete: bool,
    /// Whether it ends because the copy of the stack does.
    pub is_cut: bool,
}

/// Continues an unwound stack that is not complete by the chain of frame pointers, from the outermost frame that is in both. If no frame
/// is, the longer of the two is taken.
pub fn continued(unwound: Walk, chain: &[u64]) -> Walk {
    if unwound.is_complete {
        return unwound;
    }
    let common = (0..unwound.addresses.len()).rev().find_map(|at| {
        let in_chain = chain.iter().rposition(|address| *address == unwound.addresses[at])?;
        Some((at, in_chain))
    });
    match common {
        Some((at, in_chain)) if chain.len() - in_chain > unwound.addresses.len() - at => {
            let addresses = unwound.addresses[..at].iter().chain(&chain[in_chain..]).copied().collect();
            Walk { addresses, ..unwound }
        }
        None if chain.len() > unwound.addresses.len() => Walk { addresses: chain.to_vec(), ..unwound },
        _ => unwound,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chain_has_a_part_of_the_kernel_and_one_of_user_code() {
        let chain = split(&[5, KERNEL, 0x8010, 0x8020, USER, 0x10, 0x20, 0x30, (-2048_i64) as u64, 7]);
        assert_eq!(chain, Chain { kernel: vec![0x8010, 0x801f], user: vec![0x10, 0x1f, 0x2f] });
        assert_eq!(split(&[]), Chain::default());
        assert_eq!(split(&[USER, 1, 0]).user, [1, 0]);
    }

    #[test]
    fn an_incomplete_stack_goes_on_where_frame_pointers_know_more() {
        let walk = |addresses: &[u64], is_complete| Walk {
            addresses: addresses.to_vec(),
            is_complete,
            is_cut: !is_complete,
        };
        let stopped = walk(&[1, 2, 3], false);
        assert_eq!(continued(stopped.clone(), &[1, 3, 4, 5]), walk(&[1, 2, 3, 4, 5], false));
        assert_eq!(continued(stopped.clone(), &[1, 3]), stopped, "it knows no more");
        assert_eq!(continued(stopped.clone(), &[1, 9]), stopped, "shorter from the common frame on");
        assert_eq!(
            continued(stopped.clone(), &[1, 7, 8, 9]),
            walk(&[1, 7, 8, 9], false),
            "longer from there on"
        );
        assert_eq!(
            continued(stopped.clone(), &[7, 8, 9, 10]),
            walk(&[7, 8, 9, 10], false),
            "nothing in common"
        );
        assert_eq!(continued(stopped.clone(), &[]), stopped);
        let chain = Walk { addresses: vec![1, 2], ..Walk::default() };
        assert_eq!(continued(Walk::default(), &[1, 2]), chain);
        let whole = walk(&[1, 2], true);
        assert_eq!(continued(whole.clone(), &[1, 2, 3, 4]), whole);
    }
}
