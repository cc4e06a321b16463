//! The control schemes with the fields that each of them takes (`core/docs/protocol/kuka-fri.md A8`). The flags follow
//! from the scheme. The fields that lead the arm are always sent; of the others, those that are not left to the KRL
//! program.

#[cfg(feature = "motions")]
use crate::command::AddedBounds;
use crate::robot::{BadValue, Key, Outside, Range, Setting, Table, settings, words};
use outrigger_wire::fri::{CartesianVector, CommandFlags, CommandRepr, ControlScheme, Frame, JOINTS};
use outrigger_wire::math::{Rotation, Vector3};
use outrigger_wire::robot::Wrench;
use outrigger_wire::time::Duration;

settings! {
    /// The parameters of joint impedance control on a KRC.
    #[derive(Clone, Copy, Debug, PartialEq)]
    #[cfg_attr(feature = "defmt", derive(defmt::Format))]
    #[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
    pub struct JointImpedance in "control." {
        /// The stiffness of each joint \[Nm/rad\].
        pub stiffness: [f32; JOINTS] [0.0 to 5000.0 "Nm/rad"] = [1000.0; JOINTS],
        /// The normalised damping of each joint's impedance; 0.7 is usual.
        pub damping: [f32; JOINTS] [0.0 to 1.0] = [0.7; JOINTS],
        /// The constant torques that are added to those of the KRC's own control, within the limits of an LWR 4+: 176,
        /// 176, 100, 100, 100, 38 and 38 Nm.
        pub torque: [f32; JOINTS] [-176.0 to 176.0 "Nm"] = [0.0; JOINTS],
        /// The fields of stiffness, damping and added torque that are not sent, because the KRL program decides them.
        pub left_to_krl nowhere: CommandFlags = CommandFlags::NONE,
    }
}

settings! {
    /// The parameters of Cartesian impedance control on a KRC.
    #[derive(Clone, Copy, Debug, PartialEq)]
    #[cfg_attr(feature = "defmt", derive(defmt::Format))]
    #[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
    pub struct ToolImpedance in "control." {
        /// The stiffness along and about the axes of the task frame \[N/m, Nm/rad\].
        pub stiffness: CartesianVector [0.0 to 5000.0 "N/m, Nm/rad"] = CartesianVector::uniform(2000.0, 200.0),
        /// The normalised damping along and about the axes of the task frame; 0.7 is usual.
        pub damping: CartesianVector [0.0 to 1.0] = CartesianVector::uniform(0.7, 0.7),
        /// The constant force \[N\] and torque \[Nm\] that are added to those of the KRC's own control.
        pub wrench: Wrench [-100.0 to 100.0 "N, Nm"] = Wrench::default(),
        /// The fields of stiffness, damping, added force and the posture of the null space that are not sent, because
        /// the KRL program decides them.
        pub left_to_krl nowhere: CommandFlags = CommandFlags::NONE,
        /// The choice of the tool's frame that is sent back to the KRC while it does not follow commands.
        pub mirrors at "mirrored_frame": MirroredFrame = MirroredFrame::default(),
    }
}

impl Setting for Wrench {
    type Range = Range<f32>;

    fn check(&self, range: &Range<f32>) -> Result<(), Outside> {
        let ([x, y, z], [rx, ry, rz]) = (self.force, self.torque);
        [x, y, z, rx, ry, rz].check(range)
    }

    fn read(table: &mut impl Table, key: Key, range: Range<f32>) -> Option<Self> {
        let [x, y, z, rx, ry, rz] = table.numbers(key, range)?;
        Some(Self { force: [x, y, z], torque: [rx, ry, rz] })
    }
}

/// The highest torques of an LWR 4+ \[Nm\] (`core/docs/protocol/kuka-fri.md A11`).
const TORQUE: [f32; JOINTS] = [176.0, 176.0, 100.0, 100.0, 100.0, 38.0, 38.0];

