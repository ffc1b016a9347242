//! Promises of the interface besides results: names parse as they are shown, types can be sent
//! between threads, and errors can be told apart from success.

use std::error::Error;
use std::fmt::{Debug, Display};
use std::str::FromStr;

use uniqurl::internal::{Backend, Scratch, TemplateRule, TypedPart};
use uniqurl::{
    BadOffsets, Batch, Canonical, Key, Keyed, Normalizer, PartType, Profile, RedirectError,
    Redirects, Reject, RejectReason, RejectReasons, Ring, RingError, Rule, SetFull, Step, Switch,
    Switches, Template, UnknownName, UnsupportedOption, UrlSet, uri,
};

fn assert_names_round_trip<T>(all: impl IntoIterator<Item = T>)
where
    T: Display + Debug + PartialEq + FromStr,
    T::Err: Debug,
{
    for one in all {
        let shown = one.to_string();
        let read = shown.parse::<T>();
        assert!(read.as_ref().is_ok_and(|read| *read == one), "{shown}: {read:?}");
    }
}

#[test]
fn named_types_round_trip_through_display() {
    assert_names_round_trip(Profile::ALL.iter().copied());
    assert_names_round_trip(Key::ALL.iter().copied());
    assert_names_round_trip(RejectReason::ALL.iter().copied());
    assert_names_round_trip(Rule::ALL.iter().copied());
    assert_names_round_trip(Switch::ALL.iter().copied());
    assert_names_round_trip(Backend::ALL.iter().copied());
    assert_names_round_trip(Profile::ALL.iter().map(|profile| profile.switches()));
    assert_names_round_trip([Ring::new(b"/:", b"!").unwrap(), Ring::parse("").unwrap()]);
}

#[test]
fn an_unknown_name_is_reported_with_the_nearest_known_name() {
    let error = "Sort-Query".parse::<Switch>().unwrap_err();
    assert_eq!(error.name(), "Sort-Query");
    assert!(error.names().eq(Switch::ALL.iter().map(|switch| switch.name())));
    assert_eq!("sort-query,".parse::<Switches>().unwrap_err().name(), "");
    let told = |name: &str| name.parse::<Profile>().unwrap_err().to_string();
    assert_eq!(told("crwal"), "unknown profile `crwal` (did you mean `crawl`?)");
    assert_eq!(told("far\n"), "unknown profile `far\\n`");
}

#[test]
fn url_set_iterator_has_an_exact_length_and_clones_are_independent() {
    let string = Normalizer::new(Profile::String);
    let mut scratch = Vec::new();
    let mut set = UrlSet::new();
    let mut insert = |set: &mut UrlSet, url: &str| {
        set.insert(string.canonical(url.as_bytes(), &mut scratch).unwrap()).unwrap()
    };
    // Some are longer than a block of the set.
    let urls: Vec<String> = (0..500).map(|i| format!("{i}/{}", "a".repeat(i * i))).collect();
    for url in &urls {
        assert!(insert(&mut set, url));
    }
    let mut iter = set.iter();
    for left in (0..urls.len()).rev() {
        assert!(iter.next().is_some());
        assert_eq!(iter.len(), left);
    }
    assert_eq!((iter.next(), iter.next()), (None, None));
    let mut clone = set.clone();
    assert!(!insert(&mut clone, &urls[7]) && insert(&mut clone, "new"));
    assert_eq!((set.len(), clone.len()), (500, 501));
    let sorted = |set: &UrlSet| {
        let mut urls: Vec<_> = set.into_iter().map(<[u8]>::to_vec).collect();
        urls.sort_unstable();
        urls
    };
    let mut expected: Vec<_> = urls.into_iter().map(String::into_bytes).collect();
    expected.sort_unstable();
    assert!(sorted(&set) == expected);
    expected.push(b"new".to_vec());
    assert!(sorted(&clone) == expected);
}

#[test]
fn canonical_urls_and_keys_are_utf8_unless_any_byte_is_allowed() {
    let (mut url, mut key) = (Vec::new(), Vec::new());
    for profile in Profile::ALL {
        let normalizer = Normalizer::new(*profile);
        let url = normalizer.canonical(b"http://h/\xFF", &mut url);
        let Ok(url) = url else { continue };
        assert_eq!(url.to_str().is_err(), normalizer.may_write_any_byte(), "{profile}");
        for kind in Key::ALL {
            let keyed = kind.of(url, &mut key).expect("it has a host");
            assert_eq!(keyed.to_str(), str::from_utf8(keyed.as_ref()), "{profile} {kind}");
        }
    }
}

#[test]
fn public_types_are_send_and_sync() {
    fn assert_send_sync<T: Send + Sync + Debug>() {}
    assert_send_sync::<(Normalizer, Profile, UrlSet, Redirects, Ring)>();
    assert_send_sync::<(Batch, Scratch, Canonical<'_>, Keyed<'_>, Result<(), Reject>, Reject, Step)>(
    );
    assert_send_sync::<(RejectReason, RejectReasons, Key, Rule, Switch, Switches, Backend)>();
    assert_send_sync::<(uri::Uri<'_>, uri::Component)>();
    fn iterates<T: Iterator + Clone + Send + Sync>(_: T) {}
    iterates(uri::extract(b""));
    iterates(uri::dissect_query(b""));
    assert_send_sync::<uri::Charset>();
    assert_send_sync::<(Template, PartType, TemplateRule, TypedPart)>();
}

#[test]
fn error_types_implement_std_error() {
    fn assert_error<T: Error + Send + Sync + 'static>() {}
    assert_error::<Reject>();
    assert_error::<SetFull>();
    assert_error::<BadOffsets>();
    assert_error::<UnsupportedOption>();
    assert_error::<UnknownName>();
    assert_error::<RedirectError>();
    assert_error::<RingError>();
    assert_error::<uri::Error>();
    assert_error::<uniqurl::ProfileFileError>();
}
