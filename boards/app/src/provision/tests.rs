//! Tests with power failures at every byte, in all kinds of flash that boards have.

use embedded_storage::nor_flash::{ErrorType, NorFlash, NorFlashErrorKind, ReadNorFlash};
use outrigger_core::engine::{NoPort, PortKind, Ports, SettingsError};
use outrigger_remote::provision::{Copy, Fingerprint, Image, Origin, Refusal};

use super::image_selection::InForce;
use super::*;
use crate::robot::StartError;

const CAPACITY: usize = 2048;
const PORTS: Ports = Ports { serial: 1, analog: 0, i2c: 0, spi: 0 };
const BUILT: Built = Built { requests: false, motion: true, dashboard: false, ports: PORTS };

/// A flash that is written in units of `WRITE` bytes and erased in units of `ERASE` bytes.
struct Nor<const WRITE: usize, const ERASE: usize> {
    bytes: Vec<u8>,
    /// `true` if a unit whose write was interrupted, or that was written twice, cannot be read, as with error
    /// correction.
    corrects: bool,
    written: Vec<u8>,
    /// The number of bytes that can still be written or erased before the power fails.
    power: usize,
    /// The number of bytes that were written or erased.
    used: usize,
    /// `true` after the power has failed.
    dead: bool,
}

/// The state of a unit of flash that was written completely.
const WHOLE: u8 = 1;
/// The state of a unit of flash that cannot be read.
const SPOILT: u8 = 2;

impl<const WRITE: usize, const ERASE: usize> Nor<WRITE, ERASE> {
    fn new(corrects: bool) -> Self {
        let (bytes, written) = (vec![0xff; CAPACITY], vec![0; CAPACITY / WRITE]);
        Self { bytes, corrects, written, power: usize::MAX, used: 0, dead: false }
    }

    fn spend(&mut self) -> bool {
        let has = self.power > 0;
        self.dead |= !has;
        self.power = self.power.saturating_sub(1);
        self.used += usize::from(has);
        has
    }

    /// Returns the flash after the power was restored.
    fn again(self) -> Self {
        Self { power: usize::MAX, used: 0, dead: false, ..self }
    }
}

impl<const WRITE: usize, const ERASE: usize> ErrorType for Nor<WRITE, ERASE> {
    type Error = NorFlashErrorKind;
}

impl<const WRITE: usize, const ERASE: usize> ReadNorFlash for Nor<WRITE, ERASE> {
    const READ_SIZE: usize = 1;

    fn read(&mut self, offset: u32, bytes: &mut [u8]) -> Result<(), NorFlashErrorKind> {
        let (from, to) = (offset as usize, offset as usize + bytes.len());
        let units = self.written.get(from / WRITE..to.div_ceil(WRITE)).ok_or(NorFlashErrorKind::OutOfBounds)?;
        if self.dead || self.corrects && units.contains(&SPOILT) {
            return Err(NorFlashErrorKind::Other);
        }
        bytes.copy_from_slice(&self.bytes[from..to]);
        Ok(())
    }

    fn capacity(&self) -> usize {
        CAPACITY
    }
}

impl<const WRITE: usize, const ERASE: usize> NorFlash for Nor<WRITE, ERASE> {
    const WRITE_SIZE: usize = WRITE;
    const ERASE_SIZE: usize = ERASE;

    fn erase(&mut self, from: u32, to: u32) -> Result<(), NorFlashErrorKind> {
        let (from, to) = (from as usize, to as usize);
        assert!(from.is_multiple_of(ERASE) && to.is_multiple_of(ERASE) && from < to && to <= CAPACITY);
        for at in from..to {
            let unit = at / WRITE;
            if !self.spend() {
                // The content of a unit whose erasure was interrupted is undefined.
                self.bytes[at] |= 0x5a;
                if at % WRITE != 0 {
                    self.written[unit] = SPOILT;
                }
                return Err(NorFlashErrorKind::Other);
            }
            self.bytes[at] = 0xff;
            if (at + 1).is_multiple_of(WRITE) {
                self.written[unit] = 0;
            }
        }
        Ok(())
    }