settings! {
    /// The limits of the torques or the wrench that our law adds to the KRC's own control in each cycle, in place of
    /// the configured constant. In files these settings are next to [`Limits`](crate::command::Limits).
    #[derive(Clone, Copy, Debug, PartialEq)]
    #[cfg_attr(feature = "defmt", derive(defmt::Format))]
    #[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
    pub struct AddedLimits in "added." {
        /// The highest torque added to each joint in joint impedance, in both directions \[Nm\]. Default: the highest
        /// torques of an LWR 4+.
        pub torque at "added_torque": [f32; JOINTS] [0.01 to 176.0 "Nm"] = TORQUE,
        /// The highest force and torque added at the tool in Cartesian impedance, in both directions \[N, Nm\].
        pub wrench at "added_wrench": Wrench [0.01 to 100.0 "N, Nm"] = Wrench { force: [100.0; 3], torque: [100.0; 3] },
        /// The time in which an added torque or force may rise from zero to its limit: no change is faster. When the
        /// law gives none any more, those in force return to the configured constant, no faster either.
        pub rise at "added_rise": Duration [0.002 to 5.0 "s"] = Duration::from_millis(500),
    }
}

impl AddedLimits {
    /// Checks that every limit of the added torques and forces is in its range.
    ///
    /// # Errors
    /// Returns the first limit that is outside its range.
    pub fn check(&self) -> Result<(), BadValue> {
        self.check_ranges()?;
        let held = self.torque.iter().zip(TORQUE).all(|(torque, most)| *torque <= most);
        BadValue::unless(held, "added.torque", "at most 176, 176, 100, 100, 100, 38 and 38 Nm")
    }
}

#[cfg(feature = "motions")]
impl AddedLimits {
    /// Checks that the constant added torque \[Nm\] or force \[N\] of `control` is within these limits, because the
    /// torques or forces that a law adds return to the constant.
    ///
    /// # Errors
    /// The limit that the constant exceeds.
    pub(super) fn check_constant(&self, control: &Control) -> Result<(), BadValue> {
        let expected = "at least the constant that robot.expert has for it";
        match control {
            Control::Position => Ok(()),
            Control::JointImpedance(JointImpedance { torque, .. }) => {
                let within = torque.iter().zip(&self.torque).all(|(constant, most)| constant.abs() <= *most);
                BadValue::unless(within, "added.torque", expected)
            }
            Control::ToolImpedance(ToolImpedance { wrench, .. }) => {
                let pairs = |constant: &[f32; 3], most: &[f32; 3]| {
                    constant.iter().zip(most).all(|(constant, most)| constant.abs() <= *most)
                };
                let within = pairs(&wrench.force, &self.wrench.force) && pairs(&wrench.torque, &self.wrench.torque);
                BadValue::unless(within, "added.wrench", expected)
            }
        }
    }
}

impl JointImpedance {
    /// The fields that may be [left](Self::left_to_krl) to the KRL program, by their names in configurations.
    pub const FIELDS: &[(&str, CommandFlags)] = &[
        ("stiffness", CommandFlags::JOINT_STIFFNESS),
        ("damping", CommandFlags::JOINT_DAMPING),
        ("torque", CommandFlags::JOINT_TORQUE),
    ];
    const OPTIONAL: CommandFlags =
        CommandFlags::JOINT_STIFFNESS.with(CommandFlags::JOINT_DAMPING).with(CommandFlags::JOINT_TORQUE);
}

impl ToolImpedance {
    /// The fields that may be [left](Self::left_to_krl) to the KRL program, by their names in configurations.
    pub const FIELDS: &[(&str, CommandFlags)] = &[
        ("stiffness", CommandFlags::CARTESIAN_STIFFNESS),
        ("damping", CommandFlags::CARTESIAN_DAMPING),
        ("wrench", CommandFlags::TOOL_WRENCH),
        ("posture", CommandFlags::JOINT_POSITION),
    ];
    const OPTIONAL: CommandFlags = CommandFlags::CARTESIAN_STIFFNESS
        .with(CommandFlags::CARTESIAN_DAMPING)
        .with(CommandFlags::TOOL_WRENCH)
        .with(CommandFlags::JOINT_POSITION);
}

/// The choice of the frame that is sent back to a KRC before it follows commands. The frame that a KRC expects then is
/// not known (`core/docs/protocol/kuka-fri.md A10.2`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub enum MirroredFrame {
    /// The setpoint, as for the joints: the frame that the KRC commands itself, moved by the offset that FRI has left.
    /// Positions are added, and the offset's rotation comes first. Without an offset, or with one that is no frame, it
    /// is [`Commanded`](Self::Commanded).
    #[default]
    Setpoint,
    /// The frame that the KRC commands itself, without any offset of FRI.
    Commanded,
    /// The measured frame of the tool is sent.
    Measured,
}

