//! The stable C API of DuckDB: the only file with unsafe code.
//!
//! In: the entry point that DuckDB calls after it has loaded the file, and a callback for each vector of rows.
//! Out: registered functions, values in DuckDB's vectors, and errors of queries.
//!
//! DuckDB passes a table of functions. It has grown at its end since v1.2.0, so the table of an older version is
//! shorter. The loader of `libduckdb-sys` copies all that the newest one has and would read beyond the end of such a
//! table. [`Api::read`] reads only fields that v1.2.0 has, and so one file serves every later version.
//!
//! No panic crosses into DuckDB: both functions that it calls run their work in `catch_unwind`.
#![allow(unsafe_code)]

use std::ffi::{CStr, CString, c_char, c_void};
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;
use std::slice;
use std::sync::OnceLock;

use libduckdb_sys::*;

use crate::functions::{Function, Type, Value, Worker};

/// The version of the C API in which all functions below are.
const VERSION: &CStr = c"v1.2.0";

/// The arguments of the longest signature.
const MOST_ARGUMENTS: usize = 3;

/// Declares the struct `Api`, and how it is read from DuckDB's table. The crate's struct has each function as an
/// `Option` of the same type, so a wrong signature here does not compile.
macro_rules! api {
    ($($name:ident $field:ident($($argument:ty),*) $(-> $result:ty)?;)*) => {
        /// The functions of DuckDB that the extension calls.
        struct Api {
            $($name: unsafe extern "C" fn($($argument),*) $(-> $result)?,)*
        }

        impl Api {
            /// Copies the functions out of DuckDB's table; `None` if one is missing.
            ///
            /// # Safety
            ///
            /// `table` points to a table of v1.2.0 or later.
            unsafe fn read(table: *const duckdb_ext_api_v1) -> Option<Self> {
                $(
                    // SAFETY: the field is within the part of the table that v1.2.0 has (the caller's promise), and no
                    // reference to the whole struct, whose end may be missing, is made.
                    let $name = unsafe { (&raw const (*table).$field).read() }?;
                )*
                Some(Self { $($name),* })
            }
        }
    };
}

api! {
    connect duckdb_connect(duckdb_database, *mut duckdb_connection) -> duckdb_state;
    disconnect duckdb_disconnect(*mut duckdb_connection);
    chunk_size duckdb_data_chunk_get_size(duckdb_data_chunk) -> idx_t;
    chunk_columns duckdb_data_chunk_get_column_count(duckdb_data_chunk) -> idx_t;
    chunk_vector duckdb_data_chunk_get_vector(duckdb_data_chunk, idx_t) -> duckdb_vector;
    vector_data duckdb_vector_get_data(duckdb_vector) -> *mut c_void;
    vector_validity duckdb_vector_get_validity(duckdb_vector) -> *mut u64;
    make_validity duckdb_vector_ensure_validity_writable(duckdb_vector);
    set_invalid duckdb_validity_set_row_invalid(*mut u64, idx_t);
    assign_bytes duckdb_vector_assign_string_element_len(duckdb_vector, idx_t, *const c_char, idx_t);
    create_type duckdb_create_logical_type(duckdb_type) -> duckdb_logical_type;
    destroy_type duckdb_destroy_logical_type(*mut duckdb_logical_type);
    create_function duckdb_create_scalar_function() -> duckdb_scalar_function;
    destroy_function duckdb_destroy_scalar_function(*mut duckdb_scalar_function);
    set_name duckdb_scalar_function_set_name(duckdb_scalar_function, *const c_char);
    add_parameter duckdb_scalar_function_add_parameter(duckdb_scalar_function, duckdb_logical_type);
    set_return_type duckdb_scalar_function_set_return_type(duckdb_scalar_function, duckdb_logical_type);
    set_extra_info duckdb_scalar_function_set_extra_info(
        duckdb_scalar_function, *mut c_void, duckdb_delete_callback_t);
    set_callback duckdb_scalar_function_set_function(duckdb_scalar_function, duckdb_scalar_function_t);
    extra_info duckdb_scalar_function_get_extra_info(duckdb_function_info) -> *mut c_void;
    set_error duckdb_scalar_function_set_error(duckdb_function_info, *const c_char);
    create_set duckdb_create_scalar_function_set(*const c_char) -> duckdb_scalar_function_set;
    destroy_set duckdb_destroy_scalar_function_set(*mut duckdb_scalar_function_set);
    add_to_set duckdb_add_scalar_function_to_set(duckdb_scalar_function_set, duckdb_scalar_function) -> duckdb_state;
    register_set duckdb_register_scalar_function_set(duckdb_connection, duckdb_scalar_function_set) -> duckdb_state;
}

