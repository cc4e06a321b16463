//! Cartesian values with one field per axis, and the conversions to and from their order on the wire
//! (`core/docs/protocol/kuka-fri.md A2`).

use zerocopy::little_endian::F32;

use super::JOINTS;
use crate::fields::{FieldVisitor, Value, Wire};
use crate::robot::Wrench;

/// A frame: rotation and position of a coordinate system.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Frame {
    /// The rotation matrix, row by row, as received; it need not be orthonormal.
    pub rotation: [[f32; 3]; 3],
    /// The position x, y, z of the frame's origin \[m\].
    pub position: [f32; 3],
}

impl Frame {
    /// The frame without rotation, at the origin.
    pub const IDENTITY: Self =
        Self { rotation: [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]], position: [0.0; 3] };

    /// Returns the twelve numbers that transmit the frame: the three rows of the rotation matrix, each followed by one
    /// coordinate of the position.
    #[must_use]
    pub const fn to_rows(self) -> [f32; 12] {
        let [[a, b, c], [d, e, f], [g, h, i]] = self.rotation;
        let [x, y, z] = self.position;
        [a, b, c, x, d, e, f, y, g, h, i, z]
    }

    /// Returns the frame from the twelve numbers that transmit it.
    #[must_use]
    pub const fn from_rows([a, b, c, x, d, e, f, y, g, h, i, z]: [f32; 12]) -> Self {
        Self { rotation: [[a, b, c], [d, e, f], [g, h, i]], position: [x, y, z] }
    }
}

impl Default for Frame {
    fn default() -> Self {
        Self::IDENTITY
    }
}

/// A vector of six Cartesian numbers by axis, such as a wrench, a stiffness or a damping; its field in the datagram states
/// the unit. On the wire the order of the rotations is z, y, x.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct CartesianVector {
    /// The vector's numbers along the axes x, y, z.
    pub linear: [f32; 3],
    /// The vector's numbers about the axes x, y, z.
    pub angular: [f32; 3],
}

impl CartesianVector {
    /// Returns a vector with `linear` along each axis and `angular` about each axis.
    #[must_use]
    pub const fn uniform(linear: f32, angular: f32) -> Self {
        Self { linear: [linear; 3], angular: [angular; 3] }
    }

    /// Returns the vector's six numbers in the order in which they are transmitted.
    #[must_use]
    pub const fn to_wire_order(self) -> [f32; 6] {
        let ([x, y, z], [rx, ry, rz]) = (self.linear, self.angular);
        [x, y, z, rz, ry, rx]
    }

    /// Returns the vector from its six numbers in the order in which they are transmitted.
    #[must_use]
    pub const fn from_wire_order([x, y, z, rz, ry, rx]: [f32; 6]) -> Self {
        Self { linear: [x, y, z], angular: [rx, ry, rz] }
    }
}

impl From<CartesianVector> for Wrench {
    fn from(vector: CartesianVector) -> Self {
        Self { force: vector.linear, torque: vector.angular }
    }
}

impl From<Wrench> for CartesianVector {
    fn from(wrench: Wrench) -> Self {
        Self { linear: wrench.force, angular: wrench.torque }
    }
}

/// The Jacobian: the tool's velocity per joint velocity, for each axis and joint. The base joint is the first.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Jacobian {
    /// The tool's linear velocity along x, y, z per joint velocity \[m/rad\].
    pub linear: [[f32; JOINTS]; 3],
    /// The tool's angular velocity about x, y, z per joint velocity \[rad/rad\].
    pub angular: [[f32; JOINTS]; 3],
}

/// The joint-space inertia \[kg·m²\], row by row; a controller sends a symmetric matrix.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct MassMatrix(pub [[f32; JOINTS]; JOINTS]);

/// Defines `$Record`, the type of a field with several numbers in an FRI datagram. It has the form `$wire` in the
/// datagram and is converted to `$Host` in the host's memory.
macro_rules! numbers {
    ($Record:ident, $Host:ty, $wire:ty, |$read:ident| $from:expr, |$write:ident| $to:expr, |$shown:ident| $flat:expr) => {
        #[derive(
            Clone,
            Copy,
            Debug,
            zerocopy::FromBytes,
            zerocopy::IntoBytes,
            zerocopy::Immutable,
            zerocopy::KnownLayout,
            zerocopy::Unaligned,
        )]
        #[repr(C)]
        pub(crate) struct $Record($wire);

        impl Wire for $Record {
            type Host = $Host;
            fn host(&self) -> $Host {
                let $read = &self.0;
                $from
            }
            fn wire($write: $Host) -> Self {
                Self($to)
            }
            fn visit($shown: $Host, name: &str, visitor: &mut dyn FieldVisitor) {
                visitor.field(name, Value::F32s($flat));
            }
        }
    };
}

type Row = [F32; JOINTS];

fn row(row: &Row) -> [f32; JOINTS] {
    row.each_ref().map(|value| value.get())
}

numbers!(
    FrameField,
    Frame,
    [F32; 12],
    |rows| Frame::from_rows(Wire::host(rows)),
    |frame| Wire::wire(frame.to_rows()),
    |frame| &frame.to_rows()
);

numbers!(
    VectorField,
    CartesianVector,
    [F32; 6],
    |six| CartesianVector::from_wire_order(Wire::host(six)),
    |vector| Wire::wire(vector.to_wire_order()),
    |vector| &vector.to_wire_order()
);

numbers!(
    JacobianField,
    Jacobian,
    [Row; 6],
    |rows| {
        let [x, y, z, rz, ry, rx] = rows.each_ref().map(row);
        Jacobian { linear: [x, y, z], angular: [rx, ry, rz] }
    },
    |jacobian| in_wire_order(&jacobian).map(|row| row.map(F32::new)),
    |jacobian| in_wire_order(&jacobian).as_flattened()
);

numbers!(
    MassField,
    MassMatrix,
    [Row; JOINTS],
    |rows| MassMatrix(rows.each_ref().map(row)),
    |matrix| matrix.0.map(|row| row.map(F32::new)),
    |matrix| matrix.0.as_flattened()
);

fn in_wire_order(jacobian: &Jacobian) -> [[f32; JOINTS]; 6] {
    let ([x, y, z], [rx, ry, rz]) = (jacobian.linear, jacobian.angular);
    [x, y, z, rz, ry, rx]
}
