//! The controllers of UR's driver, as tools query them from a `controller_manager`
//! (`core/docs/protocol/ros2-surface.md` 3 and 5.8).
//!
//! This node has no controllers and switches nothing. A controller is listed as active if the node accepts its goals
//! and commands at present ([`SessionFacts::accepts`]), or if it only publishes and answers. Names of old and of new
//! releases are listed side by side.

use outrigger_wire::robot::{Generation, SoftwareVersion};

use crate::arm::{Arm, UR_JOINTS};
use crate::command_acceptance::{Command, Rejection, SessionFacts};
use crate::driver_services::Refused;
use outrigger_ros2_messages::cdr::{decode, encode};
use outrigger_ros2_messages::endpoint::{Distro, Offer};
use outrigger_ros2_messages::{
    ControllerListed, ControllerListedHumble, ListControllerTypes, ListControllerTypesResponse, ListControllers,
    ListControllersResponse, Message, Service, SwitchController, SwitchControllerRequest,
    SwitchControllerRequestHumble, SwitchControllerResponse, SwitchControllerResponseHumble,
};

static LIST: Offer = Offer {
    name: "controller_manager/list_controllers",
    service: <ListControllers as Service>::TYPE,
    does: "name, type and joints of each; active if its goals and commands are accepted now, else inactive",
};
static TYPES: Offer = Offer {
    name: "controller_manager/list_controller_types",
    service: <ListControllerTypes as Service>::TYPE,
    does: "types of these controllers",
};
static SWITCH: Offer = Offer {
    name: "controller_manager/switch_controller",
    service: <SwitchController as Service>::TYPE,
    does: "ok if all are already active or inactive as requested; rejected if a switch would be needed",
};

/// The services of a `controller_manager`: the lists of controllers and of their types, and a switch request that
/// succeeds only if every controller already has the requested state.
pub static CONTROLLER_OFFERS: &[&Offer] = &[&LIST, &TYPES, &SWITCH];

/// The use that a controller of `controller_manager` makes of the arm's joints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Joints {
    /// The controller neither reads nor moves the arm's joints.
    None,
    /// The controller reads the states of the arm's joints.
    Read,
    /// The controller moves the arm's joints through the command interface of this name.
    Moved(&'static str),
}

struct Controller {
    name: &'static str,
    class: &'static str,
    /// The kind of the controller's commands; `None` if it has no motion commands and is always active.
    command: Option<Command>,
    joints: Joints,
    /// `true` if the controller is listed for a UR only, not for a KUKA LWR.
    ur: bool,
}

const fn of(name: &'static str, class: &'static str, command: Option<Command>, joints: Joints, ur: bool) -> Controller {
    Controller { name, class, command, joints, ur }
}

/// The controllers listed for a `controller_manager`, in the order of \[DRV
/// ur_robot_driver/config/ur_controllers.yaml\].
static CONTROLLERS: &[Controller] = &[
    of("joint_state_broadcaster", "joint_state_broadcaster/JointStateBroadcaster", None, Joints::Read, false),
    of("io_and_status_controller", "ur_controllers/GPIOController", None, Joints::None, true),
    of("speed_scaling_state_broadcaster", "ur_controllers/SpeedScalingStateBroadcaster", None, Joints::None, true),
    of(
        "force_torque_sensor_broadcaster",
        "force_torque_sensor_broadcaster/ForceTorqueSensorBroadcaster",
        None,
        Joints::None,
        false,
    ),
    of(
        "joint_trajectory_controller",
        "joint_trajectory_controller/JointTrajectoryController",
        Some(Command::Follow),
        Joints::Moved("position"),
        false,
    ),
    of(
        "scaled_joint_trajectory_controller",
        "ur_controllers/ScaledJointTrajectoryController",
        Some(Command::Follow),
        Joints::Moved("position"),
        false,
    ),
    of(
        "forward_velocity_controller",
        "velocity_controllers/JointGroupVelocityController",
        Some(Command::Speeds),
        Joints::Moved("velocity"),
        false,
    ),
    of(
        "forward_effort_controller",
        "effort_controllers/JointGroupEffortController",
        Some(Command::Torques),
        Joints::Moved("effort"),
        true,
    ),
    of(
        "forward_position_controller",
        "position_controllers/JointGroupPositionController",
        Some(Command::Positions),
        Joints::Moved("position"),
        false,
    ),
    of("force_mode_controller", "ur_controllers/ForceModeController", Some(Command::Force), Joints::None, true),
    of(
        "freedrive_mode_controller",
        "ur_controllers/FreedriveModeController",
        Some(Command::Freedrive),
        Joints::None,
        true,
    ),
    of(
        "passthrough_trajectory_controller",
        "ur_controllers/PassthroughTrajectoryController",
        Some(Command::PassThrough),
        Joints::None,
        false,
    ),
    of("tcp_pose_broadcaster", "pose_broadcaster/PoseBroadcaster", None, Joints::None, false),
    of("ur_configuration_controller", "ur_controllers/URConfigurationController", None, Joints::None, true),
    of(
        "tool_contact_controller",
        "ur_controllers/ToolContactController",
        Some(Command::DetectContact),
        Joints::None,
        true,
    ),
    of(
        "gravity_update_controller",
        "ur_controllers/GravityUpdateController",
        Some(Command::Gravity),
        Joints::None,
        true,
    ),
];

