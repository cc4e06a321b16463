//! Recipes that are known when running, in memory of the caller.

use super::registry::{Direction, Variable};
use super::{DataType, MAX_NAMES, PackageType, Problem, RecipeError, TypeList, TypeWord, Value, start};
use crate::wire::fields::FieldVisitor;
use crate::wire::{Take, WireError, WireErrorKind};
use zerocopy::big_endian::F64;

/// What is known of one variable of a recipe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Presence {
    /// Its values come, or go, as this type.
    Present(DataType),
    /// Nobody has said yet what its type is, and the registry does not know it.
    Unknown,
    /// The controller's software has no such variable.
    NotFound,
    /// Another client, or a fieldbus, owns this input.
    InUse,
}

/// One variable of a [`DynamicRecipe`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field<'n> {
    /// Its name.
    pub name: &'n str,
    /// What is known of it.
    pub presence: Presence,
}

impl Field<'_> {
    /// Memory for a variable.
    pub const EMPTY: Self = Self { name: "", presence: Presence::Unknown };
}

/// A list of variables: as many as the caller's memory holds.
///
/// Types are those of the registry until the controller has answered, and then the controller's. A variable that it
/// does not have is absent from then on: it is not asked for again, and has no value.
#[derive(Debug)]
pub struct DynamicRecipe<'n, 'm> {
    fields: &'m mut [Field<'n>],
    direction: Direction,
}

impl<'n, 'm> DynamicRecipe<'n, 'm> {
    /// The variables of a list of names, joined by commas.
    ///
    /// # Errors
    /// `NoRoom` with the first name that has no place in `memory`.
    pub fn new(names: &'n str, direction: Direction, memory: &'m mut [Field<'n>]) -> Result<Self, RecipeError<'n>> {
        let names = names.trim_end_matches(',');
        let mut count = 0_usize;
        for name in names.split(',').filter(|_| !names.is_empty()) {
            let Some(field) = memory.get_mut(count) else {
                return Err(RecipeError { name, problem: Problem::NoRoom });
            };
            let known = Variable::named(name, direction).map(Variable::data_type);
            *field = Field { name, presence: known.map_or(Presence::Unknown, Presence::Present) };
            count = count.saturating_add(1);
        }
        Ok(Self { fields: memory.get_mut(..count).unwrap_or_default(), direction })
    }

    /// Its variables in order.
    #[must_use]
    pub fn fields(&self) -> &[Field<'n>] {
        self.fields
    }

    /// Takes the controller's answer to [`Self::emit_request`].
    ///
    /// # Errors
    /// `Unanswered` or `Surplus` where it is not one word per name; nothing is taken then. Which variables are absent is
    /// in [`Self::fields`] afterwards: a recipe with one of them is invalid, and has to be asked for again without it.
    pub fn answered(&mut self, types: TypeList<'_>) -> Result<(), RecipeError<'n>> {
        let mut words = types.iter();
        for field in self.fields.iter().filter(|field| field.is_asked_for()) {
            if words.next().is_none() {
                return Err(RecipeError { name: field.name, problem: Problem::Unanswered });
            }
        }
        if words.next().is_some() {
            return Err(RecipeError { name: "", problem: Problem::Surplus });
        }
        for (field, word) in self.fields.iter_mut().filter(|field| field.is_asked_for()).zip(types) {
            field.presence = match word {
                TypeWord::Type(data_type) => Presence::Present(data_type),
                TypeWord::NotFound => Presence::NotFound,
                TypeWord::InUse => Presence::InUse,
                TypeWord::Other(_) => Presence::Unknown,
            };
        }
        Ok(())
    }

    /// The first variable without which the recipe does not work as it is; none where it works.
    #[must_use]
    pub fn problem(&self) -> Option<RecipeError<'n>> {
        self.fields.iter().find_map(|field| {
            let problem = match field.presence {
                Presence::Present(_) => return None,
                Presence::Unknown => Problem::OtherType,
                Presence::NotFound => Problem::NotFound,
                Presence::InUse => Problem::InUse,
            };
            Some(RecipeError { name: field.name, problem })
        })
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

impl Field<'_> {
    /// Whether a request names it: everything that is not known to be absent.
    fn is_asked_for(&self) -> bool {
        !matches!(self.presence, Presence::NotFound | Presence::InUse)
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
                Presence::Unknown | Presence::NotFound | Presence::InUse => None,
            };
            (field.name, value)
        })
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
