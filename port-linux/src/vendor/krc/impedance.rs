//! Applies requested values of stiffness and damping to the control scheme in force.

use outrigger_core::engine::krc::{Control, ControlRefusal};
use outrigger_wire::fri::{CartesianVector, CommandFlags};

use crate::motion::impedance::{Impedance, ImpedanceRefusal, Numbers};

/// Returns the control scheme in force with the requested stiffness and damping. The engine checks their ranges.
///
/// # Errors
/// Returns the reason why the control scheme cannot have these values.
pub(super) fn with(asked: &Impedance, control: &Control) -> Result<Control, ImpedanceRefusal> {
    let mut changed = *control;
    let (stiffness, damping) = match &changed {
        Control::Position => return Err(ImpedanceRefusal::Position),
        Control::JointImpedance(_) => (CommandFlags::JOINT_STIFFNESS, CommandFlags::JOINT_DAMPING),
        Control::ToolImpedance(_) => (CommandFlags::CARTESIAN_STIFFNESS, CommandFlags::CARTESIAN_DAMPING),
    };
    for (asked, what, field) in [(asked.stiffness, "stiffness", stiffness), (asked.damping, "damping", damping)] {
        let Some(numbers) = asked else { continue };
        if !changed.flags().contains(field) {
            return Err(ImpedanceRefusal::LeftToKrl(what));
        }
        match (&mut changed, what) {
            (Control::Position, _) => {}
            (Control::JointImpedance(joint), "stiffness") => joint.stiffness = numbers.spread(what)?,
            (Control::JointImpedance(joint), _) => joint.damping = numbers.spread(what)?,
            (Control::ToolImpedance(tool), "stiffness") => tool.stiffness = along(&numbers, what)?,
            (Control::ToolImpedance(tool), _) => tool.damping = along(&numbers, what)?,
        }
    }
    Ok(changed)
}

/// Converts the engine's reason for rejecting a control scheme to the reason that a client receives for its request.
pub(super) const fn refused(refusal: ControlRefusal) -> ImpedanceRefusal {
    match refusal {
        ControlRefusal::BadValue(value) => ImpedanceRefusal::BadValue(value),
        ControlRefusal::OtherScheme(_) | ControlRefusal::OtherFields(_) => ImpedanceRefusal::Changed,
    }
}

fn along(numbers: &Numbers, what: &'static str) -> Result<CartesianVector, ImpedanceRefusal> {
    let [x, y, z, rx, ry, rz] = numbers.spread(what)?;
    Ok(CartesianVector { linear: [x, y, z], angular: [rx, ry, rz] })
}

#[cfg(test)]
mod tests {
    use super::*;
    use outrigger_core::engine::krc::{JointImpedance, ToolImpedance};

    #[test]
    fn what_is_named_is_changed_and_the_rest_stays() {
        let joints = Control::JointImpedance(JointImpedance { torque: [1.0; 7], ..JointImpedance::default() });
        let of = |how, control: &Control| with(&Impedance::of(how).expect("understood"), control);
        let softer = JointImpedance { stiffness: [300.0; 7], torque: [1.0; 7], ..JointImpedance::default() };
        assert_eq!(of("stiffness=300", &joints), Ok(Control::JointImpedance(softer)));
        let each = of("damping=0.5,0.5,0.5,0.5,0.5,0.5,0.9", &joints);
        assert!(matches!(each, Ok(Control::JointImpedance(i)) if i.damping[6] == 0.9 && i.stiffness == [1_000.0; 7]));
        let tool = Control::ToolImpedance(ToolImpedance::default());
        let both = of("damping=0.6 stiffness=1500,1500,800,150,150,140", &tool);
        let Ok(Control::ToolImpedance(both)) = both else { panic!("{both:?}") };
        assert_eq!((both.stiffness.linear, both.stiffness.angular), ([1_500.0, 1_500.0, 800.0], [150.0, 150.0, 140.0]));
        assert_eq!(both.damping, CartesianVector::uniform(0.6, 0.6));
    }

    #[test]
    fn what_the_scheme_in_force_has_not_is_refused_in_words() {
        let left = JointImpedance { left_to_krl: CommandFlags::JOINT_STIFFNESS, ..JointImpedance::default() };
        let tool = Control::ToolImpedance(ToolImpedance::default());
        for (control, how, said) in [
            (Control::Position, "damping=1", "the control scheme in force is joint position"),
            (tool, "stiffness=1,2,3,4,5,6,7", "stiffness: expected 6 numbers, or one for all, found 7"),
            (Control::JointImpedance(left), "stiffness=1", "stiffness is set by the KRL program"),
        ] {
            let refused = with(&Impedance::of(how).expect("understood"), &control).expect_err("it cannot be");
            assert!(refused.to_string().starts_with(said), "{refused}");
        }
    }
}
