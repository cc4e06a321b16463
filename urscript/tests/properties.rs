//! Properties of rendered text that hold for every argument.

use outrigger_urscript::{RenderError, ServoJ, SpeedJ, SpeedJForm, Version};
use proptest::prelude::*;

fn versions() -> impl Strategy<Value = Version> {
    prop_oneof![
        (5_u8..=8).prop_map(|minor| Version::new(1, minor)),
        (0_u8..=15).prop_map(|minor| Version::new(3, minor)),
        (0_u8..=25).prop_map(|minor| Version::new(5, minor)),
        (0_u8..=12).prop_map(|minor| Version::new(10, minor)),
    ]
}

fn forms() -> impl Strategy<Value = SpeedJForm> {
    prop_oneof![
        Just(SpeedJForm::Bare),
        (0.01_f32..=150.0).prop_map(|stop_acceleration| SpeedJForm::SelfEnding { stop_acceleration }),
    ]
}

fn commands() -> impl Strategy<Value = SpeedJ> {
    (prop::array::uniform6(-20.0_f32..=20.0), 0.001_f32..=150.0, prop::option::of(0.001_f32..=60.0))
        .prop_map(|(velocities, acceleration, time)| SpeedJ { velocities, acceleration, time })
}

/// Returns the numbers between the first pair of brackets of a rendered statement.
fn list(text: &str) -> Vec<f64> {
    let (_, rest) = text.split_once('[').unwrap();
    let (inside, _) = rest.split_once(']').unwrap();
    inside.split(',').map(|number| number.parse().unwrap()).collect()
}

proptest! {
    #[test]
    fn rendered_velocities_read_back_within_half_a_unit_of_the_last_digit(
        command in commands(), form in forms(), version in versions(),
    ) {
        let mut out = [0xa5; SpeedJ::MAX_LEN];
        let len = command.render(form, version, &mut out).unwrap();
        let text = core::str::from_utf8(&out[..len]).unwrap();
        prop_assert!(text.ends_with('\n'));
        let read = list(text);
        prop_assert_eq!(read.len(), 6);
        for (wanted, read) in command.velocities.iter().zip(read) {
            prop_assert!((f64::from(*wanted) - read).abs() <= 0.500_000_001e-6);
        }
    }

    #[test]
    fn a_shorter_buffer_is_refused_with_the_length_it_needs(
        command in commands(), form in forms(), version in versions(), cut in any::<prop::sample::Index>(),
    ) {
        let mut out = [0; SpeedJ::MAX_LEN];
        let need = command.render(form, version, &mut out).unwrap();
        let have = cut.index(need);
        let refused = RenderError::BufferTooSmall { need: need as u16, have: have as u16 };
        prop_assert_eq!(command.render(form, version, &mut out[..have]), Err(refused));
        prop_assert_eq!(command.render(form, version, &mut out[..need]), Ok(need));
    }

    #[test]
    fn no_bits_of_a_number_make_anything_but_decimals(bits in prop::array::uniform6(any::<u32>()), version in versions()) {
        let velocities = bits.map(f32::from_bits);
        let mut out = [0; SpeedJ::MAX_LEN];
        let command = SpeedJ { velocities, acceleration: 1.4, time: None };
        match command.render(SpeedJForm::Bare, version, &mut out) {
            Ok(len) => {
                let inside = core::str::from_utf8(&out[..len]).unwrap();
                let inside = inside.strip_prefix("speedj(").unwrap();
                prop_assert!(inside.bytes().all(|byte| b"0123456789.,-[])\n".contains(&byte)), "{}", inside);
                prop_assert!(velocities.iter().all(|v| v.is_finite()));
            }
            Err(RenderError::Number { found, allowed, .. }) => {
                prop_assert!(!(allowed.min..=allowed.max).contains(&found));
            }
            Err(other) => prop_assert!(false, "{other}"),
        }
    }

    #[test]
    fn servoj_fits_its_stated_length(positions in prop::array::uniform6(-1000.0_f32..=1000.0), version in versions()) {
        let command = ServoJ { positions, time: 60.0, lookahead: 0.2, gain: 2000 };
        prop_assert!(command.render(version, &mut [0; ServoJ::MAX_LEN]).is_ok());
    }
}
