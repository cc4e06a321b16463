//! Program-state messages, type 25 (`core/docs/protocol/ur-client-interfaces.md 4.5`): names and values of a program's
//! global variables, on 30001 from 3.0 on.
//!
//! The newline that ends a variable is not escaped inside binary values, so values are read by type. Lists may contain
//! lists: the iterator keeps the open ones in a fixed stack and returns a flat sequence of [`Element`]s.

use super::{PROGRAM_STATE, Text, emit_message};
use crate::fields::{FieldVisitor, Group, Value, Wire};
use crate::layout::Flag;
use crate::robot::SoftwareVersion;
use crate::{Put, Take, WireError, WireErrorKind};
use zerocopy::big_endian::{F32, I32, U16, U64};

/// The greatest depth to which lists in a program variable may be nested.
pub const MAX_DEPTH: usize = 8;

/// A program-state message. The common header is decoded at once, the payload on demand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProgramStateMessage<'a> {
    /// The time of the message on the controller's clock \[µs\], since the controller was started. The unit is
    /// unconfirmed; it is that of the robot mode data.
    pub timestamp: u64,
    /// The kind of program-state message, as a number.
    pub subtype: u8,
    bytes: Take<'a>,
}

/// The payload of a program-state message: names or values of a program's variables.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum ProgramStatePayload<'a> {
    /// The payload of kind 0: the names of the global variables.
    Setup {
        /// The number, among the program's global variables, of the first one in `names`.
        start_index: u16,
        /// The names of the global variables, in order.
        names: Names<'a>,
    },
    /// The payload of kind 1: the values of the global variables.
    Update {
        /// The number, among the program's global variables, of the first one in `variables`.
        start_index: u16,
        /// The values of the global variables, in order.
        variables: Variables<'a>,
    },
    /// The payload of kind 2: one variable as text; deprecated by the vendor.
    Variable {
        /// The title of the text about a program variable in a program-state message, at most 255 bytes.
        title: Text<'a>,
        /// The text that describes the variable.
        text: Text<'a>,
    },
    /// The undecoded payload: of another kind, or with values of variables whose type numbering is not known because
    /// the controller's software is not.
    Raw {
        /// The number of the kind of program-state message, as received.
        subtype: u8,
        /// The undecoded payload of the program-state message.
        bytes: Text<'a>,
    },
}

/// The numbering of the types of a program's variables; it changed twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum ValueNumbering {
    /// The type numbering of software up to 3.2.
    UpTo3_2,
    /// The type numbering of software 3.3 to 3.13 and 5.0 to 5.8.
    From3_3,
    /// The type numbering of software from 5.9 and, presumably, 3.14.
    From5_9,
}

impl ValueNumbering {
    /// Returns the numbering of variable types that `software` uses.
    #[must_use]
    pub fn of(software: SoftwareVersion) -> Self {
        if !software.at_least(3, 3) {
            Self::UpTo3_2
        } else if software.at_least(5, 9) || (software.major < 5 && software.at_least(3, 14)) {
            Self::From5_9
        } else {
            Self::From3_3
        }
    }

    /// Returns the numbers of the variable types VAR_STRING, LIST, POSE, BOOL, NUM, INT, FLOAT and MATRIX; 0 for a type
    /// that is missing.
    const fn numbers(self) -> [u8; 8] {
        match self {
            Self::UpTo3_2 => [0, 4, 9, 11, 12, 13, 14, 0],
            Self::From3_3 => [4, 5, 10, 12, 13, 14, 15, 0],
            Self::From5_9 => [4, 17, 12, 13, 14, 15, 16, 18],
        }
    }

    fn type_of(self, number: u8) -> Option<Type> {
        match number {
            0 => return Some(Type::None),
            3 => return Some(Type::ConstString),
            _ => {}
        }
        let types =
            [Type::VarString, Type::List, Type::Pose, Type::Bool, Type::Num, Type::Int, Type::Float, Type::Matrix];
        self.numbers().into_iter().zip(types).find(|(n, _)| *n == number).map(|(_, t)| t)
    }

