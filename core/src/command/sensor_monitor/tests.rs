use super::*;
use outrigger_wire::sensor::SampleValue;

const ID: SourceId = SourceId(3);
const CYCLE: Duration = Duration::from_millis(2);

fn ms(millis: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(millis)
}

fn distance_sensor() -> SourceMonitor {
    SourceMonitor::new(SourceConfig { max_rate: 1.0, ..SourceConfig::new(ID, 1, 0.02, 0.5) })
}

/// Passes the reading number `seq` to the monitor, taken and arriving at `at` ms.
fn feed(monitor: &mut SourceMonitor, seq: u32, at: u64, value: f32) {
    let sample = Sample { source: ID, value: SampleValue::scalar(value), seq, taken_at: ms(at) };
    monitor.observe(sample, ms(at));
}

/// Returns a value that varies a little with each reading, as real ones do.
fn noisy(seq: u32) -> f32 {
    0.2 + (seq % 2) as f32 * 1e-5
}

#[test]
fn a_sensor_never_heard_is_stale_and_cannot_be_bridged() {
    let mut monitor = distance_sensor();
    assert_eq!(monitor.fresh(ms(0)), Err(Reason::SourceStale));
    assert_eq!(monitor.read(ms(0), CYCLE), Err(Reason::SourceStale));
    assert_eq!(monitor.figures().bridged, 0);
}

#[test]
fn age_is_judged_in_time_not_in_cycles() {
    let mut monitor = distance_sensor();
    feed(&mut monitor, 0, 10, 0.2);
    for at in (10..=110).step_by(2) {
        assert!(matches!(monitor.read(ms(at), CYCLE), Ok(Reading::Fresh(_))), "at {at}");
    }
    assert_eq!(monitor.fresh(ms(111)), Err(Reason::SourceStale));
}

#[test]
fn a_missing_reading_holds_then_decays_then_ends() {
    let mut monitor = distance_sensor();
    feed(&mut monitor, 0, 0, 0.2);
    let scales: Vec<_> = [102, 104]
        .map(|at| match monitor.read(ms(at), CYCLE) {
            Ok(Reading::Bridged { cycle, scale, .. }) => (cycle, scale),
            other => panic!("{other:?}"),
        })
        .into();
    assert_eq!(scales, [(1, 1.0), (2, 0.0)]);
    assert_eq!(monitor.read(ms(106), CYCLE), Err(Reason::SourceStale));
    assert_eq!(monitor.read(ms(108), CYCLE), Err(Reason::SourceStale), "bridging does not start again");
    assert_eq!(monitor.figures().bridged, 2);
    feed(&mut monitor, 1, 110, 0.2);
    assert!(matches!(monitor.read(ms(110), CYCLE), Ok(Reading::Fresh(_))));
}

#[test]
fn longer_bridges_decay_evenly_and_none_means_none() {
    let scales = |cycles: u8| {
        let mut monitor =
            SourceMonitor::new(SourceConfig { bridge_cycles: cycles, ..SourceConfig::new(ID, 1, 0.0, 1.0) });
        feed(&mut monitor, 0, 0, 0.5);
        let mut seen = Vec::new();
        while let Ok(Reading::Bridged { scale, .. }) = monitor.read(ms(101), CYCLE) {
            seen.push(scale);
        }
        seen
    };
    assert_eq!(scales(0), []);
    assert_eq!(scales(1), [1.0]);
    assert_eq!(scales(3), [1.0, 0.5, 0.0]);
}

#[test]
fn a_reading_out_of_range_or_too_fast_is_a_fault_at_once() {
    for bad in [0.019, 0.51, f32::NAN, f32::INFINITY] {
        let mut monitor = distance_sensor();
        feed(&mut monitor, 0, 0, 0.2);
        feed(&mut monitor, 1, 1_000, bad);
        assert_eq!(monitor.read(ms(1_000), CYCLE), Err(Reason::SourceOutOfRange), "{bad}");
    }
    let mut monitor = distance_sensor();
    feed(&mut monitor, 0, 0, 0.2);
    feed(&mut monitor, 1, 20, 0.23);
    assert_eq!(monitor.read(ms(20), CYCLE), Err(Reason::SourceRate), "30 mm in 20 ms at 1 m/s");
    feed(&mut monitor, 2, 40, 0.23);
    assert!(monitor.fresh(ms(40)).is_ok(), "a step that stays heals with the next reading");
    assert_eq!(monitor.figures().faulty, 1);
}

#[test]
fn a_change_exactly_as_fast_as_allowed_is_believed() {
    let mut monitor = distance_sensor();
    feed(&mut monitor, 0, 0, 0.125);
    feed(&mut monitor, 1, 125, 0.25);
    assert!(monitor.fresh(ms(125)).is_ok());
}

#[test]
fn a_newer_number_with_an_older_time_is_out_of_order() {
    let mut monitor = distance_sensor();
    feed(&mut monitor, 0, 50, 0.2);
    feed(&mut monitor, 1, 40, 0.2);
    assert_eq!(monitor.newest().map(|s| s.seq), Some(0));
    assert_eq!(monitor.figures().out_of_order, 1);
}

#[test]
fn two_different_readings_of_one_instant_are_too_fast() {
    let mut monitor = distance_sensor();
    feed(&mut monitor, 0, 20, 0.2);
    feed(&mut monitor, 1, 20, 0.201);
    assert_eq!(monitor.fresh(ms(20)), Err(Reason::SourceRate));
}

#[test]
fn a_reading_with_the_wrong_count_of_numbers_is_out_of_range() {
    let mut monitor = distance_sensor();
    let value = SampleValue::new(&[0.2, 0.2]).unwrap();
    monitor.observe(Sample { source: ID, value, seq: 0, taken_at: ms(0) }, ms(0));
    assert_eq!(monitor.fresh(ms(0)), Err(Reason::SourceOutOfRange));
}

