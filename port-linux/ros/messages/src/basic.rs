//! The messages of `builtin_interfaces`, `std_msgs`, `std_srvs`, `geometry_msgs`, `sensor_msgs`, `tf2_msgs` and
//! `diagnostic_msgs`.

use super::services;

messages! {
    /// A point in time, in seconds and nanoseconds since 1970.
    #[derive(Copy, Eq, PartialOrd, Ord)]
    Time = "builtin_interfaces/msg/Time" { sec: i32, nanosec: u32 }
    #[derive(Copy, Eq)]
    Span = "builtin_interfaces/msg/Duration" { sec: i32, nanosec: u32 }
    Header = "std_msgs/msg/Header" { stamp: Time, frame_id: String }
    #[derive(Copy, Eq)]
    Flag = "std_msgs/msg/Bool" { data: bool }
    #[derive(Copy, Eq)]
    Int32 = "std_msgs/msg/Int32" { data: i32 }
    #[derive(Copy, Eq)]
    Int64 = "std_msgs/msg/Int64" { data: i64 }
    #[derive(Copy, Eq)]
    UInt32 = "std_msgs/msg/UInt32" { data: u32 }
    #[derive(Copy, Eq)]
    UInt8 = "std_msgs/msg/UInt8" { data: u8 }
    #[derive(Copy, Eq)]
    UInt64 = "std_msgs/msg/UInt64" { data: u64 }
    #[derive(Copy)]
    Number = "std_msgs/msg/Float64" { data: f64 }
    Text = "std_msgs/msg/String" { data: String }
    ArrayDimension = "std_msgs/msg/MultiArrayDimension" { label: String, size: u32, stride: u32 }
    ArrayLayout = "std_msgs/msg/MultiArrayLayout" { dim: Vec<ArrayDimension>, data_offset: u32 }
    Numbers = "std_msgs/msg/Float64MultiArray" { layout: ArrayLayout, data: Vec<f64> }
    Int32s = "std_msgs/msg/Int32MultiArray" { layout: ArrayLayout, data: Vec<i32> }
    UInt32s = "std_msgs/msg/UInt32MultiArray" { layout: ArrayLayout, data: Vec<u32> }
    /// An empty request of `std_srvs/srv/Trigger`. CDR needs at least one member, so the definition has one unused
    /// byte.
    #[derive(Copy, Eq)]
    TriggerRequest = "std_srvs/srv/Trigger_Request" { structure_needs_at_least_one_member: u8 }
    #[derive(Eq)]
    TriggerResponse = "std_srvs/srv/Trigger_Response" { success: bool, message: String }
    /// An empty request of `std_srvs/srv/Empty`. CDR needs at least one member, so the definition has one unused
    /// byte.
    #[derive(Copy, Eq)]
    EmptyRequest = "std_srvs/srv/Empty_Request" { structure_needs_at_least_one_member: u8 }
    /// An empty response of `std_srvs/srv/Empty`. CDR needs at least one member, so the definition has one unused
    /// byte.
    #[derive(Copy, Eq)]
    EmptyResponse = "std_srvs/srv/Empty_Response" { structure_needs_at_least_one_member: u8 }
    #[derive(Copy, Eq)]
    SetBoolRequest = "std_srvs/srv/SetBool_Request" { data: bool }
    #[derive(Eq)]
    SetBoolResponse = "std_srvs/srv/SetBool_Response" { success: bool, message: String }

    #[derive(Copy)]
    Vector3 = "geometry_msgs/msg/Vector3" { x: f64, y: f64, z: f64 }
    #[derive(Copy)]
    Point = "geometry_msgs/msg/Point" { x: f64, y: f64, z: f64 }
    #[derive(Copy)]
    Quaternion = "geometry_msgs/msg/Quaternion" { x: f64, y: f64, z: f64, w: f64 }
    #[derive(Copy)]
    Pose = "geometry_msgs/msg/Pose" { position: Point, orientation: Quaternion }
    PoseStamped = "geometry_msgs/msg/PoseStamped" { header: Header, pose: Pose }
    #[derive(Copy)]
    Twist = "geometry_msgs/msg/Twist" { linear: Vector3, angular: Vector3 }
    TwistStamped = "geometry_msgs/msg/TwistStamped" { header: Header, twist: Twist }
    #[derive(Copy)]
    Wrench = "geometry_msgs/msg/Wrench" { force: Vector3, torque: Vector3 }
    WrenchStamped = "geometry_msgs/msg/WrenchStamped" { header: Header, wrench: Wrench }
    #[derive(Copy)]
    Accel = "geometry_msgs/msg/Accel" { linear: Vector3, angular: Vector3 }
    AccelStamped = "geometry_msgs/msg/AccelStamped" { header: Header, accel: Accel }
    #[derive(Copy)]
    Inertia = "geometry_msgs/msg/Inertia" {
        m: f64, com: Vector3, ixx: f64, ixy: f64, ixz: f64, iyy: f64, iyz: f64, izz: f64,
    }
    InertiaStamped = "geometry_msgs/msg/InertiaStamped" { header: Header, inertia: Inertia }
    Vector3Stamped = "geometry_msgs/msg/Vector3Stamped" { header: Header, vector: Vector3 }
    #[derive(Copy)]
    Transform = "geometry_msgs/msg/Transform" { translation: Vector3, rotation: Quaternion }
    TransformStamped = "geometry_msgs/msg/TransformStamped" {
        header: Header, child_frame_id: String, transform: Transform,
    }
    TFMessage = "tf2_msgs/msg/TFMessage" { transforms: Vec<TransformStamped> }

    JointState = "sensor_msgs/msg/JointState" {
        header: Header, name: Vec<String>, position: Vec<f64>, velocity: Vec<f64>, effort: Vec<f64>,
    }
    Temperature = "sensor_msgs/msg/Temperature" { header: Header, temperature: f64, variance: f64 }
    TimeReference = "sensor_msgs/msg/TimeReference" { header: Header, time_ref: Time, source: String }

    KeyValue = "diagnostic_msgs/msg/KeyValue" { key: String, value: String }
    /// The state of one component of a robot or driver, with its name and values. Level: 0 ok, 1 warning, 2 error, 3
    /// stale.
    DiagnosticStatus = "diagnostic_msgs/msg/DiagnosticStatus" {
        level: u8, name: String, message: String, hardware_id: String, values: Vec<KeyValue>,
    }
    DiagnosticArray = "diagnostic_msgs/msg/DiagnosticArray" { header: Header, status: Vec<DiagnosticStatus> }
}

