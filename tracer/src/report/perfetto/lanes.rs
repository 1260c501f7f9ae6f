//! Tracks of one sort side by side: slices that overlap without being inside each other can't be on one track.

/// Which slice is on which track. Slices on a track come in the order of time.
#[derive(Debug, Default)]
pub(super) struct Lanes {
    /// The end of the last slice of each, and its track.
    lanes: Vec<(i64, u64)>,
}

impl Lanes {
    /// The track for a slice: the first one that has nothing at or after its begin. A new one is made if need be.
    pub(super) fn place(&mut self, begin_ns: i64, end_ns: i64, make: impl FnOnce() -> u64) -> u64 {
        match self.lanes.iter_mut().find(|(last_ns, _)| *last_ns <= begin_ns) {
            Some((last_ns, track)) => {
                *last_ns = end_ns;
                *track
            }
            None => {
                let track = make();
                self.lanes.push((end_ns, track));
                track
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slices_that_overlap_are_on_different_tracks() {
        let (mut lanes, mut made) = (Lanes::default(), 0);
        let mut place = |begin_ns, end_ns| {
            lanes.place(begin_ns, end_ns, || {
                made += 1;
                made
            })
        };
        let tracks = [(0, 10), (10, 20), (15, 25), (20, 30), (5, 6), (25, 25), (30, 31)]
            .map(|(begin, end)| place(begin, end));
        assert_eq!(tracks, [1, 1, 2, 1, 3, 2, 1]);
    }
}