    /// Returns the number of a type of program variables; `None` if this numbering lacks it.
    fn number_of(self, wanted: Type) -> Option<u8> {
        (0..=u8::MAX).find(|number| self.type_of(*number) == Some(wanted))
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Type {
    None,
    ConstString,
    VarString,
    List,
    Pose,
    Bool,
    Num,
    Int,
    Float,
    Matrix,
}

/// A part of a variable's value. A scalar is one element. A list or matrix is an opening element, its members, and
/// `End`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Element<'a> {
    /// A program variable without a value.
    None,
    /// A constant string as the value of a variable, at most 65 535 bytes.
    ConstString(Text<'a>),
    /// A string variable's value, at most 65 535 bytes; from 3.3 on.
    VarString(Text<'a>),
    /// A pose as the value of a variable: x, y, z \[m\], rx, ry, rz \[rad\].
    Pose([f32; 6]),
    /// A truth value of a variable.
    Bool(bool),
    /// A number of the controller's type `NUM` as the value of a variable.
    Num(f32),
    /// An integer as the value of a variable.
    Int(i32),
    /// A floating-point number as the value of a variable.
    Float(f32),
    /// The start of a list as the value of a variable; its elements follow.
    List {
        /// The number of elements in the list.
        count: u16,
    },
    /// The start of a matrix; its elements follow row by row. From 5.9 on.
    Matrix {
        /// The number of rows of the matrix.
        rows: u16,
        /// The number of columns of the matrix.
        columns: u16,
    },
    /// The end of the list or matrix that was opened last.
    End,
}

/// Iterates over the names of variables, each of which ends with a newline. An error is the last item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Names<'a>(Take<'a>);

impl<'a> Iterator for Names<'a> {
    type Item = Result<Text<'a>, WireError>;

    fn next(&mut self) -> Option<Self::Item> {
        let rest = self.0.rest();
        if rest.is_empty() {
            return None;
        }
        let Some(length) = rest.iter().position(|byte| *byte == b'\n') else {
            let error = self.0.error(WireErrorKind::Truncated, rest.len().saturating_add(1), rest.len());
            self.0 = Take::new(&[]);
            return Some(Err(error));
        };
        let name = self.0.bytes(length).map(Text);
        Some(name.and_then(|name| self.0.bytes(1).map(|_| name)))
    }
}

/// The open lists and matrices of a variable's value, as the number of elements that each still lacks.
#[derive(Clone, Debug, Default)]
struct Open(heapless::Vec<u32, MAX_DEPTH>);

/// The kind of the next element of a variable: part of its value, or the end of a list.
enum Next {
    /// An element of the innermost list, or a new variable.
    Element,
    /// The end of the innermost list.
    End,
}

impl Open {
    fn next(&self) -> Next {
        if self.0.last() == Some(&0) { Next::End } else { Next::Element }
    }

    /// Counts `element`, whose kind [`Self::next`] announced; returns `true` if it completes a variable. Fails if lists
    /// are nested too deeply.
    fn count(&mut self, element: &Element<'_>) -> Result<bool, ()> {
        if matches!(element, Element::End) {
            self.0.pop();
            return Ok(self.0.is_empty());
        }
        if let Some(lacking) = self.0.last_mut() {
            *lacking = lacking.saturating_sub(1);
        }
        match *element {
            Element::List { count } => self.0.push(count.into()).map_err(|_| ())?,
            Element::Matrix { rows, columns } => {
                self.0.push(u32::from(rows).saturating_mul(columns.into())).map_err(|_| ())?;
            }
            _ => {}
        }
        Ok(self.0.is_empty())
    }
}

/// Iterates over the elements of the values of all variables. An error is the last item.
#[derive(Clone, Debug)]
pub struct Variables<'a> {
    bytes: Take<'a>,
    numbering: ValueNumbering,
    open: Open,
}

impl<'a> Variables<'a> {
    fn element(&mut self) -> Result<Element<'a>, WireError> {
        let start = self.bytes;
        let element = match self.open.next() {
            Next::End => Element::End,
            Next::Element => self.value()?,
        };
        let too_deep = start.error(WireErrorKind::TooDeep, MAX_DEPTH, MAX_DEPTH);
        if self.open.count(&element).map_err(|()| too_deep)? {
            let end = self.bytes;
            let newline = self.bytes.value::<u8>()?;
            if newline != b'\n' {
                return Err(end.error(WireErrorKind::BadValue, b'\n'.into(), newline.into()));
            }
        }
        Ok(element)
    }

    fn value(&mut self) -> Result<Element<'a>, WireError> {
        let bytes = &mut self.bytes;
        let at = *bytes;
        let number = bytes.value::<u8>()?;
        let Some(value_type) = self.numbering.type_of(number) else {
            return Err(at.error(WireErrorKind::BadType, 0, number.into()));
        };
        Ok(match value_type {
            Type::None => Element::None,
            Type::ConstString => Element::ConstString(long_text(bytes)?),
            Type::VarString => Element::VarString(long_text(bytes)?),
            Type::Pose => Element::Pose(bytes.value::<[F32; 6]>()?),
            Type::Bool => Element::Bool(bytes.value::<Flag>()?),
            Type::Num => Element::Num(bytes.value::<F32>()?),
            Type::Int => Element::Int(bytes.value::<I32>()?),
            Type::Float => Element::Float(bytes.value::<F32>()?),
            Type::List => Element::List { count: bytes.value::<U16>()? },
            Type::Matrix => Element::Matrix { rows: bytes.value::<U16>()?, columns: bytes.value::<U16>()? },
        })
    }
}