impl Controller {
    /// Returns the reason why this controller is listed as inactive by `controller_manager`; `None` if it is active.
    fn rejection(&self, standing: &SessionFacts) -> Option<Rejection> {
        standing.accepts(self.command?).err()
    }

    fn listed(&self, arm: &Arm, standing: &SessionFacts) -> ControllerListed {
        let interfaces = |kinds: &[&str]| -> Vec<String> {
            arm.joints.iter().flat_map(|joint| kinds.iter().map(move |kind| format!("{joint}/{kind}"))).collect()
        };
        let (command, state) = match self.joints {
            Joints::None => (vec![], vec![]),
            Joints::Read => (vec![], interfaces(&["position", "velocity", "effort"])),
            Joints::Moved(by) => (interfaces(&[by]), interfaces(&["position", "velocity"])),
        };
        let active = self.rejection(standing).is_none();
        ControllerListed {
            name: self.name.into(),
            state: if active { "active" } else { "inactive" }.into(),
            r#type: self.class.into(),
            update_rate: match standing.software.map(SoftwareVersion::generation) {
                Some(Generation::Cb2 | Generation::Cb3) => 125,
                Some(Generation::ESeries | Generation::PolyScopeX) => 500,
                None => 0,
            },
            claimed_interfaces: if active { command.clone() } else { vec![] },
            required_command_interfaces: command,
            required_state_interfaces: state,
            ..ControllerListed::default()
        }
    }
}

fn of_arm(arm: &Arm) -> impl Iterator<Item = &'static Controller> {
    let ur = arm.joints.len() == UR_JOINTS.len();
    CONTROLLERS.iter().filter(move |controller| ur || !controller.ur)
}

/// Returns the response to a call of the service `offer` of a `controller_manager`, in the message layouts of the
/// release `distro`.
///
/// # Errors
/// [`Refused`] if the bytes are not a valid call.
pub fn answer(
    offer: &'static Offer,
    bytes: &[u8],
    arm: &Arm,
    standing: &SessionFacts,
    distro: Distro,
) -> Result<Vec<u8>, Refused> {
    let humble = distro == Distro::Humble;
    if std::ptr::eq(offer, &LIST) {
        let all = of_arm(arm).map(|controller| controller.listed(arm, standing));
        return Ok(if humble { listing(all.map(ControllerListedHumble::from)) } else { listing(all) });
    }
    if std::ptr::eq(offer, &TYPES) {
        let types: Vec<String> = of_arm(arm).map(|controller| controller.class.to_owned()).collect();
        let base_classes = vec!["controller_interface::ControllerInterface".to_owned(); types.len()];
        return Ok(encode(&ListControllerTypesResponse { types, base_classes }));
    }
    let (on, off) = if humble {
        let request: SwitchControllerRequestHumble = decode(bytes)?;
        let both = |a: Vec<String>, b| [a, b].concat();
        (
            both(request.activate_controllers, request.start_controllers),
            both(request.deactivate_controllers, request.stop_controllers),
        )
    } else {
        let request: SwitchControllerRequest = decode(bytes)?;
        (request.activate_controllers, request.deactivate_controllers)
    };
    Ok(match switched(&on, &off, arm, standing) {
        Ok(()) => switch_answer(distro, true, "as it is".into()),
        Err(message) => refused(distro, message),
    })
}

/// Returns the response to a switch request that is refused, with the reason as text.
#[must_use]
pub fn refused(distro: Distro, message: String) -> Vec<u8> {
    switch_answer(distro, false, message)
}

fn switch_answer(distro: Distro, ok: bool, message: String) -> Vec<u8> {
    if distro == Distro::Humble {
        return encode(&SwitchControllerResponseHumble { ok });
    }
    encode(&SwitchControllerResponse { ok, message })
}

fn listing<C>(controller: impl Iterator<Item = C>) -> Vec<u8>
where
    ListControllersResponse<C>: Message,
{
    encode(&ListControllersResponse { controller: controller.collect() })
}

