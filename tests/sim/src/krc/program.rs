//! The KRL program: its calls of FRI's functions, and its use of the shared variables
//! (`core/docs/protocol/kuka-fri.md A4, A12`).

use outrigger_wire::fri::{ControlScheme, FriState, KrlIndex, KrlVariables, Quality};

use super::link_rating::rank;

/// The time between two evaluations, by a KRL program, of the variables that it exchanges over FRI \[ms\]: the
/// interpolation cycle.
pub(super) const CYCLE_MS: u64 = 12;
/// The speed of the gripper's jaws \[m/s\].
const GRIPPER_SPEED: f64 = 0.08;
/// The largest opening of the gripper's jaws \[m\].
const GRIPPER_OPENING: f64 = 0.08;
/// The index of the gripper's BOOL and REAL variables among those that KRL programs exchange over FRI: the last.
const GRIPPER: u8 = 15;

/// The mask of BOOL\[9\] … BOOL\[15\], which the program can copy back to the remote computer.
const ECHOED_BOOLS: u16 = 0x7f00;

/// The protocol by which the remote computer makes the KRL program start and stop: conventions of published programs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Convention {
    /// `ros_control.src`: INT\[1\] is the control strategy, INT\[2\] is 1 to start and 0 to stop. The program answers
    /// in INT\[2\]: 10 before the first start, 1 in the command state, 0 after it.
    #[default]
    RosControl,
    /// `FRIControl.src`: INT\[15\] is the control strategy, INT\[16\] is 10 to start, 20 to stop, 30 or 40 to close.
    /// The program answers in INT\[16\]: 10 in the monitor state, 20 in the command state.
    FriControl,
    /// `friISIR.src`: INT\[1\] is 1 to command, 2 to monitor, 3 to close, INT\[2\] the control strategy. The program
    /// copies INT\[1\] … INT\[3\] back; a request to command only once the command state is reached.
    Isir,
    /// KUKA's sample application: INT\[1\] is 10 to start; any other value is a stop. The simulated program does not
    /// answer.
    SampleApp,
    /// The program starts by itself as soon as the link is good enough.
    Alone,
}

impl Convention {
    /// Every convention between KRL program and remote computer, with its name in options.
    pub const NAMED: [(Self, &'static str); 5] = [
        (Self::RosControl, "ros-control"),
        (Self::FriControl, "fri-control"),
        (Self::Isir, "isir"),
        (Self::SampleApp, "sample-app"),
        (Self::Alone, "alone"),
    ];
}

/// The options of the simulated KRL program.
#[derive(Clone, Debug, PartialEq)]
pub struct ProgramOptions {
    /// The convention by which the remote computer makes the program start and stop commanding.
    pub convention: Convention,
    /// The link quality for which the program waits before it calls `friStart`, unless its convention accepts OK;
    /// public programs wait for PERFECT.
    pub waits_for: Quality,
    /// The argument of `friStart`: a factor on the robot's limits, above 0, at most 1.
    pub scale: f32,
    /// The control scheme at the start, and when the convention selects none.
    pub scheme: ControlScheme,
    /// Digital inputs of the KRC, which the program copies to BOOL\[1\] … BOOL\[8\].
    pub inputs: u8,
    /// `true` if the program copies received variables to the variables that it sends, with equal type and index,
    /// unless they have another meaning: BOOL\[9\] … BOOL\[15\], INT\[3\] … INT\[14\] and REAL\[1\] … REAL\[15\].
    pub echoes: bool,
}

impl Default for ProgramOptions {
    fn default() -> Self {
        Self {
            convention: Convention::default(),
            waits_for: Quality::Perfect,
            scale: 1.0,
            scheme: ControlScheme::Position,
            inputs: 0,
            echoes: false,
        }
    }
}

impl ProgramOptions {
    /// Returns the lowest link quality at which the KRL program calls `friStart`.
    #[must_use]
    pub const fn starts_at(&self) -> Quality {
        match self.convention {
            // These check the result of friStart instead, or leave it to the remote computer.
            Convention::FriControl | Convention::SampleApp => Quality::Ok,
            Convention::RosControl | Convention::Isir | Convention::Alone => self.waits_for,
        }
    }
}

/// A function of the Fast Research Interface that the KRL program calls.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Call {
    Start { scheme: ControlScheme, scale: f64 },
    Stop,
    Close,
}

