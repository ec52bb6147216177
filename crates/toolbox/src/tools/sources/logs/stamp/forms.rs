//! The forms of a time, read from bytes without allocation. Each form leaves the reader where it was if it does not fit.

use jiff::Timestamp;
use jiff::civil::{Date, DateTime, Time};
use jiff::tz::Offset;

use super::Stamp;

const MONTHS: [&[u8]; 12] =
    [b"jan", b"feb", b"mar", b"apr", b"may", b"jun", b"jul", b"aug", b"sep", b"oct", b"nov", b"dec"];
const DAYS: [&[u8]; 7] = [b"mon", b"tue", b"wed", b"thu", b"fri", b"sat", b"sun"];
/// A year that has every day, for dates without a year.
const LEAP: i16 = 2000;

/// A place in a line.
pub(super) struct Reader<'l> {
    line: &'l [u8],
    at: usize,
}

impl<'l> Reader<'l> {
    pub(super) fn new(line: &'l [u8]) -> Self {
        Self { line, at: 0 }
    }

    pub(super) fn starting(line: &'l [u8], at: usize) -> Self {
        Self { line, at }
    }

    pub(super) fn at(&self) -> usize {
        self.at
    }

    fn peek(&self) -> Option<u8> {
        self.line.get(self.at).copied()
    }

    fn eat(&mut self, one_of: &[u8]) -> Option<u8> {
        let byte = self.peek().filter(|byte| one_of.contains(byte))?;
        self.at += 1;
        Some(byte)
    }

    /// As many digits as there are, at least one.
    fn run(&mut self) -> Option<(i64, usize)> {
        let rest = self.line.get(self.at..)?;
        let length = rest.iter().take(19).take_while(|byte| byte.is_ascii_digit()).count();
        let value = rest
            .get(..length)?
            .iter()
            .fold(0_i64, |sum, digit| sum.saturating_mul(10).saturating_add(i64::from(digit - b'0')));
        self.at += length;
        (length > 0).then_some((value, length))
    }

    fn digits<N: TryFrom<i64>>(&mut self, least: usize, most: usize) -> Option<N> {
        let (value, length) = self.run()?;
        if !(least..=most).contains(&length) {
            return None;
        }
        N::try_from(value).ok()
    }

    fn word_of(&mut self, names: &[&[u8]]) -> Option<usize> {
        let word = self.line.get(self.at..self.at + 3)?;
        let found = names.iter().position(|name| word.eq_ignore_ascii_case(name))?;
        self.at += 3;
        Some(found)
    }

    fn month_name(&mut self) -> Option<i8> {
        self.word_of(&MONTHS).and_then(|month| i8::try_from(month + 1).ok())
    }

    /// Tries a form and goes back if it does not fit.
    fn attempt(&mut self, form: impl FnOnce(&mut Self) -> Option<Stamp>) -> Option<Stamp> {
        let before = self.at;
        let found = form(self);
        if found.is_none() {
            self.at = before;
        }
        found
    }

    /// A byte order mark, a syslog priority with or without a version, an opening bracket.
    pub(super) fn skip_opening(&mut self) {
        if self.line.starts_with(b"\xef\xbb\xbf") {
            self.at = 3;
        }
        let before = self.at;
        if self.eat(b"<").is_some() && self.digits::<i16>(1, 3).is_some() && self.eat(b">").is_some() {
            let version = self.at;
            if self.digits::<i16>(1, 2).is_none() || self.eat(b" ").is_none() {
                self.at = version;
            }
        } else {
            self.at = before;
        }
        if self.eat(b"[(\"").is_none() {
            return;
        }
        self.eat(b" ");
    }

    /// Any form a line may begin with.
    pub(super) fn any_form(&mut self) -> Option<Stamp> {
        if self.peek()?.is_ascii_digit() {
            return self.iso_form().or_else(|| self.attempt(Self::day_first)).or_else(|| self.attempt(Self::epoch));
        }
        self.attempt(Self::glog).or_else(|| self.attempt(Self::named))
    }

    /// The forms that stand in brackets: `30/Nov/2026:11:05:18 +0000`, `Mon Nov 30 11:05:18 2026`, ISO.
    pub(super) fn dated_form(&mut self) -> Option<Stamp> {
        self.attempt(Self::day_first).or_else(|| self.iso_form()).or_else(|| self.attempt(Self::named))
    }

    /// `2026-11-30T11:05:18.123Z`, `2026-11-30 11:05:18,123 +0100`, `2026/11/30 11:05:18`.
    pub(super) fn iso_form(&mut self) -> Option<Stamp> {
        self.attempt(|reader| {
            let year = reader.digits(4, 4)?;
            let separator = reader.eat(b"-/.")?;
            let month = reader.digits(1, 2)?;
            reader.eat(&[separator])?;
            let date = Date::new(year, month, reader.digits(1, 2)?).ok()?;
            reader.eat(b"T t_-")?;
            let time = reader.clock()?;
            Some(reader.zoned(date.to_datetime(time)))
        })
    }

