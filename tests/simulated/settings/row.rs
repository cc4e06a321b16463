//! A row of the tables of settings, for any kind of controller.

/// A setting, and the scene of a run in which its effect shows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row<S> {
    pub(crate) key: &'static str,
    pub(crate) value: &'static str,
    /// The file in which the setting is changed.
    pub(crate) file: &'static str,
    /// Further keys of both files, with and without the setting.
    pub(crate) beside: &'static str,
    pub(crate) scene: S,
    /// A part of the first line that differs, with the setting or without it.
    pub(crate) shows: &'static str,
}

impl<S: Copy> Row<S> {
    pub(crate) const fn of(self, file: &'static str) -> Self {
        Self { file, ..self }
    }

    pub(crate) const fn beside(self, beside: &'static str) -> Self {
        Self { beside, ..self }
    }
}

/// A scene of a run with one kind of controller.
pub(crate) trait Life: Copy + Sync {
    fn name(&self) -> &'static str;

    /// Returns the results of a run with this file in the scene, as lines.
    fn play(&self, file: &str) -> Vec<String>;
}

/// Declares scenes that differ from a calm one in the given fields.
macro_rules! scenes {
    ($scene:ident, $calm:ident; $($name:ident $text:literal { $($field:ident : $value:expr),* };)+) => {
        $(pub(crate) const $name: $scene = $scene { name: $text, $($field: $value,)* ..$calm };)+
    };
}
