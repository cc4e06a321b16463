//! Changes of the control scheme, when the KRC accepts them, and of its parameters, at any time
//! (`core/docs/protocol/kuka-fri.md A8`).

use super::control_schemes::{Control, ControlRefusal, JointImpedance, ToolImpedance};
use super::controller::Krc;
use crate::engine::Engine;
use crate::law::Law;
use crate::mode::Mode;
use outrigger_wire::fri::KrlVariables;

/// The permission to change the control scheme. It is granted only while the KRC is in monitor state, or not connected,
/// and no request to command is active, because a change of the commands' fields is no error then.
#[derive(Debug)]
pub struct Monitoring<'s> {
    control: &'s mut Control,
}

impl Monitoring<'_> {
    /// Sets the scheme and its parameters from the next command on. The next request asks the KRL program for the
    /// scheme.
    ///
    /// # Errors
    /// `control` itself, if one of its parameters is out of its range.
    pub fn set(self, control: Control) -> Result<(), Control> {
        control.check().map_err(|_| control)?;
        *self.control = control;
        Ok(())
    }
}

/// The changes that an application can make to a KRC's control scheme, to its parameters, and to the variables that are
/// sent to the KRL program.
impl<L: Law<7>> Engine<'_, 7, Krc, L> {
    /// Returns the permission to change the control scheme, while the KRC is in monitor state, or not connected, and no
    /// request to command is active; otherwise `None`.
    pub fn monitoring(&mut self) -> Option<Monitoring<'_>> {
        let idle = matches!(self.mode(), Mode::Offline | Mode::Monitor) && self.peer().monitors();
        idle.then(|| Monitoring { control: self.peer_mut().control_mut() })
    }

    /// Sets the parameters of joint impedance, which must be the scheme in force, also while commanding. Parameters that
    /// change which fields the commands have are accepted only if [`monitoring`](Self::monitoring) is `Some`.
    ///
    /// # Errors
    /// [`ControlRefusal`]; nothing changes then.
    pub fn set_joint_impedance(&mut self, impedance: JointImpedance) -> Result<(), ControlRefusal> {
        self.set_parameters(Control::JointImpedance(impedance))
    }

    /// Sets the parameters of Cartesian impedance, which must be the scheme in force, also while commanding. Parameters
    /// that change which fields the commands have are accepted only if [`monitoring`](Self::monitoring) is `Some`.
    ///
    /// # Errors
    /// [`ControlRefusal`]; nothing changes then.
    pub fn set_tool_impedance(&mut self, impedance: ToolImpedance) -> Result<(), ControlRefusal> {
        self.set_parameters(Control::ToolImpedance(impedance))
    }

    /// Sets the parameters of the control scheme in force; refuses those of another scheme.
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

    /// Returns the variables that the KRL program reads from the next command on. The handshake overwrites its own
    /// variables.
    pub fn krl_mut(&mut self) -> &mut KrlVariables {
        self.peer_mut().krl_to_send_mut()
    }
}
