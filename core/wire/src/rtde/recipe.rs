//! RTDE recipes, lists of variables to be exchanged, that are fixed at compile time.

use super::registry::{Direction, Variable};
use super::{Data, DataType, PackageType, TypeList, TypeWord, names, start};
use crate::{Put, WireError, WireErrorKind};

/// A fixed list of RTDE variables, defined by [`rtde_recipe!`](crate::rtde_recipe).
pub trait Recipe {
    /// The direction in which the recipe's variables are sent.
    const DIRECTION: Direction;
    /// The names of the variables, joined by commas, in the form in which a request contains them.
    const NAMES: &'static str;
    /// The types of the recipe's variables, in the order of the names.
    const TYPES: &'static [DataType];
    /// The size of the values of all variables of the recipe \[B\].
    const SIZE: usize;
    /// The size of a version 2 data package with the recipe's values \[B\].
    const PACKAGE: usize;

    /// Checks that the controller's answer has the types that this recipe reads.
    ///
    /// # Errors
    /// The first variable that the controller does not have, that another client owns, or that has another type.
    fn check(types: TypeList<'_>) -> Result<(), RecipeError<'static>> {
        let mut words = types.iter();
        for (name, expected) in names(Self::NAMES).zip(Self::TYPES) {
            let problem = match words.next() {
                Some(TypeWord::Type(answered)) if answered == *expected => continue,
                Some(TypeWord::NotFound) => Problem::NotFound,
                Some(TypeWord::InUse) => Problem::InUse,
                Some(TypeWord::Type(_) | TypeWord::Other(_)) => Problem::OtherType,
                None => Problem::Unanswered,
            };
            return Err(RecipeError { name, problem });
        }
        match words.next() {
            None => Ok(()),
            Some(_) => Err(RecipeError { name: "", problem: Problem::Surplus }),
        }
    }
}

/// The reason why an RTDE recipe cannot be used as it is: a variable, and the problem with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct RecipeError<'n> {
    /// The name of the variable that has the problem; empty for [`Problem::Surplus`].
    pub name: &'n str,
    /// The problem with the variable because of which the recipe cannot be used as it is.
    pub problem: Problem,
}

/// A problem of a variable in an RTDE recipe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum Problem {
    /// The controller's software does not have the RTDE variable.
    NotFound,
    /// The RTDE input is owned by another client or a fieldbus.
    InUse,
    /// The controller's type of the variable differs from the expected one, or is not known.
    OtherType,
    /// The controller's answer ends before this variable.
    Unanswered,
    /// The controller's answer has more types than the request has names.
    Surplus,
    /// The caller's memory has no room for all variables of the recipe.
    NoRoom,
    /// The controller has every variable, but rejects the recipe.
    Refused,
}

impl core::fmt::Display for RecipeError<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let name = self.name;
        match self.problem {
            Problem::NotFound => write!(f, "{name}: this controller's software has no such variable"),
            Problem::InUse => write!(f, "{name}: in use by another RTDE client or a fieldbus"),
            Problem::OtherType => write!(f, "{name}: the controller gives it another type than expected"),
            Problem::Unanswered => write!(f, "{name}: the controller's answer ends before it"),
            Problem::Surplus => write!(f, "the controller answers with more types than it was asked for"),
            Problem::NoRoom => write!(f, "{name}: more variables than there is memory for"),
            Problem::Refused => write!(f, "{name}: the controller refuses the recipe that begins with it"),
        }
    }
}

impl core::error::Error for RecipeError<'_> {}