    fn write(&mut self, offset: u32, bytes: &[u8]) -> Result<(), NorFlashErrorKind> {
        let from = offset as usize;
        assert!(from.is_multiple_of(WRITE) && bytes.len().is_multiple_of(WRITE) && !bytes.is_empty());
        for (at, byte) in (from..).zip(bytes) {
            let unit = at / WRITE;
            if at.is_multiple_of(WRITE) && self.written[unit] != 0 && self.corrects {
                panic!("unit {unit} is written twice between two erasures");
            }
            if !self.spend() {
                self.bytes[at] &= byte | 0xa5;
                self.written[unit] = SPOILT;
                return Err(NorFlashErrorKind::Other);
            }
            self.bytes[at] &= byte;
            self.written[unit] = WHOLE;
        }
        Ok(())
    }
}

const NO_BUS: NoPort = NoPort { source: 1, kind: PortKind::I2c, number: 1, has: 0 };

/// Settings whose bytes are opaque to these tests; the first words decide if a board can read and use them.
#[derive(Clone, Debug, PartialEq)]
struct Any(Vec<u8>);

impl StoredSettings for Any {
    const KIND: u8 = b'A';

    fn decode(bytes: &[u8]) -> Result<Self, SettingsError> {
        if bytes.starts_with(b"other") { Err(SettingsError::OtherVersion) } else { Ok(Self(bytes.to_vec())) }
    }

    fn check(&self, ports: &Ports) -> Result<(), StartError> {
        let lacks = self.0.starts_with(b"on bus") && ports.i2c == 0;
        if lacks { Err(StartError::Port(NO_BUS)) } else { Ok(()) }
    }

    fn needs_dashboard(&self) -> bool {
        self.0.starts_with(b"brakes")
    }
}

fn image(settings: &[u8]) -> Vec<u8> {
    let image = Image { settings, ..Image::default() };
    let mut bytes = vec![0; image.length()];
    image.to_bytes(&mut bytes).expect("enough room");
    bytes
}

fn leaked(bytes: Vec<u8>) -> &'static mut [u8] {
    Box::leak(bytes.into_boxed_slice())
}

/// Returns the settings that a board with this flash uses when it is started.
fn started<F: NorFlash>(store: &mut Store<F>) -> InForce<Any> {
    InForce::choose(store, leaked(vec![0; CAPACITY]), leaked(image(b"compiled in")), BUILT).expect("an image")
}

/// Writes an image of these settings to the flash, over the copy that is not in effect, as a board does.
fn told<F: NorFlash>(store: &mut Store<F>, settings: &[u8]) -> Result<(), NotTaken> {
    let (copy, sequence) = started(store).selection.next;
    store.keep(copy, sequence, &image(settings))
}

const FIRST: &[u8] = &[0x11; 300];
const SECOND: &[u8] = &[0x22; 420];

/// Interrupts `act` by a power failure before each byte that it writes or erases. Checks that afterwards a board starts
/// with the settings from before `act` (`from`) or from after it (`to`). Then writes other settings, which must take
/// effect.
fn cut_everywhere<const WRITE: usize, const ERASE: usize>(
    corrects: bool,
    before: &[&[u8]],
    act: impl Fn(&mut Store<Nor<WRITE, ERASE>>) -> Result<(), NotTaken>,
    from: &[u8],
    to: &[u8],
) {
    let prepared = || {
        let mut store = Store::new(Nor::<WRITE, ERASE>::new(corrects));
        before.iter().for_each(|settings| told(&mut store, settings).expect("power"));
        let in_force = started(&mut store).settings.0;
        assert_eq!(in_force, from);
        store
    };
    let mut whole = prepared();
    whole.flash.used = 0;
    act(&mut whole).expect("power");
    let all = whole.flash.used;
    assert_eq!(started(&mut whole).settings.0, to);
    let mut seen = [0; 2];
    for power in 0..all {
        let mut store = prepared();
        store.flash.power = power;
        act(&mut store).expect_err("the power goes");
        let mut store = Store::new(store.flash.again());
        let found = started(&mut store).settings.0;
        assert!(found == from || found == to, "cut after {power} of {all} bytes: {found:?}");
        seen[usize::from(found == to)] += 1;
        told(&mut store, b"once more").expect("power");
        assert_eq!(started(&mut store).settings.0, b"once more", "cut after {power} of {all} bytes");
    }
    assert!(seen[0] > all / 4, "{seen:?}");
}

