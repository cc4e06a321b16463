//! The fields of a motion in JSON, named as in messages of ROS and MoveIt. Unknown fields, duplicate fields and
//! values of another type are rejected, because a misspelt field would change the motion without notice.

use std::fmt;
use std::marker::PhantomData;

use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{DeserializeOwned, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::super::MOST_POINTS;

/// A JSON object with the fields of `T`. A list of the same values is rejected.
#[derive(Debug)]
pub(super) struct Object<T>(pub(super) T);

impl<'de, T: DeserializeOwned> Deserialize<'de> for Object<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct OfMap<T>(PhantomData<T>);
        impl<'de, T: DeserializeOwned> Visitor<'de> for OfMap<T> {
            type Value = Object<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
                T::deserialize(MapAccessDeserializer::new(map)).map(Object)
            }
        }
        deserializer.deserialize_map(OfMap(PhantomData))
    }
}

/// The maximum number of names, tolerances or numbers of one waypoint, far beyond the joints of any arm.
pub(super) const MOST_JOINTS: usize = 64;

/// A list of at most `MOST` entries. In memory, short entries take many times their size in the file.
#[derive(Debug)]
pub(super) struct List<T, const MOST: usize = MOST_JOINTS>(pub(super) Vec<T>);

impl<'de, T: Deserialize<'de>, const MOST: usize> Deserialize<'de> for List<T, MOST> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct AtMost<T, const MOST: usize>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>, const MOST: usize> Visitor<'de> for AtMost<T, MOST> {
            type Value = List<T, MOST>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
                let mut all = vec![];
                while let Some(entry) = list.next_element()? {
                    if all.len() == MOST {
                        let remedy = if MOST == MOST_POINTS { "split the motion" } else { "no arm has so many joints" };
                        let what = format!("found a list of more than {MOST} entries, expected at most that: {remedy}");
                        return Err(A::Error::custom(what));
                    }
                    all.push(entry);
                }
                Ok(List(all))
            }
        }
        deserializer.deserialize_seq(AtMost(PhantomData))
    }
}

/// A JSON object that contains the points of a motion, directly or in an inner object: a goal, a plan, a trajectory
/// of a robot or of its joints.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Level {
    pub(super) goal: Option<Box<Object<Self>>>,
    pub(super) motion_plan_response: Option<Box<Object<Self>>>,
    pub(super) trajectory: Option<Trajectories>,
    pub(super) joint_trajectory: Option<Box<Object<Self>>>,
    pub(super) solution: Option<Box<Object<Self>>>,
    pub(super) planned_trajectory: Option<Box<Object<Self>>>,
    pub(super) executed_trajectory: Option<Box<Object<Self>>>,
    pub(super) points: Option<List<Object<Point>, MOST_POINTS>>,
    pub(super) joint_names: Option<List<String>>,
    pub(super) path_tolerance: Option<List<Object<JointTolerance>>>,
    pub(super) goal_tolerance: Option<List<Object<JointTolerance>>>,
    pub(super) goal_time_tolerance: Option<Time>,
    pub(super) component_path_tolerance: Option<Vec<IgnoredAny>>,
    pub(super) component_goal_tolerance: Option<Vec<IgnoredAny>>,
    pub(super) multi_dof_trajectory: Option<Object<MultiDof>>,
    pub(super) multi_dof_joint_trajectory: Option<Object<MultiDof>>,
    pub(super) error_code: Option<Object<ErrorCode>>,
    pub(super) fraction: Option<f64>,
    #[serde(rename = "header")]
    _header: IgnoredAny,
    #[serde(rename = "goal_id")]
    _goal_id: IgnoredAny,
    #[serde(rename = "model_id")]
    _model_id: IgnoredAny,
    #[serde(rename = "trajectory_start")]
    _trajectory_start: IgnoredAny,
    #[serde(rename = "start_state")]
    _start_state: IgnoredAny,
    #[serde(rename = "group_name")]
    _group_name: IgnoredAny,
    #[serde(rename = "planning_time")]
    _planning_time: IgnoredAny,
    #[serde(rename = "description")]
    _description: IgnoredAny,
    #[serde(rename = "processing_time")]
    _processing_time: IgnoredAny,
    #[serde(rename = "controller_names")]
    _controller_names: IgnoredAny,
}

