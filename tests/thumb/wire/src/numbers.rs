//! Values of a robot, times, mathematics and checksums.

use outrigger_wire::checksum::crc32;
use outrigger_wire::decimal;
use outrigger_wire::math::{
    Rotation, add, atan2, bounded, cross, dot, double_conversion, norm, scale, sin_cos, sqrt, subtract,
};
use outrigger_wire::robot::{ControllerTime, JointPositions, Pose, RobotModel, SoftwareVersion, Twist, Wrench};
use outrigger_wire::time::{Duration, Instant};

use crate::{any, any_bytes, any_numbers, any_text, shown, used};

#[inline(never)]
pub fn probe() {
    let values: [f64; 6] = any([0.0; 6]);
    let positions = JointPositions::<6>::from_wire(values);
    let sum = positions.zip_with(any(&[0.0; 6]), |a, b| a + b).map(|x| x * any(2.0));
    used((sum.max_abs(), sum.is_finite(), sum));
    used((Pose::from_wire(values), Twist::from_wire(values), Wrench::from_wire(values)));

    let time = any(ControllerTime::from_micros(1));
    used((ControllerTime::from_secs(any(1.0)), time.since(any(time))));
    let version = any(SoftwareVersion::new(5, 15));
    used((version.at_least(any(5), any(9)), version.generation().period_micros()));
    used(RobotModel::from_name(any_text()));
    shown(version);

    let now = any(Instant::from_micros(1));
    used((now + any(Duration::from_millis(1)), now.since(any(now))));
    let [x, y, z] = any_numbers();
    used((sin_cos(x), atan2(x, y), sqrt(z)));
    let rotation = Rotation::from_vector([x, y, z]);
    used((rotation.to_vector(), rotation.after(&rotation).apply([z, y, x])));
    let (a, b) = (any_numbers(), any_numbers());
    used((add(a, b), subtract(a, b), cross(a, b), scale(a, x), dot(a, b), norm(a), bounded(x, y, z)));
    used((
        double_conversion::to_f32(any(0.1)),
        double_conversion::scaled(any(0.1), any(7)),
        double_conversion::is_nan(any(0.1)),
    ));
    used((decimal::parse(any_bytes()), decimal::unsigned(any_bytes())));
    used(crc32(any_bytes()));
}
