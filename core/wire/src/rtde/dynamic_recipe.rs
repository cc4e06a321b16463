//! Recipes whose variables are chosen at run time, in memory of the caller.

use super::registry::{Direction, Variable};
use super::{Data, DataType, MAX_NAMES, PackageType, Problem, RecipeError, TypeList, TypeWord, Value, names, start};
use crate::fields::FieldVisitor;
use crate::{Take, WireError, WireErrorKind};
use zerocopy::big_endian::F64;

/// The availability of one variable of an RTDE recipe on the controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Presence {
    /// The RTDE variable is available on the controller, or expected to be until the controller has answered; its values
    /// have this type.
    Present(DataType),
    /// The type of the variable is not known: the controller has not answered and the registry does not have the variable,
    /// or the controller's type of a required variable is unknown to this crate.
    Unknown,
    /// The controller's software does not have the RTDE variable.
    NotFound,
    /// The RTDE input is owned by another client or a fieldbus.
    InUse,
    /// The controller's type of the variable is unknown to this crate, and the variable is optional.
    Unreadable,
}

/// A variable of a [`DynamicRecipe`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field<'n> {
    /// The name of the RTDE variable.
    pub name: &'n str,
    /// The availability of the variable on the controller.
    pub presence: Presence,
    /// The expected type of the variable's values; `None` if it is not known.
    pub expected: Option<DataType>,
}

impl Field<'_> {
    /// A variable without a name, as a placeholder to initialise the memory of a [`DynamicRecipe`].
    pub const EMPTY: Self = Self { name: "", presence: Presence::Unknown, expected: None };
}

/// A list of RTDE variables, as many as the caller's memory holds.
///
/// Before the controller has answered, the types are those of the registry, or those given with the names; afterwards
/// they are the controller's. A variable that the controller does not have becomes absent: later requests omit it, and
/// it has no value. The recipe remains usable without its optional variables.
#[derive(Debug)]
pub struct DynamicRecipe<'n, 'm> {
    fields: &'m mut [Field<'n>],
    /// The number of the recipe's variables that are required; the ones behind them are optional.
    needed: usize,
    direction: Direction,
}

impl<'n, 'm> DynamicRecipe<'n, 'm> {
    /// Returns a recipe without variables, for inputs or outputs of the controller.
    #[must_use]
    pub const fn empty(direction: Direction) -> Self {
        Self { fields: &mut [], needed: 0, direction }
    }

    /// Returns a recipe of the variables in a list of names, joined by commas. All of them are required.
    ///
    /// # Errors
    /// `NoRoom` with the first name for which `memory` has no room.
    pub fn new(names: &'n str, direction: Direction, memory: &'m mut [Field<'n>]) -> Result<Self, RecipeError<'n>> {
        Self::with_optional(names, "", direction, memory)
    }

    /// Returns a recipe of the variables in two lists of names: the required ones, then those that a controller may not
    /// have.
    ///
    /// # Errors
    /// The errors of [`Self::new`].
    pub fn with_optional(
        needed: &'n str,
        optional: &'n str,
        direction: Direction,
        memory: &'m mut [Field<'n>],
    ) -> Result<Self, RecipeError<'n>> {
        let expected = |name: &str| Variable::named(name, direction).map(Variable::data_type);
        let fields = names(needed).chain(names(optional)).map(|name| Field::new(name, expected(name)));
        Self::filled(names(needed).count(), direction, memory, fields)
    }

