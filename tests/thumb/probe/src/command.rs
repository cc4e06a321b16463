//! The checks of sensors, and limits.

use outrigger_core::command::{Limits, SourceConfig, Sources};
use outrigger_wire::sensor::{Sample, SampleValue, SourceId};
use outrigger_wire::time::{Duration, Instant};

use crate::{any, any_numbers, shown, used};

#[inline(never)]
pub fn probe() {
    let [x, y] = any_numbers();
    if let Err(error) = any(Limits::<6>::default()).check() {
        shown(error);
    }
    let now = any(Instant::from_micros(5));
    let id = any(SourceId(1));
    let config =
        SourceConfig { stuck_after: any(Some(Duration::from_millis(5))), ..SourceConfig::new(id, any(2), x, y) };
    let Ok(mut sources) = Sources::new(any::<&[SourceConfig]>(&[config, config])) else { return };
    if let Some(value) = SampleValue::new(any::<&[f32]>(&[x, y])) {
        sources.observe(Sample { source: id, value, seq: any(1), taken_at: now }, now);
    }
    used((sources.fresh(any(&[id]), now), sources.unknown(), sources.monitors().len()));
    used(sources.gather(any(&[id]), now, any(Duration::from_millis(2))).is_ok());
}