/// The request that the remote computer makes by the program's convention.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Demand {
    Nothing,
    Start,
    Stop,
    Close,
}

/// A running KRL program.
#[derive(Clone, Debug)]
pub(super) struct Program {
    options: ProgramOptions,
    /// The variables that the KRL program sends, `$FRI_TO_…`.
    pub(super) says: KrlVariables,
    /// The last request of the remote computer: only a change of the request is acted on.
    asked: Demand,
    /// `true` while a start that the remote computer requested, or that is due under [`Convention::Alone`], has not
    /// been carried out.
    starting: bool,
    was_commanding: bool,
    /// The opening of the gripper's jaws \[m\].
    opening: f64,
    outputs: u8,
}

fn at(index: u8) -> KrlIndex {
    KrlIndex::new(index).expect("one of sixteen")
}

impl Program {
    pub(super) fn new(options: ProgramOptions) -> Self {
        let mut says = KrlVariables::default();
        match options.convention {
            Convention::RosControl => says.set_int(at(1), 10),
            Convention::FriControl => says.set_int(at(15), 10),
            Convention::Isir | Convention::SampleApp | Convention::Alone => {}
        }
        Self {
            options,
            says,
            asked: Demand::Nothing,
            starting: false,
            was_commanding: false,
            opening: GRIPPER_OPENING,
            outputs: 0,
        }
    }

    /// Returns the digital outputs of the KRC, which follow BOOL\[1\] … BOOL\[8\].
    pub(super) const fn outputs(&self) -> u8 {
        self.outputs
    }

    /// Returns the opening of the gripper's jaws \[m\].
    pub(super) const fn opening(&self) -> f64 {
        self.opening
    }

    pub(super) const fn set_inputs(&mut self, inputs: u8) {
        self.options.inputs = inputs;
    }

    /// Evaluates the variables `heard` that the remote computer has sent, once. Returns the function of the Fast
    /// Research Interface that the program calls as a result; `None` if it calls none.
    pub(super) fn poll(&mut self, heard: Option<&KrlVariables>, state: FriState, quality: Quality) -> Option<Call> {
        if let Some(heard) = heard {
            self.peripherals(heard);
            if self.options.echoes {
                self.echo(heard);
            }
            let asked = self.asked_by(heard);
            if asked != self.asked {
                self.asked = asked;
                self.starting = asked == Demand::Start;
            }
        }
        let commanding = state == FriState::Command;
        let fell_back = self.was_commanding && !commanding;
        self.was_commanding = commanding;
        if self.options.convention == Convention::Alone {
            self.starting = !commanding && !fell_back;
        }
        let call = match self.asked {
            Demand::Close => Some(Call::Close),
            Demand::Stop if commanding => Some(Call::Stop),
            _ if self.starting && !commanding && rank(quality) >= rank(self.options.starts_at()) => {
                // A request is executed once: after a fallback a start must be requested again.
                self.starting = false;
                let scheme = heard.and_then(|heard| self.scheme_of(heard)).unwrap_or(self.options.scheme);
                Some(Call::Start { scheme, scale: self.options.scale.into() })
            }
            _ => None,
        };
        self.report(commanding, heard);
        call
    }

    fn asked_by(&self, heard: &KrlVariables) -> Demand {
        match (self.options.convention, heard.int(at(0)), heard.int(at(1)), heard.int(at(15))) {
            (Convention::RosControl, _, 1, _) => Demand::Start,
            (Convention::RosControl, _, 0, _) => Demand::Stop,
            (Convention::FriControl, _, _, 10) => Demand::Start,
            (Convention::FriControl, _, _, 20) => Demand::Stop,
            (Convention::FriControl, _, _, 30 | 40) => Demand::Close,
            (Convention::Isir, 1, ..) => Demand::Start,
            (Convention::Isir, 2, ..) => Demand::Stop,
            (Convention::Isir, 3, ..) => Demand::Close,
            (Convention::SampleApp, 10, ..) => Demand::Start,
            (Convention::SampleApp, ..) => Demand::Stop,
            _ => Demand::Nothing,
        }
    }

