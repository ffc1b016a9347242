//! The rules about how a character is spelled, as itself or as a triplet, for every profile.

use super::Context;
use super::draft::{Draft, Place, Spelled, Unit, respell};
use crate::bytes::{Triplet, is_unreserved};
use crate::normalize::escape::{self, Component, allows};
use crate::profile::ring::{Act, CUSTOMIZABLE, Ring};
use crate::profile::{Access, Grammar, System};

/// Who says how the characters of a component are spelled.
#[derive(Debug, Clone, Copy)]
pub(super) enum Spelling<'a> {
    /// Nobody here.
    Left,
    /// The grammar. What it does not allow is encoded where the profile repairs.
    Grammar(Component, Grammar),
    Ring(&'a Ring),
    /// What prints stays; a triplet is three bytes.
    Printable,
}

impl<'a> Context<'a> {
    /// Who spells this component.
    pub(super) fn spelling(&self, place: Place, text: &[u8]) -> Spelling<'a> {
        let grammar = Spelling::Grammar(place.component(), self.profile.grammar);
        let of_system = matches!(self.profile.system, System::Servlet | System::Ring(_));
        match place {
            Place::Userinfo => grammar,
            // A host is repaired by IDNA or not at all.
            Place::Host if self.profile.access == Access::Retrieval && !is_simple(text) => {
                Spelling::Left
            }
            Place::Host => Spelling::Grammar(place.component(), Grammar::Enforced),
            Place::Path if of_system => self.ring.map_or(Spelling::Left, Spelling::Ring),
            Place::Query | Place::Fragment if of_system => Spelling::Printable,
            Place::Path | Place::Query | Place::Fragment => grammar,
        }
    }
}

/// Whether a host is plain ASCII once its unreserved triplets are decoded.
pub(super) fn is_simple(host: &[u8]) -> bool {
    let mut out = Vec::new();
    host.starts_with(b"[")
        || escape::normalize(host, escape::REG_NAME, Grammar::Enforced, 0, &mut out).is_ok()
            && !out.contains(&b'%')
}

fn spell_each(
    draft: &mut Draft,
    ctx: &Context<'_>,
    rule: impl Fn(Spelling<'_>, Unit) -> Option<Spelled>,
) -> bool {
    // The slash that ends an authority is no part of what a ring acts on.
    let has_host = draft.host.is_some();
    draft.each(|place, text| {
        let spelling = ctx.spelling(place, text);
        let from = match spelling {
            Spelling::Left => return false,
            Spelling::Ring(_) => usize::from(has_host),
            Spelling::Grammar(..) | Spelling::Printable => 0,
        };
        respell(text, from, |unit| rule(spelling, unit).unwrap_or(Spelled::AsItIs))
    })
}

pub(super) fn encode(draft: &mut Draft, ctx: &Context<'_>) -> bool {
    spell_each(draft, ctx, |spelling, unit| {
        let Unit::Byte(byte) = unit else { return None };
        let encoded = match spelling {
            Spelling::Left | Spelling::Grammar(_, Grammar::Enforced | Grammar::Ignored) => false,
            Spelling::Grammar(component, Grammar::Repaired) => !allows(component, byte),
            Spelling::Ring(ring) => ring.act(byte) == Act::Encode && !CUSTOMIZABLE.contains(byte),
            Spelling::Printable => !matches!(byte, 0x21..=0x7E),
        };
        encoded.then_some(Spelled::Triplet(byte))
    })
}

pub(super) fn ring_encode(draft: &mut Draft, ctx: &Context<'_>) -> bool {
    spell_each(draft, ctx, |spelling, unit| match (spelling, unit) {
        (Spelling::Ring(ring), Unit::Byte(byte))
            if ring.act(byte) == Act::Encode && CUSTOMIZABLE.contains(byte) =>
        {
            Some(Spelled::Triplet(byte))
        }
        _ => None,
    })
}

pub(super) fn triplet_case(draft: &mut Draft, ctx: &Context<'_>) -> bool {
    spell_each(draft, ctx, |spelling, unit| {
        let Unit::Triplet(Triplet { value, upper: false }) = unit else { return None };
        let stays = match spelling {
            Spelling::Left | Spelling::Printable => false,
            Spelling::Grammar(..) => !is_unreserved(value),
            Spelling::Ring(ring) => ring.act(value) != Act::Decode,
        };
        stays.then_some(Spelled::Triplet(value))
    })
}

pub(super) fn decode_unreserved(draft: &mut Draft, ctx: &Context<'_>) -> bool {
    spell_each(draft, ctx, |spelling, unit| match (spelling, unit) {
        (Spelling::Grammar(..) | Spelling::Ring(_), Unit::Triplet(Triplet { value, .. }))
            if is_unreserved(value) =>
        {
            Some(Spelled::Byte(value))
        }
        _ => None,
    })
}

pub(super) fn ring_decode(draft: &mut Draft, ctx: &Context<'_>) -> bool {
    spell_each(draft, ctx, |spelling, unit| match (spelling, unit) {
        (Spelling::Ring(ring), Unit::Triplet(Triplet { value, .. }))
            if ring.act(value) == Act::Decode =>
        {
            Some(Spelled::Byte(value))
        }
        _ => None,
    })
}
