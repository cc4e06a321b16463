//! The command `outrigger board`: reads the configuration of a board on the bench over its serial line, and stores
//! another one without a compiler.

mod args;
mod failure_advice;
mod serial_line;

use std::io::{IsTerminal as _, Write as _, stdout};
use std::path::Path;

use outrigger_config::{AnyConfiguration, compile};
use outrigger_core::engine::settings_kind;
use outrigger_remote::provision::{
    BootInfo, Caller, Copy, Event, Fingerprint, Image, Origin, Refusal, Refused, admits,
};

pub(crate) use self::args::BoardCommand;
use self::args::LineArgs;
use self::serial_line::Port;
use outrigger::exit::{Failure, Outcome, output_closed};
use outrigger::host::clock::Clock;

/// Runs `outrigger board`.
///
/// # Errors
/// [`Failure::BadInput`] for a file that is invalid, or that this firmware cannot run; [`Failure::Connection`] if
/// there is no answer; [`Failure::Fault`] if the board refuses, or does not run the new configuration.
pub(crate) fn run(command: &BoardCommand) -> Outcome {
    match command {
        BoardCommand::Show { line, file } => show(line, file.as_deref()),
        BoardCommand::Set { line, file } => set(line, file),
        BoardCommand::Default { line } => default(line),
    }
}

fn show(line: &LineArgs, file: Option<&Path>) -> Outcome {
    let image = file.map(image_of).transpose()?;
    let found = Bench::open(line)?.look()?;
    say(&found.story())?;
    let Some((file, image)) = file.zip(image) else { return Ok(()) };
    let same = found.here.in_force == Fingerprint::of(&image);
    say(&format!("these settings are {} {}", if same { "the same as in" } else { "different from" }, file.display()))
}

fn set(line: &LineArgs, file: &Path) -> Outcome {
    let image = image_of(file)?;
    say(&format!("{} is valid: {} bytes", file.display(), image.len()))?;
    let mut bench = Bench::open(line)?;
    let found = bench.look()?;
    say(&found.story())?;
    if let Some(why) = refused_beforehand(&found.here, &image) {
        return Err(failure_advice::failure(why, "").at(file));
    }
    let caller = Caller::put(&image, found.here.boot, bench.clock.now());
    let (found, _) = bench.tell(caller, image.len()).map_err(|failure| match failure {
        Failure::BadInput(_) => failure.at(file),
        other => other,
    })?;
    if !found.here.runs(&image) {
        return Err(Failure::Fault(format!(
            "the board restarted before all was written, and runs its previous settings: {}; repeat the command",
            found.origin()
        )));
    }
    say(&format!("the board runs {}: {}", file.display(), found.origin()))
}

fn default(line: &LineArgs) -> Outcome {
    let mut bench = Bench::open(line)?;
    let found = bench.look()?;
    say(&found.story())?;
    admits(found.here.mode).map_err(|why| failure_advice::failure(why, ""))?;
    let caller = Caller::erase(found.here.boot, bench.clock.now());
    let (found, erased) = bench.tell(caller, 0)?;
    // A copy whose erasure was interrupted may be left in part.
    if !erased || found.here.origin != Origin::CompiledIn || found.here.copies != [Copy::Empty; 2] {
        let what = "the board restarted before all was erased";
        return Err(Failure::Fault(format!("{what}: it runs {}; repeat the command", found.origin())));
    }
    say("the board runs its compiled-in settings, and stores no others")
}

/// Returns the settings in a board's configuration file as bytes, in the form in which the board receives them.
fn image_of(file: &Path) -> Result<Vec<u8>, Failure> {
    if !AnyConfiguration::load(file)?.is_for_a_board() {
        let what = "expected a board's file, with a table [device]; this file is for a host";
        return Err(Failure::BadInput(what.into()).at(file));
    }
    Ok(compile(file)?.image())
}

/// Returns the reason for which the board would refuse the settings in `image`, so that it is reported before anything
/// is sent. `None` if the board's description of itself gives no such reason.
fn refused_beforehand(here: &BootInfo<'_>, image: &[u8]) -> Option<Refusal> {
    let Fingerprint { length: found, .. } = Fingerprint::of(image);
    let parts = Image::from_bytes(image)?;
    let (format, kind) = settings_kind(parts.settings)?;
    if let Err(why) = admits(here.mode) {
        return Some(why);
    }
    let refused = [
        (kind != here.kind, Refusal::OtherKind { found: kind, expected: here.kind }),
        (format != here.format, Refusal::OtherFormat { found: format, expected: here.format }),
        (found > here.room, Refusal::TooLong { found, expected: here.room }),
        (!parts.requests.is_empty() && !here.requests, Refusal::NoRequests),
        (!parts.motion.is_empty() && !here.motion, Refusal::NoMotion),
    ];
    refused.into_iter().find_map(|(is, why)| is.then_some(why))
}

