//! The options besides a profile, and their descriptions.

use uniqurl::{Normalizer, Outcome, Profile, Redirects, RejectReason, Switch};

#[test]
fn description_names_every_option() {
    let servlet = Normalizer::new(&Profile::SERVLET);
    let servlet =
        servlet.with_allowed([RejectReason::EncodedSlash, RejectReason::Backslash]).unwrap();
    assert_eq!(servlet.description(), "servlet@1 allow=encoded-slash,backslash");
    let list = Redirects::parse(b"http://h/a\thttp://h/b\nhttp://h/c\thttp://h/a\n").unwrap();
    let crawl = Normalizer::new(&Profile::CRAWL);
    let crawl = crawl.with_dropped_parameters(["a", "b*"]).unwrap();
    let crawl = crawl.with_redirects(&list).unwrap();
    assert_eq!(crawl.description(), "crawl@1 drop-param=a,b* redirects=2");
    let crawl = Normalizer::new(&Profile::CRAWL).with_kept_parameters(["id"]).unwrap();
    assert_eq!(crawl.description(), "crawl@1 keep-param=id");
}

#[test]
fn error_for_an_unsupported_option_lists_supporting_profiles() {
    let string = || Normalizer::new(&Profile::STRING);
    let error = string().with_dropped_parameters(["a"]).unwrap_err().to_string();
    assert_eq!(error, "profile string keeps all parameters, unlike scheme, crawl, aggressive");
    let error = string().with_switches([Switch::KeepEmptySegments]).unwrap_err().to_string();
    assert_eq!(error, "profile string has no switch keep-empty-segments, a switch of servlet");
}

#[test]
fn assumed_scheme_must_be_a_valid_scheme() {
    let assume = |scheme: &[u8]| {
        let result = Normalizer::new(&Profile::CRAWL).with_assumed_scheme(scheme);
        result.map(drop).map_err(|reject| (reject.code, reject.at))
    };
    for scheme in ["http", "a", "h2", "a+b-c.1"] {
        assert_eq!(assume(scheme.as_bytes()), Ok(()), "{scheme}");
    }
    for (scheme, at) in [("", 0), ("1a", 0), ("+a", 0), ("a b", 1), ("http:", 4), ("h\u{e9}", 1)] {
        assert_eq!(assume(scheme.as_bytes()), Err((RejectReason::Scheme, at)), "{scheme}");
    }
}

/// RFC 3986 section 5.1: "the base URI ... is stripped of any fragment component prior to its use".
#[test]
fn fragment_of_the_base_is_ignored() {
    let mut profiles = vec![Normalizer::new(&Profile::SYNTAX), Normalizer::new(&Profile::WHATWG)];
    let keeps = Normalizer::new(&Profile::CRAWL).with_switches([Switch::KeepFragment]).unwrap();
    profiles.push(keeps);
    for normalizer in profiles {
        for fragment in ["", "#", "#f", "#a/b?c"] {
            let base = format!("http://h/a/b?q{fragment}");
            let based = normalizer.clone().with_base(base.as_bytes()).unwrap();
            for (reference, expected) in
                [("", "http://h/a/b?q"), ("?r", "http://h/a/b?r"), ("c", "http://h/a/c")]
            {
                // Under the profiles that repair, an empty URL is a blank line.
                if reference.is_empty() && normalizer.profile() == &Profile::CRAWL {
                    continue;
                }
                let mut out = Vec::new();
                let outcome = based.normalize(reference.as_bytes(), &mut out);
                let context = (normalizer.description(), base.clone(), reference);
                assert_eq!(outcome, Outcome::Canonical, "{context:?}");
                assert_eq!(out.escape_ascii().to_string(), expected, "{context:?}");
            }
        }
    }
}

#[test]
fn pattern_lists_have_no_small_limit() {
    let patterns = || (0..=65_536).map(|i| format!("p{i}"));
    let crawl = || Normalizer::new(&Profile::CRAWL);
    for (normalizer, expected) in [
        (crawl().with_dropped_parameters(patterns()), "http://h/?q=1&p65537=4"),
        (crawl().with_kept_parameters(patterns()), "http://h/?p0=2&p65536=3"),
    ] {
        let mut out = Vec::new();
        let url = b"http://h/?q=1&p0=2&p65536=3&p65537=4";
        assert_eq!(normalizer.unwrap().normalize(url, &mut out), Outcome::Canonical);
        assert_eq!(out.escape_ascii().to_string(), expected);
    }
}

#[test]
fn only_servlet_has_a_decoded_path() {
    for profile in Profile::ALL {
        let has = Normalizer::new(profile).has_decoded();
        assert_eq!(has, *profile == &Profile::SERVLET, "{}", profile.name());
    }
}

/// A rejection points at the first wrong byte, and in a port at the first digit.
#[test]
fn rejection_points_at_the_first_wrong_byte() {
    let sanitize = Normalizer::new(&Profile::SANITIZE);
    let lenient = sanitize.clone().with_allowed([RejectReason::Userinfo]).unwrap();
    let servlet = Normalizer::new(&Profile::SERVLET);
    for (normalizer, url, code, at) in [
        (&sanitize, "http://example.com:22/", RejectReason::WellKnownPort, 19),
        (&sanitize, "http://u@example.com:22/", RejectReason::Userinfo, 7),
        (&lenient, "http://u@example.com:22/", RejectReason::WellKnownPort, 21),
        (&lenient, "http://u@0127.1/", RejectReason::RareIpv4, 9),
        (&sanitize, "https://b.example:25", RejectReason::WellKnownPort, 18),
        (&servlet, "/abc%01", RejectReason::Control, 4),
        (&servlet, "/%41b/%41%42%01", RejectReason::Control, 12),
    ] {
        let Outcome::Reject(reject) = normalizer.normalize(url.as_bytes(), &mut Vec::new()) else {
            panic!("{url} was taken");
        };
        assert_eq!((reject.code, reject.at), (code, at), "{url}");
    }
}

#[test]
fn a_check_that_is_off_is_switched_on_and_described() {
    let sanitize = Normalizer::new(&Profile::SANITIZE);
    assert_eq!(sanitize.description(), "sanitize@1");
    let denied = sanitize.with_denied([RejectReason::DeviceName, RejectReason::Nul]).unwrap();
    assert_eq!(denied.description(), "sanitize@1 deny=device-name");
    assert!(!denied.is_clean(b"http://h/aux"));
    let both = denied.with_allowed([RejectReason::DeviceName, RejectReason::Userinfo]).unwrap();
    assert_eq!(both.description(), "sanitize@1 allow=userinfo");
    assert!(Normalizer::new(&Profile::CRAWL).with_denied([RejectReason::Nul]).is_err());
}
