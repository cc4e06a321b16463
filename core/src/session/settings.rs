//! Everything a board is told, as the bytes that are compiled into its firmware.

use core::net::Ipv4Addr;

use super::config::Config;
use super::fri::{FriConfig, KrlConvention};
use crate::checksum::crc32;
use crate::command::{MAX_SOURCES, SourceConfig, SourceId};
use crate::law::LawConfig;
use crate::sensor::{Form, Scale};
use crate::time::Duration;

/// What the bytes begin with; the last one counts the formats.
const MAGIC: &[u8; 10] = b"OUTRIGSET\x03";
/// The same beside a KRC.
const KRC_MAGIC: &[u8; 10] = b"OUTRIGKRC\x02";
/// Before the content: the magic, its length and its checksum, both little-endian.
const HEADER_LEN: usize = MAGIC.len() + 8;

/// Everything a board beside a controller of Universal Robots is told. A host reads the same file by the same code, and says what is wrong with it.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct Settings {
    /// Where the robot is.
    pub robot: Ipv4Addr,
    /// What the engine is told; its ports are the ones to connect to.
    pub config: Config,
    /// What moves the arm.
    pub law: LawConfig<6>,
    /// What is around the engine.
    pub device: Device,
}

/// Everything a board beside a KRC is told, of the same kind of file.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct KrcSettings {
    /// The UDP port where measurements arrive.
    pub port: u16,
    /// How the KRL program is asked to start.
    pub handshake: KrlConvention,
    /// What the engine is told.
    pub config: FriConfig,
    /// What moves the arm.
    pub law: LawConfig<7>,
    /// What is around the engine.
    pub device: Device,
}

/// What is around the engine of a board.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Device {
    /// Its own address.
    pub address: Ipv4Addr,
    /// Bits of the address that name the network, 1 … 30.
    pub prefix: u8,
    /// The way to other networks; `None` where the robot and the listener are on the board's own.
    pub gateway: Option<Ipv4Addr>,
    /// Hardware address, where it is not to be [the derived one](Device::hardware_address).
    pub mac: Option<[u8; 6]>,
    /// Where telemetry goes; `None` sends none.
    pub telemetry: Option<TelemetryTarget>,
    /// The sensors, in the order of the configuration.
    pub sensors: [Option<Sensor>; MAX_SOURCES],
    /// Memory for the recorder \[B\], where the board leaves the choice.
    pub recorder: Option<u32>,
}

impl Device {
    /// The hardware address: the configured one, else one derived from the own address, locally administered.
    #[must_use]
    pub fn hardware_address(&self) -> [u8; 6] {
        let [a, b, c, d] = self.address.octets();
        self.mac.unwrap_or([0x02, 0x00, a, b, c, d])
    }

    /// The sensors, with the source that each is for an engine of these `sources`.
    pub fn sensors_of(
        &self,
        sources: &[Option<SourceConfig>; MAX_SOURCES],
    ) -> impl Iterator<Item = (SourceId, Sensor)> {
        sources.iter().flatten().map(|source| source.id).zip(self.sensors.iter().flatten().copied())
    }
}

/// Who listens to a board.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct TelemetryTarget {
    /// Its address.
    pub address: Ipv4Addr,
    /// Its UDP port.
    pub port: u16,
    /// Time between two messages of each kind that is repeated.
    pub period: Duration,
}

/// Where a board's readings come from, and how they become SI units.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Sensor {
    /// Where they come from.
    pub input: SensorInput,
    /// From what it sends to SI.
    pub scale: Scale,
}

/// Where a board's readings come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum SensorInput {
    /// The board's serial port.
    Serial {
        /// Its rate \[Bd\].
        baud: u32,
        /// What it carries.
        form: Form,
    },
    /// The board's analogue input \[V\].
    Analog {
        /// Readings per second.
        rate: u32,
    },
}

/// Why bytes are no settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum SettingsError {
    /// They are none, or those of a board beside a robot of another maker.
    NoSettings,
    /// They are settings in another format.
    OtherFormat {
        /// Theirs.
        found: u8,
        /// The one that this version reads.
        expected: u8,
    },
    /// They end too early, or were changed.
    Damaged,
    /// They were written by a version whose settings are others.
    OtherVersion,
}

