//! Queries the user at the terminal for settings that the arguments do not determine.

use std::io::{IsTerminal as _, Write as _, stdin, stdout};

use clap::ValueEnum as _;
use outrigger_core::mode::PendantStop;
use outrigger_wire::robot::{RobotModel, SoftwareVersion};

use super::args::{Task, WIRINGS, Wiring, parse_wiring};
use crate::args::parse_model;
use crate::terminal;
use outrigger::exit::Failure;

/// The number of invalid answers to one question after which `outrigger init` gives up.
const ATTEMPTS: usize = 5;
/// The duration of a dry run that the user agreed to \[s\].
const DRY_RUN: u64 = 60;

/// A dialogue of `outrigger init` with the user. Without a terminal, no question is asked.
pub(super) struct Questions {
    somebody: bool,
}

impl Questions {
    pub(super) fn here() -> Self {
        Self { somebody: stdin().is_terminal() && stdout().is_terminal() }
    }

    /// Asks for the task of the arm.
    ///
    /// # Errors
    /// [`Failure::Usage`] without a terminal or after [`ATTEMPTS`] invalid answers, with the argument to give instead.
    pub(super) fn task(&mut self) -> Result<Task, Failure> {
        let text = "What shall the arm do?\n  \
                    1  hold its tool at a distance from a surface, with a distance sensor\n  \
                    2  hand guiding with a force sensor\n  \
                    3  move its last joint five degrees and back, without a sensor";
        self.ask(text, "3", "--task standoff, force or servo", |answer| match answer {
            "1" => Ok(Task::Standoff),
            "2" => Ok(Task::Force),
            "3" => Ok(Task::Servo),
            word => Task::from_str(word, true).map_err(|_| "expected 1, 2 or 3".into()),
        })
    }

    /// Asks for the connection of the sensor, whose readings have this many values.
    ///
    /// # Errors
    /// The errors of [`task`](Self::task).
    pub(super) fn wiring(&mut self, values: u8) -> Result<Wiring, Failure> {
        let text = format!(
            "Where does the sensor send its readings ({values} value(s) each)?\n  \
             udp:PORT              datagrams to this computer\n  serial:DEVICE[@BAUD]  a serial line"
        );
        self.ask(&text, "udp:5005", &format!("--sensor; {WIRINGS}"), parse_wiring)
    }

    /// Asks for the model of the arm.
    ///
    /// # Errors
    /// The errors of [`task`](Self::task).
    pub(super) fn model(&mut self) -> Result<RobotModel, Failure> {
        let text = "Which arm is it? This controller does not report its model.";
        self.ask(text, "ur5", "--model; this controller does not report its model", parse_model)
    }

    /// Asks whether to command an arm although `software` does not report a stop at the pendant; no without a
    /// terminal.
    ///
    /// # Errors
    /// The errors of [`task`](Self::task), except without a terminal.
    pub(super) fn pendant_stop(&mut self, software: SoftwareVersion) -> Result<PendantStop, Failure> {
        if !self.somebody {
            return Ok(PendantStop::Seen);
        }
        let text = format!(
            "This controller (software {software}) does not report a stop at the pendant, and the next command\n\
             overrides it: only the emergency stop, a stop input or the end of `run` stops the arm. Command the arm\n\
             anyway? y or n"
        );
        self.ask(&text, "n", "--pendant-stop", |answer| match answer {
            "y" | "yes" => Ok(PendantStop::Overridden),
            "n" | "no" => Ok(PendantStop::Seen),
            _ => Err("expected y or n".into()),
        })
    }

    /// Asks whether to try the new configuration on a simulated arm. Returns the duration \[s\]; `None` if not, or
    /// without a terminal.
    ///
    /// # Errors
    /// The errors of [`task`](Self::task), except without a terminal.
    pub(super) fn dry_run(&mut self) -> Result<Option<u64>, Failure> {
        if !self.somebody {
            return Ok(None);
        }
        let text = "Try it on a simulated arm now, for a minute? The robot is not contacted. y or n";
        let agreed = self.ask(text, "n", "--dry-run", |answer| match answer {
            "y" | "yes" => Ok(true),
            "n" | "no" => Ok(false),
            _ => Err("expected y or n".into()),
        })?;
        Ok(agreed.then_some(DRY_RUN))
    }

    fn ask<T>(
        &mut self,
        text: &str,
        default: &str,
        instead: &str,
        read: impl Fn(&str) -> Result<T, String>,
    ) -> Result<T, Failure> {
        let nobody = || Failure::Usage(format!("no terminal for questions: give {instead}"));
        if !self.somebody {
            return Err(nobody());
        }
        let mut out = stdout();
        // If writing to the terminal fails, there is nobody to answer.
        writeln!(out, "\n{text}").map_err(|_| nobody())?;
        for _ in 0..ATTEMPTS {
            write!(out, "[{default}] ").and_then(|()| out.flush()).map_err(|_| nobody())?;
            let line = terminal::typed().map_err(|_| nobody())?;
            if line.is_empty() {
                return Err(nobody());
            }
            let answer = line.trim();
            match read(if answer.is_empty() { default } else { answer }) {
                Ok(value) => return Ok(value),
                Err(expected) => writeln!(out, "'{answer}': {expected}").map_err(|_| nobody())?,
            }
        }
        Err(Failure::Usage(format!("{ATTEMPTS} invalid answers: give {instead}")))
    }
}
