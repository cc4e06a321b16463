//! Sessions with each kind of controller, compiled here once for all callers.

use outrigger_core::engine::krc::KrcConfig;
use outrigger_core::engine::ur::UrConfig;

use super::{ObservationSettings, Plan, look, run};
use crate::boxed_law::BoxedLaw;
use crate::exit::Outcome;
use crate::vendor::krc::KrcController;
use crate::vendor::ur::UrController;

/// Runs an engine with `law` for a controller of Universal Robots.
///
/// # Errors
/// Returns [`Failure::BadInput`](crate::exit::Failure::BadInput) for what the core or the operating system rejects,
/// [`Failure::Connection`](crate::exit::Failure::Connection) if there never was a session or another process commands
/// the robot, [`Failure::Fault`](crate::exit::Failure::Fault) if it ended with a fallback (end of commanding by a
/// fault) or its single request to command was not granted.
pub fn run_ur(controller: UrController, config: UrConfig, law: BoxedLaw<6>, plan: &Plan<6>) -> Outcome {
    run(controller, config, law, plan)
}

/// Runs an engine with `law` for a KRC.
///
/// # Errors
/// Returns the errors of [`run_ur`].
pub fn run_krc(controller: KrcController, config: KrcConfig, law: BoxedLaw<7>, plan: &Plan<7>) -> Outcome {
    run(controller, config, law, plan)
}

/// Observes a controller of Universal Robots until the operator or the time ends it.
///
/// # Errors
/// Returns the errors from starting companions (components that run beside the session);
/// [`Failure::Connection`](crate::exit::Failure::Connection) if there never was a session.
pub fn look_at_ur(controller: UrController, config: UrConfig, how: &ObservationSettings<6>) -> Outcome {
    look(controller, config, how)
}

/// Observes a KRC until the operator or the time ends it.
///
/// # Errors
/// Returns the errors of [`look_at_ur`].
pub fn look_at_krc(controller: KrcController, config: KrcConfig, how: &ObservationSettings<7>) -> Outcome {
    look(controller, config, how)
}