    /// Returns a recipe of the variables in two lists of names, as [`Self::with_optional`] does, with explicit types.
    /// This avoids the registry, which is five kilobytes of constants. [`types_of`](super::types_of) creates `types` at
    /// compile time. The types of variables beyond the end of `types` are unknown.
    ///
    /// # Errors
    /// The errors of [`Self::new`].
    pub fn with_types(
        needed: &'n str,
        optional: &'n str,
        types: &[DataType],
        direction: Direction,
        memory: &'m mut [Field<'n>],
    ) -> Result<Self, RecipeError<'n>> {
        let types = types.iter().copied().map(Some).chain(core::iter::repeat(None));
        let fields = names(needed).chain(names(optional)).zip(types).map(|(name, expected)| Field::new(name, expected));
        Self::filled(names(needed).count(), direction, memory, fields)
    }

    fn filled(
        needed: usize,
        direction: Direction,
        memory: &'m mut [Field<'n>],
        fields: impl Iterator<Item = Field<'n>>,
    ) -> Result<Self, RecipeError<'n>> {
        let mut count = 0_usize;
        for field in fields {
            let Some(place) = memory.get_mut(count) else {
                return Err(RecipeError { name: field.name, problem: Problem::NoRoom });
            };
            *place = field;
            count = count.saturating_add(1);
        }
        Ok(Self { fields: memory.get_mut(..count).unwrap_or_default(), needed, direction })
    }

    /// Discards the controller's answers about the recipe's variables. Call it if the next answer comes from another
    /// controller or from updated software.
    pub fn forget(&mut self) {
        self.fields.iter_mut().for_each(Field::forget);
    }

    /// Makes the next request for the recipe include again the inputs that another client owned.
    pub fn ask_again(&mut self) {
        self.fields.iter_mut().filter(|field| field.presence == Presence::InUse).for_each(Field::forget);
    }

    /// Takes over the availability of each variable on the controller from another recipe of the same variables. If
    /// `known` is shorter, the other variables are unchanged; further values are ignored.
    pub fn restore(&mut self, known: impl Iterator<Item = Presence>) {
        for (field, presence) in self.fields.iter_mut().zip(known) {
            field.presence = presence;
        }
    }

    /// Returns the recipe's variables, in the order in which their values are sent.
    #[must_use]
    pub fn fields(&self) -> &[Field<'n>] {
        self.fields
    }

    /// Processes the controller's answer to [`Self::emit_request`] and returns the number of requested variables that
    /// are absent. If it is not 0, the controller's recipe is invalid and must be requested again without them;
    /// [`Self::fields`] shows which they are.
    ///
    /// # Errors
    /// `Unanswered` or `Surplus` if the answer does not have one word per name; the recipe is then unchanged.
    pub fn answered(&mut self, types: TypeList<'_>) -> Result<usize, RecipeError<'n>> {
        let mut words = types.iter();
        for field in self.fields.iter().filter(|field| field.is_asked_for()) {
            if words.next().is_none() {
                return Err(RecipeError { name: field.name, problem: Problem::Unanswered });
            }
        }
        if words.next().is_some() {
            return Err(RecipeError { name: "", problem: Problem::Surplus });
        }
        let (mut absent, needed) = (0_usize, self.needed);
        let fields = (0..).zip(self.fields.iter_mut()).filter(|(_, field)| field.is_asked_for());
        for ((number, field), word) in fields.zip(types) {
            field.presence = match word {
                TypeWord::Type(data_type) => Presence::Present(data_type),
                TypeWord::NotFound => Presence::NotFound,
                TypeWord::InUse => Presence::InUse,
                TypeWord::Other(_) if number < needed => Presence::Unknown,
                TypeWord::Other(_) => Presence::Unreadable,
            };
            absent = absent.saturating_add(usize::from(!field.is_asked_for()));
        }
        Ok(absent)
    }

    /// Returns the first required variable that is unusable, with the reason; `None` if the recipe is usable.
    #[must_use]
    pub fn problem(&self) -> Option<RecipeError<'n>> {
        self.fields.get(..self.needed)?.iter().find_map(Field::problem)
    }

    /// Iterates over the recipe's variables that have no values, with the reasons. In a usable recipe they are optional
    /// ones.
    pub fn absent(&self) -> impl Iterator<Item = RecipeError<'n>> + '_ {
        self.fields.iter().filter_map(Field::problem)
    }

    /// Returns the offset of a variable's value in the values of a data package \[B\], and its type; `None` if the
    /// variable is absent or not part of the recipe.
    #[must_use]
    pub fn place(&self, name: &str) -> Option<(usize, DataType)> {
        let mut at = 0_usize;
        for field in self.fields.iter() {
            if let Presence::Present(data_type) = field.presence {
                if field.name == name {
                    return Some((at, data_type));
                }
                at = at.saturating_add(data_type.size());
            }
        }
        None
    }

    /// Returns the size of the values of all variables that the controller has \[B\]; `None` while the type of one is
    /// unknown.
    #[must_use]
    pub fn size(&self) -> Option<usize> {
        self.fields.iter().filter(|field| field.is_asked_for()).try_fold(0_usize, |sum, field| match field.presence {
            Presence::Present(data_type) => Some(sum.saturating_add(data_type.size())),
            _ => None,
        })
    }

    /// Writes the recipe's setup request, for all variables that are not absent, and returns its length \[B\].
    /// `frequency` \[Hz\] is the requested rate of data packages: only for outputs, in version 2 of the protocol.
    ///
    /// # Errors
    /// `BufferTooSmall` if `out` is shorter; `BadLength` if the names are longer than a controller accepts.
    pub fn emit_request(&self, frequency: Option<f64>, out: &mut [u8]) -> Result<usize, WireError> {
        let asked = || self.fields.iter().filter(|field| field.is_asked_for());
        let length = asked().fold(0_usize, |sum, field| sum.saturating_add(field.name.len()).saturating_add(1));
        let length = length.saturating_sub(1);
        if length > MAX_NAMES {
            return Err(WireError::new(WireErrorKind::BadLength, 0, MAX_NAMES, length));
        }
        let (package_type, frequency) = match self.direction {
            Direction::Input => (PackageType::SetupInputs, None),
            Direction::Output => (PackageType::SetupOutputs, frequency),
        };
        let head = if frequency.is_some() { size_of::<F64>() } else { 0 };
        let mut put = start(out, package_type, length.saturating_add(head))?;
        if let Some(frequency) = frequency {
            put.value::<F64>(frequency)?;
        }
        for (i, field) in asked().enumerate() {
            let comma: &[u8] = if i == 0 { b"" } else { b"," };
            put.bytes(comma)?;
            put.bytes(field.name.as_bytes())?;
        }
        Ok(put.written())
    }

    /// Returns the values of an RTDE data package, assigned to the recipe's variables. `values` are the bytes of all
    /// values in the package.
    ///
    /// # Errors
    /// `Truncated` or `BadLength` if the number of bytes is not the size of the recipe's values; `BadType` while the
    /// type of a variable is unknown.
    pub fn read<'r>(&'r self, values: &'r [u8]) -> Result<RecipeData<'r, 'n>, WireError> {
        let size = self.size().ok_or_else(|| WireError::new(WireErrorKind::BadType, 0, 0, 0))?;
        match size.cmp(&values.len()) {
            core::cmp::Ordering::Greater => Err(WireError::new(WireErrorKind::Truncated, 0, size, values.len())),
            core::cmp::Ordering::Less => Err(WireError::new(WireErrorKind::BadLength, 0, size, values.len())),
            core::cmp::Ordering::Equal => Ok(RecipeData { fields: self.fields, values }),
        }
    }

    /// Writes a data package with `values` for the present variables, in order, and returns its length \[B\].
    ///
    /// # Errors
    /// `BufferTooSmall` if `out` is shorter; `BadType` if a value has another type than its variable, or if there are
    /// more or fewer values than present variables.
    pub fn emit_data(&self, recipe: u8, values: &[Value], out: &mut [u8]) -> Result<usize, WireError> {
        let wrong = |at: usize| WireError::new(WireErrorKind::BadType, at, 0, 0);
        let size = self.size().ok_or_else(|| wrong(0))?;
        let mut put = start(out, PackageType::Data, size.saturating_add(1))?;
        put.value::<u8>(recipe)?;
        let mut values = values.iter();
        for field in self.fields.iter().filter(|field| field.is_asked_for()) {
            let value = values.next().ok_or_else(|| wrong(put.written()))?;
            if field.presence != Presence::Present(value.data_type()) {
                return Err(wrong(put.written()));
            }
            value.put(&mut put)?;
        }
        if values.next().is_some() {
            return Err(wrong(put.written()));
        }
        Ok(put.written())
    }
}

