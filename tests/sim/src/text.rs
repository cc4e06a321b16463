//! Texts of programs: controllers handle bytes, whatever they encode. Here a character stands for each byte, so that a text is
//! as long as it is on a controller.

/// Returns the text of a program that came as UTF-8, such as one of a file.
pub(crate) fn of_program(text: &str) -> String {
    text.bytes().map(char::from).collect()
}

/// Returns the bytes that a text of a program was made of. A character that stands for no byte is not one of a program, and
/// goes out as UTF-8.
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

/// Returns a text of a program as people read it on a screen.
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
