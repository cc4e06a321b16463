//! Values of a running URScript program.

use core::fmt;

use super::limits::Limits;

/// A value of a program. Lists are passed and assigned by value.
#[derive(Clone, Debug, PartialEq, Default)]
pub enum Value {
    /// `None`; also an argument that was not given and has no default.
    #[default]
    None,
    /// A truth value: `True` or `False`.
    Bool(bool),
    /// A whole number of 32 bits with sign.
    Int(i32),
    /// A double-precision floating-point number.
    Float(f64),
    /// A text, whose bytes are read as ISO 8859-1.
    String(String),
    /// A list, `[a, b, c]`; a list of lists of equal length is a matrix.
    List(Vec<Self>),
    /// A pose, `p[x, y, z, rx, ry, rz]`: position \[m\] and rotation vector \[rad\].
    Pose([f64; 6]),
    /// A struct, `struct(name=value, …)`: the members in their order.
    Struct(Vec<(String, Self)>),
    /// The handle of a thread, as `run` returns it.
    Thread(ThreadId),
    /// An object of the host, such as a publisher of ROS, identified by a number that the host chose. It has methods.
    Handle(u32),
}

/// The number of a thread in one machine; never reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ThreadId(pub u32);

impl ThreadId {
    /// The main thread, with which a program begins.
    pub const MAIN: Self = Self(0);
}

impl Value {
    /// Returns the value as a double-precision number if it is a whole number or a float; `None` for other kinds.
    #[must_use]
    pub fn number(&self) -> Option<f64> {
        match self {
            Self::Int(value) => Some(f64::from(*value)),
            Self::Float(value) => Some(*value),
            _ => None,
        }
    }

    /// Returns the value as a whole number if it is one, even if it is stored as a float; `None` otherwise.
    #[must_use]
    pub fn whole(&self) -> Option<i32> {
        match self {
            Self::Int(value) => Some(*value),
            Self::Float(value) if value.fract() == 0.0 && value.abs() < f64::from(i32::MAX) => Some(*value as i32),
            _ => None,
        }
    }

    /// Returns the value as `N` numbers if it is a list of as many numbers, or a pose and `N` is 6; `None` otherwise.
    #[must_use]
    pub fn vector<const N: usize>(&self) -> Option<[f64; N]> {
        let mut out = [0.0; N];
        match self {
            Self::List(items) if items.len() == N => {
                for (slot, item) in out.iter_mut().zip(items) {
                    *slot = item.number()?;
                }
            }
            Self::Pose(pose) if N == pose.len() => {
                for (slot, value) in out.iter_mut().zip(pose) {
                    *slot = *value;
                }
            }
            _ => return None,
        }
        Some(out)
    }

    /// Returns the text if the value is one; `None` for other kinds.
    #[must_use]
    pub fn text(&self) -> Option<&str> {
        if let Self::String(text) = self { Some(text) } else { None }
    }

    /// Returns the truth value for a condition: `true` for numbers other than 0 and texts that are not empty. `None`
    /// for lists, poses, structs, threads, handles and `None`, which cannot be conditions.
    #[must_use]
    pub fn truth(&self) -> Option<bool> {
        match self {
            Self::Bool(value) => Some(*value),
            Self::Int(value) => Some(*value != 0),
            Self::Float(value) => Some(*value != 0.0),
            Self::String(text) => Some(!text.is_empty()),
            Self::None | Self::List(_) | Self::Pose(_) | Self::Struct(_) | Self::Thread(_) | Self::Handle(_) => None,
        }
    }

