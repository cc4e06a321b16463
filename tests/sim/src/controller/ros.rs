//! ROS 2 outputs of scripts for a driver, and its inputs.

use super::Controller;
use crate::ros::{End, RosOutput};

impl Controller {
    /// Returns the next output of scripts: an endpoint that was opened or closed, or a message. Polling is optional:
    /// of the messages, as many of the newest are stored as the publisher's queue depth.
    pub fn poll_ros(&mut self) -> Option<RosOutput> {
        self.plant.ros.poll()
    }

    /// Passes a message to a subscriber, CDR with its encapsulation. Returns whether it is a valid message of its
    /// type, and the subscriber exists.
    pub fn ros_message(&mut self, end: End, bytes: &[u8]) -> bool {
        self.plant.ros.arrive(end, bytes)
    }

    /// Sets whether a server exists for the service of a script's client.
    pub fn ros_served(&mut self, end: End, served: bool) {
        self.plant.ros.serve(end, served);
    }

    /// Passes the answer to a request, CDR with its encapsulation. Returns whether it is a valid message of its type,
    /// and a client waits for it.
    pub fn ros_answer(&mut self, end: End, number: u64, bytes: &[u8]) -> bool {
        self.plant.ros.answered(end, number, bytes)
    }
}