/// The functions, once the extension is loaded. A process may load it into several databases: all have the same.
static API: OnceLock<Api> = OnceLock::new();

/// The entry point. Its name is that of the file, and `_init_c_api`.
///
/// # Safety
///
/// DuckDB calls it with its own pointers, while it loads the file.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn uniqurl_init_c_api(
    info: duckdb_extension_info,
    access: *const duckdb_extension_access,
) -> bool {
    let load = || {
        // SAFETY: `info` and `access` are those of the call, which has not returned.
        unsafe { load(info, access) }
    };
    let Err(why) = catch_unwind(load).unwrap_or(Err("uniqurl: a panic, which is a bug")) else {
        return true;
    };
    // The messages are constants without a NUL.
    let why = CString::new(why).unwrap_or_default();
    // SAFETY: as above; DuckDB copies the message before it returns.
    unsafe { (*access).set_error.map(|set_error| set_error(info, why.as_ptr())) };
    false
}

/// Reads the table of functions, and registers those of this extension.
///
/// # Safety
///
/// As [`uniqurl_init_c_api`].
unsafe fn load(
    info: duckdb_extension_info,
    access: *const duckdb_extension_access,
) -> Result<(), &'static str> {
    const OLD: &str = "uniqurl needs the C API v1.2.0 of DuckDB";
    // SAFETY: `access` is valid during the call. DuckDB returns null, or a table that has at least what the version
    // asked for has, and that lives until the entry point returns.
    let api = unsafe {
        let table = (*access).get_api.ok_or(OLD)?(info, VERSION.as_ptr());
        if table.is_null() {
            return Err(OLD);
        }
        Api::read(table.cast()).ok_or(OLD)?
    };
    let api = API.get_or_init(|| api);
    let mut connection = ptr::null_mut();
    // SAFETY: `access` as above; the database that DuckDB returns, if it is not null, is open during the call, and
    // `connect` fills `connection` when it succeeds.
    unsafe {
        let database = (*access).get_database.ok_or(OLD)?(info);
        if database.is_null() || (api.connect)(*database, &mut connection) != DuckDBSuccess {
            return Err("uniqurl cannot connect to the database");
        }
    }
    // SAFETY: the connection is open until `disconnect`.
    let registered =
        Function::ALL.iter().try_for_each(|entry| unsafe { register(api, connection, entry) });
    // SAFETY: the connection was opened above, and nothing uses it afterwards.
    unsafe { (api.disconnect)(&mut connection) };
    registered
}

/// Registers one function with its four signatures: text or blob, with and without a profile.
///
/// # Safety
///
/// The connection is open.
unsafe fn register(
    api: &Api,
    connection: duckdb_connection,
    (name, function): &'static (&'static str, Function),
) -> Result<(), &'static str> {
    let c_name = CString::new(*name).map_err(|_| "a name with a NUL")?;
    // SAFETY: the arguments of each call were made by calls before, and are destroyed only after the last call that
    // takes them: DuckDB copies a type into a function, a function into a set and a set into its catalog. The extra
    // information is a static that nothing destroys, and is only read. Destroying takes null as well.
    unsafe {
        let mut types = [
            DUCKDB_TYPE_DUCKDB_TYPE_VARCHAR,
            DUCKDB_TYPE_DUCKDB_TYPE_BLOB,
            DUCKDB_TYPE_DUCKDB_TYPE_BOOLEAN,
        ]
        .map(|id| (api.create_type)(id));
        let [text, blob, boolean] = types;
        let mut set = (api.create_set)(c_name.as_ptr());
        let mut is_made = true;
        for (url, has_profile) in [(text, false), (text, true), (blob, false), (blob, true)] {
            let mut one = (api.create_function)();
            (api.set_name)(one, c_name.as_ptr());
            (api.add_parameter)(one, url);
            for _ in 1..function.required() + usize::from(has_profile) {
                (api.add_parameter)(one, text);
            }
            let returned = match function.returns() {
                Type::OfUrl => url,
                Type::Text => text,
                Type::Boolean => boolean,
            };
            (api.set_return_type)(one, returned);
            (api.set_extra_info)(one, ptr::from_ref(function).cast_mut().cast(), None);
            (api.set_callback)(one, Some(answer_vector));
            is_made &= (api.add_to_set)(set, one) == DuckDBSuccess;
            (api.destroy_function)(&mut one);
        }
        is_made = is_made && (api.register_set)(connection, set) == DuckDBSuccess;
        (api.destroy_set)(&mut set);
        for one in &mut types {
            (api.destroy_type)(one);
        }
        is_made
            .then_some(())
            .ok_or("uniqurl cannot register its functions: are there others of these names?")
    }
}

