//! What scripts say in ROS 2: a driver takes it, and hands in what comes.

use super::Controller;
use crate::ros::{End, RosOutput};

impl Controller {
    /// What scripts have opened, sent or closed next. Nobody has to ask: of messages the newest are kept, as many as each publisher
    /// keeps.
    pub fn poll_ros(&mut self) -> Option<RosOutput> {
        self.plant.ros.poll()
    }

    /// A message for a subscriber, CDR with its encapsulation: whether it is one of its type, and somebody listens.
    pub fn ros_message(&mut self, end: End, bytes: &[u8]) -> bool {
        self.plant.ros.arrive(end, bytes)
    }

    /// Notes whether somebody serves what a script's client calls.
    pub fn ros_served(&mut self, end: End, served: bool) {
        self.plant.ros.serve(end, served);
    }

    /// The answer to a request, likewise: whether it is one of its type, and somebody waits for it.
    pub fn ros_answer(&mut self, end: End, number: u64, bytes: &[u8]) -> bool {
        self.plant.ros.answered(end, number, bytes)
    }
}
