//! The bytes of one direction of a TCP connection, in order.

/// The largest number of segments that wait for an earlier one.
const MOST_HELD: usize = 256;

/// The largest number of bytes that wait for an earlier segment.
const MOST_BYTES_HELD: usize = 1 << 20;

/// A part of the bytes of a direction.
pub(super) enum Piece<'a> {
    /// The connection begins; nothing before is missing.
    Start,
    /// Bytes that are not in the capture, before what follows.
    Missing(u32),
    Bytes(&'a [u8]),
}

/// One direction of a connection.
#[derive(Default)]
pub(super) struct Direction {
    /// The sequence number of the next byte.
    next: Option<u32>,
    /// Segments behind a gap, each with its sequence number.
    held: Vec<(u32, Vec<u8>)>,
    /// The number of bytes in them.
    bytes_held: usize,
}

impl Direction {
    /// Processes a segment, and passes on what is complete with it.
    pub(super) fn segment(&mut self, number: u32, is_first: bool, bytes: &[u8], take: &mut dyn FnMut(Piece<'_>)) {
        let number = if is_first {
            let number = number.wrapping_add(1);
            // A repeated first segment changes nothing.
            if self.next != Some(number) {
                *self = Self { next: Some(number), ..Self::default() };
                take(Piece::Start);
            }
            number
        } else {
            number
        };
        if bytes.is_empty() {
            return;
        }
        let next = *self.next.get_or_insert(number);
        if ahead(number, next) > 0 {
            self.held.push((number, bytes.to_vec()));
            self.bytes_held += bytes.len();
            while self.held.len() > MOST_HELD || self.bytes_held > MOST_BYTES_HELD {
                self.skip(take);
            }
            return;
        }
        self.pass(number, bytes, take);
        self.drain(take);
    }

    /// Passes on what waits for earlier bytes, at the end of the capture.
    pub(super) fn finish(&mut self, take: &mut dyn FnMut(Piece<'_>)) {
        while !self.held.is_empty() {
            self.skip(take);
        }
    }

    /// Passes on the bytes of a segment that were not passed on before.
    fn pass(&mut self, number: u32, bytes: &[u8], take: &mut dyn FnMut(Piece<'_>)) {
        let Some(next) = self.next else { return };
        let known = usize::try_from(ahead(next, number)).unwrap_or_default();
        let Some(new) = bytes.get(known..).filter(|new| !new.is_empty()) else { return };
        self.next = Some(next.wrapping_add(new.len() as u32));
        take(Piece::Bytes(new));
    }

    /// Passes on the held segments that follow without a gap.
    fn drain(&mut self, take: &mut dyn FnMut(Piece<'_>)) {
        while let Some(next) = self.next
            && let Some(index) = self.held.iter().position(|(number, _)| ahead(*number, next) <= 0)
        {
            let (number, bytes) = self.held.swap_remove(index);
            self.bytes_held -= bytes.len();
            self.pass(number, &bytes, take);
        }
    }

    /// Gives up the bytes before the first held segment.
    fn skip(&mut self, take: &mut dyn FnMut(Piece<'_>)) {
        let Some(next) = self.next else { return };
        let Some(first) = self.held.iter().map(|(number, _)| *number).min_by_key(|number| ahead(*number, next)) else {
            return;
        };
        take(Piece::Missing(first.wrapping_sub(next)));
        self.next = Some(first);
        self.drain(take);
    }
}

/// Returns by how many bytes the sequence number `a` is behind `b`; numbers wrap around.
const fn ahead(a: u32, b: u32) -> i32 {
    a.wrapping_sub(b).cast_signed()
}
