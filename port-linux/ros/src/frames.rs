//! The coordinate frames in which a call may be given: those of the arm itself, and those that other nodes publish on
//! `/tf` and `/tf_static` (`core/docs/protocol/ros2-surface.md` 2).

use std::collections::BTreeMap;

use outrigger_ros2_messages::cdr::{CdrError, decode};
use outrigger_ros2_messages::endpoint::{Names, Qos, Subscription};
use outrigger_ros2_messages::{Message, TFMessage, TransformStamped};
use outrigger_wire::math::{Frame, Rotation, scale};
use outrigger_wire::time::{Duration, Instant};

use crate::pose::rotation_vector;

/// The largest number of frames stored; further frames are ignored, unless moving ones have become too old to be
/// used.
const MOST: usize = 512;
/// The longest name of a coordinate frame that is stored \[bytes\].
const LONGEST: usize = 256;
/// The largest number of frames on the path from a frame to the root of its tree, both included. A limit is needed
/// because frames that form a ring have no root.
const DEEPEST: usize = 64;
/// The age beyond which the pose of a moving frame is not used.
pub const OLDEST: Duration = Duration::from_secs(1);

/// The topic `/tf` of the moving coordinate frames that other nodes publish.
pub static MOVING: &Subscription = &Subscription {
    name: "/tf",
    message: <TFMessage as Message>::TYPE,
    does: "frames in which `start_force_mode` and `set_gravity` may be given; a pose older than 1 s is not used",
};
/// The quality of service of [`MOVING`]. Publishers of every kind match it; lost messages do not matter because each
/// frame is published again.
pub const MOVING_QOS: Qos = Qos { reliable: false, latched: false, depth: 100 };

/// The topic `/tf_static` of the fixed coordinate frames that other nodes publish.
pub static FIXED: &Subscription = &Subscription {
    name: "/tf_static",
    message: <TFMessage as Message>::TYPE,
    does: "the same, for frames that do not move",
};
/// The quality of service of [`FIXED`]: late subscribers, too, receive messages sent before.
pub const FIXED_QOS: Qos = Qos { reliable: true, latched: true, depth: 100 };

/// The pose of a coordinate frame in its parent frame.
#[derive(Clone, Debug)]
struct Link {
    parent: String,
    pose: Frame,
    /// The time of arrival of the pose; `None` for a frame that does not move.
    came: Option<Instant>,
}

/// The path from a frame to a frame above it: the name of each frame, and the pose of the first frame in that frame.
type FramePath = Vec<(String, Frame)>;

/// The newest transforms between coordinate frames that were received from other nodes.
#[derive(Clone, Debug, Default)]
pub struct Transforms {
    by_child: BTreeMap<String, Link>,
}

/// The reason why a frame cannot be used, as the text that follows "expected" in an error message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unusable(pub(crate) String);

impl Transforms {
    /// Stores the transforms of a [`MOVING`] or [`FIXED`] message that arrived at `now`. An invalid transform is
    /// skipped.
    ///
    /// # Errors
    /// [`CdrError`] if the bytes are not such a message.
    pub fn take(&mut self, bytes: &[u8], fixed: bool, now: Instant) -> Result<(), CdrError> {
        let TFMessage { transforms } = decode(bytes)?;
        if self.by_child.len() >= MOST {
            self.by_child.retain(|_, link| link.came.is_none_or(|came| now.since(came) <= OLDEST));
        }
        for TransformStamped { header, child_frame_id: child, transform } in transforms {
            let parent = header.frame_id;
            let named = |name: &str| !name.is_empty() && name.len() <= LONGEST;
            let place = [transform.translation.x, transform.translation.y, transform.translation.z];
            let turned = rotation_vector(transform.rotation);
            let Some(turned) = turned.filter(|_| place.iter().all(|at| at.is_finite())) else { continue };
            let has_room = self.by_child.len() < MOST || self.by_child.contains_key(&child);
            if has_room && named(&child) && named(&parent) && child != parent {
                let pose = frame([place[0], place[1], place[2], turned[0], turned[1], turned[2]]);
                self.by_child.insert(child, Link { parent, pose, came: (!fixed).then_some(now) });
            }
        }
        Ok(())
    }
}

/// The coordinate frames that are known while a call with a frame is processed.
#[derive(Clone, Copy, Debug)]
pub struct Frames<'n> {
    /// The names of the arm's own coordinate frames.
    pub names: &'n Names,
    /// The newest pose of `tool0_controller` in the base: position \[m\] and rotation vector \[rad\].
    pub tool: Option<[f64; 6]>,
    /// The coordinate frames received from other nodes.
    pub others: &'n Transforms,
    /// The time of the call, from which the age of a pose is counted.
    pub now: Instant,
}

