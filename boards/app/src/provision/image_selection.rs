//! The check of an image of settings, and the choice of the image to use.

use core::fmt::Write as _;
use core::marker::PhantomData;

use embedded_storage::nor_flash::NorFlash;
use heapless::String;
use outrigger_core::engine::{Ports, SETTINGS_FORMAT, SettingsError, settings_kind};
use outrigger_remote::provision::{Copy, Fingerprint, Image, Origin, Refusal};

use super::image_store::{Header, Store};
use crate::robot::StartError;

/// A description of the error in an image of settings, cut to 96 bytes.
pub(super) type Text = String<96>;

/// The reason why an image of settings is not used.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Unfit {
    /// The reason why the image of settings is not used, as the provisioning protocol reports it.
    pub(super) why: Refusal,
    /// The details of the error in the image of settings, if the reason does not contain all of them.
    pub(super) text: Text,
}

impl From<Refusal> for Unfit {
    fn from(why: Refusal) -> Self {
        let mut text = Text::new();
        // The text fits.
        let _ = match why {
            Refusal::OtherFormat { found, expected } => {
                write!(text, "they are of format {found}, and this firmware reads format {expected}")
            }
            Refusal::OtherKind { .. } => text.write_str("they are for another kind of controller than this firmware"),
            Refusal::NoRequests => text.write_str("device.expert.requests: this firmware was built without"),
            Refusal::NoMotion => text.write_str("law.waypoint: more than this firmware can feed"),
            _ => text.write_str("they are damaged, or of another version than this firmware"),
        };
        Self { why, text }
    }
}

/// The parts that a firmware was built with, in addition to its kind of controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Built {
    /// `true` if the firmware accepts requests over the network.
    pub requests: bool,
    /// `true` if the firmware supports motions that are longer than the engine's memory.
    pub motion: bool,
    /// `true` if the firmware sends commands to the controller's dashboard server.
    pub dashboard: bool,
    /// The board's ports to which sensors can be connected.
    pub ports: Ports,
}

/// The settings of a board for one kind of controller.
pub trait StoredSettings: Sized {
    /// The letter that identifies the kind of controller in an image.
    const KIND: u8;

    /// Decodes the settings in `bytes`.
    ///
    /// # Errors
    /// [`SettingsError`] if the bytes are not valid settings.
    fn decode(bytes: &[u8]) -> Result<Self, SettingsError>;

    /// Checks that a board with these ports can be started with the settings: that its engine, its control law and its
    /// network stack accept them, and that the board has a port for each sensor.
    ///
    /// # Errors
    /// The first problem that was found.
    fn check(&self, ports: &Ports) -> Result<(), StartError>;

    /// Returns whether the settings need a firmware that sends commands to a dashboard server by itself.
    fn needs_dashboard(&self) -> bool;
}

/// Implements [`StoredSettings`] for the settings of one kind of controller.
macro_rules! stored_settings {
    ($settings:ty) => {
        impl crate::provision::StoredSettings for $settings {
            const KIND: u8 = Self::KIND;

            fn decode(bytes: &[u8]) -> Result<Self, outrigger_core::engine::SettingsError> {
                Self::from_postcard(bytes)
            }

            fn check(&self, ports: &outrigger_core::engine::Ports) -> Result<(), StartError> {
                self.device.check().map_err(StartError::Device)?;
                self.device.check_ports(ports).map_err(StartError::Port)?;
                self.config.check()?;
                AnyLaw::new(self.law.clone())?;
                Ok(())
            }

            fn needs_dashboard(&self) -> bool {
                self.device.brake_release_pin
            }
        }
    };
}
pub(crate) use stored_settings;

/// Checks the image of settings in `bytes` and returns its settings if a firmware with the parts `built` can use all of
/// it.
///
/// # Errors
/// The first part of the image that the firmware cannot use.
pub(super) fn judged<S: StoredSettings>(bytes: &[u8], built: Built) -> Result<(S, Image<'_>), Unfit> {
    let image = Image::from_bytes(bytes).ok_or(Refusal::NoImage)?;
    let settings = S::decode(image.settings).map_err(|error| match error {
        SettingsError::OtherKind => {
            let found = settings_kind(image.settings).map_or(0, |(_, kind)| kind);
            Refusal::OtherKind { found, expected: S::KIND }
        }
        SettingsError::OtherFormat { found, expected } => Refusal::OtherFormat { found, expected },
        SettingsError::NoSettings | SettingsError::Damaged | SettingsError::OtherVersion => Refusal::NoSettings,
    })?;
    if !image.requests.is_empty() && !built.requests {
        return Err(Refusal::NoRequests.into());
    }
    if !image.motion.is_empty() && !built.motion {
        return Err(Refusal::NoMotion.into());
    }
    if settings.needs_dashboard() && !built.dashboard {
        let mut text = Text::new();
        // The text fits.
        let _ = text.write_str("device.expert.brake_release_pin: this firmware was built without");
        return Err(Unfit { why: Refusal::Unfit, text });
    }
    settings.check(&built.ports).map_err(|error| {
        let mut text = Text::new();
        // A text that is too long is cut off.
        let _ = write!(text, "{error}");
        Unfit { why: Refusal::Unfit, text }
    })?;
    Ok((settings, image))
}

