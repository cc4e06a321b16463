//! Changing the control scheme, where the KRC takes it, and its parameters, at any time (`kuka-fri` A8).

use super::control::{Control, JointImpedance, ToolImpedance};
use super::engine::FriSession;

/// The right to change the control scheme: given out only while the KRC is in monitor state and nothing is asked of it.
/// There a change of flags is no error.
#[derive(Debug)]
pub struct Monitoring<'s, L, H> {
    session: &'s mut FriSession<L, H>,
}

impl<L, H> Monitoring<'_, L, H> {
    /// From the next command on, `control`; the next request asks the KRL program for its scheme.
    ///
    /// # Errors
    /// `control` itself, where one of its parameters is negative or not a number.
    pub fn set(self, control: Control) -> Result<(), Control> {
        if !control.is_valid() {
            return Err(control);
        }
        self.session.control = control;
        Ok(())
    }
}

impl<L, H> FriSession<L, H> {
    /// The control scheme and its parameters.
    #[must_use]
    pub const fn control(&self) -> &Control {
        &self.control
    }

    /// The right to change the control scheme, where the KRC is in monitor state and nothing is asked of it.
    pub fn monitoring(&mut self) -> Option<Monitoring<'_, L, H>> {
        self.monitors().then_some(Monitoring { session: self })
    }

    /// New parameters of joint impedance, at any time.
    ///
    /// # Errors
    /// The parameters, where that is not the scheme, or one of them is negative or not a number.
    pub fn set_joint_impedance(&mut self, impedance: JointImpedance) -> Result<(), JointImpedance> {
        let control = Control::JointImpedance(impedance);
        if control.scheme() != self.control.scheme() || !control.is_valid() {
            return Err(impedance);
        }
        self.control = control;
        Ok(())
    }

    /// New parameters of Cartesian impedance, at any time.
    ///
    /// # Errors
    /// The parameters, where that is not the scheme, or one of them is negative or not a number.
    pub fn set_tool_impedance(&mut self, impedance: ToolImpedance) -> Result<(), ToolImpedance> {
        let control = Control::ToolImpedance(impedance);
        if control.scheme() != self.control.scheme() || !control.is_valid() {
            return Err(impedance);
        }
        self.control = control;
        Ok(())
    }
}
