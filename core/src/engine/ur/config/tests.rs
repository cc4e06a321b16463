use super::*;

#[cfg(feature = "programs")]
#[test]
fn the_later_an_arm_shows_what_was_sent_the_less_feedback_there_is() {
    let of = |path, change: fn(&mut ProgramConfig)| {
        let mut config = UrConfig::default();
        config.peer.path = path;
        change(&mut config.peer.program);
        config.most_feedback(Duration::from_millis(8))
    };
    assert_eq!(of(CommandPath::Text, |_| ()), f32::INFINITY);
    assert_eq!(of(CommandPath::ReverseSpeedJ, |_| ()), f32::INFINITY);
    let servoj = of(CommandPath::ReverseServoJ, |_| ());
    assert!((servoj - 0.5 / 0.054).abs() < 1e-3, "{servoj}");
    let buffered = of(CommandPath::Buffered, |_| ());
    assert!((buffered - 0.5 / 0.114).abs() < 1e-3, "{buffered}");
    assert!(of(CommandPath::ReverseServoJ, |p| p.lookahead = Duration::from_millis(200)) < 2.5);
}

#[cfg(feature = "motions")]
#[test]
fn a_longer_lag_needs_more_places_in_the_ring_and_lengthens_no_stop() {
    let of = |lag, ring| {
        let mut config = UrConfig::default();
        config.peer.path = CommandPath::Buffered;
        (config.peer.program.lag, config.peer.buffered.ring) = (Duration::from_millis(lag), ring);
        config
    };
    for (lag, ring, fits) in [(40, 32, true), (41, 32, false), (41, 33, true), (1330, 1000, true), (1330, 990, false)] {
        assert_eq!(of(lag, ring).check().is_ok(), fits, "{lag} ms in {ring} places: {:?}", of(lag, ring).check());
    }
    let software = SoftwareVersion::new(5, 15);
    let (short, long) = (of(40, 32), of(1330, 1000));
    assert_eq!(short.worst_coast(software), long.worst_coast(software));
    assert_eq!(short.coast_without_us(software), long.coast_without_us(software));
    let period = Duration::from_millis(2);
    let later = long.path_timing(software, period).latency - short.path_timing(software, period).latency;
    assert_eq!(later, Duration::from_millis(1290).percent(150), "what a command waits for");
    // The target leads by as much more; the setpoint of servoj does not.
    let lead = |config: &UrConfig| config.peer.program.lead(CommandPath::Buffered, 1.0);
    assert!((lead(&long) - lead(&short) - 1.935).abs() < 1e-3, "{} and {}", lead(&long), lead(&short));
}

#[test]
fn the_defaults_can_be_run() {
    assert_eq!(UrConfig::default().check(), Ok(()));
}

#[cfg(feature = "texts")]
#[test]
fn a_wrong_value_is_named_with_its_section() {
    let text = |change: fn(&mut UrConfig)| {
        let mut config = UrConfig::default();
        change(&mut config);
        config.check().map_err(|error| error.to_string())
    };
    assert_eq!(
        text(|c| c.peer.connect.open_timeout = Duration::ZERO),
        Err("connect.open_timeout: expected 0.01 to 60.0 s".into())
    );
    assert_eq!(text(|c| c.peer.text.hold = Duration::from_secs(2)), Err("text.hold: expected 0.002 to 1.0 s".into()));
    assert_eq!(text(|c| c.mode.good_cycles = Some(0)), Err("mode.good_cycles: expected 1 to 60000".into()));
    assert!(text(|c| c.limits.velocity.0[1] = f32::NAN).is_err_and(|e| e.starts_with("limits.velocity of joint 2")));
    assert!(text(|c| c.link.stale_after = Some(Duration::ZERO)).is_err_and(|e| e.starts_with("link.stale_after")));
}

#[cfg(feature = "texts")]
#[test]
fn a_limit_that_what_is_sent_would_break_is_told_with_both_settings() {
    let told = |change: fn(&mut UrConfig)| {
        let mut config = UrConfig::default();
        change(&mut config);
        let mut told = Vec::new();
        config.conflicts(|conflict| told.push(conflict.to_string()));
        assert_eq!(config.check().is_err(), !told.is_empty());
        told
    };
    let reported = told(|c| {
        c.limits.braking.0 = [8.0; 6];
        c.peer.text.stop_acceleration = 1.0;
    });
    let own = "limits.expert.braking of joint 1: found 8 rad/s², expected at most 2, session.expert.own_stop: what the \
               controller's own stop is taken to reach";
    let sent = "limits.expert.braking of joint 1: found 8 rad/s², expected at most 1, session.expert.stop_acceleration: the \
                stop that is sent";
    assert_eq!(reported, [sent, own]);
    assert_eq!(told(|c| c.limits.acceleration.0[3] = 10.5).len(), 1);
    assert_eq!(told(|c| c.limits.acceleration.0[3] = 10.0), [""; 0], "the bound itself is kept");
    // A stop that is sent, and obeyed, does not depend on the controller's choice.
    assert_eq!(
        told(|c| {
            c.limits.braking.0 = [8.0; 6];
            c.peer.text.form = super::super::script_text::FormChoice::SelfEnding;
            c.peer.software = Some(SoftwareVersion::new(3, 2));
        }),
        [""; 0]
    );
}

#[cfg(feature = "texts")]
#[test]
fn text_must_outlast_the_time_after_which_states_are_stale_and_something_must_end_it() {
    let error = |change: fn(&mut UrConfig)| {
        let mut config = UrConfig::default();
        change(&mut config);
        config.check().map_err(|error| error.to_string())
    };
    assert!(error(|c| c.link.stale_after = Some(Duration::from_millis(50))).is_err_and(|e| e.starts_with("text.hold")));
    assert!(
        error(|c| c.mode.state_timeout = Some(Duration::from_millis(50))).is_err_and(|e| e.starts_with("text.hold"))
    );
    let bare = |software| {
        let text = TextConfig { form: super::super::script_text::FormChoice::Bare, ..TextConfig::default() };
        UrConfig { peer: UrOptions { text, software, ..UrOptions::default() }, ..UrConfig::default() }
            .check()
            .map_err(|error| error.to_string())
    };
    assert!(bare(Some(SoftwareVersion::new(3, 4))).is_err_and(|e| e.starts_with("text.form")));
    assert_eq!((bare(Some(SoftwareVersion::new(3, 5))), bare(None)), (Ok(()), Ok(())));
}

#[test]
fn an_arm_that_keeps_moving_has_no_bound_for_our_death_with_bare_text() {
    let (old, new) = (SoftwareVersion::new(3, 1), SoftwareVersion::new(5, 15));
    let mut bare = UrConfig::default();
    bare.peer.text.form = super::super::script_text::FormChoice::Bare;
    assert!(bare.coast_without_us(old).is_none() && bare.coast_without_us(new).is_some());
    let coast = UrConfig::default().coast_without_us(old).map(|coast| coast.joints[0]);
    // 1 rad/s for 2·(8 + 4) + 2·8 ms on the way, 40 + 8 ms of the text, which sleeps after up to 40 + 8 ms of its ramp,
    // and 20 ms of the drives; then 1²/(2·2).
    assert!(coast.is_some_and(|rad| (rad - 0.406).abs() < 1e-6), "{coast:?}");
}