impl<'n> Field<'n> {
    fn new(name: &'n str, expected: Option<DataType>) -> Self {
        let mut field = Self { name, expected, ..Self::EMPTY };
        field.forget();
        field
    }

    /// Resets the variable's availability to present with the expected type, or to unknown, until the controller has
    /// answered.
    fn forget(&mut self) {
        self.presence = self.expected.map_or(Presence::Unknown, Presence::Present);
    }

    /// Returns whether a request contains the variable: `false` only if it is known to be absent.
    fn is_asked_for(&self) -> bool {
        !matches!(self.presence, Presence::NotFound | Presence::InUse | Presence::Unreadable)
    }

    /// Returns the reason why the variable has no values; `None` if it has.
    fn problem(&self) -> Option<RecipeError<'n>> {
        let problem = match self.presence {
            Presence::Present(_) => return None,
            Presence::Unknown | Presence::Unreadable => Problem::OtherType,
            Presence::NotFound => Problem::NotFound,
            Presence::InUse => Problem::InUse,
        };
        Some(RecipeError { name: self.name, problem })
    }
}

/// The values of one RTDE data package. The length of the package has been checked.
#[derive(Clone, Copy, Debug)]
pub struct RecipeData<'r, 'n> {
    fields: &'r [Field<'n>],
    values: &'r [u8],
}

