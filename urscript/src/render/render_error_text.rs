//! The error messages of [`RenderError`] for people.

use super::error::RenderError;
use super::text_cursor::{DECIMALS, Line};
use super::tool_communication::ToolCommunication;

impl core::fmt::Display for RenderError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::BufferTooSmall { need, have } => write!(f, "text needs {need} bytes, the buffer has {have}"),
            Self::Number { argument, found, allowed } => {
                write!(
                    f,
                    "{argument} is {}, allowed {} to {}",
                    Decimal(*found),
                    Decimal(allowed.min),
                    Decimal(allowed.max)
                )
            }
            Self::Character { argument, at, found } => {
                write!(f, "{argument} holds byte 0x{found:02x} at {at}, which cannot stand between quotes")
            }
            Self::TextTooLong { argument, found, allowed } => {
                write!(f, "{argument} has {found} bytes, allowed are {allowed}")
            }
            Self::BaudRate { found } => {
                write!(f, "baud rate is {found}, allowed are")?;
                (0..)
                    .zip(ToolCommunication::BAUD_RATES)
                    .try_for_each(|(index, rate)| write!(f, "{}{rate}", if index == 0 { " " } else { ", " }))
            }
            Self::Unsupported { version, since } => {
                write!(f, "software {version} cannot do this, only {since} and later")
            }
        }
    }
}

/// A number in an error message: a fixed-point decimal if it can be written as one. The float formatting of `core` is
/// not used, because it can panic, and firmware is checked to contain no reachable panic.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Decimal(pub f32);

impl core::fmt::Display for Decimal {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self.0 {
            value if value.is_nan() => f.write_str("NaN"),
            value if value >= BEYOND => f.write_str("above 4294967040"),
            value if value <= -BEYOND => f.write_str("below -4294967040"),
            value => {
                let mut text = [0; 1 + 10 + 1 + DECIMALS as usize];
                let mut line = Line::new(&mut text);
                line.number(value);
                let len = line.finish().map_err(|_| core::fmt::Error)?;
                let text = text.get(..len).and_then(|t| core::str::from_utf8(t).ok());
                f.write_str(text.ok_or(core::fmt::Error)?.trim_end_matches('0').trim_end_matches('.'))
            }
        }
    }
}

/// 2³²: the smallest magnitude that [`Line::number`] cannot write.
const BEYOND: f32 = 4_294_967_296.0;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_shows_any_number() {
        let shown = |value| Decimal(value).to_string();
        assert_eq!(shown(f32::NAN), "NaN");
        assert_eq!(shown(-1.5), "-1.5");
        assert_eq!(shown(100.0), "100");
        assert_eq!(shown(4_294_967_040.0), "4294967040");
        assert_eq!(shown(f32::INFINITY), "above 4294967040");
        assert_eq!(shown(f32::MIN), "below -4294967040");
    }
}