impl Frames<'_> {
    /// Returns the pose of the frame `name` in the base of the arm.
    ///
    /// # Errors
    /// [`Unusable`] with the text that describes what was expected instead.
    pub fn in_base(&self, name: &str) -> Result<Frame, Unusable> {
        let base = self.names.frame("base");
        if name.is_empty() || name == "base" || name == base {
            return Ok(IDENTITY);
        }
        let (of_base, base_ends) = self.up(&base)?;
        let (of_name, name_ends) = self.up(name)?;
        // What is above the nearest common frame, and in what state, does not matter.
        for (at, pose) in of_name {
            if let Some((_, of_base)) = of_base.iter().find(|(above, _)| *above == at) {
                return Ok(inverse(of_base).then(&pose));
            }
        }
        let unknown = || Unusable(format!("{base}, or a frame that /tf or /tf_static connects with it"));
        Err(name_ends.or(base_ends).unwrap_or_else(unknown))
    }

    /// Returns the frame and every frame above it up to the root, each with the pose of the first frame in it. If a
    /// link on the way is unusable now, the frames below it are returned, with the reason.
    ///
    /// # Errors
    /// [`Unusable`] if there are too many frames: in a ring one frame has several poses in another.
    fn up(&self, name: &str) -> Result<(FramePath, Option<Unusable>), Unusable> {
        let mut way = vec![(name.to_owned(), IDENTITY)];
        while let Some((at, pose)) = way.last() {
            let Link { parent, pose: link, came } = match self.link(at) {
                Ok(Some(link)) => link,
                Ok(None) => break,
                Err(unusable) => return Ok((way, Some(unusable))),
            };
            if let Some(came) = came
                && self.now.since(came) > OLDEST
            {
                let age = self.now.since(came).as_secs_f32();
                let old = format!("a pose of {at} in {parent} at most 1 s old, found one {age:.1} s old");
                return Ok((way, Some(Unusable(old))));
            }
            if way.len() == DEEPEST {
                return Err(Unusable(format!("at most {DEEPEST} frames above {name}, without a loop")));
            }
            let pose = link.then(pose);
            way.push((parent, pose));
        }
        Ok((way, None))
    }

    /// Returns a frame's parent and its pose there, from the arm itself, from other nodes, or from the description
    /// that all URs share.
    fn link(&self, name: &str) -> Result<Option<Link>, Unusable> {
        let base = self.names.frame("base");
        if name == self.names.frame("tool0_controller") {
            let Some(pose) = self.tool else {
                return Err(Unusable(format!("{base} until the pose of the tool is known")));
            };
            return Ok(Some(Link { parent: base, pose: frame(pose), came: None }));
        }
        if let Some(link) = self.others.by_child.get(name) {
            return Ok(Some(link.clone()));
        }
        let half_a_turn = frame([0.0, 0.0, 0.0, 0.0, 0.0, std::f64::consts::PI]);
        let link = Link { parent: self.names.frame("base_link"), pose: half_a_turn, came: None };
        Ok((name == base).then_some(link))
    }
}

const IDENTITY: Frame = Frame { position: [0.0; 3], rotation: Rotation::IDENTITY };

fn frame([x, y, z, rx, ry, rz]: [f64; 6]) -> Frame {
    let three = |of: [f64; 3]| of.map(|value| value as f32);
    Frame { position: three([x, y, z]), rotation: Rotation::from_vector(three([rx, ry, rz])) }
}

fn inverse(of: &Frame) -> Frame {
    let Rotation { x, y, z } = of.rotation;
    let rotation = Rotation { x: [x[0], y[0], z[0]], y: [x[1], y[1], z[1]], z: [x[2], y[2], z[2]] };
    Frame { position: rotation.apply(scale(of.position, -1.0)), rotation }
}

#[cfg(test)]
mod tests {
    use super::*;
    use outrigger_ros2_messages::cdr::encode;
    use outrigger_ros2_messages::{Header, Quaternion, Transform};
    use proptest::prelude::*;

    const AT: Instant = Instant::from_micros(5_000_000);