impl<'r, 'n> RecipeData<'r, 'n> {
    /// Iterates over all variables of the recipe in order with their values; the value of an absent variable is `None`.
    pub fn iter(&self) -> impl Iterator<Item = (&'n str, Option<Value>)> + use<'r, 'n> {
        let mut bytes = Take::new(self.values);
        self.fields.iter().map(move |field| {
            let value = match field.presence {
                Presence::Present(data_type) => Value::take(data_type, &mut bytes).ok(),
                _ => None,
            };
            (field.name, value)
        })
    }

    /// Returns a reader of the data package's values in order, for callers that know the order of the variables.
    #[must_use]
    pub fn reader(&self) -> RecipeReader<'r, 'n> {
        RecipeReader { fields: self.fields.iter(), values: self.values }
    }

    /// Returns the value of a variable in the data package; `None` if it is absent or not part of the recipe.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<Value> {
        self.iter().find(|(known, _)| *known == name)?.1
    }

    /// Calls `visitor` for each value of the data package in order, under its name on the wire.
    pub fn visit(&self, visitor: &mut dyn FieldVisitor) {
        for (name, value) in self.iter() {
            if let Some(value) = value {
                value.visit(name, visitor);
            }
        }
    }
}

/// Reads the values of one data package in the order of the recipe.
#[derive(Clone, Debug)]
pub struct RecipeReader<'r, 'n> {
    fields: core::slice::Iter<'r, Field<'n>>,
    values: &'r [u8],
}

impl RecipeReader<'_, '_> {
    /// Returns the value of the next variable; `None` if it is absent, has another type, or if there is no next
    /// variable.
    pub fn value<T: Data>(&mut self) -> Option<T> {
        let Presence::Present(data_type) = self.fields.next()?.presence else { return None };
        let (value, rest) = self.values.split_at_checked(data_type.size())?;
        self.values = rest;
        if data_type == T::TYPE { T::read(value) } else { None }
    }
}
