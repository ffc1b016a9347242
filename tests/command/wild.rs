//! Inputs as they come: long records, cut rows, joined files.

use super::Place;

#[test]
fn first_record_of_megabytes_does_not_hide_the_format() {
    let place = Place::new();
    let long = format!("{{\"body\":\"{}\",\"url\":\"http://h.example/1\"}}\n", "x".repeat(3 << 20));
    let short = "{\"body\":\"\",\"url\":\"http://h.example/2\"}\n";
    place.write("first.jsonl", format!("{long}{short}"));
    place.write("alone.jsonl", long.trim_end());
    let run = place.run(["dedup", "first.jsonl"]).exits(0);
    assert_eq!(run.out(), "http://h.example/1\nhttp://h.example/2\n");
    let piped = place.run_on(["dedup"], format!("{long}{short}")).exits(0);
    assert_eq!(piped.out(), run.out());
    assert_eq!(place.run(["dedup", "alone.jsonl"]).exits(0).out(), "http://h.example/1\n");
}

#[test]
fn only_the_part_with_the_url_counts_for_max_url() {
    let place = Place::new();
    let record = |length: usize| {
        format!("{{\"url\":\"http://h.example/\",\"body\":\"{}\"}}\n", "x".repeat(length))
    };
    place.write("in.jsonl", record(2 << 20));
    place.run(["dedup", "--max-url", "100", "in.jsonl"]).exits(0);
    let run = place.run(["dedup", "--max-record", "1M", "in.jsonl"]).exits(3);
    assert_eq!(run.summary("rejected"), 1);
    let lines = [record(1000), record(2000)].concat();
    let run = place.run_on(["normalize", "--json", "--max-record", "1500"], lines).exits(0);
    assert_eq!(
        run.out(),
        "{\"record\":1,\"out\":\"http://h.example/\"}\n{\"record\":2,\"reject\":[\"too-long\"],\"at\":0}\n"
    );
    for (size, why) in [("0", "no record is that short"), ("513M", "more than 512M")] {
        let run = place.run(["dedup", "--max-record", size, "in.jsonl"]).exits(2);
        assert!(run.err.contains(why), "{}", run.err);
    }
}

#[test]
fn rows_with_too_few_or_too_many_fields_are_rejected() {
    let place = Place::new();
    for (name, text, codes) in [
        (
            "a.csv",
            "id,url,size\n1,http://h/a,5\n2,http://h/b\n3,http://h/c,5,6\n4,http://h/d,\n",
            ["truncated", "log-syntax"],
        ),
        (
            "a.tsv",
            "id\turl\tsize\n1\thttp://h/a\t5\n2\thttp://h/\n3\t\thttp://h/c\t5\n4\thttp://h/d\t\n",
            ["truncated", "log-syntax"],
        ),
        (
            "a.log",
            "#Fields: time cs-uri sc-status\n01:00 http://h/a 200\n01:01 http://h/b\n\
             01:02 http://h/c d 200\n01:03 http://h/d -\n",
            ["truncated", "log-syntax"],
        ),
    ] {
        place.write(name, text);
        let run = place.run(["dedup", "--rejects", "rejects", name]).exits(0);
        assert_eq!(run.out(), "http://h/a\nhttp://h/d\n", "{name}");
        let rejects = place.text("rejects");
        for (line, code) in rejects.lines().zip(codes) {
            assert!(line.contains(&format!("\"codes\":[\"{code}\"]")), "{name}: {line}");
        }
        assert_eq!(rejects.lines().count(), 2, "{name}");
    }
    let cut = "#Fields: date cs-method cs-uri-stem sc-status\n2024-01-01 GET /a 404\n2024-01-01 GET /b c 200\n";
    place.write("status.log", cut);
    let run = place.run(["dedup", "--status", "404", "status.log"]).exits(0);
    assert_eq!(run.out(), "/a\n");
    assert_eq!(run.summary("rejected"), 1);
}

#[test]
fn fields_of_w3c_logs_are_separated_as_their_names_are() {
    let place = Place::new();
    let text =
        "#Fields: c-ip\tcs(User-Agent)\tcs-uri\tsc-status\n192.0.2.1\tA b (c)\thttp://h/x\t200\n";
    place.write("tabs.log", text);
    assert_eq!(place.run(["dedup", "tabs.log"]).exits(0).out(), "http://h/x\n");
    let text = "#Fields: time cs-uri cs-uri-query s-port\n\
                01:00 shop.example/a.php k=v 443\n01:01 shop.example/a.php - 80\n\
                01:02 /b.php - 80\n01:03 shop - 80\n";
    place.write("no-scheme.log", text);
    let run = place.run(["dedup", "no-scheme.log"]).exits(0);
    assert_eq!(run.out(), "https://shop.example/a.php?k=v\nhttp://shop.example/a.php\n/b.php\n");
    assert_eq!(run.summary("rejected"), 1);
}

#[test]
fn byte_order_marks_of_joined_lists_are_no_part_of_urls() {
    let place = Place::new();
    let joined =
        "\u{feff}http://h/1\r\n\u{feff}http://h/2\n\u{feff}\n\u{feff}http://h/1 x\n\u{feff}%\n";
    let run = place.run_on(["dedup", "--rejects", "rejects"], joined).exits(0);
    assert_eq!(run.out(), "http://h/1\nhttp://h/2\nhttp://h/1%20x\n");
    assert_eq!(run.summary("blank"), 1);
    assert!(place.text("rejects").contains("\"raw\":\"%\""), "{}", place.text("rejects"));
    // Where any byte may be part of a URL, so may a mark.
    let run = place.run_on(["dedup", "-p", "syntax"], joined).exits(3);
    assert_eq!(run.summary("rejected"), 5);
}

#[test]
fn null_is_blank_in_json_as_in_tables() {
    let place = Place::new();
    let lines = "{\"url\":\"http://h/\"}\n{\"url\":null}\n{\"id\":1}\n";
    let run = place.run_on(["dedup"], lines).exits(0);
    assert_eq!(["unique", "rejected", "blank"].map(|term| run.summary(term)), [1, 1, 1]);
}
