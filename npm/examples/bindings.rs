//! Writes `dist/wasm.js`, the bindings of the compiled module, with its types, and the module beside it.

use std::error::Error;
use std::path::PathBuf;

use wasm_bindgen_cli_support::Bindgen;

fn main() -> Result<(), Box<dyn Error>> {
    let target =
        std::env::var_os("CARGO_TARGET_DIR").map_or(PathBuf::from("target"), PathBuf::from);
    let module = target.join("wasm32-unknown-unknown/release/uniqurl_npm.wasm");
    Bindgen::new()
        .input_path(module)
        .web(true)?
        .omit_default_module_path(false)
        .typescript(true)
        .out_name("wasm")
        .generate("dist")?;
    Ok(())
}
