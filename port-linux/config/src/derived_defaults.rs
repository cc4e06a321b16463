//! The keys whose default is computed from other keys, so that a file that changes one key is not rejected because
//! of the default of another.

use crate::expert::ExpertKey;

/// The keys whose default is computed from other keys, each with those other keys. All names are without the table
/// `expert`, as in [`EXPERT`](crate::EXPERT).
const FOLLOWS: &[(&str, &[&str])] = &[
    ("limits.braking", &["session.stop_acceleration", "session.own_stop"]),
    ("law.range", &["law.distance"]),
    ("law.joint_speed", &["limits.velocity"]),
    ("law.correction_deceleration", &["limits.acceleration"]),
    ("session.acceleration", &["limits.acceleration"]),
    ("session.stop_acceleration", &["limits.braking"]),
    ("session.hold", &["session.stale_after", "session.state_timeout", "session.margin"]),
    ("session.stale_after", &["session.hold", "session.margin", "session.clock_jump", "session.shift_hold"]),
    ("session.max_misses", &["session.stale_after"]),
    ("session.margin", &["session.stale_after"]),
    ("session.stall", &["session.stale_after"]),
    ("session.clock_jump", &["session.stale_after"]),
    ("session.arming_timeout", &["session.good_cycles"]),
    ("session.evidence_age", &["session.state_timeout"]),
    ("session.state_timeout", &["session.hold", "session.evidence_age"]),
    ("session.stop_timeout", &["standstill.window"]),
    ("session.shift_hold", &["session.stale_after"]),
    ("session.following_patience", &["session.following_late_patience"]),
    ("session.following_late_patience", &["session.following_patience"]),
    ("session.scaling_zero_below", &["session.scaling_free_from"]),
    ("session.scaling_free_from", &["session.scaling_zero_below"]),
    ("session.grade.perfect.received", &["session.grade.ok.received", "session.grade.bad.received"]),
    ("session.grade.perfect.delay", &["session.grade.ok.delay", "session.grade.bad.delay"]),
    ("session.grade.perfect.jitter", &["session.grade.ok.jitter", "session.grade.bad.jitter"]),
    ("session.grade.perfect.misses", &["session.grade.ok.misses", "session.grade.bad.misses"]),
    ("session.grade.ok.received", &["session.grade.perfect.received", "session.grade.bad.received"]),
    ("session.grade.ok.delay", &["session.grade.perfect.delay", "session.grade.bad.delay"]),
    ("session.grade.ok.jitter", &["session.grade.perfect.jitter", "session.grade.bad.jitter"]),
    ("session.grade.ok.misses", &["session.grade.perfect.misses", "session.grade.bad.misses"]),
    ("session.grade.bad.received", &["session.grade.perfect.received", "session.grade.ok.received"]),
    ("session.grade.bad.delay", &["session.grade.perfect.delay", "session.grade.ok.delay"]),
    ("session.grade.bad.jitter", &["session.grade.perfect.jitter", "session.grade.ok.jitter"]),
    ("session.grade.bad.misses", &["session.grade.perfect.misses", "session.grade.ok.misses"]),
    ("connect.back_off_min", &["connect.back_off_max"]),
    ("connect.back_off_max", &["connect.back_off_min"]),
];

impl ExpertKey {
    /// Returns the names of the keys from which the default of this expert key is computed, without the table `expert`.
    /// Empty if the default is fixed.
    #[must_use]
    pub fn follows(&self) -> &'static [&'static str] {
        FOLLOWS.iter().find(|(name, _)| *name == self.name).map_or(&[], |(_, others)| others)
    }
}
