//! The ROS 2 outputs of PolyScope X scripts, which the driver of the simulation forwards to other participants, and the
//! inputs that it passes in.

use super::Controller;
use crate::ros::{End, RosOutput};

impl Controller {
    /// Returns the next ROS 2 output of scripts: an endpoint that was opened or closed, a message or a service request;
    /// `None` if there is none. Polling is optional: of the messages, as many of the newest are stored as the
    /// publisher's queue depth.
    pub fn poll_ros(&mut self) -> Option<RosOutput> {
        self.plant.ros.poll()
    }

    /// Passes a ROS 2 message that the caller has received from the network to a subscriber of a script. `bytes` is CDR
    /// with its encapsulation header. Returns whether the subscriber exists and the message is valid for its type.
    pub fn ros_message(&mut self, end: End, bytes: &[u8]) -> bool {
        self.plant.ros.arrive(end, bytes)
    }

    /// Sets whether a server exists on the network for the service that a script's client calls.
    pub fn ros_served(&mut self, end: End, served: bool) {
        self.plant.ros.serve(end, served);
    }

    /// Passes the answer to a service request of a script. `bytes` is CDR with its encapsulation header. Returns
    /// whether a client waits for this answer and the message is valid for its type.
    pub fn ros_answer(&mut self, end: End, number: u64, bytes: &[u8]) -> bool {
        self.plant.ros.answered(end, number, bytes)
    }
}