    /// Returns a message with each child in its parent, rotated about z by an angle \[rad\].
    fn message(links: &[(&str, &str, [f64; 3], f64)]) -> Vec<u8> {
        let one = |(child, parent, [x, y, z], turned): &(&str, &str, [f64; 3], f64)| TransformStamped {
            header: Header { frame_id: (*parent).into(), ..Header::default() },
            child_frame_id: (*child).into(),
            transform: Transform {
                translation: [*x, *y, *z].into(),
                rotation: Quaternion { x: 0.0, y: 0.0, z: (turned / 2.0).sin(), w: (turned / 2.0).cos() },
            },
        };
        encode(&TFMessage { transforms: links.iter().map(one).collect() })
    }

    fn of(fixed: &[(&str, &str, [f64; 3], f64)]) -> Transforms {
        let mut others = Transforms::default();
        others.take(&message(fixed), true, AT).expect("a message");
        others
    }

    fn asked(others: &Transforms, tool: Option<[f64; 6]>, name: &str, now: Instant) -> Result<Frame, String> {
        let names = Names::new("", "left_").expect("names");
        Frames { names: &names, tool, others, now }.in_base(name).map_err(|Unusable(expected)| expected)
    }

    fn near(frame: Result<Frame, String>, position: [f32; 3], x: [f32; 3]) {
        let frame = frame.expect("a frame");
        let pairs = frame.position.into_iter().zip(position).chain(frame.rotation.x.into_iter().zip(x));
        assert!(pairs.into_iter().all(|(is, wanted)| (is - wanted).abs() < 1e-5), "{frame:?}");
    }

    #[test]
    fn a_frame_is_found_by_way_of_its_nearest_common_parent_with_the_base() {
        use std::f64::consts::{FRAC_PI_2, PI};
        let others = of(&[
            ("left_base_link", "world", [1.0, 0.0, 0.0], FRAC_PI_2),
            ("left_base", "left_base_link", [0.0; 3], PI),
            ("table", "world", [1.0, 0.5, 0.0], 0.0),
            ("part", "table", [0.0, 0.0, 0.2], 0.0),
        ]);
        // The base is at (1, 0, 0) in the world, rotated by three quarters of a turn.
        near(asked(&others, None, "part", AT), [-0.5, 0.0, 0.2], [0.0, 1.0, 0.0]);
        near(asked(&others, None, "left_base_link", AT), [0.0; 3], [-1.0, 0.0, 0.0]);
        near(asked(&others, None, "world", AT), [0.0, -1.0, 0.0], [0.0, 1.0, 0.0]);
    }

    #[test]
    fn the_arms_own_frames_need_nobody_else() {
        let none = Transforms::default();
        for base in ["", "base", "left_base"] {
            near(asked(&none, None, base, AT), [0.0; 3], [1.0, 0.0, 0.0]);
        }
        near(asked(&none, None, "left_base_link", AT), [0.0; 3], [-1.0, 0.0, 0.0]);
        let tool = Some([0.4, 0.0, 0.3, 0.0, 0.0, std::f64::consts::FRAC_PI_2]);
        near(asked(&none, tool, "left_tool0_controller", AT), [0.4, 0.0, 0.3], [0.0, 1.0, 0.0]);
        let gripper = of(&[("gripper", "left_tool0_controller", [0.1, 0.0, 0.0], 0.0)]);
        near(asked(&gripper, tool, "gripper", AT), [0.4, 0.1, 0.3], [0.0, 1.0, 0.0]);
        assert_eq!(asked(&gripper, None, "gripper", AT).unwrap_err(), "left_base until the pose of the tool is known");
    }

    #[test]
    fn a_frame_without_a_way_to_the_base_is_refused_with_what_was_expected() {
        let others = of(&[("camera", "room", [0.0; 3], 0.0), ("a", "b", [0.0; 3], 0.0), ("b", "a", [0.0; 3], 0.0)]);
        let expected = "left_base, or a frame that /tf or /tf_static connects with it";
        for unknown in ["camera", "map", "right_base", "tool0_controller"] {
            assert_eq!(asked(&others, None, unknown, AT).unwrap_err(), expected, "{unknown}");
        }
        assert_eq!(asked(&others, None, "a", AT).unwrap_err(), "at most 64 frames above a, without a loop");
    }

