//! The settings of a board, as bytes that are compiled into its firmware or sent to it over a serial line.

mod device;

use core::net::Ipv4Addr;

pub use self::device::{Device, NoPort, PortKind, Ports, Sensor, SensorInput, TelemetryTarget};
use super::config::{Config, Options};
use crate::law::LawConfig;
use crate::postcard;
use outrigger_wire::checksum::crc32;
use outrigger_wire::sensor::SourceId;

/// The first bytes of a board's settings; the number of the format and a letter for the kind of controller follow.
const MAGIC: &[u8; 9] = b"OUTRIGSET";
/// The first bytes of a board's settings for a KRC in formats before 4.
const MAGIC_BEFORE: &[u8; 9] = b"OUTRIGKRC";
/// The number of the format of a board's settings that this version writes and reads.
pub const SETTINGS_FORMAT: u8 = 14;
/// The length \[B\] of the header of a board's settings: magic, format and kind, then the content's length and its
/// checksum, both little-endian.
const HEADER_LEN: usize = MAGIC.len() + 2 + 8;

/// The settings of a board. A host reads the same file with the same code, and reports its errors.
///
/// `O` is the type of the settings that only this kind of controller has, as in [`Config`].
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
#[serde(bound = "O: Options")]
pub struct Settings<const N: usize, O> {
    /// The robot's address; unspecified if the sender of the first datagram is accepted as the robot.
    pub robot: Ipv4Addr,
    /// The configuration of the engine; its ports are those to connect to, or to listen on.
    pub config: Config<N, O>,
    /// The configuration of the control law that moves the arm.
    pub law: LawConfig<N>,
    /// The configuration of the board, apart from its engine.
    pub device: Device,
}

/// The reason for which bytes cannot be read as a board's settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum SettingsError {
    /// The bytes are not a board's settings.
    NoSettings,
    /// The settings are for another kind of controller.
    OtherKind,
    /// The settings have a format that this version does not read.
    OtherFormat {
        /// The number of the format of the settings.
        found: u8,
        /// The number of the format of settings that this version reads.
        expected: u8,
    },
    /// The bytes of the settings end too early, or were changed.
    Damaged,
    /// The settings were written by a version of Outrigger that has other settings.
    OtherVersion,
}

impl core::fmt::Display for SettingsError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(match self {
            Self::OtherFormat { found, expected } => {
                return write!(
                    f,
                    "settings of format {found}, and this version reads format {expected}: compile them again"
                );
            }
            Self::NoSettings => "these are not settings",
            Self::OtherKind => "these settings are for another kind of controller",
            Self::Damaged => "these settings are truncated, or were changed",
            Self::OtherVersion => "these settings were written by another version: compile them again",
        })
    }
}

impl core::error::Error for SettingsError {}

/// Returns the number of the format of the settings in `bytes`, for any format, and the letter of their kind of
/// controller. Returns `None` if they are not settings, or those for a KRC in a format before 4.
#[must_use]
pub fn settings_kind(bytes: &[u8]) -> Option<(u8, u8)> {
    let (magic, rest) = bytes.split_first_chunk()?;
    let ([format, kind], _) = rest.split_first_chunk()?;
    (magic == MAGIC).then_some((*format, *kind))
}

impl<const N: usize, O: Options> Settings<N, O> {
    /// The letter that identifies a board's settings for this kind of controller.
    pub const KIND: u8 = O::KIND;

    /// Writes the board's settings as bytes to `out` and returns their number; `None` if `out` is too small (16 KiB are
    /// enough).
    #[must_use]
    pub fn to_postcard(&self, out: &mut [u8]) -> Option<usize> {
        let (header, room) = out.split_at_mut_checked(HEADER_LEN)?;
        let content = &*postcard::to_slice(self, room)?;
        let length = u32::try_from(content.len()).ok()?;
        let (to_magic, rest) = header.split_first_chunk_mut()?;
        *to_magic = *MAGIC;
        let (to_kind, rest) = rest.split_first_chunk_mut()?;
        *to_kind = [SETTINGS_FORMAT, O::KIND];
        let (to_length, to_checksum) = rest.split_first_chunk_mut()?;
        *to_length = length.to_le_bytes();
        to_checksum.copy_from_slice(&crc32(content).to_le_bytes());
        HEADER_LEN.checked_add(content.len())
    }

