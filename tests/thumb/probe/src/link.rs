//! The link monitor, for clocks and for counters.

use outrigger_core::link::{Counter, LinkConfig, LinkMonitor};
use outrigger_wire::robot::ControllerTime;
use outrigger_wire::time::{Duration, Instant};

use crate::{any, used};

#[inline(never)]
pub fn probe() {
    let period = any(Duration::from_millis(2));
    monitor(LinkMonitor::new(any(LinkConfig::stream(period))), any(7_u16));
    monitor(LinkMonitor::new(any(LinkConfig::datagram(period))), any(7_u32));
    used(any(LinkConfig::stream(period)).check());
}

#[inline(never)]
fn monitor<C: Counter>(mut monitor: LinkMonitor, counter: C) {
    let now = any(Instant::from_micros(5));
    used(monitor.observe(any(ControllerTime::from_micros(1)), now, now));
    used(monitor.observe_counter(counter, now, now));
    used((monitor.tick(now), monitor.local_stall(now, any(Some(now)))));
    used(monitor.answered());
    monitor.written(now.since(Instant::ZERO));
    used((monitor.answer(now), monitor.entry(), monitor.staying(now), monitor.next_deadline(now)));
    used((monitor.grade(), monitor.age(now), monitor.consecutive_misses(now), monitor.figures(now)));
    for bin in monitor.histograms().turnaround.bins() {
        used(bin);
    }
    used(monitor.histograms().age.quantile(any(990)));
}
