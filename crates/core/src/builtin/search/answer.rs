//! What the services answer: JSON, or a page.

use super::found::{Found, Item};
use super::page;
use super::reason::Reason;
use super::source::Source;
use serde_json::Value;

/// Reads an answer.
pub(super) fn read(source: Source, body: &str) -> Result<Found, Reason> {
    match source {
        Source::Tavily => read_json(body, "/results", ["title", "content", "url"]).map(|(found, answer)| Found { answer, ..found }),
        Source::DuckDuckGo => page::read(body),
        Source::Brave => read_json(body, "/web/results", ["title", "description", "url"]).map(|(found, _)| found),
        Source::SerpApi => read_json(body, "/organic_results", ["title", "snippet", "link"]).map(|(found, _)| found),
    }
}

/// Reads JSON that has its results at a place, their title, excerpt and address under three names, and perhaps an answer. Results that
/// are missing are none; what is no list is no answer. A part that is no text counts as missing.
fn read_json(body: &str, results: &str, names: [&str; 3]) -> Result<(Found, Option<String>), Reason> {
    let answer: Value = serde_json::from_str(body.trim_start_matches('\u{feff}')).map_err(|_| Reason::Unreadable)?;
    let items = match answer.pointer(results) {
        Some(Value::Array(items)) => items.as_slice(),
        Some(Value::Null) | None if answer.is_object() => &[],
        _ => return Err(Reason::Unreadable),
    };
    let text = |value: &Value, name: &str| value.get(name).and_then(Value::as_str).map(str::to_owned);
    let item = |value: &Value| {
        let [title, snippet, url] = names.map(|name| text(value, name));
        Item { title, snippet, url }
    };
    Ok((Found { answer: None, items: items.iter().map(item).collect() }, text(&answer, "answer")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::Secrets;

    fn items(found: &Found) -> Vec<[Option<&str>; 3]> {
        found.items.iter().map(|item| [item.title.as_deref(), item.snippet.as_deref(), item.url.as_deref()]).collect()
    }

    #[test]
    fn every_service_has_its_own_names() {
        let tavily = read(Source::Tavily, r#"{"answer":"A","results":[{"title":"T","content":"S","url":"http://u"}]}"#).unwrap();
        assert_eq!((tavily.answer.as_deref(), items(&tavily)), (Some("A"), vec![[Some("T"), Some("S"), Some("http://u")]]));
        let brave = read(Source::Brave, r#"{"answer":"A","web":{"results":[{"title":"T","description":"S","url":"http://u"}]}}"#).unwrap();
        assert_eq!((brave.answer.as_deref(), items(&brave)), (None, vec![[Some("T"), Some("S"), Some("http://u")]]));
        let serpapi = read(Source::SerpApi, r#"{"organic_results":[{"title":"T","snippet":"S","link":"http://u"}]}"#).unwrap();
        assert_eq!(items(&serpapi), [[Some("T"), Some("S"), Some("http://u")]]);
    }

    #[test]
    fn what_is_missing_is_nothing_and_what_is_wrong_is_unreadable() {
        for nothing in ["{}", r#"{"results":null}"#, r#"{"results":[]}"#, "\u{feff}{\"error\":\"none\"}"] {
            assert_eq!(read(Source::Tavily, nothing), Ok(Found::default()), "{nothing}");
        }
        for wrong in ["", "<html>", "[]", "1", "null", r#"{"results":{}}"#, r#"{"results":"x"}"#, r#"{"results":[}"#] {
            assert_eq!(read(Source::Tavily, wrong), Err(Reason::Unreadable), "{wrong}");
        }
        let odd = read(Source::Tavily, r#"{"answer":7,"results":[1,null,{"title":2,"content":"S","url":[]}]}"#).unwrap();
        assert_eq!(odd.answer, None);
        assert_eq!(items(&odd), [[None, None, None], [None, None, None], [None, Some("S"), None]]);
    }

    proptest::proptest! {
        #[test]
        fn whatever_comes_is_read_or_refused(parts in proptest::collection::vec((0..PARTS.len(), ".{0,4}"), 0..40)) {
            let body: String = parts.iter().flat_map(|(part, noise)| [PARTS[*part], noise.as_str()]).collect();
            for found in Source::ALL.into_iter().filter_map(|source| read(source, &body).ok()) {
                for item in found.cleaned(&Secrets::default()).items {
                    let texts = [&item.title, &item.snippet, &item.url];
                    assert!(texts.into_iter().flatten().all(|text| !text.chars().any(char::is_control)));
                    assert!(item.url.is_none_or(|url| url.starts_with("http://") || url.starts_with("https://")));
                }
            }
        }
    }

    const PARTS: &[&str] = &[
        r#"<div class="result__body">"#,
        "<h2>",
        "</h2>",
        r#"<a class="result__a" href="//duckduckgo.com/l/?uddg=https%3A%2F%2Fa.example%2F"#,
        r#"<a href="//duckduckgo.com/y.js">"#,
        r#"<a class=result__snippet href='javascript:x'>"#,
        "\">",
        "</a>",
        "<script>",
        "</script>",
        "<!--",
        "-->",
        "&amp;&#0;&#x1b;&#xd800;",
        "<div id=challenge-form>",
        r#"{"results":["#,
        r#"{"title":"\u0000\u001b[1m","url":"https://a.example"}"#,
        ",",
        "]}",
    ];
}
