//! A file's text: decompressed within a budget, and what its beginning and end tell about all of it.

use std::fs::File;
use std::io::{self, BufReader, ErrorKind, Read, Seek, SeekFrom, Take};
use std::os::unix::fs::FileExt;

use flate2::read::MultiGzDecoder;
use jiff::tz::Offset;
use jiff::{SignedDuration, Timestamp};

use crate::tools::sources::logs::files::LogFile;
use crate::tools::sources::logs::record::{Heads, parse};
use crate::tools::sources::logs::rotation::Packing;
use crate::tools::sources::logs::stamp::{Stamp, Zone};

/// Bytes at the beginning and at the end of a file that tell about all of it.
const SAMPLE: usize = 64 << 10;
/// The largest window a zstd frame may ask for, as a power of two: 32 MiB of memory.
const ZSTD_WINDOW: u32 = 25;
/// Zones differ by multiples of this.
const ZONE_STEP: i64 = 1_800;
/// A live file's last record is this near to its time of modification once the zone is right.
const ZONE_SLACK: i64 = 10;

/// What is known of a file before it is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Nature {
    /// What makes a line a head.
    pub heads: Heads,
    /// What closes a stamp.
    pub zone: Zone,
    /// The time of its first record.
    pub first: Option<Timestamp>,
}

/// The text of a packed file.
pub enum Unpacked {
    /// Gzip, one member after another.
    Gzip(Box<MultiGzDecoder<BufReader<File>>>),
    /// Zstandard, one frame after another.
    Zstd(Box<zstd::stream::read::Decoder<'static, BufReader<File>>>),
}

impl Read for Unpacked {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Gzip(decoder) => decoder.read(buffer),
            Self::Zstd(decoder) => decoder.read(buffer),
        }
    }
}

/// A packed file's text from its beginning; none for a plain file.
///
/// # Errors
/// The file can't be read, or is no file of its kind.
pub fn unpack(file: &LogFile) -> io::Result<Option<Unpacked>> {
    let mut handle = file.file.try_clone()?;
    handle.seek(SeekFrom::Start(0))?;
    match file.packing {
        Packing::Plain => Ok(None),
        Packing::Gzip => Ok(Some(Unpacked::Gzip(Box::new(MultiGzDecoder::new(BufReader::new(handle)))))),
        Packing::Zstd => {
            let mut decoder = zstd::stream::read::Decoder::new(handle)?;
            decoder.window_log_max(ZSTD_WINDOW)?;
            Ok(Some(Unpacked::Zstd(Box::new(decoder))))
        }
        Packing::Other => Err(ErrorKind::Unsupported.into()),
    }
}

/// A part of a plain file.
///
/// # Errors
/// The file can't be read.
pub fn plain(file: &LogFile, from: u64, to: u64) -> io::Result<Take<File>> {
    let mut handle = file.file.try_clone()?;
    handle.seek(SeekFrom::Start(from))?;
    Ok(handle.take(to.saturating_sub(from)))
}

/// What the beginning of a file tells. `zone` is that of a later file of the same log, if one was found.
///
/// # Errors
/// The file can't be read at all.
pub fn nature(file: &LogFile, zone: Option<Offset>) -> io::Result<Nature> {
    let sample = beginning(file)?;
    let heads = Heads::of_sample(&sample);
    let offset = zone.or_else(|| offset_of(file)).unwrap_or(Offset::UTC);
    let zone = Zone { offset, latest: file.modified };
    let first = lines(&sample)
        .filter(|line| heads.is_head(line))
        .find_map(|line| parse(line).stamp)
        .and_then(|stamp| zone.settle(stamp));
    Ok(Nature { heads, zone, first })
}

fn lines(text: &[u8]) -> impl DoubleEndedIterator<Item = &[u8]> {
    text.split(|byte| *byte == b'\n')
}

fn beginning(file: &LogFile) -> io::Result<Vec<u8>> {
    let mut sample = vec![0; SAMPLE];
    let Some(mut unpacked) = unpack(file)? else {
        let length = read_at(&file.file, &mut sample, 0)?;
        sample.truncate(length);
        return Ok(sample);
    };
    let mut filled = 0;
    while let Some(free) = sample.get_mut(filled..).filter(|free| !free.is_empty()) {
        match unpacked.read(free) {
            Ok(0) => break,
            Ok(count) => filled += count,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            // A file that breaks off later still tells what it is.
            Err(_) if filled > 0 => break,
            Err(error) => return Err(error),
        }
    }
    sample.truncate(filled);
    Ok(sample)
}

/// Fills `buffer` from the file at `offset`, as far as the file goes.
///
/// # Errors
/// The file can't be read.
pub fn read_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    let mut filled = 0;
    while let Some(free) = buffer.get_mut(filled..).filter(|free| !free.is_empty()) {
        match file.read_at(free, offset + filled as u64) {
            Ok(0) => break,
            Ok(count) => filled += count,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

/// The zone of a plain file's times, told by its last record: it was written when the file was last modified.
///
/// Programs write local time without a zone, and the file does not say which. Where the two do not fit, UTC is assumed.
#[must_use]
pub fn offset_of(file: &LogFile) -> Option<Offset> {
    if file.packing != Packing::Plain {
        return None;
    }
    let from = file.size.saturating_sub(SAMPLE as u64);
    let mut tail = vec![0; SAMPLE];
    let length = read_at(&file.file, &mut tail, from).ok()?;
    let tail = tail.get(..length)?;
    let Some(Stamp::Local(civil)) = lines(tail).rev().find_map(|line| parse(line).stamp) else { return None };
    let ahead = Offset::UTC.to_timestamp(civil).ok()?.duration_since(file.modified).as_secs();
    let steps = (ahead + ahead.signum() * ZONE_STEP / 2) / ZONE_STEP * ZONE_STEP;
    let fits = (ahead - steps).abs() <= ZONE_SLACK && steps.abs() <= SignedDuration::from_hours(14).as_secs();
    fits.then(|| Offset::from_seconds(i32::try_from(steps).ok()?).ok())?
}

#[cfg(test)]
mod tests;