words!(MirroredFrame { "setpoint" = Setpoint, "commanded" = Commanded, "measured" = Measured });

/// The frame in which a KRC sends its Jacobian and the force at the tool: `$STIFFNESS.TASKFRAME` of the KRL program
/// (`core/docs/protocol/kuka-fri.md A5`). The measurement does not contain the name of the frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub enum TaskFrame {
    /// The Jacobian and the force are along the axes of the robot's base.
    #[default]
    Base,
    /// The Jacobian and the force are along the axes of the tool.
    Tool,
}

words!(TaskFrame { "base" = Base, "tool" = Tool });

impl TaskFrame {
    /// Converts a vector along the axes of this frame to the axes of the base; `tool` is the rotation of the tool's frame.
    pub(super) fn to_base(self, tool: &Rotation, vector: Vector3) -> Vector3 {
        match self {
            Self::Base => vector,
            Self::Tool => tool.apply(vector),
        }
    }
}

/// The reason for which parameters of a control scheme are rejected.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum ControlRefusal {
    /// Another control scheme is in force. It can be changed only while the KRC is in monitor state and no request to
    /// command is active.
    OtherScheme(ControlScheme),
    /// The parameters would change which fields are sent. A KRC accepts that only in its monitor state, while no
    /// request to command is active.
    OtherFields(CommandFlags),
    /// A parameter of the control scheme is out of its range.
    BadValue(BadValue),
}

impl core::fmt::Display for ControlRefusal {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let when = "it changes only in the KRC's monitor state, without a pending request";
        match self {
            Self::OtherScheme(scheme) => write!(f, "the control scheme in force is {scheme}: {when}"),
            Self::OtherFields(flags) => write!(f, "commands have the fields {:#06x}: {when}", flags.bits()),
            Self::BadValue(value) => value.fmt(f),
        }
    }
}

impl core::error::Error for ControlRefusal {}

/// A control scheme of a KRC and its parameters.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub enum Control {
    /// Joint position control, which has no parameters.
    #[default]
    Position,
    /// Joint impedance control, with its parameters.
    JointImpedance(JointImpedance),
    /// Cartesian impedance control: a frame leads the tool, and the joints' target is the posture of the null space.
    ToolImpedance(ToolImpedance),
}

impl Control {
    /// Returns the control scheme that the KRL program has to select.
    #[must_use]
    pub const fn scheme(&self) -> ControlScheme {
        match self {
            Self::Position => ControlScheme::Position,
            Self::JointImpedance(_) => ControlScheme::JointImpedance,
            Self::ToolImpedance(_) => ControlScheme::CartesianImpedance,
        }
    }

    /// Returns the set of fields that commands of this scheme contain, the same in every cycle.
    #[must_use]
    pub const fn flags(&self) -> CommandFlags {
        match self {
            Self::Position => CommandFlags::JOINT_POSITION,
            Self::JointImpedance(JointImpedance { left_to_krl, .. }) => {
                CommandFlags::JOINT_POSITION.with(JointImpedance::OPTIONAL.without(*left_to_krl))
            }
            Self::ToolImpedance(ToolImpedance { left_to_krl, .. }) => {
                CommandFlags::CARTESIAN_POSITION.with(ToolImpedance::OPTIONAL.without(*left_to_krl))
            }
        }
    }

    /// Returns `true` if the arm follows commands of this scheme while `scheme` is active on the KRC: the KRC uses
    /// every field of the commands, and in both schemes the joints lead the arm, or in both the tool. Commands of joint
    /// position control also lead in joint impedance, with the stiffness that the KRL program sets.
    pub(super) const fn leads_in(&self, scheme: ControlScheme) -> bool {
        let by_tool = matches!(scheme, ControlScheme::CartesianImpedance);
        by_tool == matches!(self, Self::ToolImpedance(_)) && CommandFlags::usable(scheme).contains(self.flags())
    }