#[test]
fn bit_identical_readings_for_too_long_are_stuck_until_one_differs() {
    let mut monitor = distance_sensor();
    for seq in 0..100 {
        feed(&mut monitor, seq, u64::from(seq) * 10, 0.2);
        assert!(monitor.fresh(ms(u64::from(seq) * 10)).is_ok(), "reading {seq}");
    }
    feed(&mut monitor, 100, 1_000, 0.2);
    assert_eq!(monitor.fresh(ms(1_000)), Err(Reason::SourceStuck));
    feed(&mut monitor, 101, 1_010, 0.200_01);
    assert!(monitor.fresh(ms(1_010)).is_ok());
}

#[test]
fn readings_that_live_are_never_stuck() {
    let mut monitor = distance_sensor();
    for seq in 0..500 {
        feed(&mut monitor, seq, u64::from(seq) * 10, noisy(seq));
        assert!(monitor.fresh(ms(u64::from(seq) * 10)).is_ok(), "reading {seq}");
    }
}

#[test]
fn an_old_reading_does_not_make_the_sensor_young() {
    let mut monitor = distance_sensor();
    feed(&mut monitor, 10, 0, 0.2);
    feed(&mut monitor, 9, 50, 0.2);
    feed(&mut monitor, 10, 60, 0.2);
    assert_eq!(monitor.fresh(ms(101)), Err(Reason::SourceStale));
    assert_eq!((monitor.figures().accepted, monitor.figures().out_of_order), (1, 2));
}

#[test]
fn losses_are_counted_across_the_wrap_of_the_sequence() {
    let mut monitor = distance_sensor();
    feed(&mut monitor, u32::MAX - 1, 0, noisy(0));
    feed(&mut monitor, 2, 40, noisy(1));
    assert_eq!((monitor.figures().accepted, monitor.figures().lost), (2, 3));
}

#[test]
fn a_restarted_sensor_is_believed_after_silence_only() {
    let mut monitor = distance_sensor();
    feed(&mut monitor, 500, 0, 0.2);
    feed(&mut monitor, 0, 90, 0.4);
    assert_eq!(monitor.figures().out_of_order, 1);
    feed(&mut monitor, 1, 150, 0.4);
    assert_eq!(monitor.fresh(ms(150)).map(|s| s.seq), Ok(1));
    assert_eq!(monitor.figures().restarts, 1);
}

#[test]
fn a_clock_ahead_of_ours_cannot_keep_a_reading_fresh() {
    let mut monitor = distance_sensor();
    let sample = Sample { source: ID, value: SampleValue::scalar(0.2), seq: 0, taken_at: ms(3_600_000) };
    monitor.observe(sample, ms(10));
    assert_eq!(monitor.fresh(ms(111)), Err(Reason::SourceStale));
}

mod stamps {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// For any time stamps and any rate of readings: between two cycles that find a reading within its age, no more
        /// cycles are bridged than configured, and the motion has decayed to zero in the last of them.
        #[test]
        fn bridging_ends_whatever_the_stamps_say(
            cycles in prop::collection::vec((1_u64..20, prop::collection::vec((prop_oneof![0_u64..400, 98_u64..106], 0_u32..3), 0..3)), 1..200),
            bridge_cycles in 0_u8..5,
        ) {
            let mut monitor = SourceMonitor::new(SourceConfig {
                bridge_cycles, stuck_after: None, ..SourceConfig::new(ID, 1, 0.0, 1.0)
            });
            let (mut now, mut seq, mut run) = (1_000, 0, 0);
            for (passed, arrivals) in cycles {
                now += passed;
                for (age, step) in arrivals {
                    seq += step;
                    let sample = Sample { source: ID, value: SampleValue::scalar(0.5), seq, taken_at: ms(now - age) };
                    monitor.observe(sample, ms(now));
                }
                match monitor.read(ms(now), CYCLE) {
                    Ok(Reading::Fresh(sample)) => {
                        prop_assert!(ms(now).since(sample.taken_at) <= Duration::from_millis(100));
                        run = 0;
                    }
                    Ok(Reading::Bridged { sample, cycle, scale }) => {
                        run += 1;
                        prop_assert!(run <= bridge_cycles, "{} cycles are bridged in a row", run);
                        prop_assert!(run <= cycle && cycle <= bridge_cycles);
                        prop_assert!(cycle < bridge_cycles || bridge_cycles == 1 || scale == 0.0);
                        let oldest = Duration::from_millis(100) + CYCLE.times(u64::from(bridge_cycles));
                        prop_assert!(ms(now).since(sample.taken_at) <= oldest);
                    }
                    Err(reason) => prop_assert_eq!(reason, Reason::SourceStale),
                }
            }
        }
    }

    #[test]
    fn readings_that_are_too_old_when_they_arrive_are_not_bridged_for_ever() {
        let mut monitor = distance_sensor();
        feed(&mut monitor, 0, 0, 0.2);
        assert!(matches!(monitor.read(ms(0), CYCLE), Ok(Reading::Fresh(_))));
        let answers: Vec<_> = (1..10_u32)
            .map(|seq| {
                let now = 150 + 8 * u64::from(seq);
                let sample =
                    Sample { source: ID, value: SampleValue::scalar(noisy(seq)), seq, taken_at: ms(now - 101) };
                monitor.observe(sample, ms(now));
                monitor.read(ms(now), CYCLE).is_ok()
            })
            .collect();
        assert_eq!(answers, [true, true, false, false, false, false, false, false, false]);
    }
}
