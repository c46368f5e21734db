//! DuckDuckGo's page of results.
//!
//! The tokenizer of an HTML parser reads it, without a tree: no nesting makes it slow. What else might, such as a tag of many attributes,
//! ends with the time that a page has.

use super::found::{Found, Item, MAX_ITEMS};
use super::reason::Reason;
use crate::http::Url;
use html5ever::tendril::StrTendril;
use html5ever::tokenizer::states::RawKind;
use html5ever::tokenizer::{BufferQueue, Tag, TagKind, Token, TokenSink, TokenSinkResult, Tokenizer, TokenizerOpts};
use std::cell::RefCell;
use std::time::{Duration, Instant};

/// Addresses on the page are relative to this one.
const HOME: &str = "https://duckduckgo.com/";
/// More than the results that are kept, as advertisements are among these.
const MAX_READ: usize = 4 * MAX_ITEMS;
/// Bytes of text of one part of a result. Nobody means more.
const MAX_PART: usize = 64 * 1024;

/// Bytes of a page between two looks at the clock.
const STRETCH: usize = 16 * 1024;
/// Time to read a page. A real one takes milliseconds.
const PATIENCE: Duration = Duration::from_secs(2);

/// Reads a page. Advertisements are left out, and the addresses of results are those they lead to.
pub(super) fn read(html: &str) -> Result<Found, Reason> {
    if html.trim().is_empty() {
        return Err(Reason::Unreadable);
    }
    let mut state = tokenize(html).ok_or(Reason::Unreadable)?;
    state.results.truncate(MAX_READ);
    if state.results.is_empty() && state.is_challenge {
        return Err(Reason::Challenge);
    }
    let items = state.results.into_iter().filter_map(item).collect();
    Ok(Found { answer: None, items })
}

fn item(read: Read) -> Option<Item> {
    let url = match &read.link {
        Some(link) => Some(target(link)?),
        None => None,
    };
    let text = |text: String| (!text.trim().is_empty()).then_some(text);
    Some(Item { title: text(read.title), snippet: text(read.snippet), url })
}

/// Where a link leads: the address inside of the page's own redirect. `None` for an advertisement.
fn target(link: &str) -> Option<String> {
    let Ok(url) = Url::parse(HOME).and_then(|home| home.join(link)) else { return Some(String::new()) };
    if is_own(&url, "/y.js") {
        return None;
    }
    if !is_own(&url, "/l/") {
        return Some(if Url::parse(link).is_ok() { link.to_owned() } else { url.into() });
    }
    let inner = url.query_pairs().find(|(name, _)| name == "uddg").map_or(String::new(), |(_, value)| value.into_owned());
    // An advertisement may stand behind the redirect too.
    let is_advertisement = Url::parse(&inner).is_ok_and(|inner| is_own(&inner, "/y.js"));
    (!is_advertisement).then_some(inner)
}

fn is_own(url: &Url, path: &str) -> bool {
    url.path() == path && url.host_str().is_some_and(|host| host == "duckduckgo.com" || host.ends_with(".duckduckgo.com"))
}

/// What stands on a page, unless reading it takes too long.
fn tokenize(html: &str) -> Option<State> {
    let tokenizer = Tokenizer::new(Reader::default(), TokenizerOpts::default());
    let input = BufferQueue::default();
    let started = Instant::now();
    let mut rest = html;
    while !rest.is_empty() {
        if started.elapsed() > PATIENCE {
            return None;
        }
        let end = (STRETCH..rest.len()).find(|&end| rest.is_char_boundary(end)).unwrap_or(rest.len());
        let (stretch, more) = rest.split_at(end);
        rest = more;
        input.push_back(StrTendril::from_slice(stretch));
        // It stops early for scripts alone, and nobody here runs any.
        let _ = tokenizer.feed(&input);
    }
    tokenizer.end();
    Some(tokenizer.sink.state.into_inner())
}

/// One result as it stands on the page.
#[derive(Default)]
struct Read {
    link: Option<String>,
    title: String,
    snippet: String,
}

/// What the text that comes belongs to.
#[derive(Clone, Copy)]
enum Part {
    Title,
    Snippet,
}

#[derive(Default)]
struct State {
    results: Vec<Read>,
    /// The part that is being read, the element that it began with, and how many of that name are open within it.
    open: Option<(Part, String, usize)>,
    /// Within an element whose text nobody sees.
    is_hidden: bool,
    is_challenge: bool,
}

#[derive(Default)]
struct Reader {
    state: RefCell<State>,
}

impl TokenSink for Reader {
    type Handle = ();

    fn process_token(&self, token: Token, _line: u64) -> TokenSinkResult<()> {
        let mut state = self.state.borrow_mut();
        match token {
            Token::CharacterTokens(text) => state.text(&text),
            Token::TagToken(tag) if tag.kind == TagKind::StartTag => {
                state.start(&tag);
                let raw = raw_text(&tag.name);
                state.is_hidden = raw != TokenSinkResult::Continue;
                return raw;
            }
            Token::TagToken(tag) => {
                state.is_hidden = false;
                state.end(&tag.name);
            }
            _ => {}
        }
        TokenSinkResult::Continue
    }
}

