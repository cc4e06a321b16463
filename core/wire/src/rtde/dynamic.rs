//! Recipes that are known when running, in memory of the caller.

use super::registry::{Direction, Variable};
use super::{Data, DataType, MAX_NAMES, PackageType, Problem, RecipeError, TypeList, TypeWord, Value, names, start};
use crate::fields::FieldVisitor;
use crate::{Take, WireError, WireErrorKind};
use zerocopy::big_endian::F64;

/// What is known of one variable of a recipe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Presence {
    /// Its values come, or go, as this type.
    Present(DataType),
    /// Nobody has said yet what its type is, and the registry does not know it.
    Unknown,
    /// The controller's software has no such variable.
    NotFound,
    /// Another client, or a fieldbus, owns this input.
    InUse,
    /// Its type is one that nobody knows here, and the recipe can do without it.
    Unreadable,
}

/// One variable of a [`DynamicRecipe`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field<'n> {
    /// Its name.
    pub name: &'n str,
    /// What is known of it.
    pub presence: Presence,
    /// The type that its values should have; `None` where nobody here knows it.
    pub expected: Option<DataType>,
}

impl Field<'_> {
    /// Memory for a variable.
    pub const EMPTY: Self = Self { name: "", presence: Presence::Unknown, expected: None };
}

/// A list of variables: as many as the caller's memory holds.
///
/// Types are those of the registry, or those given beside the names, until the controller has answered, and then the
/// controller's. A variable that it
/// does not have is absent from then on: it is not asked for again, and has no value. Without one that is optional the
/// recipe works all the same.
#[derive(Debug)]
pub struct DynamicRecipe<'n, 'm> {
    fields: &'m mut [Field<'n>],
    /// The first so many are needed, the others optional.
    needed: usize,
    direction: Direction,
}

impl<'n, 'm> DynamicRecipe<'n, 'm> {
    /// No variable.
    #[must_use]
    pub const fn empty(direction: Direction) -> Self {
        Self { fields: &mut [], needed: 0, direction }
    }

    /// The variables of a list of names, joined by commas; all of them are needed.
    ///
    /// # Errors
    /// `NoRoom` with the first name that has no place in `memory`.
    pub fn new(names: &'n str, direction: Direction, memory: &'m mut [Field<'n>]) -> Result<Self, RecipeError<'n>> {
        Self::with_optional(names, "", direction, memory)
    }

    /// The variables of two lists of names: those that are needed, and then those that a controller may not have.
    ///
    /// # Errors
    /// Those of [`Self::new`].
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

    /// The variables of two lists of names, as in [`Self::with_optional`], with the type of each: the registry, which is
    /// five kilobytes of constants, is not needed then. [`types_of`](super::types_of) makes the list when compiling. Beyond
    /// the end of `types` a type is not known.
    ///
    /// # Errors
    /// Those of [`Self::new`].
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

    /// Forgets what was answered: another controller is asked, or the same one after an update.
    pub fn forget(&mut self) {
        self.fields.iter_mut().for_each(Field::forget);
    }

    /// Asks for inputs again that somebody else had.
    pub fn ask_again(&mut self) {
        self.fields.iter_mut().filter(|field| field.presence == Presence::InUse).for_each(Field::forget);
    }

    /// Takes on what another recipe of the same variables knows; fewer or more than there are variables are no matter.
    pub fn restore(&mut self, known: impl Iterator<Item = Presence>) {
        for (field, presence) in self.fields.iter_mut().zip(known) {
            field.presence = presence;
        }
    }

    /// Its variables in order.
    #[must_use]
    pub fn fields(&self) -> &[Field<'n>] {
        self.fields
    }

    /// Takes the controller's answer to [`Self::emit_request`], and says how many of those asked for are absent: with one
    /// of them the recipe is invalid, and has to be asked for again without it. Which they are is in [`Self::fields`].
    ///
    /// # Errors
    /// `Unanswered` or `Surplus` where it is not one word per name; nothing is taken then.
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

    /// The first variable without which the recipe does not work as it is; none where it works.
    #[must_use]
    pub fn problem(&self) -> Option<RecipeError<'n>> {
        self.fields.get(..self.needed)?.iter().find_map(Field::problem)
    }

    /// Every variable that has no values, and why: of a recipe that works, optional ones.
    pub fn absent(&self) -> impl Iterator<Item = RecipeError<'n>> + '_ {
        self.fields.iter().filter_map(Field::problem)
    }

    /// Where the values of a variable begin in a data package, and their type; none where it is absent, or not part of
    /// the recipe.
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

    /// Bytes of the values of all variables that are present; none while the type of one is not known.
    #[must_use]
    pub fn size(&self) -> Option<usize> {
        self.fields.iter().filter(|field| field.is_asked_for()).try_fold(0_usize, |sum, field| match field.presence {
            Presence::Present(data_type) => Some(sum.saturating_add(data_type.size())),
            _ => None,
        })
    }

    /// Writes the request for all variables that are not absent and says how long it is. `frequency` is for outputs in
    /// version 2.
    ///
    /// # Errors
    /// `BufferTooSmall`, or `BadLength` where the names are longer than a controller takes.
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

    /// The values of a data package.
    ///
    /// # Errors
    /// `Truncated` or `BadLength` where they are not as many bytes as the recipe has, `BadType` while the type of a
    /// variable is not known.
    pub fn read<'r>(&'r self, values: &'r [u8]) -> Result<RecipeData<'r, 'n>, WireError> {
        let size = self.size().ok_or_else(|| WireError::new(WireErrorKind::BadType, 0, 0, 0))?;
        match size.cmp(&values.len()) {
            core::cmp::Ordering::Greater => Err(WireError::new(WireErrorKind::Truncated, 0, size, values.len())),
            core::cmp::Ordering::Less => Err(WireError::new(WireErrorKind::BadLength, 0, size, values.len())),
            core::cmp::Ordering::Equal => Ok(RecipeData { fields: self.fields, values }),
        }
    }

