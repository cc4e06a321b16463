//! Serial devices. They are not supported on Windows.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use super::not_here;

/// Refuses to open a serial device.
///
/// # Errors
/// Always returns an error.
pub fn open(_: &Path, _: u32) -> io::Result<File> {
    Err(not_here())
}

/// Refuses to open a serial device for writing.
///
/// # Errors
/// Always returns an error.
pub fn open_to_write(_: &Path, _: u32) -> io::Result<File> {
    Err(not_here())
}

/// Refuses to create a pseudo terminal.
///
/// # Errors
/// Always returns an error.
pub fn pseudo(_: u32) -> io::Result<(File, PathBuf)> {
    Err(not_here())
}

/// Refuses to make a symbolic link to a pseudo terminal.
///
/// # Errors
/// Always returns an error.
pub fn name(_: &Path, _: &Path) -> io::Result<()> {
    Err(not_here())
}

/// Refuses to count the bytes that a serial device has not transmitted yet.
///
/// # Errors
/// Always returns an error.
pub fn unsent(_: &File) -> io::Result<usize> {
    Err(not_here())
}

/// Returns `false`: pseudo terminals are not supported on Windows.
pub const fn is_unheard(_: &File) -> bool {
    false
}

/// Does nothing: no serial device can be open on Windows.
pub const fn forget(_: &File) {}
