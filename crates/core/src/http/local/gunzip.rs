//! Bodies that come compressed although nobody asked for it.

use super::super::HttpError;
use flate2::write::MultiGzDecoder;
use hyper::body::{Buf, Bytes};
use std::io::Write;

/// Bytes that are unpacked at once. They become a megabyte at most, so a body over its cap is left long before it is large.
const STEP: usize = 1024;

/// Unpacks gzip, piece by piece.
pub(super) struct Gunzip {
    decoder: MultiGzDecoder<Vec<u8>>,
    packed: Bytes,
    has_begun: bool,
}

impl Default for Gunzip {
    fn default() -> Self {
        Self { decoder: MultiGzDecoder::new(Vec::new()), packed: Bytes::new(), has_begun: false }
    }
}

impl Gunzip {
    /// One more piece, once all that was there is unpacked.
    pub(super) fn feed(&mut self, packed: Bytes) {
        self.has_begun |= !packed.is_empty();
        self.packed = packed;
    }

    /// What can be unpacked of what was fed; `None` once that is all.
    pub(super) fn next(&mut self) -> Option<Result<Bytes, HttpError>> {
        while !self.packed.is_empty() {
            let step = self.packed.get(..STEP.min(self.packed.len())).unwrap_or_default();
            let written = self.decoder.write(step);
            match written {
                Ok(taken) if taken > 0 => self.packed.advance(taken),
                _ => return Some(Err(HttpError::Broken)),
            }
            let unpacked = std::mem::take(self.decoder.get_mut());
            if !unpacked.is_empty() {
                return Some(Ok(unpacked.into()));
            }
        }
        None
    }

    /// What is left at the end of the body, which has to be the end of the stream as well.
    pub(super) fn finish(&mut self) -> Result<Option<Bytes>, HttpError> {
        if !std::mem::take(&mut self.has_begun) {
            return Ok(None);
        }
        self.decoder.try_finish().map_err(|_| HttpError::Broken)?;
        let unpacked = std::mem::take(self.decoder.get_mut());
        Ok((!unpacked.is_empty()).then(|| unpacked.into()))
    }
}
