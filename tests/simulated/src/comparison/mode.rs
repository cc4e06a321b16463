//! The modes (methods of commanding) that are compared, and the figures of the report of 2015 for them.

use outrigger_core::engine::ur::CommandPath;
use outrigger_wire::robot::SoftwareVersion;

use super::clients::{self, Client};
use super::course::{Course, Wanted};
use super::mechanism::Mechanisms;
use super::paths;

/// The program that commands the arm in a mode.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Commander {
    /// A client as drivers of 2015 were.
    Client(clients::Task),
    /// Outrigger's engine on one of its command paths.
    Path(paths::Task),
}

/// A method of commanding the arm.
#[derive(Clone, Debug, PartialEq)]
pub struct Mode {
    /// The short name of the mode, for options.
    pub name: &'static str,
    /// The description of the mode for readers of the table.
    pub about: String,
    /// The program that commands the arm.
    pub commander: Commander,
    /// The figures of the report of 2015 for this mode; `None` if the report has no such method.
    pub reported: Option<Reported>,
}

/// The figures that the report of 2015 has for a mode, from a real arm.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reported {
    /// The finding of the report in words.
    pub words: &'static str,
    /// The assumptions made in the simulation, and the possible differences on a real arm.
    pub assumed: &'static str,
    /// The delay of the whole motion \[ms\].
    pub late: Option<f64>,
    /// The time to the first motion, in control cycles: least and greatest.
    pub first: Option<[f64; 2]>,
    /// The error at the end of the motion \[deg\].
    pub last: Option<f64>,
    /// The largest error during the motion \[deg\].
    pub worst: Option<f64>,
    /// A comparison with another method, in the time to the first motion or the reaction time.
    pub beside: Option<Beside>,
    /// A disagreement between report and simulation that is not expressed by a figure.
    pub otherwise: &'static str,
}

/// A comparison of a method with another, in the time to the first motion or the reaction time, as the report has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Beside {
    /// The name of the other method.
    pub other: &'static str,
    /// The description of the other method.
    pub about: &'static str,
    /// The figure in which the two methods are compared.
    pub figure: Later,
    /// The words of the report about this comparison.
    pub reported: &'static str,
}

/// A figure in which one method is later than another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Later {
    /// The time to the first motion of the joint.
    First,
    /// The reaction time: from 1° of motion of the reference to 1° of the joint.
    Reaction,
}

impl Reported {
    const NOTHING: Self =
        Self { words: "", assumed: "", late: None, first: None, last: None, worst: None, beside: None, otherwise: "" };
}

/// The last software of CB2. [`CB3`] is the first whose `servoj` takes a look-ahead time, [`E_SERIES`] that of a
/// UR5e.
const CB2: SoftwareVersion = SoftwareVersion::new(1, 8);
const CB3: SoftwareVersion = SoftwareVersion::new(3, 1);
const E_SERIES: SoftwareVersion = SoftwareVersion::new(5, 15);

impl Mode {
    /// Returns the software that the controller runs.
    #[must_use]
    pub const fn software(&self) -> SoftwareVersion {
        match &self.commander {
            Commander::Client(task) => task.software,
            Commander::Path(task) => task.software,
        }
    }

    /// Returns whether the operator moves the speed slider during the motion.
    #[must_use]
    pub const fn slides(&self) -> bool {
        match &self.commander {
            Commander::Client(task) => task.slides,
            Commander::Path(task) => task.slides,
        }
    }

    /// Returns the reference motion of the joint.
    #[must_use]
    pub const fn wanted(&self) -> Wanted {
        match &self.commander {
            Commander::Client(_) => Wanted::ThereAndBack,
            Commander::Path(task) => task.wanted,
        }
    }

    /// Executes one run of the mode. Returns the course of the arm.
    #[must_use]
    pub fn run(&self, mechanisms: Mechanisms, seed: u64) -> Course {
        match self.commander {
            Commander::Client(task) => clients::run(task, mechanisms, seed),
            Commander::Path(task) => paths::run(task, mechanisms, seed),
        }
    }

