//! Reads any bytes as messages of ROS 2. Checks that the result is a message or a named error, that a message is
//! encoded and decoded without change, and that the requests in it are in range.
#![no_main]

use libfuzzer_sys::fuzz_target;
use outrigger_core::client::script::ScriptFile;
use outrigger_core::command::outputs::Write;
use outrigger_ros2::arm::{Arm, UR_JOINTS};
use outrigger_ros2::command_acceptance::SessionFacts;
use outrigger_ros2::controllers;
use outrigger_ros2::driver_services::{self, Operation};
use outrigger_ros2::frames::{Frames, Transforms};
use outrigger_ros2::joint_commands;
use outrigger_ros2::native_calls;
use outrigger_ros2::script;
use outrigger_ros2::trajectory_goals;
use outrigger_ros2_messages::cdr::{decode, encode};
use outrigger_ros2_messages::endpoint::{Distro, Names};
use outrigger_ros2_messages::{
    CancelGoalRequest, FollowGoal, GetResultRequest, Gid, IOStates, JointState, JointTrajectory, Message, Nothing,
    Numbers, ParticipantEntities, SendGoalRequest, SendScriptGoal, TFMessage, Text, Time, TriggerRequest, UntilGoal,
    WideGid,
};
use outrigger_sim::ros;
use outrigger_wire::time::Instant;

/// Decodes `bytes` as a ROS 2 message of the type `M`, encodes it, and checks that decoding and encoding it again
/// results in the same bytes. Messages are not compared, because their numbers may be NaN.
fn comes_back<M: Message>(bytes: &[u8]) {
    if let Ok(message) = decode::<M>(bytes) {
        let once = encode(&message);
        let again = decode::<M>(&once).expect("what was encoded here");
        assert_eq!(encode(&again), once);
    }
}

fn in_range(write: &Write) {
    match write {
        Write::Analog { index, level, .. } => assert!(*index <= 1 && (0.0..=1.0).contains(level)),
        Write::SpeedSlider(share) => assert!((0.0..=1.0).contains(share)),
        Write::Payload { mass, center_of_gravity } => {
            assert!(mass.is_finite() && *mass >= 0.0);
            assert!(center_of_gravity.iter().flatten().all(|value| value.is_finite()));
        }
        Write::TargetPayload { mass, center_of_gravity, inertia, .. } => {
            assert!(mass.is_finite() && *mass >= 0.0);
            assert!(center_of_gravity.iter().chain(inertia).all(|value| value.is_finite()));
        }
        Write::Gravity(vector) => assert!(vector.iter().all(|value| value.is_finite())),
        _ => {}
    }
}

/// Decodes `bytes` as each type of ROS 2 message that scripts of the simulator can read. Checks that encoding and
/// decoding the message again changes nothing, and that only a text that is not UTF-8 cannot be encoded.
fn read_by_scripts(bytes: &[u8]) {
    for name in ros::message_types() {
        let Ok(value) = ros::value_of(name, bytes) else { continue };
        match ros::bytes_of(name, &value) {
            Ok(written) => {
                let again = ros::value_of(name, &written).expect("what was written here");
                assert_eq!(ros::bytes_of(name, &again), Ok(written));
            }
            Err(why) => assert!(why.contains("UTF-8"), "{name}: {why}"),
        }
    }
}

