use super::super::Format;
use super::super::part::RecordPart;
use super::{FormatTable, SHIPPED, parse};

#[test]
fn the_shipped_entries_are_read() {
    let entries = parse::entries(SHIPPED).unwrap();
    assert_eq!(entries.len(), FormatTable::shipped().entries().count());
    for entry in entries {
        for name in entry.aliases.iter().chain([&entry.name]) {
            assert_eq!(Format::parse(name).unwrap(), entry.format, "{name}");
        }
        let again = FormatTable::default().with_file(&entry.source).unwrap();
        assert_eq!(again.find(&entry.name).unwrap().format, entry.format, "{}", entry.source);
    }
}

#[test]
fn source_of_an_entry_is_all_of_it() {
    let first = "[[format]]\n# Not [[format]] but this:\nname = \"a\"\ndescription = \"d\"\nreader = \"ws:2\"\n\
        sample = \"\"\"\n[[x http://h/\n\"\"\"\n";
    let second = "[[format]]\nname = \"b\"\ndescription = \"d\"\njson.url = \"/u\"\n";
    let table =
        FormatTable::default().with_file(&format!("{first}\n# The next.\n{second}")).unwrap();
    let sources: Vec<&str> = table.entries().map(|entry| &entry.source[..]).collect();
    assert_eq!(sources, [first, second]);
}

#[test]
fn a_mistake_in_a_file_is_reported_with_its_line() {
    let entry = "[[format]]\nname = \"x\"\ndescription = \"d\"\n";
    for (text, line, words) in [
        ("[format]\n", 1, "expected a sequence"),
        ("a = 1\n", 1, "unknown key `a`"),
        ("[[format]]\nname = \"x\"\nlog = '$request'\n", 1, "missing field `description`"),
        (&entry.replace("\"x\"", "\"X y\""), 2, "small letters"),
        (entry, 2, "needs one of log, json"),
        (&format!("{entry}log = '$host'\n"), 4, "names no request"),
        (&format!("{entry}log = '$request'\nreader = \"clf\"\n"), 2, "needs one of log, json"),
        (&format!("{entry}reader = \"lo\"\n"), 4, "unknown format `lo`"),
        (&format!("{entry}lag = '$request'\n"), 4, "unknown key `lag`"),
        (&format!("{entry}json.host = '/h'\n"), 4, "name no url"),
        (&format!("{entry}json.url = 'h'\n"), 4, "begins with a slash"),
        (&format!("{entry}json.hast = '/h'\n"), 4, "unknown part `hast`"),
        (&format!("{entry}json.url = '/u'\njson.lacks = '/u~'\n"), 5, "a pointer, ~"),
        (&format!("{entry}json.url = '/u'\njson.encoded = 1\n"), 5, "is a pointer"),
        (&format!("{entry}tsv.url = 0\n"), 4, "counted from 1"),
        (&format!("{entry}reader = \"ws:2\"\nauto = 1\n"), 5, "true or false"),
        (&format!("{entry}reader = \"ws:2\"\nurls = \"\"\n"), 5, "expected a sequence"),
        ("[[format]]\nname = \"clf\"\ndescription = \"d\"\nreader = \"ws:2\"\n", 1, "is taken"),
        (&format!("{entry}reader = \"ws:2\"\n{entry}reader = \"ws:3\"\n"), 5, "`x` is taken"),
        (&format!("{entry}log = '$host $request_uri'\nsample = 'a.example'\n"), 5, "no URL in"),
        ("[[format]]\nname = \n", 2, ""),
    ] {
        let error = FormatTable::shipped().with_file(text).unwrap_err();
        assert!(error.reason.contains(words), "{text}: {error}");
        assert_eq!(error.line, line, "{text}: {error}");
    }
}

#[test]
fn each_part_may_be_named_in_json_and_in_columns() {
    let parts =
        || RecordPart::NAMED.iter().chain(RecordPart::NAMED_IN_TABLES).map(|(name, _)| name);
    let entry = "[[format]]\nname = \"x\"\ndescription = \"d\"\n";
    for part in parts().filter(|part| **part != "url") {
        let sample = r#"{"u":"http://h/","p":"1"}"#;
        let json = format!("{entry}json = {{ url = '/u', {part} = '/p' }}\nsample = '{sample}'\n");
        let tsv = format!("{entry}tsv = {{ url = 1, {part} = 2 }}\nsample = \"http://h/\\t1\"\n");
        for text in [json, tsv] {
            let table = FormatTable::shipped().with_file(&text);
            assert!(table.is_ok(), "{text}: {table:?}");
        }
    }
}

#[test]
fn members_of_others_rule_a_format_out() {
    let entry = "[[format]]\nname = 'x'\ndescription = 'd'\n\
        json = { url = '/u', needs = '/n', lacks = ['/a', '/b/c'] }\n";
    let table = FormatTable::default().with_file(entry).unwrap();
    let test = &table.find("x").unwrap().test;
    for (members, fits) in [
        (r#""n":1"#, true),
        (r#""n":1,"b":{}"#, true),
        ("\"m\":1", false),
        (r#""n":1,"a":null"#, false),
        (r#""n":1,"b":{"c":2}"#, false),
    ] {
        let line = format!(r#"{{"u":"http://h/",{members}}}"#);
        assert_eq!(test.fits(line.as_bytes()), fits, "{line}");
    }
}