/// A waypoint in JSON: time, positions, and optionally speeds and accelerations.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Point {
    pub(super) positions: Option<List<f64>>,
    pub(super) velocities: Option<List<f64>>,
    pub(super) accelerations: Option<List<f64>>,
    pub(super) time_from_start: Option<Time>,
    pub(super) effort: Option<Vec<IgnoredAny>>,
}

/// The tolerances of one joint in the goal of a trajectory.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct JointTolerance {
    pub(super) name: String,
    pub(super) position: Option<f64>,
    pub(super) velocity: Option<f64>,
    pub(super) acceleration: Option<f64>,
}

/// The trajectory of joints that move in several directions at once, such as a platform.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct MultiDof {
    pub(super) points: Option<Vec<IgnoredAny>>,
    #[serde(rename = "header")]
    _header: IgnoredAny,
    #[serde(rename = "joint_names")]
    _joint_names: IgnoredAny,
}

/// The result code of a motion planner, such as MoveIt's.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ErrorCode {
    pub(super) val: i64,
    #[serde(default, rename = "message")]
    _message: IgnoredAny,
    #[serde(default, rename = "source")]
    _source: IgnoredAny,
}

/// A trajectory, or the first one of a list, with the length of that list.
#[derive(Debug)]
pub(super) struct Trajectories {
    pub(super) first: Option<Box<Level>>,
    pub(super) count: usize,
}

impl<'de> Deserialize<'de> for Trajectories {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct OneOrMore;
        impl<'de> Visitor<'de> for OneOrMore {
            type Value = Trajectories;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object or a list of objects")
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
                let only = Level::deserialize(MapAccessDeserializer::new(map))?;
                Ok(Trajectories { first: Some(Box::new(only)), count: 1 })
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
                let first = list.next_element()?.map(|Object(first)| Box::new(first));
                let mut count = usize::from(first.is_some());
                while list.next_element::<IgnoredAny>()?.is_some() {
                    count += 1;
                }
                Ok(Trajectories { first, count })
            }
        }
        deserializer.deserialize_any(OneOrMore)
    }
}

/// A time in a motion file \[s\]: that of a waypoint, or the tolerance of the time at the goal.
#[derive(Clone, Copy, Debug)]
pub(super) struct Time(pub(super) f64);

/// The parts of a time as ROS 2 or ROS 1 writes it: seconds and nanoseconds.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Parts {
    #[serde(alias = "secs")]
    sec: Option<f64>,
    #[serde(alias = "nsecs", alias = "nsec")]
    nanosec: Option<f64>,
}

impl<'de> Deserialize<'de> for Time {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Seconds;
        impl<'de> Visitor<'de> for Seconds {
            type Value = Time;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("seconds, or an object with 'sec' and 'nanosec'")
            }

            fn visit_f64<E: Error>(self, seconds: f64) -> Result<Self::Value, E> {
                Ok(Time(seconds))
            }

            fn visit_i64<E: Error>(self, seconds: i64) -> Result<Self::Value, E> {
                Ok(Time(seconds as f64))
            }

            fn visit_u64<E: Error>(self, seconds: u64) -> Result<Self::Value, E> {
                Ok(Time(seconds as f64))
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
                let Parts { sec, nanosec } = Parts::deserialize(MapAccessDeserializer::new(map))?;
                if sec.or(nanosec).is_none() {
                    return Err(A::Error::custom("found neither 'sec' nor 'nanosec', expected one of them"));
                }
                if nanosec.is_some_and(|nanos| !(0.0..1e9).contains(&nanos) || nanos.fract() != 0.0) {
                    return Err(A::Error::custom(
                        "found an invalid 'nanosec', expected a whole number from 0 to 999999999",
                    ));
                }
                Ok(Time(sec.unwrap_or_default() + nanosec.unwrap_or_default() * 1e-9))
            }
        }
        deserializer.deserialize_any(Seconds)
    }
}