fuzz_target!(|data: &[u8]| {
    let Some((choice, bytes)) = data.split_first() else { return };
    match choice % 20 {
        0 => comes_back::<JointState>(bytes),
        1 => comes_back::<TFMessage>(bytes),
        2 => comes_back::<IOStates>(bytes),
        3 => comes_back::<Numbers>(bytes),
        4 => comes_back::<Text>(bytes),
        5 => comes_back::<SendGoalRequest<FollowGoal>>(bytes),
        6 => comes_back::<CancelGoalRequest>(bytes),
        7 => comes_back::<GetResultRequest>(bytes),
        8 => comes_back::<ParticipantEntities<Gid>>(bytes),
        9 => comes_back::<ParticipantEntities<WideGid>>(bytes),
        10 => comes_back::<TriggerRequest>(bytes),
        11 => {
            let joints: Vec<String> = ["a", "b"].map(String::from).to_vec();
            let now = Time { sec: 100, nanosec: 0 };
            let wanted =
                decode::<FollowGoal>(bytes).ok().and_then(|goal| trajectory_goals::goal(&goal, &joints, now).ok());
            let wanted = wanted
                .map(|wanted| wanted.points)
                .or_else(|| trajectory_goals::trajectory(&decode::<JointTrajectory>(bytes).ok()?, &joints, now).ok());
            for points in wanted.iter() {
                assert!(!points.is_empty() && points.windows(2).all(|pair| pair[0].at < pair[1].at));
                let finite = |values: &[f64]| values.len() == 2 && values.iter().all(|value| value.is_finite());
                assert!(points.iter().all(|point| finite(&point.positions)));
            }
        }
        12 => {
            let (names, mut others) = (Names::new("", "").expect("names"), Transforms::default());
            // Frames of others are as foreign as calls: either reads the bytes.
            for fixed in [false, true] {
                let _ = others.take(bytes, fixed, Instant::ZERO);
            }
            let tool = Some([0.5, 0.1, 0.3, 3.0, -0.5, 0.1]);
            let frames = Frames { names: &names, tool, others: &others, now: Instant::ZERO };
            for distro in Distro::ALL {
                for offer in driver_services::OFFERS {
                    match driver_services::deed(offer, bytes, distro, frames) {
                        Ok(Operation::Set(write)) => in_range(&write),
                        Ok(Operation::Force(mode)) => assert!(mode.check(true).is_ok()),
                        Ok(_) => {}
                        Err(refused) => assert!(!refused.to_string().is_empty()),
                    }
                }
            }
            for offer in native_calls::NATIVE_OFFERS {
                if let Ok(writes) = native_calls::writes(offer, bytes) {
                    assert!(!writes.is_empty());
                    writes.iter().for_each(in_range);
                }
            }
        }
        13 => {
            comes_back::<SendGoalRequest<Nothing>>(bytes);
            comes_back::<SendGoalRequest<UntilGoal>>(bytes);
        }
        14 => {
            let joints: Vec<String> = ["a", "b"].map(String::from).to_vec();
            let goal = decode::<UntilGoal>(bytes).ok();
            if let Some(Ok(wanted)) =
                goal.map(|goal| trajectory_goals::until(goal, &joints, Time { sec: 100, nanosec: 0 }))
            {
                assert!(wanted.points.windows(2).all(|pair| pair[0].at < pair[1].at));
            }
        }
        15 => comes_back::<SendGoalRequest<SendScriptGoal>>(bytes),
        16 => {
            if let Some(Ok(program)) = decode::<SendScriptGoal>(bytes).ok().map(|goal| script::program(&goal)) {
                // A program that is sent must be valid, and the time to wait for it limited.
                assert!(ScriptFile::new(program.text.as_bytes()).is_ok());
                assert!(program.start_within.is_none_or(|seconds| seconds > 0.0 && seconds <= 3600.0));
            }
        }
        18 => {
            let joints = UR_JOINTS.map(String::from);
            for values in
                [joint_commands::command::<6>(bytes), joint_commands::joint_speed(bytes, &joints)].into_iter().flatten()
            {
                assert!(values.iter().all(|value| value.is_finite()));
            }
        }
        17 => {
            let arm = Arm::new(&UR_JOINTS, &Names::default());
            for distro in Distro::ALL {
                for offer in controllers::CONTROLLER_OFFERS {
                    let _ = controllers::answer(offer, bytes, &arm, &SessionFacts::default(), distro);
                }
            }
        }
        _ => read_by_scripts(bytes),
    }
});
