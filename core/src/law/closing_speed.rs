//! The speed at which a control law reduces an error to zero when the arm's acceleration is limited.

use outrigger_wire::math::sqrt;

/// Returns the speed towards the reference for this error: near the reference proportional to it, and further away no
/// faster than can be braked before it with this deceleration.
///
/// A proportional law alone requires a deceleration of gain times speed; if the governor grants less, the arm
/// overshoots its reference and oscillates. Units: error \[u\], gain \[1/s\], deceleration \[u/s²\], the last two above
/// zero or infinite; the result \[u/s\] has the sign of the error.
pub(super) fn closing_speed(error: f32, gain: f32, deceleration: f32) -> f32 {
    let proportional = gain * error;
    // Up to this error the proportional law needs less than the permitted deceleration.
    let near = deceleration / (gain * gain);
    if error.abs() <= near || error.is_nan() {
        return proportional;
    }
    let braked = sqrt(2.0 * deceleration * (error.abs() - 0.5 * near));
    if error < 0.0 { -braked } else { braked }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn near_the_reference_it_is_proportional_and_without_a_limit_everywhere() {
        assert_eq!(closing_speed(0.001, 20.0, 2.0), 20.0 * 0.001);
        assert_eq!(closing_speed(-3.0, 20.0, f32::INFINITY), -60.0);
        assert_eq!(closing_speed(3.0, 0.0, 2.0), 0.0);
        assert!(closing_speed(f32::NAN, 20.0, 2.0).is_nan());
    }

    proptest! {
        #[test]
        fn an_arm_that_obeys_never_decelerates_more_than_it_may(
            start in -1.0_f32..1.0,
            gain in 1.0_f32..50.0,
            deceleration in 0.1_f32..10.0,
        ) {
            let (mut error, step) = (start, 1e-4);
            let mut speed = closing_speed(error, gain, deceleration);
            for _ in 0..20_000 {
                error -= speed * step;
                let next = closing_speed(error, gain, deceleration);
                prop_assert!(next * start >= 0.0, "it swings through");
                prop_assert!(next.abs() <= speed.abs() + 1e-6);
                prop_assert!((speed.abs() - next.abs()) / step <= deceleration * 1.02 + 0.02);
                speed = next;
            }
        }
    }
}