fn every_cut<const WRITE: usize, const ERASE: usize>(corrects: bool) {
    let tell = |store: &mut Store<_>| told(store, SECOND);
    cut_everywhere::<WRITE, ERASE>(corrects, &[], tell, b"compiled in", SECOND);
    cut_everywhere::<WRITE, ERASE>(corrects, &[FIRST], tell, FIRST, SECOND);
    cut_everywhere::<WRITE, ERASE>(corrects, &[b"oldest", FIRST], tell, FIRST, SECOND);
    let forget = |store: &mut Store<_>| {
        let last = started(store).selection.next.0 ^ 1;
        store.erase(last)
    };
    cut_everywhere::<WRITE, ERASE>(corrects, &[b"oldest", FIRST], forget, FIRST, b"compiled in");
    cut_everywhere::<WRITE, ERASE>(corrects, &[FIRST], forget, FIRST, b"compiled in");
}

#[test]
fn power_that_goes_at_any_byte_leaves_one_good_copy() {
    every_cut::<1, 512>(false);
    every_cut::<32, 1024>(false);
    every_cut::<256, 512>(false);
}

#[test]
fn it_does_where_a_unit_that_was_cut_off_cannot_be_read() {
    every_cut::<32, 512>(true);
    every_cut::<256, 1024>(true);
}

#[test]
fn the_newest_copy_is_in_force_across_the_end_of_its_numbers() {
    let mut store = Store::new(Nor::<32, 1024>::new(true));
    store.keep(0, u32::MAX - 1, &image(b"first")).expect("power");
    for (settings, copy, sequence) in [(b"a", 1, u32::MAX), (b"b", 0, 0), (b"c", 1, 1), (b"d", 0, 2)] {
        told(&mut store, settings).expect("power");
        let found = started(&mut store);
        assert_eq!((found.settings.0, found.selection.origin), (settings.to_vec(), Origin::Flash { copy, sequence }));
        let mut copies = [Copy::Older; 2];
        copies[usize::from(copy)] = Copy::InForce;
        assert_eq!(found.selection.copies, copies);
    }
}

#[test]
fn a_copy_that_this_firmware_cannot_run_falls_back_to_the_other_and_then_to_what_was_compiled_in() {
    let mut store = Store::new(Nor::<32, 1024>::new(true));
    told(&mut store, b"old").expect("power");
    // Written by another firmware, which can use it.
    store.keep(1, 2, &image(b"other")).expect("power");
    let found = started(&mut store);
    let selection = &found.selection;
    assert_eq!((&found.settings.0[..], selection.copies), (&b"old"[..], [Copy::InForce, Copy::Refused]));
    assert_eq!(selection.next, (1, 3));
    store.keep(0, 3, &image(b"other")).expect("power");
    let found = started(&mut store);
    let selection = &found.selection;
    assert_eq!((&found.settings.0[..], selection.origin), (&b"compiled in"[..], Origin::CompiledIn));
    // The older one is overwritten.
    assert_eq!((selection.copies, selection.next), ([Copy::Refused; 2], (1, 4)));
}

#[test]
fn flash_that_never_held_anything_is_no_copy_and_no_obstacle() {
    let mut store = Store::new(Nor::<32, 1024>::new(false));
    store.flash.bytes.fill(0);
    let found = started(&mut store).selection;
    assert_eq!((found.origin, found.copies), (Origin::CompiledIn, [Copy::Damaged; 2]));
    assert_eq!(found.fingerprint, Fingerprint::of(&image(b"compiled in")));
    told(&mut store, b"a").expect("power");
    assert_eq!(started(&mut store).settings.0, b"a");
}

