//! The command `outrigger script`: sends a program file to the controller, and reports its outcome.
//!
//! The upload, and the texts for its messages, are in the library ([`outrigger::script`]).

use std::io;
use std::path::Path;

use outrigger_config::bounded_file_read;
use outrigger_core::client::interpreter::{InterpreterConfig, StatementFile};
use outrigger_core::client::script::{ScriptFile, Upload, UploadConfig};
use outrigger_wire::interpreter;
use outrigger_wire::time::Duration;

use crate::args::ScriptArgs;
use crate::ctl;
use outrigger::exit::{Failure, Outcome};
use outrigger::host::signals::{OnSignal, Signals};
use outrigger::host::target::Target;
use outrigger::script::{InterpreterPorts, InterpreterReport, Words, interpret, upload};
use outrigger::show::eprintln_lossy;

/// The largest size of a URScript file that is read, far beyond any that a controller takes \[B\].
const FILE_MAX: u64 = 64 << 20;

/// Runs `outrigger script`, which sends a URScript file to the controller and reports the outcome.
///
/// # Errors
/// [`Failure::BadInput`] for a file that is not a program, [`Failure::Connection`] if the controller cannot be
/// reached or takes no programs, [`Failure::Fault`] if the program failed or was replaced.
pub(crate) fn run(args: &ScriptArgs) -> Outcome {
    let bytes = read(&args.file)?;
    let shown = args.file.display().to_string();
    if args.interpreter {
        return statements(args, &bytes, shown);
    }
    let file = ScriptFile::new(&bytes).map_err(|error| Failure::BadInput(format!("{shown}: {error}")))?;
    file.warnings(|warning| eprintln_lossy!("{shown}:{}: warning: {}", warning.line, warning.kind.text()));
    let target = Target::resolve(&args.robot)?;
    // A secondary program runs beside the current one, so a run is not disturbed.
    if file.replaces() {
        ctl::check_no_run_commands(&args.robot)?;
    }
    let at = target.socket(Upload::PORT);
    let mut config = UploadConfig { wait: args.wait, ..UploadConfig::default() };
    if let Some(seconds) = args.timeout {
        config.verdict = Duration::from_secs(seconds);
    }
    let mut words = Words::new(args.json, shown, at, file);
    let uploaded = outrigger::host::runtime::one_threaded()?.block_on(async {
        let mut signals = Signals::listen(OnSignal::Nothing)?;
        upload(config, file, at, &mut words, async || signals.next().await).await
    });
    if words.is_unread() { Ok(()) } else { words.outcome(uploaded?) }
}

/// Sends the statements of the file with a script to the controller's interpreter mode.
fn statements(args: &ScriptArgs, bytes: &[u8], shown: String) -> Outcome {
    let file = StatementFile::new(bytes).map_err(|error| Failure::BadInput(format!("{shown}: {error}")))?;
    let target = Target::resolve(&args.robot)?;
    let at = InterpreterPorts { program: target.socket(Upload::PORT), statements: target.socket(interpreter::PORT) };
    ctl::check_no_run_commands(&args.robot)?;
    let (mut config, mut uploads) = (InterpreterConfig::default(), UploadConfig::default());
    if let Some(seconds) = args.timeout {
        let timeout = Duration::from_secs(seconds);
        (config.entering, config.reply, uploads.verdict) = (timeout, timeout, timeout);
    }
    let mut said = InterpreterReport::new(args.json, shown, at, file)?;
    let interpreted = outrigger::host::runtime::one_threaded()?.block_on(async {
        let mut signals = Signals::listen(OnSignal::AnArm)?;
        interpret(config, uploads, file, at, &mut said, async || signals.next().await).await
    })?;
    said.outcome(&interpreted)
}

fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    let read = if path == Path::new("-") {
        bounded_file_read::read_from(io::stdin().lock(), FILE_MAX)
    } else {
        bounded_file_read::read(path, FILE_MAX)
    };
    read.map_err(|error| Failure::BadInput(format!("cannot read {}: {error}", path.display())))
}
