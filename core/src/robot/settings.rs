//! Settings by one line of declaration each.
//!
//! [`settings!`](crate::settings) makes of `name: Type [least to most "unit"] = default` the field, its documentation, its
//! default, its check, and how it is read from a [`Table`] of a configuration file.

use outrigger_wire::robot::{JointAccelerations, JointPositions, JointTorques, JointVelocities};

use super::Range;
use outrigger_wire::time::Duration;

/// The name of a setting in files, and its documentation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key {
    /// Its name in its table.
    pub name: &'static str,
    /// What it is for.
    pub doc: &'static str,
}

/// A table of a configuration file. What stands at a key and is none of what is asked for is complained of there, and read
/// as nothing.
pub trait Table {
    /// `true` or `false`.
    fn flag(&mut self, key: Key) -> Option<bool>;

    /// A whole number.
    fn whole(&mut self, key: Key, range: Range<i64>) -> Option<i64>;

    /// A number.
    fn number(&mut self, key: Key, range: Range<f32>) -> Option<f32>;

    /// `N` numbers; one stands for all.
    fn numbers<const N: usize>(&mut self, key: Key, range: Range<f32>) -> Option<[f32; N]>;

    /// One of these words.
    fn word<T: Copy>(&mut self, key: Key, words: &[(&'static str, T)]) -> Option<T>;

    /// Reads a table inside this one.
    fn table(&mut self, name: &'static str, read: impl FnOnce(&mut Self));

    /// Reads keys that begin with `prefix`.
    fn prefixed(&mut self, prefix: &'static str, read: impl FnOnce(&mut Self));
}

/// What can stand at one key.
pub trait Setting: Copy + PartialEq {
    /// What it may be.
    type Range: Copy;

    /// Whether it may be that.
    ///
    /// # Errors
    /// [`Outside`] its range.
    fn check(&self, range: &Self::Range) -> Result<(), Outside>;

    /// What stands at `key`; `None` where nothing of the kind does.
    fn read(table: &mut impl Table, key: Key, range: Self::Range) -> Option<Self>;
}

/// A value is not in its range; of several values the first that is not, from 0.
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

/// In seconds.
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

/// Nothing where nothing stands.
impl<T: Setting> Setting for Option<T> {
    type Range = T::Range;

    fn check(&self, range: &T::Range) -> Result<(), Outside> {
        self.as_ref().map_or(Ok(()), |value| value.check(range))
    }

    fn read(table: &mut impl Table, key: Key, range: T::Range) -> Option<Self> {
        T::read(table, key, range).map(Some)
    }
}

/// A setting, or several, that can take the place of a default.
pub trait Tuning<T> {
    /// Replaces what is given; the rest of `settings` stays as it is.
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

/// A setting with the same default whatever else is known.
impl Tuning<Self> for bool {
    fn apply(self, setting: &mut Self) {
        *setting = self;
    }
}

/// The words of an enumeration in files: `words!(RequestAs { "held" = Held, "edge" = Edge })`.
#[macro_export]
#[doc(hidden)]
macro_rules! words {
    ($type:ident { $($word:literal = $variant:ident),* $(,)? }) => {
        impl $type {
            /// Its words in configuration files.
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

/// A structure of settings, each declared in one line.
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
/// It has the fields, `Default`, `check_ranges`, whose error names the field after `in`, and `read`, which takes from a
/// [`Table`](crate::robot::Table) what stands there. After a field's name may stand, where it is not the key in files:
/// `at "key"`; `nowhere`; of a structure of settings `table "name"`, `prefix "begin_"`, or `here` for keys beside the others.
/// After a range may stand `or VALUE`, which no file can have, and is accepted too. A setting that is no number has no range.
///
/// Where defaults depend on what is known later, `by new(period: Duration)` after the section makes a function of them in place
/// of `Default`. Then a second structure may follow, of *tunings*: what stands in a file and takes the place of those defaults. It
/// is `Default`, and has `read` and `apply`; what is not tuned stands in the first one.
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
            /// The defaults.
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
            /// The defaults.
            #[must_use]
            pub fn $defaults($($known: $known_type),+) -> Self {
                Self { $($fixed: $fixed_default,)* $($field: $default,)* }
            }

            /// Whether every setting is in its range.
            ///
            /// # Errors
            /// The first that is not.
            #[inline(never)]
            pub fn check_ranges(&self) -> Result<(), $crate::robot::BadValue> {
                $($crate::check_setting!(self.$field, concat!($section, stringify!($field)), [$($($range)+)?]);)*
                Ok(())
            }
        }

        impl $tuning {
            /// Replaces the settings that are given; the rest of `settings` stays as it is.
            pub fn apply(&self, settings: &mut $name) {
                $($crate::robot::Tuning::apply(self.$field, &mut settings.$field);)*
            }

            /// Takes what stands in `table`; the rest stays as it is.
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
            /// Whether every setting is in its range.
            ///
            /// # Errors
            /// The first that is not.
            #[inline(never)]
            pub fn check_ranges(&self) -> Result<(), $crate::robot::BadValue> {
                $($crate::check_setting!(self.$field, concat!($section, stringify!($field)), [$($($range)+)?] $($($other)?)?);)*
                Ok(())
            }

            /// Takes what stands in `table`; the rest stays as it is.
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

/// What is tuned: nothing, or a value in place of the default's.
#[macro_export]
#[doc(hidden)]
macro_rules! tuning_type {
    ($type:ty => $tuning:ty) => { $tuning };
    ($type:ty) => { Option<$type> };
}

/// A range, of times where its unit is seconds, or none.
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

/// How documentation tells a range.
#[macro_export]
#[doc(hidden)]
macro_rules! range_doc {
    ($least:literal to $most:literal $($unit:literal)?) => {
        concat!("\n\nIts range: ", $least, " to ", $most $(, " ", $unit)?, ".")
    };
    ($range:path) => { concat!("\n\nIts range: [`", stringify!($range), "`].") };
}

/// Returns what is wrong with a setting.
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

/// Takes a setting from a table, where it stands there.
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