fn say(text: &str) -> Outcome {
    writeln!(stdout(), "{text}").or_else(|error| output_closed(&error))
}

/// The description that a board has sent of itself: its name and build, and the origin of the settings that it runs.
struct Found {
    board: String,
    build: String,
    why: String,
    here: BootInfo<'static>,
}

impl Found {
    fn of(here: BootInfo<'_>) -> Self {
        let BootInfo { board, build, boot, kind, format, room, requests, motion, mode, origin, in_force, copies, why } =
            here;
        let [board, build, why] = [board, build, why].map(str::to_owned);
        let here = BootInfo {
            board: "",
            build: "",
            boot,
            kind,
            format,
            room,
            requests,
            motion,
            mode,
            origin,
            in_force,
            copies,
            why: "",
        };
        Self { board, build, why, here }
    }

    fn origin(&self) -> String {
        match self.here.origin {
            Origin::CompiledIn => "compiled-in settings".into(),
            Origin::Flash { copy, sequence } => format!("copy {} in flash, number {sequence}", copy.saturating_add(1)),
        }
    }

    fn story(&self) -> String {
        let Self { board, build, why, here } = self;
        let mut text = format!("{board}, build {build}: runs {}, {} bytes", self.origin(), here.in_force.length);
        for (number, copy) in (1..).zip(here.copies) {
            let state = match copy {
                Copy::Damaged => "is incomplete: it was not fully written, or is not a copy",
                Copy::Refused => "cannot be run by this firmware",
                Copy::Empty | Copy::Older | Copy::InForce => continue,
            };
            text.push_str(&format!("\n  copy {number} {state}"));
            if copy == Copy::Refused && !why.is_empty() {
                text.push_str(&format!(": {why}"));
            }
        }
        text
    }
}

/// A connection to the board over its serial line, and the clock for its time limits.
struct Bench {
    port: Port,
    clock: Clock,
}

impl Bench {
    fn open(line: &LineArgs) -> Result<Self, Failure> {
        Ok(Self { port: Port::open(&line.port, line.baud)?, clock: Clock::start() })
    }

    fn look(&mut self) -> Result<Found, Failure> {
        let now = self.clock.now();
        self.talk(Caller::look(now), |event| match event {
            Event::Here(here) => Some(Ok(Found::of(here))),
            _ => None,
        })
    }

    /// Transfers settings to the board, or erases them, and shows the progress. Returns the board's description after
    /// its restart, and `true` if it reported that everything was erased.
    fn tell(&mut self, caller: Caller<'_>, length: usize) -> Result<(Found, bool), Failure> {
        let (shown, mut erased) = (stdout().is_terminal(), false);
        self.talk(caller, |event| {
            let said = match event {
                Event::Restarted(here) => return Some(Ok((Found::of(here), erased))),
                Event::Sent(bytes) if shown => {
                    let end = if bytes as usize == length { "\n" } else { "" };
                    let _ = write!(stdout(), "\rsent {bytes} of {length} bytes{end}");
                    let _ = stdout().flush();
                    return None;
                }
                Event::Sent(bytes) if bytes as usize == length => say(&format!("sent {length} bytes")),
                Event::Writing => say("the board stops its control loop and writes"),
                Event::Kept { copy, sequence } => {
                    say(&format!("written as copy {}, number {sequence}; restarting", copy.saturating_add(1)))
                }
                Event::Erased => {
                    erased = true;
                    say("erased; restarting")
                }
                _ => return None,
            };
            said.err().map(Err)
        })
    }

    /// Exchanges messages with the board, and passes each event to `each` until that returns a result. The board's
    /// refusal, and a board that does not answer, are failures.
    fn talk<T>(
        &mut self,
        mut caller: Caller<'_>,
        mut each: impl FnMut(Event<'_>) -> Option<Result<T, Failure>>,
    ) -> Result<T, Failure> {
        loop {
            while let Some(event) = caller.poll_event(self.clock.now()) {
                match event {
                    Event::Refused(Refused { why, text }) => return Err(failure_advice::failure(why, text)),
                    Event::Silent { heard } => return Err(failure_advice::silent(heard, &self.port)),
                    Event::Lost => return Err(failure_advice::lost()),
                    Event::NotUnderstood => return Err(failure_advice::not_understood()),
                    event => {
                        if let Some(ended) = each(event) {
                            return ended;
                        }
                    }
                }
            }
            if let Some(frame) = caller.poll_output() {
                self.port.send(&frame)?;
            }
            let Some(until) = caller.poll_timeout() else {
                return Err(failure_advice::not_understood());
            };
            let count = self.port.receive(caller.receive_window(), until.since(self.clock.now()))?;
            caller.commit(count);
            caller.handle(self.clock.now());
        }
    }
}