/// The callback: DuckDB calls it from any of its threads, with vectors that no other thread has.
unsafe extern "C" fn answer_vector(
    info: duckdb_function_info,
    input: duckdb_data_chunk,
    output: duckdb_vector,
) {
    // It is set before any function is registered.
    let Some(api) = API.get() else { return };
    // A panic leaves nothing behind: the vectors are DuckDB's, which drops them after an error.
    let answer = AssertUnwindSafe(|| {
        // SAFETY: the arguments are those of the call, which has not returned.
        unsafe { answer_rows(api, info, input, output) }
    });
    let answered = catch_unwind(answer);
    if let Err(why) = answered.unwrap_or_else(|_| Err("uniqurl: a panic, which is a bug".into())) {
        // Names are escaped in messages, so there is no NUL in them.
        let why = CString::new(why).unwrap_or_default();
        // SAFETY: `info` is that of the call; DuckDB copies the message before it returns.
        unsafe { (api.set_error)(info, why.as_ptr()) };
    }
}

/// Answers the rows of a chunk.
///
/// # Safety
///
/// The arguments are those of a callback that has not returned.
unsafe fn answer_rows(
    api: &Api,
    info: duckdb_function_info,
    input: duckdb_data_chunk,
    output: duckdb_vector,
) -> Result<(), String> {
    // SAFETY: `register` has set a `&'static Function` as the extra information of each function.
    let function = unsafe { *(api.extra_info)(info).cast::<Function>() };
    // SAFETY: the chunk is valid during the call.
    let (rows, count) = unsafe { ((api.chunk_size)(input), (api.chunk_columns)(input)) };
    if rows == 0 {
        return Ok(());
    }
    // SAFETY: the columns are below their number, and of type VARCHAR or BLOB by the signatures of `register`. DuckDB
    // flattens the chunk before it calls, so each has `rows` values. Nobody changes them during the call.
    let column = |i| unsafe { Column::new(api, (api.chunk_vector)(input, i), rows as usize) };
    let columns: Vec<Column> = (0..count).map(column).collect();
    // SAFETY: the output is a flat vector of at least `rows` values; if the function returns booleans, of these.
    let data = unsafe { (api.vector_data)(output) };
    let mut output = Output { api, vector: output, data, collected: Vec::new(), ends: Vec::new() };
    let mut worker = Worker::new(function);
    for row in 0..rows as usize {
        // A row without a NULL has as many arguments as there are columns.
        let mut arguments = [&[][..]; MOST_ARGUMENTS];
        let found = columns.iter().map_while(|column| column.bytes(row));
        let found = arguments.iter_mut().zip(found).map(|(place, bytes)| *place = bytes).count();
        let is_complete = found == columns.len();
        let value = if is_complete { worker.answer(&arguments[..found])? } else { Value::Null };
        output.write(row, value);
    }
    output.flush();
    Ok(())
}

/// A flat column of texts or blobs.
#[derive(Clone, Copy)]
struct Column<'a> {
    values: &'a [duckdb_string_t],
    /// A bit for each value that is not NULL; null if none is NULL.
    validity: Option<&'a [u64]>,
}

impl<'a> Column<'a> {
    /// # Safety
    ///
    /// The vector is flat, of type VARCHAR or BLOB, has `rows` values, at least one, and nobody changes it during `'a`.
    unsafe fn new(api: &Api, vector: duckdb_vector, rows: usize) -> Self {
        // SAFETY: the data of such a vector are `rows` values of `duckdb_string_t`, a union, which need not be initialized
        // where the value is NULL. Its validity is null or has a bit for each of them in words of 64 bits. Both are
        // aligned for their types.
        unsafe {
            let values = slice::from_raw_parts((api.vector_data)(vector).cast(), rows);
            let validity = (api.vector_validity)(vector);
            let words = rows.div_ceil(64);
            let validity = (!validity.is_null()).then(|| slice::from_raw_parts(validity, words));
            Self { values, validity }
        }
    }