/// The board's settings in effect, and their origin.
#[derive(Clone, Debug)]
pub(super) struct InForce<S> {
    /// The board's settings in effect.
    pub(super) settings: S,
    /// The image in flash or firmware that contains the board's settings.
    pub(super) image: Image<'static>,
    /// The origin of the image of settings, and the copy in flash for the next image.
    pub(super) selection: Selection<S>,
}

/// The origin of the image of settings in effect, and the copy in flash for the next image.
#[derive(Clone, Debug)]
pub(super) struct Selection<S> {
    pub(super) fingerprint: Fingerprint,
    pub(super) origin: Origin,
    pub(super) copies: [Copy; 2],
    pub(super) why: Text,
    is_last_refused: bool,
    pub(super) built: Built,
    /// The copy of the settings in flash that is written next (0 or 1), and its sequence number.
    pub(super) next: (u8, u32),
    settings: PhantomData<fn() -> S>,
}

impl<S> Selection<S> {
    /// The format number of the stored settings that this firmware reads.
    pub(super) const FORMAT: u8 = SETTINGS_FORMAT;

    /// Returns the reason why the newest settings in flash are not used; `None` if they are used, or there are none.
    #[must_use]
    pub(super) fn refused(&self) -> Option<&str> {
        self.is_last_refused.then_some(self.why.as_str())
    }
}

impl<S: StoredSettings> InForce<S> {
    /// Chooses the newest copy that can be used and loads it to `memory`; uses the `compiled_in` image if there is
    /// none. Logs each copy that is rejected or not complete.
    ///
    /// # Errors
    /// [`SettingsError`] if the image that was compiled in cannot be used either: it was not made by the build script
    /// of this firmware.
    pub(super) fn choose<F: NorFlash>(
        store: &mut Store<F>,
        memory: &'static mut [u8],
        compiled_in: &'static [u8],
        built: Built,
    ) -> Result<Self, SettingsError> {
        let mut copies = [Copy::Empty; 2];
        let mut whole: [Option<Header>; 2] = [None; 2];
        let mut whys = [Text::new(), Text::new()];
        let mut best: Option<(u8, Header)> = None;
        for copy in [0, 1_u8] {
            let at = usize::from(copy);
            let loaded = store.load(copy, memory);
            copies[at] = match loaded {
                Err(found) => found,
                Ok(header) => {
                    whole[at] = Some(header);
                    let bytes = &memory[..header.image.length as usize];
                    match judged::<S>(bytes, built) {
                        Err(unfit) => {
                            info!("settings: copy {} is refused: {}, {}", copy + 1, unfit.why, unfit.text.as_str());
                            whys[at] = unfit.text;
                            Copy::Refused
                        }
                        Ok(_) => {
                            if best.is_none_or(|(_, known)| header.is_newer_than(&known)) {
                                best = Some((copy, header));
                            }
                            Copy::Older
                        }
                    }
                }
            };
            if copies[at] == Copy::Damaged {
                info!("settings: copy {} is not whole", copy + 1);
            }
        }
        let newest = match whole {
            [Some(first), Some(second)] => Some(if second.is_newer_than(&first) { (1, second) } else { (0, first) }),
            [first, second] => first.map(|first| (0, first)).or(second.map(|second| (1, second))),
        };
        let sequence = newest.map_or(1, |(_, header): (u8, Header)| header.sequence.wrapping_add(1));
        // The interesting reason is that of the image that was written last.
        let last = newest.map(|(copy, _)| usize::from(copy)).filter(|copy| copies[*copy] == Copy::Refused);
        let [first, second] = &whys;
        let why = last.map_or(if first.is_empty() { second } else { first }, |copy| &whys[copy]).clone();
        let is_last_refused = last.is_some();
        // Never overwrites the copy in effect; otherwise overwrites an invalid copy, or the older one.
        let spare = best.or(newest).map_or(0, |(copy, _)| copy ^ 1);
        let next = (spare, sequence);
        if let Some((copy, header)) = best
            && store.load(copy, memory) == Ok(header)
        {
            let memory: &'static [u8] = memory;
            if let Ok((settings, image)) = judged::<S>(&memory[..header.image.length as usize], built) {
                copies[usize::from(copy)] = Copy::InForce;
                let origin = Origin::Flash { copy, sequence: header.sequence };
                info!("settings: copy {}, number {}", copy + 1, header.sequence);
                let fingerprint = header.image;
                let selection =
                    Selection { fingerprint, origin, copies, why, is_last_refused, built, next, settings: PhantomData };
                return Ok(Self { settings, image, selection });
            }
        }
        if copies != [Copy::Empty; 2] {
            info!("settings: those that were compiled in");
        }
        let image = Image::from_bytes(compiled_in).ok_or(SettingsError::NoSettings)?;
        let (settings, fingerprint) = (S::decode(image.settings)?, Fingerprint::of(compiled_in));
        let origin = Origin::CompiledIn;
        let selection =
            Selection { fingerprint, origin, copies, why, is_last_refused, built, next, settings: PhantomData };
        Ok(Self { settings, image, selection })
    }
}