/// Defines a recipe from one list of names: the request, a view of the values in place, and the values themselves.
///
/// The names are those of the wire and must be in the [registry](crate::rtde::registry), which supplies their types.
///
/// ```
/// use outrigger_wire::rtde_recipe;
/// use outrigger_wire::rtde::Recipe;
///
/// rtde_recipe! {
///     /// Where the arm is.
///     pub struct Place, view PlaceView: outputs { timestamp, actual_q, actual_TCP_pose }
/// }
///
/// assert_eq!(Place::NAMES, "timestamp,actual_q,actual_TCP_pose");
/// assert_eq!(Place::SIZE, 8 + 48 + 48);
/// let values = [0; Place::SIZE];
/// let place = PlaceView::new(&values)?;
/// assert_eq!(place.actual_q(), [0.0; 6]);
/// # Ok::<(), outrigger_wire::WireError>(())
/// ```
///
/// If a controller may not have all variables, use two lists. They define the names of a
/// [`DynamicRecipe`](crate::rtde::DynamicRecipe), and a typed reader of its data in which each optional variable is an
/// `Option`. `outrigger-core` reads its states in this way:
///
/// ```
/// use outrigger_wire::rtde_recipe;
/// use outrigger_wire::rtde::registry::Direction;
/// use outrigger_wire::rtde::{DynamicRecipe, Field};
///
/// rtde_recipe! { struct Load: outputs { timestamp, actual_q } optional { payload } }
///
/// let mut fields = [Field::EMPTY; Load::COUNT];
/// let recipe = DynamicRecipe::with_optional(Load::NEEDED, Load::OPTIONAL, Direction::Output, &mut fields)?;
/// let values = [0; 8 + 48 + 8];
/// let load = recipe.read(&values).and_then(|values| Load::read(&values)).expect("as long as it should be");
/// assert_eq!((load.actual_q, load.payload), ([0.0; 6], Some(0.0)));
/// # Ok::<(), outrigger_wire::rtde::RecipeError<'_>>(())
/// ```
///
/// A name that is unknown, or one of the other direction, does not compile:
///
/// ```compile_fail
/// outrigger_wire::rtde_recipe! { pub struct Wrong, view WrongView: inputs { actual_q } }
/// ```
#[macro_export]
macro_rules! rtde_recipe {
    (
        $(#[$doc:meta])*
        $vis:vis struct $Values:ident, view $View:ident: $direction:ident { $first:ident $(, $name:ident)* $(,)? }
    ) => {
        $(#[$doc])*
        #[allow(non_snake_case, reason = "names of the wire")]
        #[derive(Clone, Copy, Debug, Default, PartialEq)]
        $vis struct $Values {
            #[doc = concat!("`", stringify!($first), "`.")]
            pub $first: $crate::rtde::HostOf<{ $crate::rtde::type_number(stringify!($first)) }>,
            $(
                #[doc = concat!("`", stringify!($name), "`.")]
                pub $name: $crate::rtde::HostOf<{ $crate::rtde::type_number(stringify!($name)) }>,
            )*
        }

        #[doc = concat!("The values of [`", stringify!($Values), "`] where they lie in a data package.")]
        #[derive(Clone, Copy, Debug)]
        $vis struct $View<'a> {
            values: &'a [u8; <$Values as $crate::rtde::Recipe>::SIZE],
        }

        const _: () = {
            use $crate::WireError;
            use $crate::rtde::{self, BytesOf, DataType, HostOf, Recipe, registry::Direction, type_number};

            /// A struct of the recipe's values as bytes, used only to calculate their sizes and offsets.
            #[allow(non_snake_case, dead_code, reason = "names of the wire, never made")]
            #[repr(C)]
            struct Layout {
                $first: BytesOf<{ type_number(stringify!($first)) }>,
                $( $name: BytesOf<{ type_number(stringify!($name)) }>, )*
            }

            const DIRECTION: Direction = $crate::rtde_recipe!(@direction $direction);
            rtde::check_name(stringify!($first), DIRECTION);
            $( rtde::check_name(stringify!($name), DIRECTION); )*
            assert!($Values::NAMES.len() <= rtde::MAX_NAMES, "more names than a controller takes");

            impl Recipe for $Values {
                const DIRECTION: Direction = DIRECTION;
                const NAMES: &'static str = concat!(stringify!($first) $(, ",", stringify!($name))*);
                const TYPES: &'static [DataType] = &[
                    <HostOf<{ type_number(stringify!($first)) }> as rtde::Data>::TYPE
                    $(, <HostOf<{ type_number(stringify!($name)) }> as rtde::Data>::TYPE)*
                ];
                const SIZE: usize = size_of::<Layout>();
                const PACKAGE: usize = rtde::HEADER_LEN + 1 + Self::SIZE;
            }

            #[allow(dead_code, reason = "not every recipe is used both ways")]
            impl $Values {
                /// Writes a data package with these values and returns its length \[B\]. It has the form of version 2,
                /// which a client also uses in version 1.
                ///
                /// # Errors
                /// `BufferTooSmall` if `out` is shorter than the package.
                $vis fn emit(&self, recipe: u8, out: &mut [u8]) -> Result<usize, WireError> {
                    let mut put = rtde::put_data(recipe, Self::SIZE, out)?;
                    rtde::write(self.$first, &mut put)?;
                    $( rtde::write(self.$name, &mut put)?; )*
                    Ok(Self::PACKAGE)
                }
            }

            #[allow(non_snake_case, dead_code, reason = "names of the wire; not every recipe is used both ways")]
            impl<'a> $View<'a> {
                /// Returns a view of the values of a data package.
                ///
                /// # Errors
                /// `Truncated` or `BadLength` if their size differs from that of the recipe.
                $vis fn new(values: &'a [u8]) -> Result<Self, WireError> {
                    Ok(Self { values: WireError::exactly(values)? })
                }

                #[doc = concat!("`", stringify!($first), "`.")]
                #[must_use]
                $vis fn $first(&self) -> HostOf<{ type_number(stringify!($first)) }> {
                    rtde::at::<_, { core::mem::offset_of!(Layout, $first) }, _>(self.values)
                }
                $(
                    #[doc = concat!("`", stringify!($name), "`.")]
                    #[must_use]
                    $vis fn $name(&self) -> HostOf<{ type_number(stringify!($name)) }> {
                        rtde::at::<_, { core::mem::offset_of!(Layout, $name) }, _>(self.values)
                    }
                )*

                /// Returns all values of the recipe in host order.
                #[must_use]
                $vis fn to_values(self) -> $Values {
                    $Values { $first: self.$first(), $( $name: self.$name(), )* }
                }
            }
        };
    };
    (
        $(#[$doc:meta])*
        $vis:vis struct $Values:ident: $direction:ident { $($name:ident),+ $(,)? } optional { $($may:ident),* $(,)? }
    ) => {
        $(#[$doc])*
        #[allow(non_snake_case, reason = "names of the wire")]
        #[derive(Clone, Copy, Debug, PartialEq)]
        $vis struct $Values {
            $(
                #[doc = concat!("`", stringify!($name), "`.")]
                $vis $name: $crate::rtde::HostOf<{ $crate::rtde::type_number(stringify!($name)) }>,
            )+
            $(
                #[doc = concat!("`", stringify!($may), "`; `None` where the controller has no such variable.")]
                $vis $may: Option<$crate::rtde::HostOf<{ $crate::rtde::type_number(stringify!($may)) }>>,
            )*
        }

        #[allow(dead_code, reason = "not every recipe is used in every way")]
        impl $Values {
            /// The names of the required variables, joined by commas, in the order in which they are read.
            $vis const NEEDED: &'static str = $crate::rtde_recipe!(@names $($name)+);
            /// The names of the optional variables, joined by commas; they follow the required ones.
            $vis const OPTIONAL: &'static str = $crate::rtde_recipe!(@names $($may)*);
            /// The number of required and optional variables of the recipe.
            $vis const COUNT: usize = [$(stringify!($name),)+ $(stringify!($may),)*].len();

            /// The registry's types of the required and the optional variables.
            $vis const TYPES: &'static [$crate::rtde::DataType] = &[
                $(<$crate::rtde::HostOf<{ $crate::rtde::type_number(stringify!($name)) }> as $crate::rtde::Data>::TYPE,)+
                $(<$crate::rtde::HostOf<{ $crate::rtde::type_number(stringify!($may)) }> as $crate::rtde::Data>::TYPE,)*
            ];

            /// Reads the values of data of a [`DynamicRecipe`]($crate::rtde::DynamicRecipe) with these names.
            ///
            /// # Errors
            /// `BadType` if a required variable is absent, or has another type than the registry's.
            $vis fn read(
                values: &$crate::rtde::RecipeData<'_, '_>,
            ) -> Result<Self, $crate::WireError> {
                let mut next = values.reader();
                Ok(Self {
                    $( $name: next.value().ok_or_else($crate::rtde::absent)?, )+
                    $( $may: next.value(), )*
                })
            }
        }

        const _: () = {
            const DIRECTION: $crate::rtde::registry::Direction = $crate::rtde_recipe!(@direction $direction);
            $( $crate::rtde::check_name(stringify!($name), DIRECTION); )+
            $( $crate::rtde::check_name(stringify!($may), DIRECTION); )*
            assert!($Values::NEEDED.len() + 1 + $Values::OPTIONAL.len() <= $crate::rtde::MAX_NAMES);
        };
    };
    (@names) => { "" };
    (@names $first:ident $($name:ident)*) => { concat!(stringify!($first) $(, ",", stringify!($name))*) };
    (@direction inputs) => { $crate::rtde::registry::Direction::Input };
    (@direction outputs) => { $crate::rtde::registry::Direction::Output };
}

/// Returns the error for a required variable that has no value, or one of another type.
#[must_use]
pub fn absent() -> WireError {
    WireError::new(WireErrorKind::BadType, 0, 0, 0)
}

/// Returns the index in [`DataType::ALL`] of the type of the RTDE variable with this name. Does not compile for a name
/// that is not in the registry.
#[must_use]
#[expect(clippy::panic, reason = "evaluated when compiling")]
pub const fn type_number(name: &str) -> u8 {
    match (Variable::named(name, Direction::Output), Variable::named(name, Direction::Input)) {
        (Some(variable), _) | (None, Some(variable)) => variable.data_type() as u8,
        (None, None) => panic!("RTDE knows no variable of this name"),
    }
}

/// Returns the types of `COUNT` variables whose names are joined by commas, for
/// [`DynamicRecipe::with_types`](super::DynamicRecipe::with_types). Evaluate it in a constant: an unknown name or a
/// wrong count then fails to compile.
///
/// # Panics
/// If there are not `COUNT` names, or one is not in the registry for this direction.
#[must_use]
#[expect(clippy::panic, clippy::arithmetic_side_effects, clippy::indexing_slicing, reason = "evaluated when compiling")]
pub const fn types_of<const COUNT: usize>(names: &str, direction: Direction) -> [DataType; COUNT] {
    let mut types = [DataType::Bool; COUNT];
    let (mut rest, mut count) = (names, 0);
    while !rest.is_empty() {
        let mut end = 0;
        while end < rest.len() && rest.as_bytes()[end] != b',' {
            end += 1;
        }
        let (name, behind) = rest.split_at(end);
        types[count] = match Variable::named(name, direction) {
            Some(variable) => variable.data_type(),
            None => panic!("RTDE knows no variable of this name in this direction"),
        };
        count += 1;
        rest = if behind.is_empty() { behind } else { behind.split_at(1).1 };
    }
    assert!(count == COUNT, "another number of names");
    types
}

/// Fails to compile if no RTDE variable of this name is sent in this direction.
pub const fn check_name(name: &str, direction: Direction) {
    assert!(Variable::named(name, direction).is_some(), "this variable does not travel in this direction");
}

/// Returns the value at the offset `AT` \[B\] in the values of a data package.
#[must_use]
pub fn at<T: Data, const AT: usize, const SIZE: usize>(values: &[u8; SIZE]) -> T {
    const { assert!(AT.saturating_add(T::TYPE.size()) <= SIZE) };
    values.get(AT..).and_then(T::read).unwrap_or_default()
}

/// Starts an RTDE data package with a recipe number and `size` bytes of values.
///
/// # Errors
/// `BufferTooSmall` if `out` is shorter; `BadLength` if the package would exceed the greatest length.
pub fn put_data(recipe: u8, size: usize, out: &mut [u8]) -> Result<Values<'_>, WireError> {
    let mut put = start(out, PackageType::Data, size.saturating_add(1))?;
    put.value::<u8>(recipe)?;
    Ok(Values(put))
}

/// An RTDE data package whose values are being written one after the other.
#[derive(Debug)]
pub struct Values<'b>(Put<'b>);

/// Writes the next value of the RTDE data package.
///
/// # Errors
/// `BufferTooSmall` if the package has no room for it.
pub fn write<T: Data>(value: T, values: &mut Values<'_>) -> Result<(), WireError> {
    value.value().put(&mut values.0)
}
