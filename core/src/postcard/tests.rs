//! Comparison with postcard: the same bytes, the same values, the same rejected inputs.

use core::fmt::Debug;

use proptest::prelude::*;
use serde::{Deserialize, Serialize};

use super::{from_bytes, take, to_slice};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
enum Kind {
    None,
    One(i16),
    Pair(u8, Option<bool>),
    Named { at: u64, of: (i8, f64) },
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Number(u32);

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Everything {
    unit: (),
    switch: bool,
    numbers: (u8, u16, Number, u64, usize, u128),
    signed: (i8, i16, i32, i64),
    float: f32,
    kinds: [Kind; 2],
    list: heapless::Vec<u16, 4>,
}

fn kind() -> impl Strategy<Value = Kind> {
    prop_oneof![
        Just(Kind::None),
        any::<i16>().prop_map(Kind::One),
        any::<(u8, Option<bool>)>().prop_map(|(a, b)| Kind::Pair(a, b)),
        (any::<u64>(), any::<i8>(), -1e300..1e300).prop_map(|(at, a, b)| Kind::Named { at, of: (a, b) }),
    ]
}

prop_compose! {
    fn everything()(
        switch: bool,
        numbers: (u8, u16, u32, u64, usize, u128),
        signed: (i8, i16, i32, i64),
        shift in 0_u32..64,
        float in -1e30_f32..1e30,
        kinds in [kind(), kind()],
        list in prop::collection::vec(any::<u16>(), 0..=4),
    ) -> Everything {
        let (a, b, c, d, e, f) = numbers;
        // Numbers of every encoded length.
        let numbers = (a, b >> (shift % 16), Number(c >> (shift % 32)), d >> shift, e >> (shift % 32), f >> (2 * shift));
        Everything { unit: (), switch, numbers, signed, float, kinds, list: list.into_iter().collect() }
    }
}

/// Asserts that both decoders read the same from any bytes and stop at the same place. Compared as text, because NaN is
/// not equal to itself.
fn read_alike<'b, T: Deserialize<'b> + Debug>(bytes: &'b [u8]) {
    let (ours, theirs) = (take::<T>(bytes), postcard::take_from_bytes::<T>(bytes).ok());
    assert_eq!(format!("{ours:?}"), format!("{theirs:?}"), "{bytes:?}");
}

proptest! {
    #[test]
    fn values_are_the_same_bytes(value in everything(), text in ".{0,40}", bytes: [u8; 20]) {
        let whole = (&value, text.as_str(), bytes);
        let (mut ours, mut theirs) = ([0; 512], [0; 512]);
        let ours = to_slice(&whole, &mut ours).unwrap();
        let theirs = postcard::to_slice(&whole, &mut theirs).unwrap();
        prop_assert_eq!(&*ours, &*theirs);
        let read: (Everything, &str, [u8; 20]) = from_bytes(ours).unwrap();
        prop_assert_eq!((&read.0, read.1, read.2), whole);
        for room in 0..ours.len() {
            prop_assert!(to_slice(&whole, &mut [0; 512][..room]).is_none());
            prop_assert!(from_bytes::<(Everything, &str, [u8; 20])>(&ours[..room]).is_none());
        }
    }

    #[test]
    fn any_bytes_are_read_alike(bytes in prop::collection::vec(prop_oneof![0_u8..4, any::<u8>(), 0xFE_u8..], 0..40)) {
        read_alike::<Everything>(&bytes);
        read_alike::<(Kind, Kind)>(&bytes);
        read_alike::<(u16, u32, u64, i16, i32, i64)>(&bytes);
        read_alike::<(i64, u64, u32, u16)>(&bytes);
        read_alike::<(u128, u8)>(&bytes);
        read_alike::<(Option<u8>, bool, &str)>(&bytes);
        read_alike::<heapless::Vec<u16, 4>>(&bytes);
    }
}

#[test]
fn what_is_behind_a_value_is_left_or_refused() {
    assert_eq!(take::<u16>(&[0x80, 0x01, 7]), Some((128, &[7][..])));
    assert_eq!(from_bytes::<u16>(&[0x80, 0x01, 7]), None);
}