    /// Returns all modes except [`long`](Self::long), in the order of the table.
    #[must_use]
    pub fn all() -> Vec<Self> {
        let mut modes = vec![
            Self::client("lines", "`servoj` streamed, a line per cycle".into(), CB2, Client::Lines).says(Reported {
                words: "≈ 170 ms late, oscillating, extremes missed",
                assumed: "How hard the arm is braked where one line takes the place of another is assumed, and was chosen so that \
                          the reaction comes near the report's. The arm does not oscillate here: it is stiff, and a line that comes \
                          too late for its cycle is made up for by the next.",
                late: Some(170.0),
                otherwise: "no oscillation here; `halting`, the one tuned parameter, was chosen to bring the reaction near the reported figure",
                ..Reported::NOTHING
            }),
            Self::client("precomputed", "`servoj`, 1000 lines computed before".into(), CB2, Client::Precomputed)
                .says(Reported {
                    words: "a significant delay",
                    assumed: "The report has no figure. Here the time to compile is 100 µs a line; 4 s are 500 positions of 8 ms, \
                              each in two lines.",
                    ..Reported::NOTHING
                }),
        ];
        modes.extend(Self::threaded());
        let path = |name, about: &str, software, path| Self::path(name, about.into(), software, path);
        modes.extend([
            path("reverse-servoj", "`servoj` by Outrigger's program, unbuffered", CB3, CommandPath::ReverseServoJ),
            path("buffered", "`servoj` by Outrigger's program, buffered", CB3, CommandPath::Buffered),
            Self::client(
                "threaded-slider",
                "`servoj` in a thread, t 0.008, look-ahead 0.03, resident".into(),
                CB3,
                Client::Threaded { time: 0.008, lookahead: Some(0.03), resident: true },
            )
            .sliding(),
            path(
                "reverse-servoj-slider",
                "`servoj` by Outrigger's program, unbuffered",
                E_SERIES,
                CommandPath::ReverseServoJ,
            )
            .sliding(),
            path("buffered-slider", "`servoj` by Outrigger's program, buffered", E_SERIES, CommandPath::Buffered)
                .sliding(),
            path("speedj", "`speedj` streamed, a line per cycle", CB3, CommandPath::Text).open_loop().says(Reported {
                words: "1 to 2 periods late",
                assumed: "Every text is there in time for the next cycle, and the drives answer one cycle later.",
                first: Some([1.0, 2.0]),
                ..Reported::NOTHING
            }),
            path("speedj-1.8", "`speedj` streamed, a line per cycle", CB2, CommandPath::Text).open_loop(),
            path("speedj-there", "`speedj` streamed, a line per cycle, only to −180°", CB3, CommandPath::Text)
                .open_loop()
                .there(),
            path("reverse-speedj", "`speedj` by Outrigger's program", CB3, CommandPath::ReverseSpeedJ)
                .open_loop()
                .says(Reported {
                    words: "–",
                    assumed: "An order to the program takes effect a control cycle later than a line of text does.",
                    beside: Some(Beside {
                        other: "speedj",
                        about: "streamed at 125 Hz",
                        figure: Later::Reaction,
                        reported: "not later in the report",
                    }),
                    ..Reported::NOTHING
                }),
            path("closed-loop", "`speedj` streamed, closed loop, P 20, D 0.1", CB3, CommandPath::Text).says(Reported {
                words: "0° off at the end",
                assumed: "The joint is measured without noise, and its drive has no friction.",
                last: Some(0.0),
                ..Reported::NOTHING
            }),
            path(
                "closed-loop-there",
                "`speedj` streamed, closed loop, P 20, D 0.1, only to −180°",
                CB3,
                CommandPath::Text,
            )
            .there(),
            path("player", "`movej` by Outrigger's player, only to −180°", CB3, CommandPath::Player).place(),
            path("player-e", "`movej` by Outrigger's player, only to −180°", E_SERIES, CommandPath::Player).place(),
            path("player-cubics", "two cubics by Outrigger's player", CB3, CommandPath::Player).open_loop(),
            path("player-cubics-e", "two cubics by Outrigger's player", E_SERIES, CommandPath::Player).open_loop(),
            path("closed-loop-e", "`speedj` streamed, closed loop, P 20, D 0.1", E_SERIES, CommandPath::Text),
        ]);
        modes
    }

    /// Returns the mode that moves the shoulder to and fro for this long \[s\], in open loop; the report's run took
    /// 750 s.
    #[must_use]
    pub fn long(seconds: f64) -> Self {
        let about = format!("`speedj` streamed, open loop, the shoulder by ±45° for {seconds} s");
        let mut mode = Self::path("long", about, CB3, CommandPath::Text).open_loop();
        if let Commander::Path(task) = &mut mode.commander {
            task.wanted = Wanted::ToAndFro(seconds);
        }
        mode.says(Reported {
            words: "0.18° off at the end, 1.6° at worst", assumed: "What motion the report's arm made is not known: here it is ±45° in 6 s. There is no gravity and no friction, and \
                      a drive's error of speed is the same both ways, so it cancels out by the end; what is left on the way is that error and the delay.",
            last: Some(0.18),
            worst: Some(1.6),
            ..Reported::NOTHING
        })
    }

