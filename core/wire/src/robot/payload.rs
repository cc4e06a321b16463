//! What the arm carries.

/// A load at the flange.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Payload {
    /// \[kg\].
    pub mass: f32,
    /// In the flange's frame \[m\].
    pub center_of_gravity: [f32; 3],
}
