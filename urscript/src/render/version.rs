//! Software versions, on which the URScript forms of a controller depend.

/// The software version of a controller, `major.minor`. Versions of all families are in one order: 5.0 is later than
/// 3.15.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Version {
    /// The major version: 1 (CB2), 3 (CB3), 5 (e-Series) or 10 (PolyScope X).
    pub major: u8,
    /// The minor version: 15 of 5.15.
    pub minor: u8,
}

impl Version {
    /// Returns software version `major.minor`.
    #[must_use]
    pub const fn new(major: u8, minor: u8) -> Self {
        Self { major, minor }
    }
}

impl core::fmt::Display for Version {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}
