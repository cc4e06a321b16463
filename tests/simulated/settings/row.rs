//! A row of the tables of settings, for any kind of controller.

/// A tested setting, with the configuration file and the scene of a run in which its effect shows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row<S> {
    pub(crate) key: &'static str,
    pub(crate) value: &'static str,
    /// The configuration file in which the setting is changed.
    pub(crate) file: &'static str,
    /// Further settings of the file, in the run with the tested setting and in the run without it.
    pub(crate) beside: &'static str,
    pub(crate) scene: S,
    /// A text that the first differing line of the results contains, in the run with the setting or in that without it.
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

/// A scene: the faults, sensor values and operator's actions of a test run with one kind of controller.
pub(crate) trait Life: Copy + Sync {
    fn name(&self) -> &'static str;

    /// Executes a run with this configuration file in the scene. Returns the results of the run as lines.
    fn play(&self, file: &str) -> Vec<String>;
}

/// Declares scenes as constants, each with a name. They differ in the given fields from a scene without any event.
macro_rules! scenes {
    ($scene:ident, $calm:ident; $($name:ident $text:literal { $($field:ident : $value:expr),* };)+) => {
        $(pub(crate) const $name: $scene = $scene { name: $text, $($field: $value,)* ..$calm };)+
    };
}
