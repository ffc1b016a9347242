//! Lines of a set that hold more than the key: the columns of the record that is kept.

use std::borrow::Cow;
use std::path::Path;

use crate::batch::{WorkBatch, without_host};
use crate::output::{CanonicalBytes, Field, Layout, LineForm, Row};
use crate::plan::JobPlan;
use crate::split::{self, Split};
use uniqurl::internal::{AllocError, alloc};
use uniqurl_formats::record::{Carrier, Extracted, Values};
use uniqurl_store::keep_policy::KeepPolicy;
use uniqurl_text::{Printable, Secrets, redact};

/// The content of a line of a set.
#[derive(Debug, Clone, Copy)]
pub(super) struct LineColumns<'a> {
    pub(super) layout: Layout<'a>,
    /// The columns that are extracted from records: [`Layout::carry`], and the one they are compared by.
    extracted: &'a [String],
    /// Which record a line is about.
    pub(super) policy: KeepPolicy,
    secrets: Secrets,
}

impl<'a> LineColumns<'a> {
    pub(super) fn new(plan: &'a JobPlan, extracted: &'a [String]) -> Self {
        let (policy, output) = (&plan.policy, &plan.output);
        let counted = plan.dedup().is_some_and(|dedup| dedup.count);
        let layout = Layout {
            fields: match &output.fields[..] {
                [] => Field::of_key(policy.key, counted),
                fields => fields,
            },
            carry: &output.carry,
            bytes: CanonicalBytes::of(&plan.normalizer),
            form: output.form,
            routes: policy.routes.as_deref(),
            has_slugs: policy.slugs.is_some(),
        };
        Self { layout, extracted, policy: policy.keep.policy(), secrets: output.secrets }
    }
}

/// Appends a line of columns for each record that is the first of its key, in order; after the number of
/// its output, if lines are divided here.
pub(super) fn format_columns(
    batch: &WorkBatch,
    columns: LineColumns<'_>,
    split: Option<Split>,
    path: &Path,
    is_new: impl Fn(usize) -> bool,
    out: &mut Vec<u8>,
) -> Result<(), AllocError> {
    each_row(batch, columns, path, is_new, |sequence, row, _, room| {
        alloc::try_reserve(out, room)?;
        split::mark(split, batch.text.get(batch.keys[sequence]), out);
        row.append(&columns.layout, out);
        Ok(())
    })
}

/// Visits the wanted records, in order: the number of each, its row, the value it is compared by, and an
/// upper bound for the bytes of the row.
pub(super) fn each_row<'s>(
    batch: &'s WorkBatch,
    columns: LineColumns<'_>,
    path: &Path,
    is_wanted: impl Fn(usize) -> bool,
    mut visit: impl FnMut(usize, &Row<'_>, &[u8], usize) -> Result<(), AllocError>,
) -> Result<(), AllocError> {
    let (Some(chunk), Some(extras)) = (&batch.text.chunk, &batch.extras) else { return Ok(()) };
    let file = match columns.layout.form {
        LineForm::Tabs => Printable(path.as_os_str().as_encoded_bytes()).to_string().into_bytes(),
        // As the objects of `--rejects` have it.
        LineForm::Json => path.as_os_str().as_encoded_bytes().to_vec(),
        LineForm::Places(_) => Vec::new(),
    };
    let mut carrier = extras.format.as_ref().map(|format| Carrier::new(format, columns.extracted));
    let mut values = Values::default();
    let mut decoded = extras.decoded.iter();
    let mut canonical = batch.canonical().iter().enumerate();
    for (line, found) in batch.text.all_records() {
        if found == Extracted::Skipped {
            if let Some(carrier) = &mut carrier {
                // A skipped line may be a header, which names the columns of later records.
                carrier.pass(line.of(chunk.bytes()));
            }
            continue;
        }
        let Some((sequence, url)) = canonical.next() else { break };
        let decoded = if url.has_form() { decoded.next().map(|(_, path)| path) } else { None };
        // Only now, since unwanted records have decoded paths too.
        if !is_wanted(sequence) {
            continue;
        }
        // In a log, the original URL excludes the host that was put before it.
        let original: Cow<'s, [u8]> = batch
            .text
            .found_url(found)
            .map_or_else(Cow::default, |(url, prefix)| without_host(url, prefix));
        if let Some(carrier) = &mut carrier {
            #[cfg(feature = "tables")]
            match chunk.rows() {
                Some(rows) => carrier.row(chunk.bytes(), rows, sequence, &mut values)?,
                None => carrier.values(line.of(chunk.bytes()), &mut values)?,
            }
            #[cfg(not(feature = "tables"))]
            carrier.values(line.of(chunk.bytes()), &mut values)?;
        }
        let is_masked = columns.secrets == Secrets::Masked;
        let mut masked = Vec::new();
        if is_masked {
            redact(&original, &mut masked);
        }
        // The value after the carried ones is the one that records are compared by.
        let carry = columns.layout.carry.len();
        let masked_carry: Vec<Option<Vec<u8>>> = match &carrier {
            Some(carrier) if is_masked => {
                let mask = |n: usize| {
                    let mut masked = Vec::new();
                    carrier.mask(n, values.get(n)?, &mut masked);
                    Some(masked)
                };
                (0..carry).map(mask).collect()
            }
            _ => Vec::new(),
        };
        let carried: Vec<Option<&[u8]>> = match is_masked {
            true => masked_carry.iter().map(Option::as_deref).collect(),
            false => (0..carry).map(|n| values.get(n)).collect(),
        };
        let row = Row {
            canonical: batch.text.get(*url),
            original: if is_masked { &masked } else { &original },
            decoded: decoded.unwrap_or_default(),
            input: batch.input,
            file: &file,
            record: batch.number_in_input(sequence),
            offset: chunk.offset_of(sequence, line.start),
            carried: &carried,
        };
        // The longest columns are a surt and an escaped text, which JSON escapes once more.
        let growth = if columns.layout.form == LineForm::Json { 6 } else { 4 };
        let column = growth * (row.canonical.len() + row.original.len() + row.decoded.len());
        // JSON escapes a byte by at most six.
        let carried = carried.iter().flatten().map(|value| 6 * value.len()).sum::<usize>();
        let room = columns.layout.fields.len() * (column + file.len() + 64) + carried + 8 * carry;
        visit(sequence, &row, values.get(carry).unwrap_or_default(), room)?;
    }
    Ok(())
}
