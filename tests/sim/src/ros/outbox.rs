//! The ROS 2 outputs of scripts that the driver of the simulation has not polled yet. Their number is bounded, because
//! there may be no driver.

use std::collections::VecDeque;

use super::{End, RosOutput};

/// The highest number of ROS 2 outputs of scripts that wait until the caller of the simulator polls them.
const WAITING: usize = 4096;
/// The highest number of bytes in the ROS 2 messages and requests that wait until the caller polls them.
const BYTES: usize = 8 << 20;

/// The ROS 2 outputs of scripts, in their order, that the caller of the simulator has not polled yet.
#[derive(Debug, Default)]
pub(super) struct Outbox {
    waiting: VecDeque<RosOutput>,
    bytes: usize,
}

fn size(output: &RosOutput) -> usize {
    match output {
        RosOutput::Message { bytes, .. } | RosOutput::Request { bytes, .. } => bytes.len(),
        _ => 0,
    }
}

fn is_sent(output: &RosOutput) -> bool {
    matches!(output, RosOutput::Message { .. } | RosOutput::Request { .. })
}

impl Outbox {
    pub(super) fn poll(&mut self) -> Option<RosOutput> {
        let output = self.waiting.pop_front()?;
        self.bytes -= size(&output);
        Some(output)
    }

    /// Adds a ROS 2 message or request of an endpoint. If `depth` of the same endpoint wait already, their oldest is
    /// dropped.
    pub(super) fn push_within(&mut self, output: RosOutput, depth: usize) {
        let mut same = self.waiting.iter().filter(|waiting| waiting.end() == output.end() && is_sent(waiting));
        if same.by_ref().count() >= depth {
            let end = output.end();
            self.drop_first(|waiting| waiting.end() == end && is_sent(waiting));
        }
        self.push(output);
    }

    pub(super) fn push(&mut self, output: RosOutput) {
        self.bytes += size(&output);
        self.waiting.push_back(output);
        while self.bytes > BYTES && self.drop_first(is_sent) {}
        while self.waiting.len() > WAITING && (self.drop_first(is_sent) || self.forget_one()) {}
    }

    fn drop_first(&mut self, is_it: impl Fn(&RosOutput) -> bool) -> bool {
        let Some(at) = self.waiting.iter().position(is_it) else { return false };
        if let Some(dropped) = self.waiting.remove(at) {
            self.bytes -= size(&dropped);
        }
        true
    }

    /// Makes room in a full outbox: drops all outputs of one ROS 2 endpoint that is closed already. Returns `false` if
    /// there is none.
    fn forget_one(&mut self) -> bool {
        let closed = self.waiting.iter().find_map(|output| match output {
            RosOutput::Closed { end } => Some(*end),
            _ => None,
        });
        let Some(end) = closed else { return false };
        self.drop_all(end);
        true
    }

    fn drop_all(&mut self, end: End) {
        self.waiting.retain(|output| output.end() != end);
        self.bytes = self.waiting.iter().map(size).sum();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(end: u32, size: usize) -> RosOutput {
        RosOutput::Message { end: End(end), bytes: vec![0; size] }
    }

    #[test]
    fn the_newest_of_an_end_are_kept_as_deep_as_it_says() {
        let mut outbox = Outbox::default();
        for size in 1..=5 {
            outbox.push_within(message(1, size), 2);
            outbox.push_within(message(2, size), 1);
        }
        let all: Vec<_> = std::iter::from_fn(|| outbox.poll()).collect();
        assert_eq!(all, [message(1, 4), message(1, 5), message(2, 5)]);
        assert_eq!(outbox.bytes, 0);
    }

    #[test]
    fn nothing_grows_where_nobody_takes_it() {
        let mut outbox = Outbox::default();
        for end in 0..20_000 {
            outbox.push(RosOutput::Asks { end: End(end), service: "/a".into(), kind: "std_srvs/srv/Trigger" });
            outbox.push_within(message(end, 10_000), 10);
            outbox.push(RosOutput::Closed { end: End(end) });
        }
        assert!(outbox.waiting.len() <= WAITING && outbox.bytes <= BYTES, "{}", outbox.waiting.len());
        // A late driver receives no close of an endpoint whose opening it has not received.
        let all: Vec<_> = std::iter::from_fn(|| outbox.poll()).collect();
        assert_eq!(all.last(), Some(&RosOutput::Closed { end: End(19_999) }));
        for (at, output) in all.iter().enumerate() {
            if let RosOutput::Closed { end } = output {
                let opened = all[..at].iter().any(|one| matches!(one, RosOutput::Asks { .. }) && one.end() == *end);
                assert!(opened, "{end:?}");
            }
        }
        assert_eq!(outbox.bytes, 0);
    }
}