/// Elements whose content is text whatever it looks like, and is not shown.
fn raw_text(name: &str) -> TokenSinkResult<()> {
    match name {
        "script" => TokenSinkResult::RawData(RawKind::ScriptData),
        "style" | "iframe" | "noembed" | "noframes" | "xmp" => TokenSinkResult::RawData(RawKind::Rawtext),
        "title" | "textarea" => TokenSinkResult::RawData(RawKind::Rcdata),
        _ => TokenSinkResult::Continue,
    }
}

impl State {
    fn start(&mut self, tag: &Tag) {
        let attribute = |name: &str| tag.attrs.iter().find(|attribute| &*attribute.name.local == name).map(|attribute| &*attribute.value);
        let class = attribute("class").unwrap_or_default();
        let has = |name: &str| class.split_ascii_whitespace().any(|class| class == name);
        if class.contains("anomaly") || attribute("id").is_some_and(|id| id.contains("challenge") || id.contains("anomaly")) {
            self.is_challenge = true;
        }
        match &*tag.name {
            "div" if class.contains("body") => self.begin(),
            name if has("result__snippet") => self.open(Part::Snippet, name),
            "h2" => self.open(Part::Title, "h2"),
            "a" => {
                self.link(attribute("href"));
                match self.open {
                    Some((Part::Title, ..)) => {}
                    _ if has("result__a") => self.open(Part::Title, "a"),
                    _ if class.is_empty() => self.open(Part::Snippet, "a"),
                    _ => self.open = None,
                }
            }
            name => {
                if let Some((_, open, depth)) = &mut self.open
                    && open == name
                {
                    *depth += 1;
                }
            }
        }
    }

    fn end(&mut self, name: &str) {
        if let Some((_, open, depth)) = &mut self.open
            && open == name
        {
            match depth.checked_sub(1) {
                Some(less) => *depth = less,
                None => self.open = None,
            }
        }
    }

    fn text(&mut self, text: &str) {
        if self.is_hidden {
            return;
        }
        let (Some((part, ..)), Some(result)) = (&self.open, self.results.last_mut()) else { return };
        let part = match part {
            Part::Title => &mut result.title,
            Part::Snippet => &mut result.snippet,
        };
        if part.len() < MAX_PART {
            part.push_str(text);
        }
    }

    fn open(&mut self, part: Part, element: &str) {
        self.open = Some((part, element.to_owned(), 0));
    }

    /// A new result. The last one takes what is too much, and is left out.
    fn begin(&mut self) {
        self.open = None;
        if self.results.len() <= MAX_READ {
            self.results.push(Read::default());
        }
    }

    /// The first link of a result, or the one that shows it to be an advertisement.
    fn link(&mut self, href: Option<&str>) {
        if let (Some(result), Some(href)) = (self.results.last_mut(), href)
            && (result.link.is_none() || target(href).is_none())
        {
            result.link = Some(href.to_owned());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = include_str!("page.html");

    fn items(html: &str) -> Vec<[Option<String>; 3]> {
        read(html).unwrap().items.into_iter().map(|item| [item.title, item.snippet, item.url]).collect()
    }

    fn item(parts: [&str; 3]) -> [Option<String>; 3] {
        parts.map(|part| Some(part.to_owned()))
    }

    #[test]
    fn results_without_advertisements_and_redirects() {
        let found = items(PAGE);
        let clean = |text: &Option<String>| text.as_deref().unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ");
        let found: Vec<[String; 3]> = found.iter().map(|parts| [0, 1, 2].map(|part| clean(&parts[part]))).collect();
        assert_eq!(
            found,
            [
                ["Fjord & sea", "A fjord is a long, narrow sea inlet.", "https://example.org/fjord?a=1&b=2"],
                ["Second", "", "https://example.org/second"],
            ]
        );
    }

    #[test]
    fn what_is_not_closed_ends_with_the_next_result() {
        let html = "<div class=result__body><h2><a href=http://a/1>One<a class=result__snippet>first</a>\
                    <div class=result__body><h2>Two</h2><a href=http://a/2>second<script>no</h2></script></div>";
        assert_eq!(items(html), [item(["One", "first", "http://a/1"]), item(["Two", "second", "http://a/2"])]);
    }

    #[test]
    fn a_page_that_asks_for_a_person_is_told_from_one_without_results() {
        for challenge in [r#"<form id="challenge-form">"#, r#"<div class="anomaly-modal__title">Unfortunately</div>"#] {
            assert_eq!(read(challenge), Err(Reason::Challenge));
        }
        assert_eq!(read("<html><div class=no-results>No results.</div></html>"), Ok(Found::default()));
        assert_eq!(read(" \n"), Err(Reason::Unreadable));
    }

    #[test]
    fn hostile_pages_take_no_more_than_their_time() {
        let many = "<div class=body><h2><a href=http://a/>x</a></h2></div>".repeat(MAX_READ * 3);
        assert_eq!(items(&many).len(), MAX_READ);
        let deep = "<div>".repeat(20_000) + &"</p>".repeat(20_000);
        assert_eq!(items(&deep), Vec::<[Option<String>; 3]>::new());
        let attributes: String = (0..200_000).map(|number| format!(" a{number}")).collect();
        let started = Instant::now();
        let _ = read(&format!("<div {attributes}>"));
        assert!(started.elapsed() < PATIENCE * 10);
    }
}
