//! Changing the control scheme, where the KRC takes it, and its parameters, at any time
//! (`core/docs/protocol/kuka-fri.md A8`).

use super::control::{Control, ControlRefusal, JointImpedance, ToolImpedance};
use super::controller::Krc;
use crate::engine::Engine;
use crate::law::Law;
use crate::mode::Mode;
use outrigger_wire::fri::KrlVariables;

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

    /// New parameters of joint impedance, at any time; other fields only where [`monitoring`](Self::monitoring) is given.
    ///
    /// # Errors
    /// [`ControlRefusal`]; nothing changes then.
    pub fn set_joint_impedance(&mut self, impedance: JointImpedance) -> Result<(), ControlRefusal> {
        self.set_parameters(Control::JointImpedance(impedance))
    }

    /// New parameters of Cartesian impedance, at any time; other fields only where [`monitoring`](Self::monitoring) is given.
    ///
    /// # Errors
    /// [`ControlRefusal`]; nothing changes then.
    pub fn set_tool_impedance(&mut self, impedance: ToolImpedance) -> Result<(), ControlRefusal> {
        self.set_parameters(Control::ToolImpedance(impedance))
    }

    /// Parameters of the scheme that is in force.
    fn set_parameters(&mut self, control: Control) -> Result<(), ControlRefusal> {
        let (scheme, fields) = (self.peer().control().scheme(), self.peer().control().flags());
        if control.scheme() != scheme {
            return Err(ControlRefusal::OtherScheme(scheme));
        }
        control.check().map_err(ControlRefusal::BadValue)?;
        if control.flags() != fields && self.monitoring().is_none() {
            return Err(ControlRefusal::OtherFields(fields));
        }
        *self.peer_mut().control_mut() = control;
        Ok(())
    }

    /// What the KRL program reads from the next command on. The handshake writes its own variables over it.
    pub fn krl_mut(&mut self) -> &mut KrlVariables {
        self.peer_mut().krl_to_send_mut()
    }
}