    /// Reads a board's settings from exactly `bytes`.
    ///
    /// # Errors
    /// The reason for which the bytes cannot be read. The engine and the control law check the values.
    pub fn from_postcard(bytes: &[u8]) -> Result<Self, SettingsError> {
        let (magic, rest) = bytes.split_first_chunk().ok_or(SettingsError::NoSettings)?;
        let ([format, kind], rest) = rest.split_first_chunk().ok_or(SettingsError::NoSettings)?;
        if magic != MAGIC && magic != MAGIC_BEFORE {
            return Err(SettingsError::NoSettings);
        }
        if *format != SETTINGS_FORMAT {
            return Err(SettingsError::OtherFormat { found: *format, expected: SETTINGS_FORMAT });
        }
        if *kind != O::KIND {
            return Err(SettingsError::OtherKind);
        }
        let (length, rest) = rest.split_first_chunk().ok_or(SettingsError::Damaged)?;
        let (expected, content) = rest.split_first_chunk().ok_or(SettingsError::Damaged)?;
        let whole = usize::try_from(u32::from_le_bytes(*length)) == Ok(content.len());
        if !whole || crc32(content) != u32::from_le_bytes(*expected) {
            return Err(SettingsError::Damaged);
        }
        postcard::from_bytes(content).ok_or(SettingsError::OtherVersion)
    }

    /// Returns the sensors of the board, each with the source that its readings belong to.
    pub fn sensors(&self) -> impl Iterator<Item = (SourceId, Sensor)> {
        self.device.sensors_of(&self.config.sources)
    }
}

#[cfg(test)]
mod tests {
    use super::device::tests::{bridges, device, wrenches};
    use super::*;
    use crate::engine::krc::{KrcConfig, KrcSettings, KrlConvention};
    use crate::engine::ur::{UrConfig, UrSettings};
    use crate::law::{JointServoConfig, Reference};
    use outrigger_wire::sensor::{Form, Scale};
    use outrigger_wire::time::Duration;

    fn hold<const N: usize>() -> LawConfig<N> {
        LawConfig::JointServo { reference: Reference::Hold, config: JointServoConfig::default() }
    }

    fn written<const N: usize, O: Options>(settings: &Settings<N, O>) -> Vec<u8> {
        let mut out = vec![0; 16 << 10];
        let length = settings.to_postcard(&mut out).expect("enough room");
        out.truncate(length);
        out
    }

    fn bytes() -> Vec<u8> {
        let robot = Ipv4Addr::new(10, 0, 2, 2);
        written(&UrSettings { robot, config: UrConfig::default(), law: hold(), device: device() })
    }

    #[test]
    fn what_was_written_is_read() {
        let settings = UrSettings::from_postcard(&bytes()).expect("settings");
        assert_eq!((settings.config, settings.robot), (UrConfig::default(), Ipv4Addr::new(10, 0, 2, 2)));
        assert_eq!(settings.device.hardware_address(), [2, 0, 10, 0, 2, 15]);
        let mut again = vec![0; 16 << 10];
        let length = settings.to_postcard(&mut again).expect("enough room");
        assert_eq!(again[..length], bytes());
    }

    #[test]
    fn the_kind_of_settings_is_told_whatever_their_format() {
        let kinds = (settings_kind(&bytes()), settings_kind(b"OUTRIGKRC\x02K"));
        assert_eq!(kinds, (Some((SETTINGS_FORMAT, b'U')), None));
    }

