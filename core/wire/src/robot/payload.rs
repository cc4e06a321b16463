//! The payload of the arm: the load at its flange.

/// A load at the flange of the arm: its mass and centre of gravity.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Payload {
    /// The mass of the load \[kg\].
    pub mass: f32,
    /// The centre of gravity of the load in the flange's frame \[m\].
    pub center_of_gravity: [f32; 3],
}
