//! The disk of the operator's interface: programs and installations by name.

/// The script of a program without text: it does nothing until it is stopped.
const IDLE: &str = "def idle():\n while True:\n  sync()\n end\nend\n";
/// The programs folder that relative file names refer to.
const FOLDER: &str = "/programs";
/// The path that the vendor's own simulators use for the programs folder; it is accepted, too.
const FOLDER_OF_SIMULATORS: &str = "/ursim/programs";

/// A program on the disk of the operator's interface. It contains the URScript that the pendant itself would
/// generate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgramFile {
    /// The program's name below the programs folder, or its whole path.
    pub name: String,
    /// The URScript that runs when the program is played: one program, `def` to `end`.
    pub script: String,
    /// The installation that the program belongs to; `None` for the one that is loaded.
    pub installation: Option<String>,
    /// `true` if loading the program fails.
    pub broken: bool,
    /// `true` if the program has unsaved changes.
    pub unsaved: bool,
    /// The text of the file as a client of PolyScope X has sent it. It does not determine what the program does.
    pub text: Option<String>,
}

impl ProgramFile {
    /// Returns a program of this name that does nothing until it is stopped.
    #[must_use]
    pub fn named(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            script: IDLE.to_owned(),
            installation: None,
            broken: false,
            unsaved: false,
            text: None,
        }
    }
}

/// An installation on the disk of the operator's interface.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InstallationFile {
    /// The installation's name below the programs folder, or its whole path.
    pub name: String,
    /// `true` if loading the installation fails.
    pub broken: bool,
    /// `true` if the installation's safety settings must be confirmed by a person at the pendant.
    pub needs_confirmation: bool,
}

impl InstallationFile {
    /// Returns an installation with the name `name` that can be loaded.
    #[must_use]
    pub fn named(name: &str) -> Self {
        Self { name: name.to_owned(), broken: false, needs_confirmation: false }
    }
}

/// The contents of the disk of the operator's interface.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Files {
    /// The path of the programs folder on the controller's disk.
    pub folder: String,
    /// An alternative path that also leads to the programs folder.
    pub also: Option<String>,
    /// The program files on the disk of the operator's interface.
    pub programs: Vec<ProgramFile>,
    /// The installations; the first is loaded at the start.
    pub installations: Vec<InstallationFile>,
}

impl Default for Files {
    /// Returns a disk with the program `idle.urp` and `default.installation`, at `/programs` and `/ursim/programs`.
    fn default() -> Self {
        Self {
            folder: FOLDER.to_owned(),
            also: Some(FOLDER_OF_SIMULATORS.to_owned()),
            programs: vec![ProgramFile::named("idle.urp")],
            installations: vec![InstallationFile::named("default.installation")],
        }
    }
}

impl Files {
    /// Returns the whole path of the file `name`; a name that is no path from `/` is below the programs folder.
    #[must_use]
    pub fn resolve(&self, name: &str) -> String {
        if name.starts_with('/') { name.to_owned() } else { format!("{}/{name}", self.folder) }
    }

    /// Returns whether two names refer to one file, by either path of the programs folder.
    fn same(&self, file: &str, name: &str) -> bool {
        let within = |name: &str| {
            let path = self.resolve(name);
            let also = self.also.as_deref().and_then(|folder| path.strip_prefix(folder)?.strip_prefix('/'));
            also.map(|rest| self.resolve(rest)).unwrap_or(path)
        };
        within(file) == within(name)
    }

    /// Returns the program file of this name, path, or name without extension, as PolyScope X writes it; `None` if
    /// there is none on the disk.
    #[must_use]
    pub fn named(&self, name: &str) -> Option<&ProgramFile> {
        self.program(name).or_else(|| self.programs.iter().find(|file| program_name(&file.name) == name))
    }

    pub(crate) fn named_mut(&mut self, name: &str) -> Option<&mut ProgramFile> {
        self.programs.iter_mut().find(|file| program_name(&file.name) == name)
    }

    /// Returns the program file on the disk that has this name or path; `None` if there is none.
    #[must_use]
    pub fn program(&self, name: &str) -> Option<&ProgramFile> {
        self.programs.iter().find(|file| self.same(&file.name, name))
    }

    /// Returns the installation on the disk that has this name or path; `None` if there is none.
    #[must_use]
    pub fn installation(&self, name: &str) -> Option<&InstallationFile> {
        self.installations.iter().find(|file| self.same(&file.name, name))
    }
}

/// Returns the last part of a path without its extension: the name of a program on PolyScope X.
pub(crate) fn program_name(path: &str) -> &str {
    let name = file_name(path);
    name.strip_suffix(".urpx").or_else(|| name.strip_suffix(".urp")).unwrap_or(name)
}

/// Returns the last part of a path: the file's name.
pub(crate) fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}