    /// Checks every parameter of the control scheme.
    ///
    /// # Errors
    /// Returns the first parameter that is outside its range.
    pub fn check(&self) -> Result<(), BadValue> {
        match self {
            Self::Position => Ok(()),
            Self::JointImpedance(impedance) => {
                impedance.check_ranges()?;
                let held = impedance.torque.iter().zip(TORQUE).all(|(torque, most)| torque.abs() <= most);
                BadValue::unless(held, "control.torque", "at most 176, 176, 100, 100, 100, 38 and 38 Nm")?;
                let optional = JointImpedance::OPTIONAL.contains(impedance.left_to_krl);
                BadValue::unless(optional, "control.left_to_krl", "of \"stiffness\", \"damping\" and \"torque\"")
            }
            Self::ToolImpedance(impedance) => {
                impedance.check_ranges()?;
                let optional = ToolImpedance::OPTIONAL.contains(impedance.left_to_krl);
                let words = "of \"stiffness\", \"damping\", \"wrench\" and \"posture\"";
                BadValue::unless(optional, "control.left_to_krl", words)
            }
        }
    }

    /// Returns the bounds of the torques or forces that our law may add to the KRC's own control; `None` if the KRC
    /// adds nothing, or the KRL program decides the field.
    #[cfg(feature = "motions")]
    pub(super) const fn added(&self, limits: &AddedLimits) -> Option<AddedBounds> {
        let AddedLimits { torque, wrench, rise } = limits;
        let flags = self.flags();
        match self {
            Self::JointImpedance(impedance) if flags.contains(CommandFlags::JOINT_TORQUE) => {
                Some(AddedBounds::of_torques(*torque, *rise, impedance.torque))
            }
            Self::ToolImpedance(impedance) if flags.contains(CommandFlags::TOOL_WRENCH) => {
                Some(AddedBounds::of_wrench(wrench, *rise, &impedance.wrench))
            }
            Self::Position | Self::JointImpedance(_) | Self::ToolImpedance(_) => None,
        }
    }

    /// Writes the torques \[Nm\] or forces \[N\] that our law adds to the KRC's own control into `command`, in place of
    /// the configured constant.
    #[cfg(feature = "motions")]
    pub(super) fn write_added(&self, added: &[f32; JOINTS], command: &mut CommandRepr) {
        match self {
            Self::Position => {}
            Self::JointImpedance(_) => command.add_jnt_trq = *added,
            Self::ToolImpedance(_) => {
                let [x, y, z, rx, ry, rz, _] = *added;
                command.add_tcp_ft = Wrench { force: [x, y, z], torque: [rx, ry, rz] }.into();
            }
        }
    }

    /// Writes the flags and the parameters of the control scheme into `command`; `frame` is the commanded pose of the
    /// tool. Torque and force are added only while the KRC `follows`; at other times it expects its own values back
    /// (`core/docs/protocol/kuka-fri.md A10.2`).
    pub(super) fn write(&self, frame: Frame, follows: bool, command: &mut CommandRepr) {
        command.cmd_flags = self.flags().bits();
        // A frame that was never set is an error on the KRC, even if it is not used.
        command.cart_pos = frame;
        match self {
            Self::Position => {}
            Self::JointImpedance(impedance) => {
                command.jnt_stiffness = impedance.stiffness;
                command.jnt_damping = impedance.damping;
                command.add_jnt_trq = if follows { impedance.torque } else { [0.0; JOINTS] };
            }
            Self::ToolImpedance(impedance) => {
                command.cart_stiffness = impedance.stiffness;
                command.cart_damping = impedance.damping;
                command.add_tcp_ft = if follows { impedance.wrench } else { Wrench::default() }.into();
            }
        }
    }
}

/// Six numbers of a vector along and about three axes; in files first those along x, y, z, then those about x, y, z.
impl Setting for CartesianVector {
    type Range = Range<f32>;

    fn check(&self, range: &Range<f32>) -> Result<(), Outside> {
        let ([x, y, z], [rx, ry, rz]) = (self.linear, self.angular);
        [x, y, z, rx, ry, rz].check(range)
    }

    fn read(table: &mut impl Table, key: Key, range: Range<f32>) -> Option<Self> {
        let [x, y, z, rx, ry, rz] = table.numbers(key, range)?;
        Some(Self { linear: [x, y, z], angular: [rx, ry, rz] })
    }
}
