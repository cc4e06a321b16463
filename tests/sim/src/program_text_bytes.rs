//! Texts of programs. Controllers handle them as bytes of any encoding. Here each byte is one character, so that a
//! text has the same length as on a controller.

/// Returns a program's UTF-8 text, such as that of a file, in the form that a controller handles: one character per
/// byte.
pub(crate) fn of_program(text: &str) -> String {
    text.bytes().map(char::from).collect()
}

/// Returns the bytes of a program's text in which each character represents one byte. Any other character does not come
/// from a program and is encoded as UTF-8.
pub(crate) fn bytes(text: &str) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    for c in text.chars() {
        match u8::try_from(c) {
            Ok(byte) => out.push(byte),
            Err(_) => out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
    out
}

/// Returns a program's text, in which each character represents one byte, decoded as UTF-8 for a display.
pub(crate) fn shown(text: &str) -> String {
    String::from_utf8_lossy(&bytes(text)).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_come_out_as_they_went_in() {
        let text = of_program("Größe ≔");
        assert_eq!(text.chars().count(), 11);
        assert_eq!(bytes(&text), "Größe ≔".as_bytes());
        assert_eq!(shown(&text), "Größe ≔");
        assert_eq!(bytes("\u{ff}a\u{0}"), [0xFF, b'a', 0]);
        assert_eq!(bytes("≔"), "≔".as_bytes());
    }
}
