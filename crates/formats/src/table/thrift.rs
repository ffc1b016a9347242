//! Reads Thrift's compact protocol, to validate the claims of a file before a library trusts them.
//! Nothing is stored.
//!
//! Input is a struct and the expected types of its fields. Output is its length; each integer, boolean,
//! text and list goes to the caller on the way. A field with an unexpected type is an error, because
//! the library goes by field numbers alone and must read the same values. Unknown fields are skipped by
//! their own types, as the library does.

/// The expected type of a field.
#[derive(Debug, Clone, Copy)]
pub(super) enum Shape {
    /// Only as a field, not as a list element.
    Bool,
    Byte,
    /// An integer of this width.
    Int(Width),
    Binary,
    List(&'static Shape),
    /// Fields by their numbers.
    Struct(&'static [(i16, Shape)]),
}

/// The width of an integer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Width {
    B32,
    B64,
}

pub(super) const I32: Shape = Shape::Int(Width::B32);
pub(super) const I64: Shape = Shape::Int(Width::B64);

/// Why a struct cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ThriftError {
    /// It continues past the available bytes.
    Cut,
    /// It violates the protocol or its shape, or the caller rejects it.
    Not(&'static str),
}

/// A value found in a struct, for the caller to judge. The first number is the depth below the
/// outermost struct, the second the field number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Event {
    /// An integer field.
    Int(u8, i16, i64),
    /// A boolean field.
    Bool(u8, i16, bool),
    /// A field of this many text bytes.
    Binary(u8, i16, u64),
    /// The start of a list of this many elements.
    List(u8, i16, u64),
    /// The end of a list element.
    Element(u8),
    /// The start of a struct field.
    Struct(u8, i16),
}

/// Deepest nesting of structs, lists and maps.
const DEPTH: u8 = 32;

/// Reads a struct from the start of `bytes` and returns its length.
pub(super) fn read(
    bytes: &[u8],
    fields: &'static [(i16, Shape)],
    judge: &mut dyn FnMut(Event) -> Result<(), ThriftError>,
) -> Result<usize, ThriftError> {
    let mut reader = ThriftReader { bytes, at: 0 };
    reader.fields(0, fields, judge)?;
    Ok(reader.at)
}

struct ThriftReader<'a> {
    bytes: &'a [u8],
    at: usize,
}

// The types of the protocol.
const TRUE: u8 = 1;
const FALSE: u8 = 2;
const BYTE: u8 = 3;
const I16_TYPE: u8 = 4;
const I32_TYPE: u8 = 5;
const I64_TYPE: u8 = 6;
const DOUBLE: u8 = 7;
const BINARY: u8 = 8;
const LIST: u8 = 9;
const SET: u8 = 10;
const MAP: u8 = 11;
const STRUCT: u8 = 12;

impl Shape {
    fn is(&self, kind: u8) -> bool {
        match self {
            Shape::Bool => matches!(kind, TRUE | FALSE),
            Shape::Int(Width::B32) => kind == I32_TYPE,
            Shape::Int(Width::B64) => kind == I64_TYPE,
            Shape::Byte => kind == BYTE,
            Shape::Binary => kind == BINARY,
            Shape::List(_) => kind == LIST,
            Shape::Struct(_) => kind == STRUCT,
        }
    }
}

impl ThriftReader<'_> {
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
            if bits << shift >> shift != bits {
                break;
            }
            number |= bits << shift;
            if byte < 0x80 {
                return Ok(number);
            }
        }
        Err(ThriftError::Not("a number is too long"))
    }

    fn int(&mut self, width: Width) -> Result<i64, ThriftError> {
        let zigzag = self.varint()?;
        let number = (zigzag >> 1) as i64 ^ -((zigzag & 1) as i64);
        match width {
            Width::B32 if i32::try_from(number).is_err() => {
                Err(ThriftError::Not("a number is too long"))
            }
            _ => Ok(number),
        }
    }

    fn fields(
        &mut self,
        depth: u8,
        fields: &'static [(i16, Shape)],
        judge: &mut dyn FnMut(Event) -> Result<(), ThriftError>,
    ) -> Result<(), ThriftError> {
        let mut last = 0_i16;
        loop {
            let header = self.byte()?;
            if header == 0 {
                return Ok(());
            }
            let kind = header & 0x0F;
            let id = match header >> 4 {
                0 => i16::try_from(self.int(Width::B32)?).ok(),
                delta => last.checked_add(i16::from(delta)),
            };
            let id = id.ok_or(ThriftError::Not("a field has a number that none can have"))?;
            last = id;
            match fields.iter().find(|(known, _)| *known == id) {
                Some((_, shape)) if shape.is(kind) => self.value(depth, id, kind, shape, judge)?,
                Some(_) => return Err(ThriftError::Not("a field has a type that it cannot have")),
                None => self.skip(kind, depth + 1)?,
            }
        }
    }

    fn value(
        &mut self,
        depth: u8,
        id: i16,
        kind: u8,
        shape: &'static Shape,
        judge: &mut dyn FnMut(Event) -> Result<(), ThriftError>,
    ) -> Result<(), ThriftError> {
        match shape {
            Shape::Int(width) => judge(Event::Int(depth, id, self.int(*width)?)),
            Shape::Struct(fields) => {
                judge(Event::Struct(depth, id))?;
                self.fields(depth + 1, fields, judge)
            }
            Shape::List(of) => {
                let (element, count) = self.list()?;
                if !of.is(element) {
                    return Err(ThriftError::Not("a list is of a type that it cannot be of"));
                }
                judge(Event::List(depth, id, count))?;
                for _ in 0..count {
                    self.value(depth, id, element, of, judge)?;
                    judge(Event::Element(depth))?;
                }
                Ok(())
            }
            Shape::Binary => {
                let length = self.varint()?;
                self.pass(length)?;
                judge(Event::Binary(depth, id, length))
            }
            Shape::Bool => judge(Event::Bool(depth, id, kind == TRUE)),
            Shape::Byte => self.skip(kind, depth + 1),
        }
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

    fn skip(&mut self, kind: u8, depth: u8) -> Result<(), ThriftError> {
        if depth > DEPTH {
            return Err(ThriftError::Not("it is nested too deep"));
        }
        match kind {
            // A boolean field has its value in the type.
            TRUE | FALSE => Ok(()),
            BYTE => self.pass(1),
            I16_TYPE | I32_TYPE | I64_TYPE => self.varint().map(drop),
            DOUBLE => self.pass(8),
            BINARY => {
                let length = self.varint()?;
                self.pass(length)
            }
            LIST | SET => {
                let (element, count) = self.list()?;
                (0..count).try_for_each(|_| self.element(element, depth + 1))
            }
            MAP => {
                let count = self.varint()?;
                if count == 0 {
                    return Ok(());
                }
                let kinds = self.byte()?;
                (0..count).try_for_each(|_| {
                    self.element(kinds >> 4, depth + 1)?;
                    self.element(kinds & 0x0F, depth + 1)
                })
            }
            STRUCT => loop {
                let header = self.byte()?;
                if header == 0 {
                    return Ok(());
                }
                if header >> 4 == 0 {
                    self.varint()?;
                }
                self.skip(header & 0x0F, depth + 1)?;
            },
            _ => Err(ThriftError::Not("a field has an unknown type")),
        }
    }

    /// Skips an element. Readers disagree on the length of a boolean element, so those are rejected.
    fn element(&mut self, kind: u8, depth: u8) -> Result<(), ThriftError> {
        match kind {
            TRUE | FALSE => Err(ThriftError::Not("it has a list that nobody knows")),
            kind => self.skip(kind, depth),
        }
    }
}