impl core::fmt::Display for SettingsError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(match self {
            Self::NoSettings => "these bytes are no settings, or those of a board beside a robot of another maker",
            Self::OtherFormat { found, expected } => {
                return write!(
                    f,
                    "settings of format {found}, and this version reads format {expected}: compile them again"
                );
            }
            Self::Damaged => "these settings end too early, or were changed",
            Self::OtherVersion => "these settings were written by another version: compile them again",
        })
    }
}

impl core::error::Error for SettingsError {}

impl Settings {
    /// Writes the bytes to `out` and returns their number; `None` where `out` is too small (16 KiB are enough).
    #[must_use]
    pub fn to_postcard(&self, out: &mut [u8]) -> Option<usize> {
        write(MAGIC, self, out)
    }

    /// The settings in `bytes`, exactly.
    ///
    /// # Errors
    /// What is wrong with the bytes. What they say is checked by who uses it: the engine and the law.
    pub fn from_postcard(bytes: &[u8]) -> Result<Self, SettingsError> {
        read(MAGIC, bytes)
    }

    /// The sensors, each with its source.
    pub fn sensors(&self) -> impl Iterator<Item = (SourceId, Sensor)> {
        self.device.sensors_of(&self.config.sources)
    }
}

impl KrcSettings {
    /// Writes the bytes to `out` and returns their number; `None` where `out` is too small (16 KiB are enough).
    #[must_use]
    pub fn to_postcard(&self, out: &mut [u8]) -> Option<usize> {
        write(KRC_MAGIC, self, out)
    }

    /// The settings in `bytes`, exactly.
    ///
    /// # Errors
    /// As [`Settings::from_postcard`].
    pub fn from_postcard(bytes: &[u8]) -> Result<Self, SettingsError> {
        read(KRC_MAGIC, bytes)
    }

    /// The sensors, each with its source.
    pub fn sensors(&self) -> impl Iterator<Item = (SourceId, Sensor)> {
        self.device.sensors_of(&self.config.sources)
    }
}

fn write(magic: &[u8; 10], settings: &impl serde::Serialize, out: &mut [u8]) -> Option<usize> {
    let (header, room) = out.split_at_mut_checked(HEADER_LEN)?;
    let content = &*postcard::to_slice(settings, room).ok()?;
    let length = u32::try_from(content.len()).ok()?;
    let (to_magic, rest) = header.split_first_chunk_mut()?;
    *to_magic = *magic;
    let (to_length, to_checksum) = rest.split_first_chunk_mut()?;
    *to_length = length.to_le_bytes();
    to_checksum.copy_from_slice(&crc32(content).to_le_bytes());
    HEADER_LEN.checked_add(content.len())
}