    #[test]
    fn what_is_above_the_nearest_common_frame_does_not_matter() {
        let tool = Some([0.4, 0.0, 0.3, 0.0, 0.0, 0.0]);
        let later = AT + OLDEST + OLDEST;
        // A platform whose place in the map is published rarely.
        let mut others = of(&[("left_base", "platform", [0.0; 3], 0.0), ("table", "platform", [1.0, 0.0, 0.0], 0.0)]);
        others.take(&message(&[("platform", "map", [5.0, 0.0, 0.0], 0.0)]), false, AT).expect("a message");
        near(asked(&others, tool, "left_tool0_controller", later), [0.4, 0.0, 0.3], [1.0, 0.0, 0.0]);
        near(asked(&others, tool, "table", later), [1.0, 0.0, 0.0], [1.0, 0.0, 0.0]);
        let old = "a pose of platform in map at most 1 s old, found one 2.0 s old";
        assert_eq!(asked(&others, tool, "map", later).unwrap_err(), old);
        // In a ring with the tool, the base would have two poses in it.
        let ring = of(&[("left_base", "left_tool0_controller", [0.0; 3], 0.0)]);
        let expected = "at most 64 frames above left_base, without a loop";
        assert_eq!(asked(&ring, tool, "left_tool0_controller", AT).unwrap_err(), expected);
    }

    #[test]
    fn a_moving_frame_is_used_for_a_second() {
        let mut others = of(&[]);
        others.take(&message(&[("part", "left_base", [0.1, 0.0, 0.0], 0.0)]), false, AT).expect("a message");
        near(asked(&others, None, "part", AT + OLDEST), [0.1, 0.0, 0.0], [1.0, 0.0, 0.0]);
        let late = asked(&others, None, "part", AT + OLDEST + Duration::from_millis(500)).unwrap_err();
        assert_eq!(late, "a pose of part in left_base at most 1 s old, found one 1.5 s old");
    }

    #[test]
    fn what_is_kept_is_bounded_and_what_is_no_transform_is_left_out() {
        let mut others = Transforms::default();
        for index in 0..2 * MOST {
            let name = format!("f{index}");
            others.take(&message(&[(&name, "left_base", [0.0; 3], 0.0)]), true, AT).expect("a message");
        }
        assert_eq!(others.by_child.len(), MOST);
        others.take(&message(&[("f0", "left_base", [0.5, 0.0, 0.0], 0.0)]), true, AT).expect("a message");
        near(asked(&others, None, "f0", AT), [0.5, 0.0, 0.0], [1.0, 0.0, 0.0]);
        let long = "n".repeat(LONGEST + 1);
        let none = of(&[
            (&long, "left_base", [0.0; 3], 0.0),
            ("", "left_base", [0.0; 3], 0.0),
            ("self", "self", [0.0; 3], 0.0),
            ("far", "left_base", [f64::NAN, 0.0, 0.0], 0.0),
            ("turned", "left_base", [0.0; 3], f64::INFINITY),
        ]);
        assert!(none.by_child.is_empty(), "{none:?}");
        // The names of moving frames that are no longer published make room.
        let (mut others, later) = (Transforms::default(), AT + OLDEST + OLDEST);
        for index in 0..MOST {
            others
                .take(&message(&[(&format!("seen{index}"), "left_base", [0.0; 3], 0.0)]), false, AT)
                .expect("a message");
        }
        others.take(&message(&[("part", "left_base", [0.1, 0.0, 0.0], 0.0)]), false, later).expect("a message");
        near(asked(&others, None, "part", later), [0.1, 0.0, 0.0], [1.0, 0.0, 0.0]);
        assert!(Transforms::default().take(&[0, 1, 0, 0, 255, 255, 255, 255], true, AT).is_err());
    }

    proptest! {
        #[test]
        fn any_tree_of_frames_has_an_end_and_whoever_is_in_it_is_where_its_parent_puts_it(
            parents in prop::collection::vec((0_usize..12, -1.0..1.0_f64, -3.0..3.0_f64), 1..12)
        ) {
            let name = |index: usize| if index == 0 { "left_base".to_owned() } else { format!("f{index}") };
            let mut others = Transforms::default();
            for (index, (parent, x, turned)) in parents.iter().enumerate() {
                let (child, parent) = (name(index + 1), name(*parent));
                let bytes = message(&[(&child, &parent, [*x, 0.0, 0.0], *turned)]);
                others.take(&bytes, true, AT).expect("a message");
            }
            for (index, (parent, x, turned)) in parents.iter().enumerate() {
                let (child, parent) = (asked(&others, None, &name(index + 1), AT), asked(&others, None, &name(*parent), AT));
                let (Ok(child), Ok(parent)) = (child, parent) else { continue };
                let expected = parent.then(&frame([*x, 0.0, 0.0, 0.0, 0.0, *turned]));
                for (is, wanted) in child.position.iter().zip(expected.position) {
                    prop_assert!((is - wanted).abs() < 1e-4, "{child:?}, expected {expected:?}");
                }
            }
        }
    }
}
