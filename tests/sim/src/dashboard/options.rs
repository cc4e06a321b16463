//! What is not known of the dashboard server, or differs between sources: a choice each, with its default.

/// How a set or cleared operational mode is confirmed: sources disagree, and firmware may.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OperationalReplies {
    /// `Operational mode MANUAL is set`, as the vendor's client library expects.
    #[default]
    IsSet,
    /// `Setting operational mode: manual`, as the vendor's e-Series document has it.
    Setting,
    /// `operational mode 'manual' is set`, as a third client expects.
    Quoted,
}

/// How a finished report is announced: sources disagree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReportReplies {
    /// `Flight Report generated with id: NUMBER`; `Completed successfully: FILE`. What the vendor's client library waits
    /// for, and its tests find.
    #[default]
    Generated,
    /// The report's number alone; `Completed successfully: FILE`. The vendor's e-Series document.
    Number,
    /// `Generating flight report: …`, `Generating support file: …`. The table of the vendor's client library.
    Generating,
}

/// What is not known of the dashboard server, or differs between sources.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DashboardOptions {
    /// Replies about the operational mode.
    pub operational: OperationalReplies,
    /// Replies about reports and support files.
    pub reports: ReportReplies,
    /// Reply to a request that is not known; `{}` stands for the request.
    pub unknown: String,
    /// What stands for the program where none is loaded.
    pub unnamed: String,
    /// Whether `programState` shows programs that clients have sent; one client's documentation says it does not.
    pub shows_scripts: bool,
    /// Whether `isProgramSaved` begins its answer in upper case; by version where `None`: before 3.5 (assumed).
    pub capital: Option<bool>,
    /// Whether `stop` fails where nothing runs.
    pub stop_of_nothing_fails: bool,
    /// First CB3 software with `safetystatus`; none where it never came there.
    pub safetystatus: Option<(u8, u8)>,
    /// First CB3 software with `saveLog`.
    pub save_log: Option<(u8, u8)>,
    /// First CB3 software with the role `restricted`.
    pub restricted: (u8, u8),
    /// Clients at a time; more are refused. The number is not known; none for no limit.
    pub clients: Option<usize>,
}

impl Default for DashboardOptions {
    fn default() -> Self {
        Self {
            operational: OperationalReplies::default(),
            reports: ReportReplies::default(),
            unknown: "could not understand: '{}'".to_owned(),
            unnamed: "<unnamed>".to_owned(),
            shows_scripts: false,
            capital: None,
            stop_of_nothing_fails: false,
            safetystatus: Some((3, 11)),
            save_log: Some((3, 13)),
            restricted: (3, 12),
            clients: None,
        }
    }
}