/// Checks that every controller is already in the requested state. The error names the first that is not, as text.
fn switched(on: &[String], off: &[String], arm: &Arm, standing: &SessionFacts) -> Result<(), String> {
    for (name, wanted) in on.iter().map(|name| (name, true)).chain(off.iter().map(|name| (name, false))) {
        let Some(controller) = of_arm(arm).find(|controller| controller.name == name) else {
            return Err(format!("there is no controller '{name}'"));
        };
        match (wanted, controller.rejection(standing)) {
            (true, None) | (false, Some(_)) => {}
            (true, Some(rejection)) => return Err(format!("{name}: {}", rejection.with_name())),
            (false, None) => {
                return Err(format!(
                    "{name} stays active: this node switches no controllers and accepts goals for all of them"
                ));
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arm::LWR_JOINTS;
    use crate::command_acceptance::{MotionSource, Run};
    use outrigger_core::law::ForwardError;
    use outrigger_core::mode::Mode;
    use outrigger_core::robot::ReasonSet;
    use outrigger_ros2_messages::endpoint::Names;

    const LAW: MotionSource =
        MotionSource::Law { follows: true, speeds: None, positions: None, torques: Some(ForwardError::NoTorques) };
    const PUSHES: MotionSource = MotionSource::Law { follows: true, speeds: None, positions: None, torques: None };
    const RUN: Run = Run { goals_request: false, mode: Mode::Command, latch: None, unmet: ReasonSet::EMPTY, by: LAW };
    const COMMANDS: SessionFacts = SessionFacts { run: Some(RUN), software: Some(SoftwareVersion::new(5, 15)) };
    const PLAYS: SessionFacts = SessionFacts { run: Some(Run { by: MotionSource::Controller, ..RUN }), ..COMMANDS };
    const BY_TORQUES: SessionFacts = SessionFacts { run: Some(Run { by: PUSHES, ..RUN }), ..COMMANDS };
    const RESTS: SessionFacts = SessionFacts { run: Some(Run { mode: Mode::Monitor, ..RUN }), ..COMMANDS };

    fn ur() -> Arm {
        Arm::new(&UR_JOINTS, &Names::new("", "left_").expect("names"))
    }

    fn listed(arm: &Arm, standing: SessionFacts) -> Vec<ControllerListed> {
        let bytes = answer(&LIST, &[], arm, &standing, Distro::Jazzy).expect("it is listed");
        decode::<ListControllersResponse<ControllerListed>>(&bytes).expect("its type").controller
    }

    fn active(arm: &Arm, standing: SessionFacts) -> Vec<String> {
        listed(arm, standing).into_iter().filter(|one| one.state == "active").map(|one| one.name).collect()
    }

    #[test]
    fn who_takes_goals_is_active_and_has_the_joints() {
        let idle = active(&ur(), SessionFacts::default());
        assert!(idle.iter().all(|name| !name.contains("trajectory") && !name.contains("mode")), "{idle:?}");
        let busy = active(&ur(), COMMANDS);
        assert!(busy.iter().any(|name| name == "scaled_joint_trajectory_controller"), "{busy:?}");
        assert!(!busy.iter().any(|name| name == "tool_contact_controller"), "{busy:?}");
        assert!(busy.iter().any(|name| name == "forward_velocity_controller"), "{busy:?}");
        assert!(!busy.iter().any(|name| name == "forward_effort_controller"), "{busy:?}");
        let pushes = listed(&ur(), BY_TORQUES);
        let effort = pushes.iter().find(|one| one.name == "forward_effort_controller").expect("it is listed");
        assert_eq!(
            (effort.state.as_str(), effort.claimed_interfaces[5].as_str()),
            ("active", "left_wrist_3_joint/effort")
        );
        let player = active(&ur(), PLAYS);
        assert!(player.iter().any(|name| name == "tool_contact_controller"), "{player:?}");
        assert!(!player.iter().any(|name| name.starts_with("forward")), "{player:?}");
        let all = listed(&ur(), COMMANDS);
        let of = |name: &str| all.iter().find(|one| one.name == name).expect("it is there");
        let jtc = of("joint_trajectory_controller");
        assert_eq!((jtc.claimed_interfaces[0].as_str(), jtc.update_rate), ("left_shoulder_pan_joint/position", 500));
        assert_eq!((jtc.claimed_interfaces.len(), jtc.required_state_interfaces.len()), (6, 12));
        assert_eq!(of("joint_state_broadcaster").required_state_interfaces.len(), 18);
        let idle = listed(&ur(), SessionFacts::default());
        assert!(idle.iter().all(|one| one.claimed_interfaces.is_empty() && one.update_rate == 0));
        // An arm that is not a UR lists none of a UR's controllers.
        let lwr = listed(&Arm::new(&LWR_JOINTS, &Names::default()), COMMANDS);
        assert!(lwr.iter().all(|one| !one.r#type.contains("ur_controllers/G")), "{lwr:?}");
        assert!(lwr.iter().any(|one| one.required_command_interfaces.len() == 7));
    }

    #[test]
    fn each_kind_of_command_but_one_has_its_controllers_which_are_active_where_it_is_accepted() {
        let all = |standing| {
            let mut told: Vec<(String, bool)> =
                listed(&ur(), standing).into_iter().map(|one| (one.name, one.state == "active")).collect();
            told.sort();
            told
        };
        for standing in [SessionFacts::default(), RESTS, COMMANDS, BY_TORQUES, PLAYS] {
            for command in Command::ALL {
                let of = CONTROLLERS.iter().filter(|controller| controller.command == Some(command));
                let names: Vec<&str> = of.map(|controller| controller.name).collect();
                // The node that ends a trajectory at a contact is not a controller.
                assert_eq!(names.is_empty(), command == Command::FollowUntilContact, "{command:?}");
                for name in names {
                    let told = all(standing).iter().find(|(listed, _)| listed == name).map(|(_, active)| *active);
                    assert_eq!(told, Some(standing.accepts(command).is_ok()), "{name}: {standing:?}");
                }
            }
        }
    }

    #[test]
    fn names_and_types_are_told_by_each_release_as_it_lays_them_out() {
        for distro in Distro::ALL {
            let bytes = answer(&LIST, &[0, 1, 0, 0, 0], &ur(), &COMMANDS, distro).expect("it is listed");
            let names: Vec<_> = match decode::<ListControllersResponse<ControllerListed>>(&bytes) {
                Ok(list) if distro > Distro::Humble => list.controller.into_iter().map(|one| one.name).collect(),
                _ => {
                    let list: ListControllersResponse<ControllerListedHumble> = decode(&bytes).expect("Humble's");
                    list.controller.into_iter().map(|one| one.name).collect()
                }
            };
            assert!(
                names.iter().map(String::as_str).eq(CONTROLLERS.iter().map(|one| one.name)),
                "{distro:?}: {names:?}"
            );
            let types = answer(&TYPES, &[], &ur(), &COMMANDS, distro).expect("they are listed");
            let types: ListControllerTypesResponse = decode(&types).expect("its type");
            assert_eq!((types.types.len(), types.base_classes.len()), (CONTROLLERS.len(), CONTROLLERS.len()));
        }
    }

    #[test]
    fn a_switch_is_granted_where_nothing_has_to_be_switched() {
        let switch = |on: &[&str], off: &[&str], standing| {
            let of = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
            let request = SwitchControllerRequest {
                activate_controllers: of(on),
                deactivate_controllers: of(off),
                ..SwitchControllerRequest::default()
            };
            let bytes = answer(&SWITCH, &encode(&request), &ur(), &standing, Distro::Jazzy).expect("a request");
            let old = SwitchControllerRequestHumble {
                start_controllers: of(on),
                stop_controllers: of(off),
                ..SwitchControllerRequestHumble::default()
            };
            let humble = answer(&SWITCH, &encode(&old), &ur(), &standing, Distro::Humble).expect("a request");
            let (new, old): (SwitchControllerResponse, SwitchControllerResponseHumble) =
                (decode(&bytes).expect("its type"), decode(&humble).expect("its type"));
            assert_eq!((new.ok, !new.message.is_empty()), (old.ok, true));
            new
        };
        let scaled = "scaled_joint_trajectory_controller";
        assert!(switch(&[scaled], &[], COMMANDS).ok && switch(&[], &[scaled], SessionFacts::default()).ok);
        assert!(switch(&[], &[], COMMANDS).ok && switch(&["forward_effort_controller"], &[], BY_TORQUES).ok);
        for (on, off, standing, why) in [
            (scaled, "", RESTS, "outrigger/request"),
            (scaled, "", SessionFacts::default(), "read-only"),
            ("forward_velocity_controller", "", PLAYS, "reverse-speedj"),
            ("forward_effort_controller", "", PLAYS, "reverse-torque"),
            ("forward_effort_controller", "", COMMANDS, "NoTorques"),
            ("", scaled, COMMANDS, "switches no controllers"),
            ("tool_contact_controller", "", COMMANDS, "player"),
            ("no_such_controller", "", COMMANDS, "no controller 'no_such_controller'"),
        ] {
            let named = |name: &'static str| if name.is_empty() { vec![] } else { vec![name] };
            let refused = switch(&named(on), &named(off), standing);
            assert!(!refused.ok && refused.message.contains(why), "{refused:?}");
        }
        assert!(answer(&SWITCH, &[0, 1, 0, 0, 9], &ur(), &COMMANDS, Distro::Jazzy).is_err());
    }
}