    /// The bytes of a value; `None` if it is NULL.
    fn bytes(&self, row: usize) -> Option<&'a [u8]> {
        if self.validity.is_some_and(|words| words[row / 64] >> (row % 64) & 1 == 0) {
            return None;
        }
        let value = &self.values[row].value;
        // SAFETY: a value that is not NULL is initialized. Both forms begin with the length. One of up to 12 bytes holds
        // them itself, and a longer one points to them; they live as long as the vector.
        unsafe {
            let length = value.inlined.length as usize;
            let start = if length <= INLINE {
                (&raw const value.inlined.inlined).cast::<u8>()
            } else {
                value.pointer.ptr.cast_const().cast()
            };
            Some(slice::from_raw_parts(start, length))
        }
    }
}

/// The vector of the answers.
///
/// A call of the API for each value took longer than to normalize it. So values are collected, and DuckDB copies them in
/// one call, as if they were one. Then each row is given its part of that copy: the API describes the layout of
/// `duckdb_string_t`, and the copy lives as long as the vector.
struct Output<'a> {
    api: &'a Api,
    vector: duckdb_vector,
    /// The values of the vector, which no other thread has: it has room for all rows of the call.
    data: *mut c_void,
    collected: Vec<u8>,
    /// The rows of the collected values, and where they end.
    ends: Vec<(usize, usize)>,
}

/// Values of up to this length are in `duckdb_string_t` itself.
const INLINE: usize = 12;
/// Longer values are not collected: to copy them twice costs more than a call.
const LONG: usize = 4096;
/// Bytes that are collected before DuckDB copies them. They stay in the second-level cache.
const PIECE: usize = 64 << 10;

impl Output<'_> {
    fn write(&mut self, row: usize, value: Value<'_>) {
        match value {
            // SAFETY: the row is one of the call's, and the validity is made before it is asked for.
            Value::Null => unsafe {
                (self.api.make_validity)(self.vector);
                (self.api.set_invalid)((self.api.vector_validity)(self.vector), row as idx_t);
            },
            // SAFETY: only a function that returns BOOLEAN has such values; its data are one byte for each row.
            Value::Boolean(is) => unsafe { self.data.cast::<bool>().add(row).write(is) },
            Value::Bytes(bytes) if bytes.len() > INLINE && bytes.len() <= LONG => {
                self.collected.extend_from_slice(bytes);
                self.ends.push((row, self.collected.len()));
                if self.collected.len() >= PIECE {
                    self.flush();
                }
            }
            Value::Bytes(bytes) => self.assign(row, bytes),
        }
    }

    /// Has DuckDB copy one value.
    fn assign(&self, row: usize, bytes: &[u8]) {
        let (start, length) = (bytes.as_ptr().cast(), bytes.len() as idx_t);
        // SAFETY: a function with bytes returns VARCHAR or BLOB, and the row is one of the call's.
        unsafe { (self.api.assign_bytes)(self.vector, row as idx_t, start, length) };
    }

    /// Writes the collected values.
    fn flush(&mut self) {
        let Some(&(first, _)) = self.ends.first() else { return };
        let collected = &self.collected;
        let values = self.data.cast::<duckdb_string_t>();
        // SAFETY: the row is one of the call's, and all zeros are an empty value. It tells below whether DuckDB copied.
        unsafe { values.add(first).write(mem::zeroed()) };
        self.assign(first, collected);
        // SAFETY: the value was written above. It has the length of all values only if DuckDB copied them, which it does
        // not where a text is not UTF-8; they are longer than `INLINE`, so then it has a pointer.
        let copy = unsafe {
            let copy = values.add(first).read().value.pointer;
            (copy.length as usize == collected.len()).then_some(copy.ptr)
        };
        let mut start = 0;
        for &(row, end) in &self.ends {
            let bytes = &collected[start..end];
            match copy {
                // SAFETY: the row is one of the call's. The part is within the copy, which belongs to the same vector, and
                // it is longer than `INLINE`, so its value holds a pointer and the first bytes.
                Some(copy) => unsafe {
                    let prefix = [0, 1, 2, 3].map(|i| bytes[i] as c_char);
                    let pointer = duckdb_string_t__bindgen_ty_1__bindgen_ty_1 {
                        length: bytes.len() as u32,
                        prefix,
                        ptr: copy.add(start),
                    };
                    let value = duckdb_string_t__bindgen_ty_1 { pointer };
                    values.add(row).write(duckdb_string_t { value });
                },
                // No form of a text is anything else than text, so this is for a bug alone: the first row stays NULL.
                None => self.assign(row, bytes),
            }
            start = end;
        }
        self.collected.clear();
        self.ends.clear();
    }
}
