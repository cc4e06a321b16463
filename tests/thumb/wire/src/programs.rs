//! Orders to programs on a controller, and their reports.

use outrigger_wire::external_control::Control;
use outrigger_wire::player_messages::{PlayerOrder, PlayerOrderRepr, PlayerReport};
use outrigger_wire::program_messages::{Hello, Order, Report};
use outrigger_wire::trajectory_messages::{TrajectoryPoint, TrajectoryResult};

use crate::{any, any_bytes, into_room, shown, used};

#[inline(never)]
pub fn probe() {
    match Hello::new_checked(any_bytes()) {
        Ok(hello) => into_room(|room| hello.repr().emit(room)),
        Err(error) => shown(error),
    }
    match Order::new_checked(any_bytes()) {
        Ok(order) => into_room(|room| order.repr().emit(room)),
        Err(error) => shown(error),
    }
    match Control::new_checked(any_bytes()) {
        Ok(control) => into_room(|room| control.repr().emit(room)),
        Err(error) => shown(error),
    }
    match TrajectoryPoint::new_checked(any_bytes()) {
        Ok(point) => into_room(|room| point.repr().emit(room)),
        Err(error) => shown(error),
    }
    match PlayerOrder::new_checked(any_bytes()) {
        Ok(order) => into_room(|room| order.repr().asking(any([1; 6]), any(true), any(1)).emit(room)),
        Err(error) => shown(error),
    }
    into_room(|room| PlayerOrderRepr::keep(any(1)).emit(room));
    used(PlayerOrderRepr::force_settings(any(1), any(2), any(3)));
    if let Some(report) = any_bytes().first_chunk() {
        used(Report::from_bytes(*report).to_bytes());
    }
    if let Some(report) = any_bytes().first_chunk() {
        let report = PlayerReport::from_bytes(*report);
        used((report.mirrored(), report.to_bytes()));
    }
    if let Some(result) = any_bytes().first_chunk() {
        used(TrajectoryResult::from_bytes(*result).to_bytes());
    }
}
