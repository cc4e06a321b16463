//! Controller generations, software versions and arm models.

/// The family of a Universal Robots controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Generation {
    /// The family CB2, with software 1.x.
    Cb2,
    /// The family of CB3 and CB3.1, with software 3.x.
    Cb3,
    /// The family e-Series, with software 5.x.
    ESeries,
    /// The family PolyScope X, with software 10.x.
    PolyScopeX,
}

/// The software version of a controller; versions can be compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct SoftwareVersion {
    /// The major number of the software version: 1, 3, 5 or 10.
    pub major: u8,
    /// The minor number of the software version: 15 of 5.15.
    pub minor: u8,
    /// The bug-fix number of the software version: 2 of 5.12.2.
    pub bugfix: u32,
}

impl SoftwareVersion {
    /// Returns the software version `major.minor.0`.
    #[must_use]
    pub const fn new(major: u8, minor: u8) -> Self {
        Self { major, minor, bugfix: 0 }
    }

    /// Returns whether this software version is `major.minor` or later. Versions of all families are in one order: 5.0
    /// is later than 3.15.
    #[must_use]
    pub fn at_least(self, major: u8, minor: u8) -> bool {
        (self.major, self.minor) >= (major, minor)
    }

    /// Returns the family of controllers that has this software version. Major versions between the known ones belong
    /// to the earlier family.
    #[must_use]
    pub const fn generation(self) -> Generation {
        match self.major {
            0..=2 => Generation::Cb2,
            3 | 4 => Generation::Cb3,
            5..=9 => Generation::ESeries,
            10.. => Generation::PolyScopeX,
        }
    }
}

impl core::fmt::Display for SoftwareVersion {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{}.{}.{}", self.major, self.minor, self.bugfix)
    }
}

impl Generation {
    /// Returns the period \[µs\] in which controllers of this family control the arm and send its state: 8 ms up to
    /// CB3, 2 ms after.
    #[must_use]
    pub const fn period_micros(self) -> u64 {
        match self {
            Self::Cb2 | Self::Cb3 => 8_000,
            Self::ESeries | Self::PolyScopeX => 2_000,
        }
    }
}

macro_rules! models {
    ($($variant:ident $text:literal),+ $(,)?) => {
        /// A model of a robot arm.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[cfg_attr(feature = "defmt", derive(defmt::Format))]
        #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
        pub enum RobotModel { $(#[doc = $text] $variant),+ }

        impl RobotModel {
            /// The list of all arm models.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// Returns the arm model's name used in options and configuration, e.g. `ur5e`.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $text),+ }
            }

            /// Returns the arm model with this name, as [`name`](Self::name) returns it (`ur5` and `ur5e` are different
            /// arms); `None` if there is none.
            #[must_use]
            pub fn from_name(name: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|m| m.name() == name)
            }
        }
    };
}

models! {
    Ur3 "ur3", Ur5 "ur5", Ur10 "ur10",
    Ur3e "ur3e", Ur5e "ur5e", Ur7e "ur7e", Ur10e "ur10e", Ur12e "ur12e", Ur16e "ur16e",
    Ur8Long "ur8long", Ur15 "ur15", Ur18 "ur18", Ur20 "ur20", Ur30 "ur30",
}

impl RobotModel {
    /// Returns the joint that can turn without end, according to its data sheet (wrist 3 of UR3 and UR3e), counted
    /// from 0 at the base; `None` if there is none.
    #[must_use]
    pub const fn endless_joint(self) -> Option<usize> {
        match self {
            Self::Ur3 | Self::Ur3e => Some(5),
            _ => None,
        }
    }

    /// Returns the rated payload \[kg\] of the data sheet, or of later software releases if they raised it.
    #[must_use]
    pub const fn rated_payload(self) -> f32 {
        match self {
            Self::Ur3 | Self::Ur3e => 3.0,
            Self::Ur5 | Self::Ur5e => 5.0,
            Self::Ur7e => 7.5,
            Self::Ur8Long => 8.0,
            Self::Ur10 => 10.0,
            Self::Ur10e | Self::Ur12e => 12.5,
            Self::Ur16e => 16.0,
            Self::Ur15 => 17.5,
            Self::Ur18 => 18.0,
            Self::Ur20 => 25.0,
            Self::Ur30 => 35.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_compare_whole_not_by_minor() {
        let v = SoftwareVersion::new(5, 0);
        assert!(v.at_least(3, 15) && !v.at_least(5, 1));
        assert_eq!(v.generation(), Generation::ESeries);
    }

    #[test]
    fn every_model_is_found_by_its_name() {
        for model in RobotModel::ALL {
            assert_eq!(RobotModel::from_name(model.name()), Some(*model));
        }
    }
}