fn read<T: serde::de::DeserializeOwned>(magic: &[u8; 10], bytes: &[u8]) -> Result<T, SettingsError> {
    let ([name @ .., found], rest) = bytes.split_first_chunk::<10>().ok_or(SettingsError::NoSettings)?;
    let [ours @ .., expected] = magic;
    if name != ours {
        return Err(SettingsError::NoSettings);
    }
    if found != expected {
        return Err(SettingsError::OtherFormat { found: *found, expected: *expected });
    }
    let (length, rest) = rest.split_first_chunk().ok_or(SettingsError::Damaged)?;
    let (expected, content) = rest.split_first_chunk().ok_or(SettingsError::Damaged)?;
    let whole = usize::try_from(u32::from_le_bytes(*length)) == Ok(content.len());
    if !whole || crc32(content) != u32::from_le_bytes(*expected) {
        return Err(SettingsError::Damaged);
    }
    match postcard::take_from_bytes(content) {
        Ok((settings, [])) => Ok(settings),
        Ok(_) | Err(_) => Err(SettingsError::OtherVersion),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::law::{JointServoConfig, Reference};

    fn device() -> Device {
        Device {
            address: Ipv4Addr::new(10, 0, 2, 15),
            prefix: 24,
            gateway: None,
            mac: None,
            telemetry: Some(TelemetryTarget {
                address: Ipv4Addr::new(10, 0, 2, 2),
                port: 47_000,
                period: Duration::from_millis(100),
            }),
            sensors: [None; MAX_SOURCES],
            recorder: Some(65_536),
        }
    }

    fn bytes() -> Vec<u8> {
        let settings = Settings {
            robot: Ipv4Addr::new(10, 0, 2, 2),
            config: Config::default(),
            law: LawConfig::JointServo { reference: Reference::Hold, config: JointServoConfig::default() },
            device: device(),
        };
        let mut out = vec![0; 16 << 10];
        let length = settings.to_postcard(&mut out).expect("enough room");
        out.truncate(length);
        out
    }

    #[test]
    fn what_was_written_is_read() {
        let settings = Settings::from_postcard(&bytes()).expect("settings");
        assert_eq!((settings.config, settings.robot), (Config::default(), Ipv4Addr::new(10, 0, 2, 2)));
        assert_eq!(settings.device.hardware_address(), [2, 0, 10, 0, 2, 15]);
        let mut again = vec![0; 16 << 10];
        let length = settings.to_postcard(&mut again).expect("enough room");
        assert_eq!(again[..length], bytes());
    }

    #[test]
    fn settings_beside_a_krc_are_read_as_such_and_as_nothing_else() {
        let config = FriConfig { silence: Duration::from_millis(250), ..FriConfig::default() };
        let law = LawConfig::JointServo { reference: Reference::Hold, config: JointServoConfig::default() };
        let settings = KrcSettings { port: 49_939, handshake: KrlConvention::Isir, config, law, device: device() };
        let mut out = vec![0; 16 << 10];
        let length = settings.to_postcard(&mut out).expect("enough room");
        let read = KrcSettings::from_postcard(&out[..length]).expect("settings");
        assert_eq!((read.port, read.handshake, read.config), (49_939, KrlConvention::Isir, config));
        assert_eq!(read.device, device());
        assert_eq!(Settings::from_postcard(&out[..length]).err(), Some(SettingsError::NoSettings));
        assert_eq!(KrcSettings::from_postcard(&bytes()).err(), Some(SettingsError::NoSettings));
    }

    #[test]
    fn other_damaged_and_cut_bytes_are_refused() {
        let whole = bytes();
        for cut in 0..whole.len() {
            let refused = Settings::from_postcard(&whole[..cut]).err();
            assert_eq!(refused, Some(if cut < 10 { SettingsError::NoSettings } else { SettingsError::Damaged }));
        }
        for at in 0..whole.len() {
            let mut changed = whole.clone();
            changed[at] ^= 0x10;
            assert!(Settings::from_postcard(&changed).is_err(), "byte {at}");
        }
        let mut longer = whole;
        longer.push(0);
        assert_eq!(Settings::from_postcard(&longer).err(), Some(SettingsError::Damaged));
    }

    #[test]
    fn settings_of_another_format_are_refused_by_both_formats() {
        let mut other = bytes();
        other[9] = 2;
        let refused = Settings::from_postcard(&other).err();
        assert_eq!(refused, Some(SettingsError::OtherFormat { found: 2, expected: 3 }));
        let text = refused.map(|error| error.to_string());
        assert_eq!(text.as_deref(), Some("settings of format 2, and this version reads format 3: compile them again"));
    }

    #[test]
    fn settings_of_another_shape_are_stale() {
        let content = [1, 2, 3];
        let mut stale = MAGIC.to_vec();
        stale.extend((content.len() as u32).to_le_bytes());
        stale.extend(crc32(&content).to_le_bytes());
        stale.extend(content);
        assert_eq!(Settings::from_postcard(&stale).err(), Some(SettingsError::OtherVersion));
    }

    #[test]
    fn too_little_room_is_none() {
        let settings = Settings::from_postcard(&bytes()).expect("settings");
        for room in [0, HEADER_LEN - 1, HEADER_LEN, bytes().len() - 1] {
            assert_eq!(settings.to_postcard(&mut vec![0; room]), None);
        }
    }
}
