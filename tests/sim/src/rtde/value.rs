//! Values and type words of RTDE (`core/docs/protocol/ur-rtde.md 4`), implemented independently: the simulator reads
//! and writes values without the core.

/// A value of an RTDE variable with its type.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Value {
    Bool(bool),
    Uint8(u8),
    Uint32(u32),
    Uint64(u64),
    Int32(i32),
    Double(f64),
    Vector3([f64; 3]),
    Vector6([f64; 6]),
    Vector6Int([i32; 6]),
}

impl Value {
    /// Returns the word by which RTDE names the value's type.
    pub(crate) fn word(&self) -> &'static str {
        match self {
            Self::Bool(_) => "BOOL",
            Self::Uint8(_) => "UINT8",
            Self::Uint32(_) => "UINT32",
            Self::Uint64(_) => "UINT64",
            Self::Int32(_) => "INT32",
            Self::Double(_) => "DOUBLE",
            Self::Vector3(_) => "VECTOR3D",
            Self::Vector6(_) => "VECTOR6D",
            Self::Vector6Int(_) => "VECTOR6INT32",
        }
    }

    /// Appends the RTDE value to the message bytes `bytes`, big-endian.
    pub(crate) fn append(&self, bytes: &mut Vec<u8>) {
        match self {
            Self::Bool(value) => bytes.push(u8::from(*value)),
            Self::Uint8(value) => bytes.push(*value),
            Self::Uint32(value) => bytes.extend(value.to_be_bytes()),
            Self::Uint64(value) => bytes.extend(value.to_be_bytes()),
            Self::Int32(value) => bytes.extend(value.to_be_bytes()),
            Self::Double(value) => bytes.extend(value.to_be_bytes()),
            Self::Vector3(values) => values.iter().for_each(|value| bytes.extend(value.to_be_bytes())),
            Self::Vector6(values) => values.iter().for_each(|value| bytes.extend(value.to_be_bytes())),
            Self::Vector6Int(values) => values.iter().for_each(|value| bytes.extend(value.to_be_bytes())),
        }
    }

    /// Removes a value of this value's type from the front of `bytes` and returns it. `None` if there are too few
    /// bytes.
    pub(crate) fn take(&self, bytes: &mut &[u8]) -> Option<Self> {
        fn next<const N: usize>(bytes: &mut &[u8]) -> Option<[u8; N]> {
            let (first, rest) = bytes.split_first_chunk()?;
            *bytes = rest;
            Some(*first)
        }
        fn doubles<const N: usize>(bytes: &mut &[u8]) -> Option<[f64; N]> {
            let mut values = [0.0; N];
            for value in &mut values {
                *value = f64::from_be_bytes(next(bytes)?);
            }
            Some(values)
        }
        Some(match self {
            Self::Bool(_) => Self::Bool(next::<1>(bytes)? != [0]),
            Self::Uint8(_) => Self::Uint8(u8::from_be_bytes(next(bytes)?)),
            Self::Uint32(_) => Self::Uint32(u32::from_be_bytes(next(bytes)?)),
            Self::Uint64(_) => Self::Uint64(u64::from_be_bytes(next(bytes)?)),
            Self::Int32(_) => Self::Int32(i32::from_be_bytes(next(bytes)?)),
            Self::Double(_) => Self::Double(f64::from_be_bytes(next(bytes)?)),
            Self::Vector3(_) => Self::Vector3(doubles(bytes)?),
            Self::Vector6(_) => Self::Vector6(doubles(bytes)?),
            Self::Vector6Int(_) => {
                let mut values = [0; 6];
                for value in &mut values {
                    *value = i32::from_be_bytes(next(bytes)?);
                }
                Self::Vector6Int(values)
            }
        })
    }
}