#[test]
fn what_has_no_room_is_not_written_and_any_changed_byte_is_found() {
    let mut store = Store::new(Nor::<32, 1024>::new(false));
    assert_eq!(store.room(), CAPACITY / 2 - 256);
    told(&mut store, FIRST).expect("power");
    let long = vec![1; store.room()];
    assert_eq!(told(&mut store, &long), Err(NotTaken(1024)));
    for at in (0..20).chain(256..256 + image(FIRST).len()) {
        store.flash.bytes[at] ^= 0x10;
        assert_eq!(started(&mut store).selection.origin, Origin::CompiledIn, "{at}");
        store.flash.bytes[at] ^= 0x10;
    }
    assert_eq!(started(&mut store).settings.0, FIRST);
}

#[test]
fn what_a_firmware_was_built_without_is_refused_by_name() {
    let bytes = |image: Image<'_>| {
        let mut bytes = vec![0; image.length()];
        image.to_bytes(&mut bytes).expect("enough room");
        bytes
    };
    let judged = |bytes: &[u8], built| judged::<Any>(bytes, built).map(|_| ()).map_err(|unfit| unfit.why);
    let asked = bytes(Image { settings: b"s", requests: &[7; 34], motion: &[] });
    let moved = bytes(Image { settings: b"s", requests: &[], motion: &[7; 56] });
    let nothing = Built { requests: false, motion: false, dashboard: false, ports: PORTS };
    assert_eq!(judged(&asked, nothing), Err(Refusal::NoRequests));
    assert_eq!(judged(&moved, nothing), Err(Refusal::NoMotion));
    assert_eq!([judged(&asked, Built { requests: true, ..nothing }), judged(&moved, BUILT)], [Ok(()); 2]);
    assert_eq!(judged(&moved[..3], BUILT), Err(Refusal::NoImage));
    assert_eq!(judged(&image(b"other"), BUILT), Err(Refusal::NoSettings));
}

#[test]
fn a_sensor_without_a_port_is_refused_by_its_place_in_the_file() {
    let told = judged::<Any>(&image(b"on bus"), BUILT).map(drop);
    let Err(Unfit { why: Refusal::Unfit, text }) = told else { panic!("{told:?}") };
    assert_eq!(text, "source[1].input: found I2C bus 1, and this board has none");
    let wired = Built { ports: Ports { i2c: 1, ..PORTS }, ..BUILT };
    assert_eq!(judged::<Any>(&image(b"on bus"), wired).map(drop), Ok(()));
}

#[test]
fn a_contact_for_the_brakes_is_refused_by_a_firmware_without() {
    let told = judged::<Any>(&image(b"brakes"), BUILT).map(drop);
    let Err(Unfit { why: Refusal::Unfit, text }) = told else { panic!("{told:?}") };
    assert_eq!(text, "device.expert.brake_release_pin: this firmware was built without");
    assert_eq!(judged::<Any>(&image(b"brakes"), Built { dashboard: true, ..BUILT }).map(drop), Ok(()));
}

#[test]
fn what_was_told_last_and_is_not_run_is_known_with_why() {
    let mut store = Store::new(Nor::<4, 512>::new(false));
    assert_eq!(started(&mut store).selection.refused(), None);
    told(&mut store, FIRST).expect("kept");
    told(&mut store, b"on bus").expect("kept");
    let selection = started(&mut store).selection;
    assert_eq!(
        (selection.origin, selection.copies),
        (Origin::Flash { copy: 0, sequence: 1 }, [Copy::InForce, Copy::Refused],)
    );
    assert_eq!(selection.refused(), Some("source[1].input: found I2C bus 1, and this board has none"));
    // An image that is written afterwards overwrites it.
    told(&mut store, b"other").expect("kept");
    let selection = started(&mut store).selection;
    assert_eq!(selection.refused(), Some("they are damaged, or of another version than this firmware"));
    told(&mut store, SECOND).expect("kept");
    assert_eq!(started(&mut store).selection.refused(), None);
}
