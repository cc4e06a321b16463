//! Reads any bytes as messages to and from programs on a controller. Checks that they are written back unchanged.
#![no_main]

use libfuzzer_sys::fuzz_target;
use outrigger_wire::external_control::Control;
use outrigger_wire::player_messages::{PlayerOrder, PlayerReport};
use outrigger_wire::program_messages::{Hello, Order, Report};
use outrigger_wire::trajectory_messages::{TrajectoryPoint, TrajectoryResult};

fuzz_target!(|bytes: &[u8]| {
    let mut written = [0xa5; PlayerOrder::LEN];
    if let Ok(order) = Order::new_checked(bytes) {
        assert_eq!(order.repr().emit(&mut written), Ok(Order::LEN));
        assert_eq!(written[..Order::LEN], *bytes);
    }
    if let Ok(hello) = Hello::new_checked(bytes) {
        assert_eq!(hello.repr().emit(&mut written), Ok(Hello::LEN));
        assert_eq!(written[..Hello::LEN], *bytes);
    }
    if let Ok(control) = Control::new_checked(bytes) {
        assert_eq!(control.repr().emit(&mut written), Ok(Control::LEN));
        assert_eq!(written[..Control::LEN], *bytes);
    }
    if let Ok(point) = TrajectoryPoint::new_checked(bytes) {
        assert_eq!(point.repr().emit(&mut written), Ok(TrajectoryPoint::LEN));
        assert_eq!(written[..TrajectoryPoint::LEN], *bytes);
    }
    if let Some(result) = bytes.first_chunk() {
        assert_eq!(TrajectoryResult::from_bytes(*result).to_bytes(), *result);
    }
    if let Ok(order) = PlayerOrder::new_checked(bytes) {
        assert_eq!(order.repr().emit(&mut written), Ok(PlayerOrder::LEN));
        assert_eq!(written[..PlayerOrder::LEN], *bytes);
    }
    if let Some(said) = bytes.first_chunk() {
        assert_eq!(PlayerReport::from_bytes(*said).to_bytes(), *said);
    }
    if let Some(report) = bytes.first_chunk() {
        assert_eq!(Report::from_bytes(*report).to_bytes(), *report);
    }
});
