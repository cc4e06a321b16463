//! Floor 1: words of the robot and time.

use outrigger_core::robot::{Reason, ReasonSet};
use outrigger_wire::robot::{ControllerTime, JointPositions, Pose, RobotModel, SoftwareVersion, Twist, Wrench};
use outrigger_wire::time::{Duration, Instant};

use crate::{any, any_text, shown, used};

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

    for reason in any(ReasonSet::EMPTY).with(any(Reason::Released)).iter() {
        used((reason.text(), reason.advice(), reason.name()));
    }
    let now = any(Instant::from_micros(1));
    used((now + any(Duration::from_millis(1)), now.since(any(now))));
}
