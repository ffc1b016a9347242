//! A loadable extension of DuckDB: `url_canonical` and other scalar functions of URLs, by the library `uniqurl`.
//!
//! - `functions`: what each function answers for one row; safe code, which knows nothing of DuckDB
//! - `ffi`: the C API: registers the functions, and passes vectors to them and back

mod functions;
mod ffi;