    #[test]
    fn every_sensor_is_read_as_it_was_written() {
        let scale = Scale { factor: 0.2, offset: -0.1 };
        let serial = SensorInput::Serial { baud: 921_600, form: Form::Frames };
        let [serial, analog, below] = [serial, SensorInput::Analog { port: 2, rate: 500 }, SensorInput::Gp2y0e03]
            .map(|input| Some(Sensor { input, scale }));
        let device = Device { sensors: [serial, analog, below, wrenches(bridges())], ..device() };
        assert_eq!(device.check(), Ok(()));
        let settings = UrSettings { robot: Ipv4Addr::LOCALHOST, config: UrConfig::default(), law: hold(), device };
        assert_eq!(UrSettings::from_postcard(&written(&settings)).map(|read| read.device), Ok(device));
    }

    #[test]
    fn settings_beside_a_krc_are_read_as_such_and_as_nothing_else() {
        let mut config = KrcConfig::default();
        config.peer.silence = Duration::from_millis(250);
        config.peer.handshake = KrlConvention::Isir;
        let settings = KrcSettings { robot: Ipv4Addr::UNSPECIFIED, config, law: hold(), device: device() };
        let out = written(&settings);
        let read = KrcSettings::from_postcard(&out).expect("settings");
        assert_eq!((read.config, read.device), (config, device()));
        assert_eq!(UrSettings::from_postcard(&out).err(), Some(SettingsError::OtherKind));
        assert_eq!(KrcSettings::from_postcard(&bytes()).err(), Some(SettingsError::OtherKind));
    }

    #[test]
    fn settings_of_another_format_are_refused_by_both_formats() {
        for old in [b"OUTRIGSET\x03", b"OUTRIGKRC\x02"] {
            let mut other = bytes();
            other[..10].copy_from_slice(old);
            let refused = UrSettings::from_postcard(&other).err();
            assert_eq!(refused, Some(SettingsError::OtherFormat { found: old[9], expected: SETTINGS_FORMAT }));
        }
        let text = SettingsError::OtherFormat { found: 2, expected: SETTINGS_FORMAT }.to_string();
        assert_eq!(text, "settings of format 2, and this version reads format 14: compile them again");
    }

    #[test]
    fn other_damaged_and_cut_bytes_are_refused() {
        let whole = bytes();
        for cut in 0..whole.len() {
            let refused = UrSettings::from_postcard(&whole[..cut]).err();
            assert_eq!(refused, Some(if cut < 11 { SettingsError::NoSettings } else { SettingsError::Damaged }));
        }
        for at in 0..whole.len() {
            let mut changed = whole.clone();
            changed[at] ^= 0x10;
            assert!(UrSettings::from_postcard(&changed).is_err(), "byte {at}");
        }
        let mut longer = whole;
        longer.push(0);
        assert_eq!(UrSettings::from_postcard(&longer).err(), Some(SettingsError::Damaged));
    }

    /// A setting that is added, moved or has another default changes these bytes. Unless only a default has changed,
    /// [`SETTINGS_FORMAT`] must increase then, and the format of recordings too, because they begin with the
    /// configuration.
    #[test]
    fn settings_of_this_format_are_these_bytes() {
        let krc =
            KrcSettings { robot: Ipv4Addr::UNSPECIFIED, config: KrcConfig::default(), law: hold(), device: device() };
        let sums = [bytes(), written(&krc)].map(|bytes| (bytes.len(), crc32(&bytes)));
        assert_eq!((SETTINGS_FORMAT, sums), (14, [(481, 2_543_967_627), (640, 2_288_082_071)]));
    }

    #[test]
    fn settings_of_another_shape_are_stale() {
        let content = [1, 2, 3];
        let mut stale = [&MAGIC[..], &[SETTINGS_FORMAT, b'U']].concat();
        stale.extend((content.len() as u32).to_le_bytes());
        stale.extend(crc32(&content).to_le_bytes());
        stale.extend(content);
        assert_eq!(UrSettings::from_postcard(&stale).err(), Some(SettingsError::OtherVersion));
    }

    #[test]
    fn too_little_room_is_none() {
        let settings = UrSettings::from_postcard(&bytes()).expect("settings");
        for room in [0, HEADER_LEN - 1, HEADER_LEN, bytes().len() - 1] {
            assert_eq!(settings.to_postcard(&mut vec![0; room]), None);
        }
    }
}