    /// Returns the name of the value's kind, for error messages.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::None => "None",
            Self::Bool(_) => "Bool",
            Self::Int(_) => "Int",
            Self::Float(_) => "Float",
            Self::String(_) => "String",
            Self::List(_) => "List",
            Self::Pose(_) => "Pose",
            Self::Struct(_) => "Struct",
            Self::Thread(_) => "Thread",
            Self::Handle(_) => "Handle",
        }
    }

    /// Returns the size of the value, as [`Limits::list_weight`] limits it: 1 for a scalar, 6 for a pose, 1 more than
    /// its elements for a list or struct, and for a text 1 and one more per eight bytes.
    #[inline]
    pub(crate) fn weight(&self) -> usize {
        match self {
            Self::None | Self::Bool(_) | Self::Int(_) | Self::Float(_) | Self::Thread(_) | Self::Handle(_) => 1,
            Self::String(_) | Self::List(_) | Self::Pose(_) | Self::Struct(_) => self.weight_of_parts(),
        }
    }

    fn weight_of_parts(&self) -> usize {
        match self {
            Self::List(items) => items.iter().fold(1, |sum, item| sum.saturating_add(item.weight())),
            Self::Pose(_) => 6,
            Self::Struct(members) => members.iter().fold(1, |sum, (_, value)| sum.saturating_add(value.weight())),
            Self::String(text) => (text.len() / 8).saturating_add(1),
            _ => 1,
        }
    }

    /// Returns a copy. A number, which is most frequent, is copied without a call.
    #[inline]
    pub(crate) fn copied(&self) -> Self {
        match self {
            Self::Float(number) => Self::Float(*number),
            Self::Int(number) => Self::Int(*number),
            other => other.clone(),
        }
    }

    /// Returns the number of levels of lists and structs: 0 for a scalar. It is at most [`Limits::list_depth`], so this
    /// and every other recursion through a value is limited.
    fn depth(&self) -> usize {
        match self {
            Self::List(items) => items.iter().map(Self::depth).max().unwrap_or(0).saturating_add(1),
            Self::Struct(members) => {
                members.iter().map(|(_, value)| value.depth()).max().unwrap_or(0).saturating_add(1)
            }
            _ => 0,
        }
    }

    /// Returns whether a value is within the limits on its size ([`Limits::list_weight`]) and on its depth of nesting.
    pub(crate) fn fits(&self, limits: &Limits) -> bool {
        self.depth() <= limits.list_depth && self.weight() <= limits.list_weight
    }
}

/// The form that `to_str` and `textmsg` print: floats with at most six decimals and no trailing zeros.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => f.write_str("None"),
            Self::Bool(true) => f.write_str("True"),
            Self::Bool(false) => f.write_str("False"),
            Self::Int(value) => write!(f, "{value}"),
            Self::Float(value) => float(f, *value),
            Self::String(text) => f.write_str(text),
            Self::List(items) => {
                f.write_str("[")?;
                for (index, item) in items.iter().enumerate() {
                    f.write_str(if index == 0 { "" } else { ", " })?;
                    item.fmt(f)?;
                }
                f.write_str("]")
            }
            Self::Pose(values) => {
                f.write_str("p[")?;
                for (index, value) in values.iter().enumerate() {
                    f.write_str(if index == 0 { "" } else { ", " })?;
                    float(f, *value)?;
                }
                f.write_str("]")
            }
            Self::Struct(members) => {
                f.write_str("{")?;
                for (index, (name, value)) in members.iter().enumerate() {
                    write!(f, "{}{name}: {value}", if index == 0 { "" } else { ", " })?;
                }
                f.write_str("}")
            }
            Self::Thread(ThreadId(id)) | Self::Handle(id) => write!(f, "{id}"),
        }
    }
}

fn float(f: &mut fmt::Formatter<'_>, value: f64) -> fmt::Result {
    if !value.is_finite() {
        return write!(f, "{value}");
    }
    let text = format!("{value:.6}");
    let short = text.trim_end_matches('0').trim_end_matches('.');
    f.write_str(if short == "-0" { "0" } else { short })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_print_as_the_controller_prints_them() {
        let list = Value::List(vec![Value::Bool(true), Value::Int(-3), Value::Float(2.123_456_123_456)]);
        assert_eq!(list.to_string(), "[True, -3, 2.123456]");
        assert_eq!(Value::Float(1.0).to_string(), "1");
        assert_eq!(Value::Float(-1e-9).to_string(), "0");
        assert_eq!(Value::Float(1e10).to_string(), "10000000000");
        assert_eq!(Value::Pose([1.0, 2.0, 3.0, 4.0, 5.0, 6.0]).to_string(), "p[1, 2, 3, 4, 5, 6]");
    }

    #[test]
    fn a_vector_is_a_list_of_numbers_or_a_pose() {
        let list = Value::List(vec![Value::Int(1), Value::Float(0.5)]);
        assert_eq!(list.vector(), Some([1.0, 0.5]));
        assert_eq!(list.vector::<3>(), None);
        assert_eq!(Value::Pose([0.0; 6]).vector::<6>(), Some([0.0; 6]));
        assert_eq!(Value::List(vec![Value::Bool(true)]).vector::<1>(), None);
    }

    #[test]
    fn lists_are_bounded_in_depth_and_weight() {
        let limits = Limits { list_depth: 2, list_weight: 8, ..Limits::default() };
        let row = Value::List(vec![Value::Int(1); 3]);
        let matrix = Value::List(vec![row]);
        assert!(matrix.fits(&limits));
        assert!(!Value::List(vec![matrix]).fits(&limits));
        assert!(!Value::List(vec![Value::Int(1); 8]).fits(&limits));
    }
}
