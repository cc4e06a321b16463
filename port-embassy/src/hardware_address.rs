//! Hardware addresses for devices whose network controller has no address of its own.

/// Returns a hardware address for this device, derived from its chip's identifier: locally administered, unicast.
#[must_use]
pub fn hardware_address(chip: &[u8]) -> [u8; 6] {
    // FNV-1a: identifiers of one wafer differ in few bits, but addresses must differ.
    let hash = chip
        .iter()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3));
    let [a, b, c, d, e, ..] = (hash ^ hash >> 40).to_le_bytes();
    [0x02, a, b, c, d, e]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chips_of_one_wafer_get_different_addresses_for_one_device_each() {
        let mut seen = Vec::new();
        for place in 0..=u16::MAX {
            let [x, y] = place.to_le_bytes();
            let address = hardware_address(&[x, 0, y, 0, 7, b'Q', b'2', b'1', b'4', b'8', b'0', b'6']);
            assert_eq!(address[0] & 3, 2, "locally administered, no group");
            seen.push(address);
        }
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen.len(), 65_536);
    }
}
