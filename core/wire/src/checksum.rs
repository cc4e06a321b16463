//! The CRC-32 of Ethernet and zlib, which detects changed or missing bytes.
//!
//! ```
//! assert_eq!(outrigger_wire::checksum::crc32(b"123456789"), 0xcbf4_3926);
//! ```

/// Returns the CRC-32 of `bytes`: reflected polynomial `0xedb88320`, all bits set at the start, inverted at the end.
#[must_use]
#[inline(never)]
pub fn crc32(bytes: &[u8]) -> u32 {
    let mut crc = u32::MAX;
    for byte in bytes {
        crc ^= u32::from(*byte);
        // Bit by bit: the checked data is too small to justify a table in flash.
        for _ in 0..8 {
            crc = (crc >> 1) ^ (0xedb8_8320 & (crc & 1).wrapping_neg());
        }
    }
    !crc
}

#[cfg(test)]
mod tests {
    use super::crc32;

    #[test]
    fn it_is_the_one_of_ethernet_and_zlib() {
        assert_eq!(crc32(b"123456789"), 0xcbf4_3926);
        assert_eq!(crc32(b""), 0);
    }
}
