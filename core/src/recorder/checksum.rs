//! CRC-32 (IEEE 802.3) of bytes that are kept or sent: what shows that they were changed or are not whole.

/// CRC-32 of `bytes`: reflected polynomial 0xEDB88320, beginning with and finally inverted by all ones.
#[must_use]
pub fn checksum(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(u32::MAX, |crc, byte| step(crc, *byte))
}

/// One bit at a time: no table in flash, and nothing that is checked is in the control path.
fn step(crc: u32, byte: u8) -> u32 {
    (0..8).fold(crc ^ u32::from(byte), |crc, _| (crc >> 1) ^ if crc & 1 == 1 { 0xedb8_8320 } else { 0 })
}

#[cfg(test)]
mod tests {
    use super::checksum;

    #[test]
    fn it_is_the_checksum_everybody_calls_crc_32() {
        assert_eq!(checksum(b"123456789"), 0xcbf4_3926);
        assert_eq!(checksum(b""), 0);
    }
}
