//! The order of one turn's calls: neighbours that may overlap run together, everything else alone and in order.

use std::ops::Range;

/// Groups calls, given for each whether it may overlap with its neighbours. Ranges follow each other without gaps.
pub fn batches(overlaps: &[bool]) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = Vec::new();
    for (index, &overlap) in overlaps.iter().enumerate() {
        match found.last_mut() {
            Some(last) if overlap && overlaps.get(last.start) == Some(&true) => last.end = index + 1,
            _ => found.push(index..index + 1),
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_of_overlapping_neighbours() {
        assert!(batches(&[]).is_empty());
        assert_eq!(batches(&[true, true, false, true, false, false, true, true]), [0..2, 2..3, 3..4, 4..5, 5..6, 6..8]);
    }
}
