//! The JSON of `uniqurl bench` against `docs/bench-result.schema.json`, by the keywords of JSON Schema that it uses.

use serde_json::Value;

const SCHEMA: &str = include_str!("../../docs/bench-result.schema.json");

/// Panics with the path of a value that does not follow the schema, or of a null without a reason.
pub fn check(result: &Value) {
    let schema: Value = serde_json::from_str(SCHEMA).expect("JSON");
    validate(&schema, &schema, result, "$");
    for (name, object) in [("build", &result["build"]), ("machine", &result["machine"])] {
        reasons(object, &object["why_null"], "", name);
    }
    for run in result["runs"].as_array().expect("runs") {
        reasons(&run["before"], &run["before"]["why_null"], "", "runs.before");
    }
    for row in result["results"].as_array().expect("rows") {
        for part in ["usage", "seconds"] {
            reasons(&row[part], &result["why_null"], &format!("{part}."), "results");
        }
    }
}

fn validate(root: &Value, schema: &Value, value: &Value, path: &str) {
    for (keyword, wanted) in schema.as_object().expect("a schema") {
        match keyword.as_str() {
            "$ref" => {
                let name = wanted.as_str().and_then(|name| name.strip_prefix('#')).expect("local");
                let part = root.pointer(name).unwrap_or_else(|| panic!("{name} is missing"));
                validate(root, part, value, path);
            }
            "type" => assert!(is_of_type(wanted, value), "{path} is {value}, not {wanted}"),
            "const" => assert_eq!(value, wanted, "{path}"),
            "enum" => assert!(wanted.as_array().expect("a list").contains(value), "{path}"),
            "required" => {
                for name in wanted.as_array().expect("names") {
                    let name = name.as_str().expect("a name");
                    assert!(
                        value.is_null() || value.get(name).is_some(),
                        "{path}.{name} is missing"
                    );
                }
            }
            "properties" => {
                for (name, part) in wanted.as_object().expect("names") {
                    if let Some(value) = value.get(name) {
                        validate(root, part, value, &format!("{path}.{name}"));
                    }
                }
            }
            "additionalProperties" => {
                for (name, value) in value.as_object().into_iter().flatten() {
                    if schema["properties"].get(name).is_none() {
                        assert!(wanted.is_object(), "{path}.{name} is not in the schema");
                        validate(root, wanted, value, &format!("{path}.{name}"));
                    }
                }
            }
            "items" => {
                for (n, value) in value.as_array().into_iter().flatten().enumerate() {
                    validate(root, wanted, value, &format!("{path}[{n}]"));
                }
            }
            "minItems" => {
                let count = value.as_array().map_or(0, Vec::len) as u64;
                assert!(Some(count) >= wanted.as_u64(), "{path}");
            }
            "$schema" | "$defs" | "title" | "description" => {}
            other => panic!("the keyword {other} is not checked"),
        }
    }
}

fn is_of_type(wanted: &Value, value: &Value) -> bool {
    let is = |name: &Value| match name.as_str() {
        Some("object") => value.is_object(),
        Some("array") => value.is_array(),
        Some("string") => value.is_string(),
        Some("integer") => value.is_u64(),
        Some("number") => value.is_number(),
        Some("boolean") => value.is_boolean(),
        Some("null") => value.is_null(),
        _ => panic!("the type {name} is not checked"),
    };
    wanted.as_array().map_or_else(|| is(wanted), |names| names.iter().any(is))
}

/// Each null has a reason under its path.
fn reasons(value: &Value, why_null: &Value, path: &str, of: &str) {
    let Some(object) = value.as_object() else { return };
    for (name, value) in object.iter().filter(|(name, _)| *name != "why_null") {
        let path = format!("{path}{name}");
        assert!(!value.is_null() || why_null.get(&path).is_some(), "{of}: {path} has no reason");
        reasons(value, why_null, &format!("{path}."), of);
    }
}
