//! Properties of the dashboard server that are not documented, or differ between sources: an option for each, with a
//! default.

/// The dashboard's reply to setting or clearing the operational mode. Sources disagree, and firmware may differ.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OperationalReplies {
    /// The reply `Operational mode MANUAL is set`, as the vendor's client library expects.
    #[default]
    IsSet,
    /// The reply `Setting operational mode: manual`, as in the vendor's e-Series document.
    Setting,
    /// The reply `operational mode 'manual' is set`, as a third client expects.
    Quoted,
}

/// The wording of the dashboard's replies after a flight report was generated and after a support file was saved.
/// Sources disagree on it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReportReplies {
    /// The replies `Flight Report generated with id:NUMBER` after a flight report and `Completed successfully: FILE`
    /// after a support file. The vendor's client library waits for them, and its tests find them.
    #[default]
    Generated,
    /// The number of the flight report alone as the reply after it, and `Completed successfully: FILE` after a support
    /// file, as in the vendor's e-Series document.
    Number,
    /// The replies `Generating flight report: NUMBER` after a flight report and `Generating support file: FILE` after
    /// a support file, as in the table of the vendor's client library.
    Generating,
}

/// Properties of the dashboard server that are not documented, or differ between sources.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DashboardOptions {
    /// The form of the dashboard's replies about the operational mode.
    pub operational: OperationalReplies,
    /// The form of the dashboard's replies about flight reports and support files.
    pub reports: ReportReplies,
    /// The dashboard's reply to an unknown request; `{}` is replaced by the request.
    pub unknown: String,
    /// The program name in dashboard replies if no program is loaded.
    pub unnamed: String,
    /// `true` if `programState` includes programs that clients have sent; one client's documentation says that it
    /// does not.
    pub shows_scripts: bool,
    /// The case of the answer of `isProgramSaved`: `Some(true)` begins in upper case, `Some(false)` in lower case,
    /// `None` in upper case before software 3.5 only (assumed).
    pub capital: Option<bool>,
    /// `true` if the dashboard request `stop` fails while no program runs.
    pub stop_of_nothing_fails: bool,
    /// The first CB3 software with the request `safetystatus`; `None` if no CB3 software has it.
    pub safetystatus: Option<(u8, u8)>,
    /// The first CB3 software with the request `saveLog`; `None` if no CB3 software has it.
    pub save_log: Option<(u8, u8)>,
    /// The first CB3 software with the user role `restricted`.
    pub restricted: (u8, u8),
    /// The highest number of dashboard clients at a time; more are refused. `None` for no limit. The real number is
    /// not known.
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
