//! Reads Thrift's compact protocol. Nothing is stored: the caller visits the fields of a struct, and reads or
//! skips each. A field that has another type than the caller asks for is an error.

/// Why a struct cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ThriftError {
    /// It continues past the available bytes.
    Cut,
    /// It violates the protocol, or the caller rejects it.
    Not(&'static str),
}

/// Visits a field: its number and type.
type Visit<'v, 'a> = &'v mut dyn FnMut(&mut ThriftReader<'a>, i16, u8) -> Result<(), ThriftError>;

/// Deepest nesting of the values that are skipped.
const DEPTH: u8 = 32;

// The types of the protocol. A boolean field has its value in the type.
pub(super) const TRUE: u8 = 1;
const FALSE: u8 = 2;
pub(super) const BYTE: u8 = 3;
const I16: u8 = 4;
pub(super) const I32: u8 = 5;
const I64: u8 = 6;
const DOUBLE: u8 = 7;
pub(super) const BINARY: u8 = 8;
const LIST: u8 = 9;
const SET: u8 = 10;
const MAP: u8 = 11;
pub(super) const STRUCT: u8 = 12;

pub(super) struct ThriftReader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> ThriftReader<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    /// Number of bytes read so far.
    pub(super) fn at(&self) -> usize {
        self.at
    }

    /// Visits the fields of the struct that begins here.
    pub(super) fn fields(&mut self, visit: Visit<'_, 'a>) -> Result<(), ThriftError> {
        let mut last = 0_i16;
        loop {
            let header = self.byte()?;
            if header == 0 {
                return Ok(());
            }
            let id = match header >> 4 {
                0 => i16::try_from(self.zigzag()?).ok(),
                delta => last.checked_add(i16::from(delta)),
            };
            last = id.ok_or(ThriftError::Not("a field has a number that none can have"))?;
            visit(self, last, header & 0x0F)?;
        }
    }

    /// Visits the fields of a field that must be a struct.
    pub(super) fn structure(&mut self, kind: u8, visit: Visit<'_, 'a>) -> Result<(), ThriftError> {
        is(kind, STRUCT)?;
        self.fields(visit)
    }

    /// Reads a field that must be a list of structs, each by `read`, which learns how many follow it.
    pub(super) fn structs(
        &mut self,
        kind: u8,
        read: &mut dyn FnMut(&mut Self, u64) -> Result<(), ThriftError>,
    ) -> Result<(), ThriftError> {
        is(kind, LIST)?;
        let (element, count) = self.list()?;
        if element != STRUCT {
            return Err(ThriftError::Not("a list is of a type that it cannot be of"));
        }
        (0..count).rev().try_for_each(|left| read(self, left))
    }

    /// Reads a field that must be an integer of 32 bits.
    pub(super) fn int(&mut self, kind: u8) -> Result<i32, ThriftError> {
        is(kind, I32)?;
        self.zigzag()?.try_into().map_err(|_| TOO_LONG)
    }

    /// Skips a field that must be text, and returns its length.
    pub(super) fn text(&mut self, kind: u8) -> Result<usize, ThriftError> {
        is(kind, BINARY)?;
        let before = self.at;
        let length = self.varint()?;
        self.pass(length)?;
        // With the bytes of the length itself: callers want a bound, and need not be exact.
        Ok(self.at - before)
    }

    /// Skips a field that must have a type.
    pub(super) fn skip_as(&mut self, kind: u8, expected: u8) -> Result<(), ThriftError> {
        is(kind, expected)?;
        self.skip(kind)
    }

    /// Skips a field of any type.
    pub(super) fn skip(&mut self, kind: u8) -> Result<(), ThriftError> {
        self.skip_value(kind, 0)
    }

    fn byte(&mut self) -> Result<u8, ThriftError> {
        let byte = *self.bytes.get(self.at).ok_or(ThriftError::Cut)?;
        self.at += 1;
        Ok(byte)
    }

    fn pass(&mut self, length: u64) -> Result<(), ThriftError> {
        let rest = self.bytes.len() - self.at;
        let length = usize::try_from(length).ok().filter(|length| *length <= rest);
        self.at += length.ok_or(ThriftError::Cut)?;
        Ok(())
    }

    /// Reads a varint: seven bits per byte, lowest first.
    fn varint(&mut self) -> Result<u64, ThriftError> {
        let mut number = 0;
        for shift in (0..u64::BITS).step_by(7) {
            let byte = self.byte()?;
            let bits = u64::from(byte & 0x7F);
            // Bits beyond the 64th would be lost in silence, and another reader may keep them.
            if bits << shift >> shift != bits {
                break;
            }
            number |= bits << shift;
            if byte < 0x80 {
                return Ok(number);
            }
        }
        Err(TOO_LONG)
    }

    fn zigzag(&mut self) -> Result<i64, ThriftError> {
        let number = self.varint()?;
        Ok((number >> 1) as i64 ^ -((number & 1) as i64))
    }

    /// Reads the type and number of a list's elements. Each element takes at least one byte, which
    /// bounds the number.
    fn list(&mut self) -> Result<(u8, u64), ThriftError> {
        let header = self.byte()?;
        let count = match header >> 4 {
            0x0F => self.varint()?,
            few => u64::from(few),
        };
        if count > (self.bytes.len() - self.at) as u64 {
            return Err(ThriftError::Cut);
        }
        Ok((header & 0x0F, count))
    }

    fn skip_value(&mut self, kind: u8, depth: u8) -> Result<(), ThriftError> {
        if depth > DEPTH {
            return Err(ThriftError::Not("it is nested too deep"));
        }
        match kind {
            TRUE | FALSE => Ok(()),
            BYTE => self.pass(1),
            I16 | I32 | I64 => self.varint().map(drop),
            DOUBLE => self.pass(8),
            BINARY => self.text(BINARY).map(drop),
            LIST | SET => {
                let (element, count) = self.list()?;
                (0..count).try_for_each(|_| self.skip_element(element, depth + 1))
            }
            MAP => {
                let count = self.varint()?;
                // An empty map has no byte for the types of its elements.
                if count == 0 {
                    return Ok(());
                }
                let kinds = self.byte()?;
                (0..count).try_for_each(|_| {
                    self.skip_element(kinds >> 4, depth + 1)?;
                    self.skip_element(kinds & 0x0F, depth + 1)
                })
            }
            STRUCT => self.fields(&mut |reader, _, kind| reader.skip_value(kind, depth + 1)),
            _ => Err(ThriftError::Not("a field has an unknown type")),
        }
    }

    /// Skips an element. Readers disagree on the length of a boolean element, so those are rejected.
    fn skip_element(&mut self, kind: u8, depth: u8) -> Result<(), ThriftError> {
        match kind {
            TRUE | FALSE => Err(ThriftError::Not("it has a list that nobody knows")),
            kind => self.skip_value(kind, depth),
        }
    }
}

const TOO_LONG: ThriftError = ThriftError::Not("a number is too long");

/// Checks the type of a field. One constant stands for both types of a boolean.
fn is(kind: u8, expected: u8) -> Result<(), ThriftError> {
    let kind = if kind == FALSE { TRUE } else { kind };
    match kind == expected {
        true => Ok(()),
        false => Err(ThriftError::Not("a field has a type that it cannot have")),
    }
}
