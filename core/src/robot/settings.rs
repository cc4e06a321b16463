//! Declaration of settings, each in one line.
//!
//! From `name: Type [least to most "unit"] = default` the macro [`settings!`](crate::settings) generates the field, its
//! documentation, its default, its range check, and the code that reads it from a [`Table`] of a configuration file.

use outrigger_wire::robot::{JointAccelerations, JointPositions, JointTorques, JointVelocities};

use super::Range;
use outrigger_wire::time::Duration;

/// The name of a setting in configuration files, and its documentation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key {
    /// The setting's name in its table of the configuration file.
    pub name: &'static str,
    /// The documentation of the setting, as text.
    pub doc: &'static str,
}

/// A table of a configuration file. A value of the wrong type or out of range is reported by the table, and `None` is
/// returned for it.
pub trait Table {
    /// Reads the Boolean setting `key` of the table: `true` or `false`.
    fn flag(&mut self, key: Key) -> Option<bool>;

    /// Reads the whole number of the setting `key`, which must be in `range`.
    fn whole(&mut self, key: Key, range: Range<i64>) -> Option<i64>;

    /// Reads the number of the setting `key`, which must be in `range`.
    fn number(&mut self, key: Key, range: Range<f32>) -> Option<f32>;

    /// Reads the `N` numbers at `key`; a single number in the file applies to all `N`.
    fn numbers<const N: usize>(&mut self, key: Key, range: Range<f32>) -> Option<[f32; N]>;

