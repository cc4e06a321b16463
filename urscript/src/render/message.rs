//! Messages to the operator: `textmsg` and `popup`. Their texts are the only text of a statement that the caller
//! chooses freely. A text that could end its string is rejected, never modified.

use super::error::{Argument, RenderError};
use super::text_cursor::Line;

/// The length of the longest text or title of a message \[B\].
pub const MAX_TEXT: usize = 255;

/// A line in the controller's log, which is also a text message on port 30001.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextMsg<'a> {
    /// The text of the message: printable ASCII without `"` and `\`.
    pub text: &'a str,
}

impl TextMsg<'_> {
    /// The length of the longest program that is rendered for a log message \[B\].
    pub const MAX_LEN: usize = HEAD.len() + 10 + MAX_TEXT + END.len() + 1;

    /// Writes the log message as a secondary program, which does not affect a running program.
    ///
    /// # Errors
    /// [`RenderError::Character`], [`RenderError::TextTooLong`] or [`RenderError::BufferTooSmall`].
    pub fn render(&self, out: &mut [u8]) -> Result<usize, RenderError> {
        check(Argument::Text, self.text)?;
        let mut line = Line::new(out);
        line.put(HEAD);
        line.put(b" textmsg(\"");
        line.text(self.text);
        line.put(b"\"");
        line.put(END);
        line.finish()
    }
}

/// A pop-up on the operator's screen that does not block the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Popup<'a> {
    /// The text of the pop-up: printable ASCII without `"` and `\`.
    pub text: &'a str,
    /// The title of the pop-up: printable ASCII without `"` and `\`.
    pub title: &'a str,
    /// `true` if the pop-up is shown as a warning.
    pub warning: bool,
    /// `true` if the pop-up is shown as an error.
    pub error: bool,
}

impl Popup<'_> {
    /// The length of the longest program that is rendered for a pop-up \[B\].
    pub const MAX_LEN: usize = HEAD.len() + 8 + MAX_TEXT + 3 + MAX_TEXT + 1 + 2 * (1 + 5) + END.len();

    /// Writes the pop-up as a secondary program, which does not affect a running program.
    ///
    /// # Errors
    /// [`RenderError::Character`], [`RenderError::TextTooLong`] or [`RenderError::BufferTooSmall`].
    pub fn render(&self, out: &mut [u8]) -> Result<usize, RenderError> {
        check(Argument::Text, self.text)?;
        check(Argument::Title, self.title)?;
        let mut line = Line::new(out);
        line.put(HEAD);
        line.put(b" popup(\"");
        line.text(self.text);
        line.put(b"\",\"");
        line.text(self.title);
        line.put(b"\",");
        line.boolean(self.warning);
        line.put(b",");
        line.boolean(self.error);
        line.put(END);
        line.finish()
    }
}

const HEAD: &[u8; 25] = b"sec outrigger_message():\n";
const END: &[u8; 6] = b")\nend\n";

/// Checks that a text can be written between quotes. A backslash is rejected too, because no release documents
/// whether it escapes a quote.
fn check(argument: Argument, text: &str) -> Result<(), RenderError> {
    if text.len() > MAX_TEXT {
        let found = u16::try_from(text.len()).unwrap_or(u16::MAX);
        return Err(RenderError::TextTooLong { argument, found, allowed: MAX_TEXT as u16 });
    }
    for (at, found) in (0..).zip(text.bytes()) {
        if !matches!(found, b' '..=b'~') || found == b'"' || found == b'\\' {
            return Err(RenderError::Character { argument, at, found });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(text: &str) -> RenderError {
        TextMsg { text }.render(&mut [0; TextMsg::MAX_LEN]).unwrap_err()
    }

    #[test]
    fn a_text_cannot_leave_its_quotes() {
        for (text, at, found) in [
            ("a\")\nend\ndef x():", 1, b'"'),
            ("line\nline", 4, b'\n'),
            ("\r", 0, b'\r'),
            ("back\\", 4, b'\\'),
            ("grün", 2, 0xc3),
            ("nul\0", 3, 0),
            ("\x7f", 0, 0x7f),
        ] {
            assert_eq!(refused(text), RenderError::Character { argument: Argument::Text, at, found });
        }
    }

    #[test]
    fn the_title_of_a_popup_is_held_to_the_same() {
        let popup = Popup { text: "ok", title: "a\"b", warning: false, error: false };
        let refused = RenderError::Character { argument: Argument::Title, at: 1, found: b'"' };
        assert_eq!(popup.render(&mut [0; Popup::MAX_LEN]), Err(refused));
    }

    #[test]
    fn the_longest_text_fits_the_stated_length_and_one_more_is_refused() {
        let longest = "x".repeat(MAX_TEXT);
        let popup = Popup { text: &longest, title: &longest, warning: false, error: false };
        assert!(popup.render(&mut [0; Popup::MAX_LEN]).is_ok());
        assert!(TextMsg { text: &longest }.render(&mut [0; TextMsg::MAX_LEN]).is_ok());
        let too_long = RenderError::TextTooLong { argument: Argument::Text, found: 256, allowed: 255 };
        assert_eq!(refused(&"x".repeat(MAX_TEXT + 1)), too_long);
    }
}
