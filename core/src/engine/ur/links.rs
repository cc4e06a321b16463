//! The links to a controller of Universal Robots.

use crate::engine::io::LinkId;

impl LinkId {
    /// The link for version, program, safety and configuration messages: port 30001, or 30002 if that is closed.
    pub const PRIMARY: Self = Self::of(0);
    /// The link for the URScript text that this driver sends, except for a program that the URCap requests, and for the
    /// state of every control cycle unless RTDE delivers it: port 30003.
    pub const REALTIME: Self = Self::of(1);
    /// The link for Real-Time Data Exchange, if it delivers the state of every control cycle: port 30004.
    pub const RTDE: Self = Self::of(2);
    /// The connection that this driver's program on the controller makes to the driver, if it carries the commands.
    pub const REVERSE: Self = Self::of(3);
    /// The connection by which the URCap External Control requests the program that carries the commands.
    pub const SCRIPT: Self = Self::of(4);
    /// The connection that a program of External Control makes for trajectories: their points, and their results.
    pub const TRAJECTORY: Self = Self::of(5);
    /// A connection that a program of External Control makes for commands that are executed once: no data is sent on
    /// it.
    pub const COMMAND: Self = Self::of(6);
}

/// The links that this driver opens to the controller, in the order of opening.
pub const LINKS: [LinkId; 3] = [LinkId::PRIMARY, LinkId::REALTIME, LinkId::RTDE];

/// The links on which unacknowledged bytes have consequences.
pub(super) const WATCHED: &[LinkId] = match cfg!(feature = "programs") {
    true => &[LinkId::PRIMARY, LinkId::REALTIME, LinkId::RTDE, LinkId::REVERSE],
    false => &LINKS,
};

/// Returns the name that reports use for a link.
#[must_use]
pub const fn link_name(link: LinkId) -> &'static str {
    match link {
        LinkId::PRIMARY => "primary",
        LinkId::REALTIME => "realtime",
        LinkId::REVERSE => "reverse",
        LinkId::SCRIPT => "script",
        LinkId::TRAJECTORY => "trajectory",
        LinkId::COMMAND => "command",
        _ => "rtde",
    }
}