    fn scheme_of(&self, heard: &KrlVariables) -> Option<ControlScheme> {
        let strategy = match self.options.convention {
            Convention::RosControl => heard.int(at(0)),
            Convention::FriControl => heard.int(at(14)),
            Convention::Isir => heard.int(at(1)),
            Convention::SampleApp | Convention::Alone => return None,
        };
        ControlScheme::from_strategy(strategy)
    }

    fn report(&mut self, commanding: bool, heard: Option<&KrlVariables>) {
        match self.options.convention {
            Convention::RosControl => {
                if commanding {
                    self.says.set_int(at(1), 1);
                } else if self.says.int(at(1)) == 1 {
                    self.says.set_int(at(1), 0);
                }
            }
            Convention::FriControl => self.says.set_int(at(15), if commanding { 20 } else { 10 }),
            Convention::Isir => {
                let done = heard.is_some_and(|heard| heard.int(at(0)) != 1 || commanding);
                for index in [0, 1, 2].into_iter().filter(|_| done) {
                    self.says.set_int(at(index), heard.map_or(0, |heard| heard.int(at(index))));
                }
            }
            Convention::SampleApp | Convention::Alone => {}
        }
    }

    fn echo(&mut self, heard: &KrlVariables) {
        self.says.bools = self.says.bools & !ECHOED_BOOLS | heard.bools & ECHOED_BOOLS;
        (2..14).for_each(|index| self.says.set_int(at(index), heard.int(at(index))));
        (0..GRIPPER).for_each(|index| self.says.set_real(at(index), heard.real(at(index))));
    }