    /// `30/Nov/2026:11:05:18 +0000`, `30-Nov-2026 11:05:18.123`, `30 Nov 2026 11:05:18`.
    fn day_first(&mut self) -> Option<Stamp> {
        let day = self.digits(1, 2)?;
        self.eat(b"/- ")?;
        let month = self.month_name()?;
        self.eat(b"/- ")?;
        let date = Date::new(self.digits(4, 4)?, month, day).ok()?;
        self.eat(b": T")?;
        let time = self.clock()?;
        Some(self.zoned(date.to_datetime(time)))
    }

    /// `Nov 30 11:05:18`, `Nov  3 2026 11:05:18`, `Mon Nov 30 11:05:18.123 2026`, `Mon, 30 Nov 2026 11:05:18 +0000`.
    fn named(&mut self) -> Option<Stamp> {
        if self.word_of(&DAYS).is_some() {
            self.eat(b",");
            self.eat(b" ")?;
            if self.peek()?.is_ascii_digit() {
                return self.day_first();
            }
        }
        let month = self.month_name()?;
        self.eat(b" ")?;
        self.eat(b" ");
        let day = self.digits(1, 2)?;
        self.eat(b",");
        self.eat(b" ")?;
        let before = self.at;
        let year = self.digits::<i16>(4, 4).filter(|_| self.eat(b" ").is_some());
        if year.is_none() {
            self.at = before;
        }
        let time = self.clock()?;
        let after = self.at;
        let year = year.or_else(|| self.eat(b" ").and_then(|_| self.digits(4, 4)).filter(|year| *year >= 1970));
        if let Some(year) = year {
            return Date::new(year, month, day).ok().map(|date| self.zoned(date.to_datetime(time)));
        }
        self.at = after;
        Date::new(LEAP, month, day).ok().map(|date| Stamp::Yearless(date.to_datetime(time)))
    }

    /// `E1130 11:05:18.123456`.
    fn glog(&mut self) -> Option<Stamp> {
        self.eat(b"EWIFD")?;
        let (value, 4) = self.run()? else { return None };
        self.eat(b" ")?;
        let time = self.clock()?;
        let date = Date::new(LEAP, i8::try_from(value / 100).ok()?, i8::try_from(value % 100).ok()?).ok()?;
        Some(Stamp::Yearless(date.to_datetime(time)))
    }

    /// Ten digits of seconds, with or without a fraction, or thirteen of milliseconds.
    fn epoch(&mut self) -> Option<Stamp> {
        let (value, length) = self.run()?;
        let time = match length {
            10 => {
                let nanos = self.fraction();
                Timestamp::new(value, nanos).ok()?
            }
            13 => Timestamp::from_millisecond(value).ok()?,
            _ => return None,
        };
        let ends = self.peek().is_none_or(|byte| !byte.is_ascii_alphanumeric());
        (ends && time.as_second() > 1_000_000_000).then_some(Stamp::Exact(time))
    }

    /// `11:05:18`, with or without a fraction after a dot or comma.
    fn clock(&mut self) -> Option<Time> {
        let hour = self.digits(1, 2)?;
        self.eat(b":")?;
        let minute = self.digits(2, 2)?;
        self.eat(b":")?;
        let second: i8 = self.digits(2, 2)?;
        let second = if second == 60 { 59 } else { second };
        let nanos = self.fraction();
        Time::new(hour, minute, second, nanos).ok()
    }

    fn fraction(&mut self) -> i32 {
        let before = self.at;
        let nanos = self.eat(b".,").and_then(|_| self.run()).and_then(|(value, length)| {
            let scaled = match u32::try_from(length).ok()? {
                few @ 0..=9 => value.checked_mul(10_i64.checked_pow(9 - few)?)?,
                many => value / 10_i64.checked_pow(many - 9)?,
            };
            i32::try_from(scaled).ok()
        });
        if nanos.is_none() {
            self.at = before;
        }
        nanos.unwrap_or(0)
    }

    /// The zone after a date and time, if one stands there.
    fn zoned(&mut self, civil: DateTime) -> Stamp {
        let before = self.at;
        if let Some(offset) = self.offset()
            && let Ok(time) = offset.to_timestamp(civil)
        {
            return Stamp::Exact(time);
        }
        self.at = before;
        Stamp::Local(civil)
    }

    fn offset(&mut self) -> Option<Offset> {
        let spaced = self.eat(b" ").is_some();
        if self.eat(b"Zz").is_some() || self.utc() {
            return self.ends_word().then_some(Offset::UTC);
        }
        let sign = if self.eat(b"+-")? == b'-' { -1 } else { 1 };
        let (value, length) = self.run()?;
        let (hours, minutes) = match length {
            4 => (value / 100, value % 100),
            2 if self.eat(b":").is_some() => (value, self.digits(2, 2)?),
            2 if !spaced => (value, 0),
            _ => return None,
        };
        let seconds =
            i32::try_from(sign * (hours * 3_600 + minutes * 60)).ok().filter(|_| minutes < 60 && hours <= 14)?;
        let offset = Offset::from_seconds(seconds).ok()?;
        self.ends_word().then_some(offset)
    }

    fn utc(&mut self) -> bool {
        let named = self.line.get(self.at..self.at + 3).is_some_and(|word| word == b"UTC" || word == b"GMT");
        if named {
            self.at += 3;
        }
        named
    }

    fn ends_word(&self) -> bool {
        self.peek().is_none_or(|byte| !byte.is_ascii_alphanumeric())
    }
}