impl<'a> Iterator for Variables<'a> {
    type Item = Result<Element<'a>, WireError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.bytes.rest().is_empty() && self.open.0.is_empty() {
            return None;
        }
        let element = self.element();
        if element.is_err() {
            self.bytes = Take::new(&[]);
            self.open.0.clear();
        }
        Some(element)
    }
}

fn long_text<'a>(bytes: &mut Take<'a>) -> Result<Text<'a>, WireError> {
    let length = bytes.value::<U16>()?;
    bytes.bytes(length.into()).map(Text)
}

impl Element<'_> {
    const fn value_type(&self) -> Option<Type> {
        Some(match self {
            Self::None => Type::None,
            Self::ConstString(_) => Type::ConstString,
            Self::VarString(_) => Type::VarString,
            Self::Pose(_) => Type::Pose,
            Self::Bool(_) => Type::Bool,
            Self::Num(_) => Type::Num,
            Self::Int(_) => Type::Int,
            Self::Float(_) => Type::Float,
            Self::List { .. } => Type::List,
            Self::Matrix { .. } => Type::Matrix,
            Self::End => return None,
        })
    }

    fn emit(&self, numbering: ValueNumbering, put: &mut Put<'_>) -> Result<(), WireError> {
        let Some(value_type) = self.value_type() else {
            return Ok(());
        };
        let missing = WireError::new(WireErrorKind::BadType, put.written(), 0, 0);
        put.value::<u8>(numbering.number_of(value_type).ok_or(missing)?)?;
        match *self {
            Self::None | Self::End => Ok(()),
            Self::ConstString(text) | Self::VarString(text) => {
                let length = text.0.len();
                let too_long = WireError::new(WireErrorKind::BadLength, put.written(), u16::MAX.into(), length);
                put.value::<U16>(u16::try_from(length).map_err(|_| too_long)?)?;
                put.bytes(text.0)
            }
            Self::Pose(pose) => put.value::<[F32; 6]>(pose),
            Self::Bool(value) => put.value::<Flag>(value),
            Self::Num(value) | Self::Float(value) => put.value::<F32>(value),
            Self::Int(value) => put.value::<I32>(value),
            Self::List { count } => put.value::<U16>(count),
            Self::Matrix { rows, columns } => {
                put.value::<U16>(rows)?;
                put.value::<U16>(columns)
            }
        }
    }
}

impl<'a> ProgramStateMessage<'a> {
    /// Reads the common header from the body of a program-state message, which starts behind the type byte.
    pub(super) fn parse(mut body: Take<'a>) -> Result<Self, WireError> {
        Ok(Self { timestamp: body.value::<U64>()?, subtype: body.value::<u8>()?, bytes: body })
    }