    /// Updates the digital outputs and the gripper from the received variables, and the sent variables from the digital
    /// inputs and the gripper. The gripper opens while its BOOL is low.
    fn peripherals(&mut self, heard: &KrlVariables) {
        self.outputs = (heard.bools & 0xff) as u8;
        self.says.bools = self.says.bools & 0xff00 | u16::from(self.options.inputs);
        let step = GRIPPER_SPEED * CYCLE_MS as f64 * 1e-3;
        let step = if heard.bool(at(GRIPPER)) { -step } else { step };
        self.opening = (self.opening + step).clamp(0.0, GRIPPER_OPENING);
        self.says.set_real(at(GRIPPER), self.opening as f32);
        self.says.set_bool(at(GRIPPER), self.opening <= 0.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn program(convention: Convention) -> Program {
        Program::new(ProgramOptions { convention, ..ProgramOptions::default() })
    }

    fn ints(pairs: &[(u8, i32)]) -> KrlVariables {
        let mut krl = KrlVariables::default();
        pairs.iter().for_each(|(index, value)| krl.set_int(at(*index), *value));
        krl
    }

    const MONITOR: (FriState, Quality) = (FriState::Monitor, Quality::Perfect);
    const COMMAND: (FriState, Quality) = (FriState::Command, Quality::Perfect);

    fn poll(program: &mut Program, heard: &KrlVariables, (state, quality): (FriState, Quality)) -> Option<Call> {
        program.poll(Some(heard), state, quality)
    }

    const fn start(scheme: ControlScheme) -> Option<Call> {
        Some(Call::Start { scheme, scale: 1.0 })
    }

    #[test]
    fn each_convention_is_started_in_the_scheme_it_names_and_stopped() {
        let cases = [
            (Convention::RosControl, ints(&[(0, 30), (1, 1)]), ints(&[(0, 30)]), (1, [10, 1, 0])),
            (Convention::FriControl, ints(&[(14, 30), (15, 10)]), ints(&[(15, 20)]), (15, [10, 20, 10])),
            (Convention::Isir, ints(&[(0, 1), (1, 30)]), ints(&[(0, 2)]), (0, [0, 1, 2])),
        ];
        for (convention, go, halt, (answer, says)) in cases {
            let mut program = program(convention);
            assert_eq!(poll(&mut program, &KrlVariables::default(), MONITOR), None, "{convention:?}");
            assert_eq!(program.says.int(at(answer)), says[0], "{convention:?}");
            assert_eq!(poll(&mut program, &go, MONITOR), start(ControlScheme::JointImpedance), "{convention:?}");
            assert_eq!(poll(&mut program, &go, COMMAND), None);
            assert_eq!(program.says.int(at(answer)), says[1], "{convention:?}");
            assert_eq!(poll(&mut program, &halt, COMMAND), Some(Call::Stop), "{convention:?}");
            assert_eq!(poll(&mut program, &halt, MONITOR), None);
            assert_eq!(program.says.int(at(answer)), says[2], "{convention:?}");
        }
    }

    #[test]
    fn a_start_waits_for_the_quality_and_is_asked_for_anew_after_a_fallback() {
        let mut program = program(Convention::RosControl);
        let go = ints(&[(0, 10), (1, 1)]);
        assert_eq!(poll(&mut program, &go, (FriState::Monitor, Quality::Ok)), None);
        assert_eq!(poll(&mut program, &go, MONITOR), start(ControlScheme::Position));
        assert_eq!(poll(&mut program, &go, COMMAND), None);
        assert_eq!(poll(&mut program, &go, MONITOR), None, "nothing resumes by itself");
        assert_eq!(poll(&mut program, &go, MONITOR), None);
        assert_eq!(poll(&mut program, &ints(&[(0, 10)]), MONITOR), None);
        assert_eq!(poll(&mut program, &go, MONITOR), start(ControlScheme::Position));
    }

    #[test]
    fn the_sample_application_asks_with_ten_and_a_program_alone_needs_nobody() {
        let mut sample = program(Convention::SampleApp);
        assert_eq!(poll(&mut sample, &ints(&[(0, 1)]), MONITOR), None);
        assert_eq!(
            poll(&mut sample, &ints(&[(0, 10)]), (FriState::Monitor, Quality::Ok)),
            start(ControlScheme::Position)
        );
        let mut alone = program(Convention::Alone);
        assert_eq!(alone.poll(None, FriState::Monitor, Quality::Ok), None);
        assert_eq!(alone.poll(None, FriState::Monitor, Quality::Perfect), start(ControlScheme::Position));
    }

    #[test]
    fn variables_drive_outputs_and_a_gripper() {
        let mut program = program(Convention::RosControl);
        program.set_inputs(0b101);
        let mut heard = KrlVariables { bools: 0b11, ..KrlVariables::default() };
        heard.set_bool(at(GRIPPER), true);
        for _ in 0..100 {
            assert_eq!(poll(&mut program, &heard, MONITOR), None);
        }
        assert_eq!((program.outputs(), program.opening()), (0b11, 0.0));
        assert_eq!((program.says.bools, program.says.real(at(GRIPPER))), (0x8005, 0.0));
        heard.set_bool(at(GRIPPER), false);
        assert_eq!(poll(&mut program, &heard, MONITOR), None);
        assert!(program.opening() > 0.0 && !program.says.bool(at(GRIPPER)));
    }

    #[test]
    fn what_is_read_is_copied_where_the_program_echoes_and_has_no_other_meaning() {
        for echoes in [false, true] {
            let mut program = Program::new(ProgramOptions { echoes, inputs: 0b1, ..ProgramOptions::default() });
            let heard = KrlVariables { reals: [0.5; 16], ints: [7; 16], bools: 0xffff };
            poll(&mut program, &heard, MONITOR);
            let copied = (program.says.real(at(0)), program.says.int(at(2)), program.says.bool(at(8)));
            assert_eq!(copied, if echoes { (0.5, 7, true) } else { (0.0, 0, false) });
            assert_eq!(
                (program.says.int(at(1)), program.says.bools & 0xff),
                (10, 1),
                "of the convention, and of inputs"
            );
        }
    }
}
