//! The rejected records of a batch, as JSON lines.

use std::path::Path;

use crate::batch::WorkBatch;
use crate::output::Object;
use uniqurl_text::Secrets;

pub(super) fn format(batch: &mut WorkBatch, path: &Path, secrets: Secrets) {
    let Some(chunk) = &batch.text.chunk else { return };
    if batch.rejected.is_empty() {
        return;
    }
    let file = path.as_os_str().as_encoded_bytes();
    let mut out = std::mem::take(&mut batch.out.rejects);
    for reject in &batch.rejected {
        let mut raw = batch.raw(reject);
        let mut masked = Vec::new();
        if secrets == Secrets::Masked {
            batch.mask_raw(reject, &mut masked);
            raw = &masked;
        }
        let number = reject.sequence as usize;
        Object::at_end_of(&mut out)
            .bytes("file", file)
            .number("offset", chunk.offset_of(number, reject.line.start))
            .number("record", batch.number_in_input(number))
            .names("codes", reject.reject.in_order().map(|code| code.name()))
            .number("at", reject.reject.at as u64)
            .bytes("raw", raw)
            .end_line();
    }
    batch.out.rejects = out;
}