services! {
    Empty = "std_srvs/srv/Empty": EmptyRequest => EmptyResponse;
    Trigger = "std_srvs/srv/Trigger": TriggerRequest => TriggerResponse;
    SetBool = "std_srvs/srv/SetBool": SetBoolRequest => SetBoolResponse;
}

impl Time {
    /// Returns the `Time` message for the instant that is `nanos` ns after 1970 began.
    #[must_use]
    pub fn from_unix_nanos(nanos: u64) -> Self {
        const SECOND: u64 = 1_000_000_000;
        Self { sec: i32::try_from(nanos / SECOND).unwrap_or(i32::MAX), nanosec: (nanos % SECOND) as u32 }
    }
}

impl Span {
    /// Returns the duration \[s\], which may be negative.
    #[must_use]
    pub fn seconds(self) -> f64 {
        f64::from(self.sec) + f64::from(self.nanosec) * 1e-9
    }

    /// Returns the duration `seconds` \[s\] as a message; it must be within ±2³¹ s.
    #[must_use]
    pub fn from_seconds(seconds: f64) -> Self {
        let whole = seconds.floor();
        Self { sec: whole as i32, nanosec: ((seconds - whole) * 1e9) as u32 }
    }
}

impl From<[f64; 3]> for Vector3 {
    fn from([x, y, z]: [f64; 3]) -> Self {
        Self { x, y, z }
    }
}

impl From<Vector3> for [f64; 3] {
    fn from(of: Vector3) -> Self {
        [of.x, of.y, of.z]
    }
}

impl From<[f64; 3]> for Point {
    fn from([x, y, z]: [f64; 3]) -> Self {
        Self { x, y, z }
    }
}

impl From<[f64; 4]> for Quaternion {
    /// Returns the quaternion with the components x, y, z, w.
    fn from([x, y, z, w]: [f64; 4]) -> Self {
        Self { x, y, z, w }
    }
}

impl From<[f64; 6]> for Wrench {
    /// Returns the wrench with the force x, y, z, then the torque x, y, z.
    fn from([fx, fy, fz, tx, ty, tz]: [f64; 6]) -> Self {
        Self { force: [fx, fy, fz].into(), torque: [tx, ty, tz].into() }
    }
}

impl From<[f64; 6]> for Twist {
    /// Returns the twist with the linear part x, y, z, then the angular part x, y, z.
    fn from([x, y, z, rx, ry, rz]: [f64; 6]) -> Self {
        Self { linear: [x, y, z].into(), angular: [rx, ry, rz].into() }
    }
}
