//! Frames on a serial line: content in which byte stuffing (COBS) leaves no zero, followed by a zero.
//!
//! A receiver that joins the stream, or loses a byte, waits for the next zero. Only contents of less than 254 bytes are
//! supported; stuffing adds exactly one byte to them.

use heapless::Vec;

/// The greatest length of the content of a COBS frame \[B\].
pub const CONTENT_MAX: usize = 253;

/// Returns the COBS frame of `content` with its final zero; `None` if it does not fit into `N` bytes, or if the content
/// is too long.
pub fn framed<const N: usize>(content: &[u8]) -> Option<Vec<u8, N>> {
    if content.len() > CONTENT_MAX {
        return None;
    }
    let mut frame = Vec::new();
    for run in content.split(|byte| *byte == 0) {
        let code = u8::try_from(run.len()).ok()?.checked_add(1)?;
        frame.push(code).ok()?;
        frame.extend_from_slice(run).ok()?;
    }
    frame.push(0).ok()?;
    Some(frame)
}

/// Returns the content of the COBS `frame`, given without its final zero. Each code is the distance to the next zero;
/// the last zero is the end. `None` if the stuffing is invalid or the content does not fit into `N` bytes.
pub fn content<const N: usize>(mut frame: &[u8]) -> Option<Vec<u8, N>> {
    let mut content = Vec::new();
    while let [code, rest @ ..] = frame {
        let (run, rest) = rest.split_at_checked(usize::from(*code).checked_sub(1)?)?;
        if run.contains(&0) {
            return None;
        }
        content.extend_from_slice(run).ok()?;
        if !rest.is_empty() {
            content.push(0).ok()?;
        }
        frame = rest;
    }
    Some(content)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_is_too_long_is_no_frame() {
        assert_eq!(framed::<300>(&[1; CONTENT_MAX]).map(|frame| frame.len()), Some(CONTENT_MAX + 2));
        assert_eq!(framed::<300>(&[1; CONTENT_MAX + 1]), None);
        assert_eq!(framed::<4>(&[1, 2, 3]), None);
        assert_eq!(content::<2>(&[4, 1, 2, 3]), None);
        for no_frame in [&[5, 1, 2, 3][..], &[0, 1], &[3, 0, 1], &[2]] {
            assert_eq!(content::<8>(no_frame), None, "{no_frame:?}");
        }
    }

    proptest! {
        #[test]
        fn what_was_framed_is_found_again_and_its_one_zero_is_the_last(
            bytes in prop::collection::vec(prop_oneof![Just(0), any::<u8>()], 0..=CONTENT_MAX),
        ) {
            let frame = framed::<255>(&bytes).expect("short enough");
            let (zero, stuffed) = frame.split_last().expect("its zero");
            prop_assert!(*zero == 0 && !stuffed.contains(&0) && stuffed.len() == bytes.len() + 1);
            let found = content::<CONTENT_MAX>(stuffed);
            prop_assert_eq!(found.as_deref(), Some(&bytes[..]));
        }
    }
}
