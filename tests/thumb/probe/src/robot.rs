//! The reasons of a fallback.

use outrigger_core::robot::{Reason, ReasonSet};

use crate::{any, used};

#[inline(never)]
pub fn probe() {
    for reason in any(ReasonSet::EMPTY).with(any(Reason::Released)).iter() {
        used((reason.text(), reason.advice(), reason.name()));
    }
}
