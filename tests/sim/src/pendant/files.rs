//! The disk of the operator's interface: programs and installations by name.

/// What a program does that was given no text: nothing, until it is stopped.
const IDLE: &str = "def idle():\n while True:\n  sync()\n end\nend\n";
/// Where relative names are looked for.
const FOLDER: &str = "/programs";

/// A program of the pendant. What it does is URScript, as the pendant itself makes of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgramFile {
    /// Its name below the programs folder, or its whole path.
    pub name: String,
    /// What runs when it is played: one program, `def` to `end`.
    pub script: String,
    /// The installation it belongs to; none for the loaded one, whichever that is.
    pub installation: Option<String>,
    /// Whether loading it fails.
    pub broken: bool,
    /// Whether it has changes that were not written.
    pub unsaved: bool,
    /// The file as a client of PolyScope X has sent it; what it does is not read out of it.
    pub text: Option<String>,
}

impl ProgramFile {
    /// A program of this name that does nothing until it is stopped.
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

/// An installation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InstallationFile {
    /// Its name below the programs folder, or its whole path.
    pub name: String,
    /// Whether loading it fails.
    pub broken: bool,
    /// Whether its safety settings wait for somebody to confirm them at the pendant.
    pub needs_confirmation: bool,
}

impl InstallationFile {
    /// An installation of this name that loads.
    #[must_use]
    pub fn named(name: &str) -> Self {
        Self { name: name.to_owned(), broken: false, needs_confirmation: false }
    }
}

/// Everything on the disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Files {
    /// The programs folder.
    pub folder: String,
    /// Programs.
    pub programs: Vec<ProgramFile>,
    /// Installations; the first is loaded at the start.
    pub installations: Vec<InstallationFile>,
}

impl Default for Files {
    /// `idle.urp` with `default.installation`.
    fn default() -> Self {
        Self {
            folder: FOLDER.to_owned(),
            programs: vec![ProgramFile::named("idle.urp")],
            installations: vec![InstallationFile::named("default.installation")],
        }
    }
}

impl Files {
    /// The whole path of a name.
    #[must_use]
    pub fn resolve(&self, name: &str) -> String {
        if name.starts_with('/') { name.to_owned() } else { format!("{}/{name}", self.folder) }
    }

    /// The program of this name, path, or name without extension, as PolyScope X writes it.
    #[must_use]
    pub fn named(&self, name: &str) -> Option<&ProgramFile> {
        self.program(name).or_else(|| self.programs.iter().find(|file| program_name(&file.name) == name))
    }

    pub(crate) fn named_mut(&mut self, name: &str) -> Option<&mut ProgramFile> {
        self.programs.iter_mut().find(|file| program_name(&file.name) == name)
    }

    /// The program of this name or path.
    #[must_use]
    pub fn program(&self, name: &str) -> Option<&ProgramFile> {
        self.programs.iter().find(|file| self.resolve(&file.name) == self.resolve(name))
    }

    /// The installation of this name or path.
    #[must_use]
    pub fn installation(&self, name: &str) -> Option<&InstallationFile> {
        self.installations.iter().find(|file| self.resolve(&file.name) == self.resolve(name))
    }
}

/// The last part of a path without its extension: what PolyScope X calls a program.
pub(crate) fn program_name(path: &str) -> &str {
    let name = file_name(path);
    name.strip_suffix(".urpx").or_else(|| name.strip_suffix(".urp")).unwrap_or(name)
}

/// The last part of a path.
pub(crate) fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}