    /// Writes a data package with `values` for the variables that are present, in order, and says how long it is.
    ///
    /// # Errors
    /// `BufferTooSmall`; `BadType` where a value has not the type of its variable, or there are more or fewer of them.
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

    /// Has the type that is expected, until the controller has answered.
    fn forget(&mut self) {
        self.presence = self.expected.map_or(Presence::Unknown, Presence::Present);
    }

    /// Whether a request names it: everything that is not known to be absent.
    fn is_asked_for(&self) -> bool {
        !matches!(self.presence, Presence::NotFound | Presence::InUse | Presence::Unreadable)
    }

    /// Why it has no values.
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

/// The values of one data package, checked for their length.
#[derive(Clone, Copy, Debug)]
pub struct RecipeData<'r, 'n> {
    fields: &'r [Field<'n>],
    values: &'r [u8],
}

impl<'r, 'n> RecipeData<'r, 'n> {
    /// Every variable in order with its value; none where it is absent.
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

    /// For who knows the order of the variables: their values, one after the other.
    #[must_use]
    pub fn reader(&self) -> RecipeReader<'r, 'n> {
        RecipeReader { fields: self.fields.iter(), values: self.values }
    }

    /// The value of a variable; none where it is absent, or not part of the recipe.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<Value> {
        self.iter().find(|(known, _)| *known == name)?.1
    }

    /// Calls `visitor` for each value in order, under the name it has on the wire.
    pub fn visit(&self, visitor: &mut dyn FieldVisitor) {
        for (name, value) in self.iter() {
            if let Some(value) = value {
                value.visit(name, visitor);
            }
        }
    }
}

/// The values of one data package in the order of the recipe.
#[derive(Clone, Debug)]
pub struct RecipeReader<'r, 'n> {
    fields: core::slice::Iter<'r, Field<'n>>,
    values: &'r [u8],
}

impl RecipeReader<'_, '_> {
    /// The value of the next variable; none where it is absent, has another type, or there are no more.
    pub fn value<T: Data>(&mut self) -> Option<T> {
        let Presence::Present(data_type) = self.fields.next()?.presence else { return None };
        let (value, rest) = self.values.split_at_checked(data_type.size())?;
        self.values = rest;
        if data_type == T::TYPE { T::read(value) } else { None }
    }
}