    /// Returns the modes with `servoj` in a thread of a program, as drivers of 2015 had it.
    fn threaded() -> impl Iterator<Item = Self> {
        let names = [
            ("threaded-1.8-0.08-uploaded", "threaded-1.8-0.08-resident"),
            ("threaded-1.8-0.008-uploaded", "threaded-1.8-0.008-resident"),
            ("threaded-0.08-0.1-uploaded", "threaded-0.08-0.1-resident"),
            ("threaded-0.008-0.1-uploaded", "threaded-0.008-0.1-resident"),
            ("threaded-0.08-0.03-uploaded", "threaded-0.08-0.03-resident"),
            ("threaded-0.008-0.03-uploaded", "threaded-0.008-0.03-resident"),
        ];
        let kinds = [
            (CB2, 0.08, None),
            (CB2, 0.008, None),
            (CB3, 0.08, Some(0.1)),
            (CB3, 0.008, Some(0.1)),
            (CB3, 0.08, Some(0.03)),
            (CB3, 0.008, Some(0.03)),
        ];
        names.into_iter().zip(kinds).flat_map(|((uploaded, stays), (software, time, lookahead))| {
            [(uploaded, false), (stays, true)].map(|(name, resident)| {
                let ahead = lookahead.map(|time| format!(", look-ahead {time}")).unwrap_or_default();
                let there = if resident { "resident" } else { "uploaded" };
                let about = format!("`servoj` in a thread, t {time}{ahead}, {there}");
                let mode = Self::client(name, about, software, Client::Threaded { time, lookahead, resident });
                match (name, lookahead) {
                    ("threaded-1.8-0.08-uploaded", _) => mode.says(Reported {
                        words: "the driver of that time: > 160 ms late, −1.5° off", assumed: "The driver of that time made its positions in ways of its own, on a computer of 2015; of it, this is the call of 80 ms \
                      alone, with a position every 20 ms. How it ended its motion is not known: here the program ends 0.1 s after the last position.",
                        late: Some(160.0),
                        last: Some(-1.5),
                        beside: Some(Beside {
                            other: "threaded-1.8-0.08-resident",
                            about: "without the upload",
                            figure: Later::First,
                            reported: "70 ms reported",
                        }),
                        ..Reported::NOTHING
                    }),
                    ("threaded-1.8-0.008-uploaded", _) => mode.says(Reported {
                        words: "124 ms late, 0.3° off, abrupt end", assumed: "The filter of software before 3.1 is taken to be that of 0.1 s and gain 300. The program ends 0.1 s after the last \
                      position, while the arm is still on its way to it; its stop is as abrupt as the speed that is left then.",
                        late: Some(124.0),
                        last: Some(0.3),
                        ..Reported::NOTHING
                    }),
                    ("threaded-0.008-0.03-uploaded", _) => {
                        mode.says(Reported { words: "most of the delay gone", assumed: "The report has no figure.", ..Reported::NOTHING })
                    }
                    _ => mode,
                }
            })
        })
    }

    const fn client(name: &'static str, about: String, software: SoftwareVersion, client: Client) -> Self {
        let task = clients::Task { software, client, slides: false };
        Self { name, about, commander: Commander::Client(task), reported: None }
    }

    const fn path(name: &'static str, about: String, software: SoftwareVersion, path: CommandPath) -> Self {
        let task = paths::Task { software, path, feedback: true, slides: false, wanted: Wanted::ThereAndBack };
        Self { name, about, commander: Commander::Path(task), reported: None }
    }

    /// Returns this method of commanding, changed so that an operator moves the speed slider during the motion.
    fn sliding(mut self) -> Self {
        match &mut self.commander {
            Commander::Client(task) => task.slides = true,
            Commander::Path(task) => task.slides = true,
        }
        self.about += ", under changing speed scaling";
        self
    }

    /// Returns this mode without feedback from the measured joint.
    const fn open_loop(mut self) -> Self {
        if let Commander::Path(task) = &mut self.commander {
            task.feedback = false;
        }
        self
    }

    /// Returns this mode without the motion back.
    const fn there(mut self) -> Self {
        if let Commander::Path(task) = &mut self.commander {
            task.wanted = Wanted::There;
        }
        self
    }

    /// Returns this mode with a single move that the controller plans itself ([`Wanted::Place`]).
    const fn place(mut self) -> Self {
        if let Commander::Path(task) = &mut self.commander {
            task.wanted = Wanted::Place;
        }
        self
    }

    /// Returns the mode with this name, if there is one.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::all().into_iter().find(|mode| mode.name == name)
    }

    const fn says(mut self, reported: Reported) -> Self {
        self.reported = Some(reported);
        self
    }
}