    /// Reads the word at `key`. Returns the value that `words` pairs with it.
    fn word<T: Copy>(&mut self, key: Key, words: &[(&'static str, T)]) -> Option<T>;

    /// Calls `read` with the table `name` that is nested in this one.
    fn table(&mut self, name: &'static str, read: impl FnOnce(&mut Self));

    /// Calls `read` with this table; meanwhile each key is looked up with `prefix` in front of its name.
    fn prefixed(&mut self, prefix: &'static str, read: impl FnOnce(&mut Self));
}

/// A type of value that a single key of a configuration file can have.
pub trait Setting: Copy + PartialEq {
    /// The type in which the accepted range of this setting's values is given.
    type Range: Copy;

    /// Checks that the setting's value is in `range`.
    ///
    /// # Errors
    /// [`Outside`] if it is not.
    fn check(&self, range: &Self::Range) -> Result<(), Outside>;

    /// Reads the setting's value at `key` of the table; returns `None` if it is missing or invalid.
    fn read(table: &mut impl Table, key: Key, range: Self::Range) -> Option<Self>;
}

/// The error for a setting's value outside its range; for several values the index, from 0, of the first invalid one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outside(pub Option<u8>);

impl<T: PartialOrd + Copy> Range<T> {
    fn hold(&self, value: T) -> Result<(), Outside> {
        if self.contains(value) { Ok(()) } else { Err(Outside(None)) }
    }
}

macro_rules! whole {
    ($($type:ty)*) => { $(
        impl Setting for $type {
            type Range = Range<Self>;

            #[inline]
            fn check(&self, range: &Range<Self>) -> Result<(), Outside> {
                range.hold(*self)
            }

            fn read(table: &mut impl Table, key: Key, Range { least, most, text }: Range<Self>) -> Option<Self> {
                let end = |number: Self| i64::try_from(number).unwrap_or(i64::MAX);
                table.whole(key, Range { least: end(least), most: end(most), text }).and_then(|number| number.try_into().ok())
            }
        }
    )* };
}

whole!(u8 u16 u32 u64 usize);

impl Setting for f32 {
    type Range = Range<Self>;

    #[inline]
    fn check(&self, range: &Range<Self>) -> Result<(), Outside> {
        range.hold(*self)
    }

    fn read(table: &mut impl Table, key: Key, range: Range<Self>) -> Option<Self> {
        table.number(key, range)
    }
}

/// A time, which configuration files contain in seconds.
impl Setting for Duration {
    type Range = Range<Self>;

    #[inline]
    fn check(&self, range: &Range<Self>) -> Result<(), Outside> {
        range.hold(*self)
    }

    fn read(table: &mut impl Table, key: Key, Range { least, most, text }: Range<Self>) -> Option<Self> {
        let range = Range { least: least.as_secs_f32(), most: most.as_secs_f32(), text };
        table.number(key, range).map(|seconds| super::time(seconds.into()))
    }
}

impl<const N: usize> Setting for [f32; N] {
    type Range = Range<f32>;

    // Not inlined: two dozen callers, 150 B in each.
    #[inline(never)]
    fn check(&self, range: &Range<f32>) -> Result<(), Outside> {
        let outside = (0_u8..).zip(self).find(|(_, value)| !range.contains(**value));
        outside.map_or(Ok(()), |(at, _)| Err(Outside(Some(at))))
    }

    fn read(table: &mut impl Table, key: Key, range: Range<f32>) -> Option<Self> {
        table.numbers(key, range)
    }
}

macro_rules! of_joints {
    ($($type:ident)*) => { $(
        impl<const N: usize> Setting for $type<N> {
            type Range = Range<f32>;

            #[inline]
            fn check(&self, range: &Range<f32>) -> Result<(), Outside> {
                self.0.check(range)
            }

            fn read(table: &mut impl Table, key: Key, range: Range<f32>) -> Option<Self> {
                table.numbers(key, range).map($type)
            }
        }
    )* };
}

of_joints!(JointPositions JointVelocities JointAccelerations JointTorques);

impl Setting for bool {
    type Range = ();

    fn check(&self, (): &()) -> Result<(), Outside> {
        Ok(())
    }

    fn read(table: &mut impl Table, key: Key, (): ()) -> Option<Self> {
        table.flag(key)
    }
}

/// An optional setting: `None` if its key is missing in the file.
impl<T: Setting> Setting for Option<T> {
    type Range = T::Range;

    fn check(&self, range: &T::Range) -> Result<(), Outside> {
        self.as_ref().map_or(Ok(()), |value| value.check(range))
    }

    fn read(table: &mut impl Table, key: Key, range: T::Range) -> Option<Self> {
        T::read(table, key, range).map(Some)
    }
}

/// A setting, or a structure of settings, that replaces a default if it is present.
pub trait Tuning<T> {
    /// Overwrites those of `settings` for which this value contains a replacement; the rest does not change.
    fn apply(self, settings: &mut T);
}

impl<T> Tuning<T> for Option<T> {
    #[inline]
    fn apply(self, setting: &mut T) {
        if let Some(given) = self {
            *setting = given;
        }
    }
}

/// A setting whose default does not depend on other settings: it is always present and replaces the default as a
/// whole.
impl Tuning<Self> for bool {
    fn apply(self, setting: &mut Self) {
        *setting = self;
    }
}

/// Declares the words that stand for the variants of an enumeration in configuration files:
/// `words!(RequestAs { "held" = Held, "edge" = Edge })`.
#[macro_export]
#[doc(hidden)]
macro_rules! words {
    ($type:ident { $($word:literal = $variant:ident),* $(,)? }) => {
        impl $type {
            /// The variants, each with the word that stands for it in configuration files.
            pub const WORDS: &'static [(&'static str, Self)] = &[$(($word, Self::$variant)),*];
        }

        impl $crate::robot::Setting for $type {
            type Range = ();

            fn check(&self, (): &()) -> Result<(), $crate::robot::Outside> {
                Ok(())
            }

            fn read(table: &mut impl $crate::robot::Table, key: $crate::robot::Key, (): ()) -> Option<Self> {
                table.word(key, Self::WORDS)
            }
        }
    };
}

/// Declares a structure of settings, each setting in one line.
///
/// ```
/// # use outrigger_wire::time::Duration;
/// outrigger_core::settings! {
///     /// How the arm is looked for.
///     #[derive(Clone, Copy, Debug, PartialEq)]
///     pub struct Search in "search." {
///         /// Longest search.
///         pub timeout: Duration [0.1 to 60.0 "s"] = Duration::from_secs(5),
///         /// How often.
///         pub attempts: u8 [1 to 10] = 3,
///     }
/// }
/// let told = Search { attempts: 0, ..Search::default() }.check_ranges().unwrap_err();
/// assert_eq!(told.to_string(), "search.attempts: expected 1 to 10");
/// ```
///
/// The structure has the fields, `Default`, `check_ranges`, whose error names the field after the text of `in`, and
/// `read`, which reads the keys that are present in a [`Table`](crate::robot::Table). If the key in files differs from
/// a field's name, the name is followed by `at "key"`; by `nowhere` if files do not have the field; or, for a field
/// that is itself a structure of settings, by `table "name"`, `prefix "begin_"`, or `here` if its keys are in the same
/// table. A range can be followed by `or VALUE`: a further accepted value, which no file can have. A setting that is
/// not a number has no range.
///
/// If defaults depend on something known later, `by new(period: Duration)` after the section generates a function for
/// them in place of `Default`. A second structure of *tunings* can then follow: the values in a file that replace those
/// defaults. It has `Default`, `read` and `apply`; settings that cannot be tuned belong to the first structure.
#[macro_export]
macro_rules! settings {
    (
        $(#[$meta:meta])*
        pub struct $name:ident $(<const $n:ident: usize>)? in $section:literal { $($fields:tt)* }
    ) => {
        $crate::settings!(@structure [$(#[$meta])*] $name [$(<const $n: usize>)?] [$(<$n>)?] $section { $($fields)* });

        impl $(<const $n: usize>)? Default for $name $(<$n>)? {
            fn default() -> Self {
                $crate::settings!(@defaults { $($fields)* })
            }
        }
    };
    (
        $(#[$meta:meta])*
        pub struct $name:ident in $section:literal by $defaults:ident($($known:ident: $known_type:ty),+) { $($fields:tt)* }
    ) => {
        $crate::settings!(@structure [$(#[$meta])*] $name [] [] $section { $($fields)* });

        impl $name {
            /// Returns the default settings.
            #[must_use]
            pub fn $defaults($($known: $known_type),+) -> Self {
                $crate::settings!(@defaults { $($fields)* })
            }
        }
    };
    (
        $(#[$meta:meta])*
        pub struct $name:ident in $section:literal by $defaults:ident($($known:ident: $known_type:ty),+) {
            $(
                $(#[doc = $fixed_doc:literal])*
                pub $fixed:ident: $fixed_type:ty = $fixed_default:expr
            ),* $(,)?
        }

        $(#[$tuning_meta:meta])*
        pub tuning $tuning:ident {
            $(
                $(#[doc = $doc:literal])*
                pub $field:ident $($how:ident $($key:literal)?)? : $type:ty $(=> $tuning_type:ty)? $([$($range:tt)+])? = $default:expr
            ),* $(,)?
        }
        $(beside {
            $(
                $(#[doc = $beside_doc:literal])*
                pub $beside:ident $beside_how:ident $beside_key:literal : $beside_type:ty
            ),* $(,)?
        })?
    ) => {
        $(#[$meta])*
        pub struct $name {
            $(
                $(#[doc = $fixed_doc])*
                pub $fixed: $fixed_type,
            )*
            $(
                $(#[doc = $doc])*
                $(#[doc = $crate::range_doc!($($range)+)])?
                pub $field: $type,
            )*
        }

        $(#[$tuning_meta])*
        pub struct $tuning {
            $(
                $(#[doc = $doc])*
                $(#[doc = $crate::range_doc!($($range)+)])?
                pub $field: $crate::tuning_type!($type $(=> $tuning_type)?),
            )*
            $($(
                $(#[doc = $beside_doc])*
                pub $beside: $beside_type,
            )*)?
        }

        impl $name {
            /// Returns the default settings.
            #[must_use]
            pub fn $defaults($($known: $known_type),+) -> Self {
                Self { $($fixed: $fixed_default,)* $($field: $default,)* }
            }

            /// Checks that every setting is in its range.
            ///
            /// # Errors
            /// Returns the first setting that is not.
            #[inline(never)]
            pub fn check_ranges(&self) -> Result<(), $crate::robot::BadValue> {
                $($crate::check_setting!(self.$field, concat!($section, stringify!($field)), [$($($range)+)?]);)*
                Ok(())
            }
        }

        impl $tuning {
            /// Overwrites those of `settings` for which a replacement is present; the rest does not change.
            pub fn apply(&self, settings: &mut $name) {
                $($crate::robot::Tuning::apply(self.$field, &mut settings.$field);)*
            }

            /// Reads the keys that are present in `table`; the rest does not change.
            pub fn read(&mut self, table: &mut impl $crate::robot::Table) {
                $($crate::read_setting!(
                    table, self.$field, [$($how $($key)?)?] stringify!($field), concat!($($doc),*), [$($($range)+)?]
                );)*
                $($($crate::read_setting!(table, self.$beside, [$beside_how $beside_key] "", "", []);)*)?
            }
        }
    };
    (@structure [$(#[$meta:meta])*] $name:ident [$($generics:tt)*] [$($arguments:tt)*] $section:literal {
        $(
            $(#[doc = $doc:literal])*
            pub $field:ident $($how:ident $($key:literal)?)? : $type:ty $([$($range:tt)+] $(or $other:path)?)? = $default:expr
        ),* $(,)?
    }) => {
        $(#[$meta])*
        pub struct $name $($generics)* {
            $(
                $(#[doc = $doc])*
                $(#[doc = $crate::range_doc!($($range)+)])?
                pub $field: $type,
            )*
        }

        impl $($generics)* $name $($arguments)* {
            /// Checks that every setting is in its range.
            ///
            /// # Errors
            /// Returns the first setting that is not.
            #[inline(never)]
            pub fn check_ranges(&self) -> Result<(), $crate::robot::BadValue> {
                $($crate::check_setting!(self.$field, concat!($section, stringify!($field)), [$($($range)+)?] $($($other)?)?);)*
                Ok(())
            }

            /// Reads the keys that are present in `table`; the rest does not change.
            pub fn read(&mut self, table: &mut impl $crate::robot::Table) {
                $($crate::read_setting!(
                    table, self.$field, [$($how $($key)?)?] stringify!($field), concat!($($doc),*), [$($($range)+)?]
                );)*
            }
        }
    };
    (@defaults {
        $(
            $(#[doc = $doc:literal])*
            pub $field:ident $($how:ident $($key:literal)?)? : $type:ty $([$($range:tt)+] $(or $other:path)?)? = $default:expr
        ),* $(,)?
    }) => {
        Self { $($field: $default),* }
    };
}

/// Expands to the type of a tuning, a value that replaces a setting's default: an `Option` of the setting's type,
/// unless another type is named.
#[macro_export]
#[doc(hidden)]
macro_rules! tuning_type {
    ($type:ty => $tuning:ty) => { $tuning };
    ($type:ty) => { Option<$type> };
}

/// Expands to a range, of `Duration`s if its unit is seconds, or to `()` if there is none.
#[macro_export]
#[doc(hidden)]
macro_rules! range_of {
    () => { () };
    ($least:literal to $most:literal "s") => {
        $crate::robot::Range {
            least: $crate::robot::time($least),
            most: $crate::robot::time($most),
            text: concat!($least, " to ", $most, " s"),
        }
    };
    ($least:literal to $most:literal $($unit:literal)?) => {
        $crate::robot::Range { least: $least, most: $most, text: concat!($least, " to ", $most $(, " ", $unit)?) }
    };
    ($range:path) => { $range };
}

/// Expands to the text that documents the range of a setting.
#[macro_export]
#[doc(hidden)]
macro_rules! range_doc {
    ($least:literal to $most:literal $($unit:literal)?) => {
        concat!("\n\nIts range: ", $least, " to ", $most $(, " ", $unit)?, ".")
    };
    ($range:path) => { concat!("\n\nIts range: [`", stringify!($range), "`].") };
}

/// Returns an error from the calling function if a setting is out of its range.
#[macro_export]
#[doc(hidden)]
macro_rules! check_setting {
    ($value:expr, $name:expr, []) => {};
    ($value:expr, $name:expr, [$($range:tt)+] $($other:path)?) => {
        if $($value != $other &&)? let Err(outside) = $crate::robot::Setting::check(&$value, &$crate::range_of!($($range)+)) {
            return Err($crate::robot::BadValue::new(
                $name,
                const { $crate::range_of!($($range)+).text },
                outside.0,
            ));
        }
    };
}

/// Reads a setting from a table of a configuration file if its key is present.
#[macro_export]
#[doc(hidden)]
macro_rules! read_setting {
    ($table:ident, $value:expr, [nowhere] $name:expr, $doc:expr, $range:tt) => {};
    ($table:ident, $value:expr, [here] $name:expr, $doc:expr, $range:tt) => { $value.read($table) };
    ($table:ident, $value:expr, [table $key:literal] $name:expr, $doc:expr, $range:tt) => {
        $table.table($key, |table| $value.read(table))
    };
    ($table:ident, $value:expr, [prefix $key:literal] $name:expr, $doc:expr, $range:tt) => {
        $table.prefixed($key, |table| $value.read(table))
    };
    ($table:ident, $value:expr, [at $key:literal] $name:expr, $doc:expr, $range:tt) => {
        $crate::read_setting!($table, $value, [] $key, $doc, $range)
    };
    ($table:ident, $value:expr, [] $name:expr, $doc:expr, [$($range:tt)*]) => {
        let key = $crate::robot::Key { name: $name, doc: $doc };
        if let Some(value) = $crate::robot::Setting::read($table, key, $crate::range_of!($($range)*)) {
            $value = value;
        }
    };
}

pub(crate) use {range_of, settings, words};
