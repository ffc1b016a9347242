//! The rejected records of a batch, as JSON lines.

use std::path::Path;

use crate::batch::WorkBatch;
use crate::output::json::{self, FileMember};
use uniqurl_text::Secrets;

pub(super) fn format(batch: &mut WorkBatch, path: &Path, secrets: Secrets) {
    let Some(chunk) = &batch.text.chunk else { return };
    if batch.rejected.is_empty() {
        return;
    }
    let file = FileMember::new(path);
    let mut out = std::mem::take(&mut batch.out.rejects);
    for reject in &batch.rejected {
        let mut raw = batch.raw(reject);
        let mut masked = Vec::new();
        if secrets == Secrets::Masked {
            batch.mask_raw(reject, &mut masked);
            raw = &masked;
        }
        json::Rejected {
            file: &file,
            offset: chunk.offset_of(reject.sequence as usize, reject.line.start),
            record: batch.number_in_input(reject.sequence as usize),
            codes: reject.reject.in_order(),
            url_offset: reject.reject.at as u64,
            raw,
        }
        .write(&mut out);
    }
    batch.out.rejects = out;
}
