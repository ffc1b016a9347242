//! The functions, one row at a time.
//!
//! In: the arguments of a row, as bytes. Out: a value, or the message of an error that ends the query. A
//! rejected URL is no error: its value is NULL.

use std::str::FromStr;
use std::sync::LazyLock;

use library::{Key, Normalizer, Profile, UnknownName};

/// A function of SQL. Its arguments are the URL, for `url_key` the name of a key, and perhaps that of a profile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Function {
    Canonical,
    Reject,
    IsCanonical,
    /// A key by its name.
    AnyKey,
    Key(Key),
}

/// The type of the values of a function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Type {
    /// That of the URL. A blob may hold bytes that are not UTF-8, and `string` keeps them.
    OfUrl,
    Text,
    Boolean,
}

impl Function {
    pub const ALL: &'static [(&'static str, Function)] = &[
        ("url_canonical", Function::Canonical),
        ("url_reject", Function::Reject),
        ("url_is_canonical", Function::IsCanonical),
        ("url_key", Function::AnyKey),
        ("url_host", Function::Key(Key::Host)),
        ("url_domain", Function::Key(Key::Domain)),
        ("url_template", Function::Key(Key::Template)),
    ];

    /// The number of arguments before the profile.
    pub fn required(self) -> usize {
        if self == Function::AnyKey { 2 } else { 1 }
    }

    pub const fn returns(self) -> Type {
        match self {
            Function::Canonical | Function::AnyKey | Function::Key(_) => Type::OfUrl,
            Function::Reject => Type::Text,
            Function::IsCanonical => Type::Boolean,
        }
    }
}

/// The value of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Value<'a> {
    Null,
    Bytes(&'a [u8]),
    Boolean(bool),
}

/// Answers the rows of one vector, with buffers that all of them share.
pub struct Worker {
    function: Function,
    normalizer: Named<&'static Normalizer>,
    key: Named<Key>,
    canonical: Vec<u8>,
    form: Vec<u8>,
}

impl Worker {
    pub fn new(function: Function) -> Self {
        let normalizer = Named::new("crawl", normalizer(Profile::Crawl));
        let key = match function {
            Function::Key(key) => Named::new(key.name(), key),
            _ => Named::new("url", Key::Url),
        };
        Self { function, normalizer, key, canonical: Vec::new(), form: Vec::new() }
    }

    /// The value for these arguments, of which none is NULL.
    ///
    /// # Errors
    ///
    /// The name of a profile or a key is unknown.
    pub fn answer<'a>(&'a mut self, arguments: &[&'a [u8]]) -> Result<Value<'a>, String> {
        let (required, profile) = arguments.split_at(self.function.required());
        if let [name] = profile {
            self.normalizer.look_up(name, |name| name.parse().map(normalizer))?;
        }
        if let [_, name] = required {
            // SQL writes names with underscores.
            self.key.look_up(name, |name| Key::from_str(&name.replace('_', "-")))?;
        }
        let (url, normalizer) = (required[0], self.normalizer.value);
        if self.function == Function::IsCanonical {
            return Ok(Value::Boolean(normalizer.is_canonical(url)));
        }
        let canonical = normalizer.canonical(url, &mut self.canonical);
        Ok(match (self.function, canonical) {
            (Function::Reject, Err(reject)) => {
                // As the column `reject` of the Python package: the codes between commas, that of the first fault first.
                self.form.clear();
                for code in reject.in_order() {
                    let comma: &[u8] = if self.form.is_empty() { b"" } else { b"," };
                    self.form.extend_from_slice(comma);
                    self.form.extend_from_slice(code.name().as_bytes());
                }
                Value::Bytes(&self.form)
            }
            (Function::Reject, Ok(_)) | (_, Err(_)) => Value::Null,
            (Function::Canonical, Ok(url)) => Value::Bytes(url.as_bytes()),
            (_, Ok(url)) => match self.key.value.of(url, &mut self.form) {
                Some(key) => Value::Bytes(key.as_bytes()),
                None => Value::Null,
            },
        })
    }
}

/// A value that was looked up by its name. The name of a profile is nearly always a constant, and DuckDB
/// passes it with every row.
struct Named<T> {
    name: Vec<u8>,
    value: T,
}

impl<T> Named<T> {
    fn new(name: &str, value: T) -> Self {
        Self { name: name.as_bytes().to_vec(), value }
    }

    fn look_up(
        &mut self,
        name: &[u8],
        find: impl FnOnce(&str) -> Result<T, UnknownName>,
    ) -> Result<(), String> {
        if name != self.name {
            self.value =
                find(&String::from_utf8_lossy(name)).map_err(|unknown| message(&unknown))?;
            self.name = name.to_vec();
        }
        Ok(())
    }
}

/// The message with all names: `Display` lists only a few of them, and a query has no `--help`.
fn message(unknown: &UnknownName) -> String {
    let text = unknown.to_string();
    if text.contains("(expected ") {
        return text;
    }
    format!("{text}; there are: {}", unknown.names().collect::<Vec<_>>().join(", "))
}

/// The normalizer of a profile: all vectors share it.
fn normalizer(profile: Profile) -> &'static Normalizer {
    static ALL: LazyLock<Vec<Normalizer>> =
        LazyLock::new(|| Profile::ALL.iter().copied().map(Normalizer::new).collect());
    ALL.iter().find(|one| one.profile() == profile).expect("every profile is in the list")
}
