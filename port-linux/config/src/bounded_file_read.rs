//! Reads whole files up to a size limit. The limit is enforced while reading, because pipes, devices and growing
//! files have no length that could be checked before.

use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::path::Path;

/// The maximum size of a configuration file \[B\].
pub const CONFIGURATION: u64 = 4 << 20;

/// Reads the file at `path`.
///
/// # Errors
/// Returns the error of the operating system, or [`ErrorKind::FileTooLarge`] if the file has more than `most` bytes.
pub fn read(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    read_from(File::open(path)?, most)
}

/// Reads the UTF-8 text at `path`.
///
/// # Errors
/// Returns the errors of [`read`], and [`ErrorKind::InvalidData`] if the bytes are not UTF-8.
pub fn read_text(path: &Path, most: u64) -> io::Result<String> {
    let text = String::from_utf8(read(path, most)?);
    text.map_err(|_| io::Error::new(ErrorKind::InvalidData, "stream did not contain valid UTF-8"))
}

/// Reads the file or stream `from` to its end, at most `most` bytes.
///
/// # Errors
/// Returns the error of the operating system, or [`ErrorKind::FileTooLarge`] if there are more than `most` bytes.
pub fn read_from(from: impl Read, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = vec![];
    from.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        let what = format!("found more than {most} bytes, expected at most that");
        return Err(io::Error::new(ErrorKind::FileTooLarge, what));
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_is_read_than_the_limit_and_one_byte() {
        let mut from = io::repeat(b'a').take(1 << 40);
        let refused = read_from(&mut from, 1000).expect_err("it has no end");
        assert_eq!(refused.to_string(), "found more than 1000 bytes, expected at most that");
        assert_eq!(from.limit(), (1 << 40) - 1001);
        assert_eq!(read_from(&b"abc"[..], 3).expect("as many as may be"), b"abc");
    }

    #[cfg(unix)]
    #[test]
    fn a_device_without_an_end_is_no_configuration() {
        let refused = crate::Configuration::load(Path::new("/dev/zero")).expect_err("it has no end");
        assert!(refused.to_string().ends_with("found more than 4194304 bytes, expected at most that"), "{refused}");
    }
}
