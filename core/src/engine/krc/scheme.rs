//! Changing the control scheme, where the KRC takes it, and its parameters, at any time
//! (`core/docs/protocol/kuka-fri.md A8`).

use super::control::{Control, JointImpedance, ToolImpedance};
use super::peer::Krc;
use crate::engine::Engine;
use crate::law::Law;
use crate::mode::Mode;
use crate::wire::fri::KrlVariables;

/// The right to change the control scheme: given out only while the KRC is in monitor state and nothing is asked of it.
/// There a change of flags is no error.
#[derive(Debug)]
pub struct Monitoring<'s> {
    control: &'s mut Control,
}

impl Monitoring<'_> {
    /// From the next command on, `control`; the next request asks the KRL program for its scheme.
    ///
    /// # Errors
    /// `control` itself, where one of its parameters is negative or not a number.
    pub fn set(self, control: Control) -> Result<(), Control> {
        control.check().map_err(|_| control)?;
        *self.control = control;
        Ok(())
    }
}

/// What an application changes beside a KRC.
impl<L: Law<7>> Engine<'_, 7, Krc, L> {
    /// The right to change the control scheme, where the KRC is in monitor state and nothing is asked of it.
    pub fn monitoring(&mut self) -> Option<Monitoring<'_>> {
        let idle = matches!(self.mode(), Mode::Offline | Mode::Monitor) && self.peer().monitors();
        idle.then(|| Monitoring { control: self.peer_mut().control_mut() })
    }

    /// New parameters of joint impedance, at any time.
    ///
    /// # Errors
    /// The parameters, where that is not the scheme, or one of them is negative or not a number.
    pub fn set_joint_impedance(&mut self, impedance: JointImpedance) -> Result<(), JointImpedance> {
        self.set_parameters(Control::JointImpedance(impedance)).ok_or(impedance)
    }

    /// New parameters of Cartesian impedance, at any time.
    ///
    /// # Errors
    /// The parameters, where that is not the scheme, or one of them is negative or not a number.
    pub fn set_tool_impedance(&mut self, impedance: ToolImpedance) -> Result<(), ToolImpedance> {
        self.set_parameters(Control::ToolImpedance(impedance)).ok_or(impedance)
    }

    /// Parameters of the scheme that is in force.
    fn set_parameters(&mut self, control: Control) -> Option<()> {
        let same = control.scheme() == self.peer().control().scheme();
        if !same || control.check().is_err() {
            return None;
        }
        *self.peer_mut().control_mut() = control;
        Some(())
    }

    /// What the KRL program reads from the next command on. The handshake writes its own variables over it.
    pub fn krl_mut(&mut self) -> &mut KrlVariables {
        self.peer_mut().krl_to_send_mut()
    }
}