    /// Decodes the payload of the program-state message. Values need the numbering of `software`; if that is `None`,
    /// they remain raw.
    ///
    /// # Errors
    /// `Truncated` if the payload ends before its fixed part does.
    pub fn payload(&self, software: Option<SoftwareVersion>) -> Result<ProgramStatePayload<'a>, WireError> {
        let mut bytes = self.bytes;
        Ok(match (self.subtype, software) {
            (0, _) => ProgramStatePayload::Setup { start_index: bytes.value::<U16>()?, names: Names(bytes) },
            (1, Some(software)) => ProgramStatePayload::Update {
                start_index: bytes.value::<U16>()?,
                variables: Variables { bytes, numbering: ValueNumbering::of(software), open: Open::default() },
            },
            (2, _) => {
                let length = bytes.value::<u8>()?;
                let title = Text(bytes.bytes(length.into())?);
                ProgramStatePayload::Variable { title, text: Text(bytes.rest()) }
            }
            (subtype, _) => ProgramStatePayload::Raw { subtype, bytes: Text(bytes.rest()) },
        })
    }

    /// Writes the names of variables from number `start_index` on and returns the length of the message \[B\].
    ///
    /// # Errors
    /// `BadValue` if a name contains a newline; `BufferTooSmall` if `out` is shorter than the message.
    pub fn emit_setup(timestamp: u64, start_index: u16, names: &[&[u8]], out: &mut [u8]) -> Result<usize, WireError> {
        Self::emit(timestamp, 0, out, |put| {
            put.value::<U16>(start_index)?;
            for name in names {
                if name.contains(&b'\n') {
                    return Err(WireError::new(WireErrorKind::BadValue, put.written(), 0, 0));
                }
                put.bytes(name)?;
                put.bytes(b"\n")?;
            }
            Ok(())
        })
    }

    /// Writes the values of variables from number `start_index` on and returns the length of the message \[B\]. A list
    /// has the form in which [`Variables`] returns it: the opening element, its members, [`Element::End`].
    ///
    /// # Errors
    /// `BadType` if `numbering` lacks a type; `BadValue` if elements and counts disagree; `TooDeep` if lists are nested
    /// deeper than [`MAX_DEPTH`]; `BadLength` if a string is too long; `BufferTooSmall` if `out` is shorter than the
    /// message.
    pub fn emit_update(
        timestamp: u64,
        start_index: u16,
        numbering: ValueNumbering,
        elements: &[Element<'_>],
        out: &mut [u8],
    ) -> Result<usize, WireError> {
        Self::emit(timestamp, 1, out, |put| {
            put.value::<U16>(start_index)?;
            let mut open = Open::default();
            for element in elements {
                if matches!(open.next(), Next::End) != matches!(element, Element::End) {
                    return Err(WireError::new(WireErrorKind::BadValue, put.written(), 0, 0));
                }
                element.emit(numbering, put)?;
                let too_deep = WireError::new(WireErrorKind::TooDeep, put.written(), MAX_DEPTH, MAX_DEPTH);
                if open.count(element).map_err(|()| too_deep)? {
                    put.bytes(b"\n")?;
                }
            }
            if open.0.is_empty() { Ok(()) } else { Err(WireError::new(WireErrorKind::BadValue, put.written(), 0, 0)) }
        })
    }

    /// Writes one variable as text, the deprecated form, and returns the length of the message \[B\].
    ///
    /// # Errors
    /// `BadLength` if the title has more than 255 bytes; `BufferTooSmall` if `out` is shorter.
    pub fn emit_variable(timestamp: u64, title: Text<'_>, text: Text<'_>, out: &mut [u8]) -> Result<usize, WireError> {
        Self::emit(timestamp, 2, out, |put| {
            let too_long = WireError::new(WireErrorKind::BadLength, put.written(), u8::MAX.into(), title.0.len());
            put.value::<u8>(u8::try_from(title.0.len()).map_err(|_| too_long)?)?;
            put.bytes(title.0)?;
            put.bytes(text.0)
        })
    }

    fn emit(
        timestamp: u64,
        subtype: u8,
        out: &mut [u8],
        payload: impl FnOnce(&mut Put<'_>) -> Result<(), WireError>,
    ) -> Result<usize, WireError> {
        emit_message(PROGRAM_STATE, out, |put| {
            put.value::<U64>(timestamp)?;
            put.value::<u8>(subtype)?;
            payload(put)
        })
    }

    pub(super) fn visit(
        &self,
        software: Option<SoftwareVersion>,
        visitor: &mut dyn FieldVisitor,
    ) -> Result<(), WireError> {
        visitor.field("timestamp", Value::Unsigned(self.timestamp));
        visitor.field("subtype", Value::Unsigned(self.subtype.into()));
        match self.payload(software)? {
            ProgramStatePayload::Setup { start_index, names } => {
                visitor.field("start_index", Value::Unsigned(start_index.into()));
                visitor.begin("names", Group::List);
                for name in names {
                    visitor.field("", Value::Text(name?.0));
                }
                visitor.end();
            }
            ProgramStatePayload::Update { start_index, variables } => {
                visitor.field("start_index", Value::Unsigned(start_index.into()));
                visitor.begin("values", Group::List);
                for element in variables {
                    element?.visit(visitor);
                }
                visitor.end();
            }
            ProgramStatePayload::Variable { title, text } => {
                visitor.field("title", Value::Text(title.0));
                visitor.field("text", Value::Text(text.0));
            }
            ProgramStatePayload::Raw { bytes, .. } => visitor.field("raw", Value::Bytes(bytes.0)),
        }
        Ok(())
    }
}

impl Element<'_> {
    /// Calls `visitor` for this part of a variable's value: for a list as a list, for a matrix as the list of its
    /// elements, row by row.
    fn visit(&self, visitor: &mut dyn FieldVisitor) {
        match *self {
            Self::None => visitor.field("", Value::Nothing),
            Self::ConstString(text) | Self::VarString(text) => visitor.field("", Value::Text(text.0)),
            Self::Pose(pose) => <[F32; 6]>::visit(pose, "", visitor),
            Self::Bool(value) => visitor.field("", Value::Bool(value)),
            Self::Num(value) | Self::Float(value) => visitor.field("", Value::F32(value)),
            Self::Int(value) => visitor.field("", Value::Signed(value.into())),
            Self::List { .. } | Self::Matrix { .. } => visitor.begin("", Group::List),
            Self::End => visitor.end(),
        }
    }
}
