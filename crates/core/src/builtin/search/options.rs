//! What can be chosen, checked once.

use super::source::Source;
use crate::error::{ErrorCode, ToolError};
use crate::http::Url;
use crate::prompts::PromptRegistry;
use crate::sanitize::cut;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// The most results that a text lists: no service gives more at once.
pub const MAX_RESULTS: usize = 20;

const MAX_KEY_CHARS: usize = 1_000;
/// The longest limits.
const LONGEST: Duration = Duration::from_secs(600);

/// Options of a search tool. Start from the default and set what differs.
#[derive(Clone)]
pub struct SearchOptions {
    /// How many results the text lists, 1 to [`MAX_RESULTS`]. Default: 5.
    pub max_results: usize,
    /// Which services are asked, in this order. Default: all.
    pub sources: Vec<Source>,
    /// Keys by source; what is missing or blank is read from the environment at each call.
    pub keys: Vec<(Source, String)>,
    /// Other addresses of services: `http` or `https`, to which the service's own path is added.
    pub base_urls: Vec<(Source, String)>,
    /// Time for one service, a second attempt included. Default: 10 seconds.
    pub timeout: Duration,
    /// Time for all services together. Default: 30 seconds.
    pub deadline: Duration,
    /// The words. Default: English.
    pub prompts: Arc<PromptRegistry>,
}

impl Default for SearchOptions {
    fn default() -> Self {
        Self {
            max_results: 5,
            sources: Source::ALL.to_vec(),
            keys: Vec::new(),
            base_urls: Vec::new(),
            timeout: Duration::from_secs(10),
            deadline: Duration::from_secs(30),
            prompts: Arc::default(),
        }
    }
}

/// Without the values of keys.
impl fmt::Debug for SearchOptions {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = formatter.debug_struct("SearchOptions");
        shown.field("max_results", &self.max_results).field("sources", &self.sources);
        shown.field("timeout", &self.timeout).field("deadline", &self.deadline).finish_non_exhaustive()
    }
}

/// A service that is asked, with what the options say of it.
#[derive(Clone)]
pub(super) struct Place {
    pub(super) source: Source,
    pub(super) endpoint: Url,
    /// The key of the options, where there is one.
    pub(super) key: Option<String>,
}

impl SearchOptions {
    /// The services to ask.
    ///
    /// # Errors
    /// `INVALID_OPTIONS` for whatever is out of range, asked twice, or no address.
    pub(super) fn places(&self) -> Result<Vec<Place>, ToolError> {
        if !(1..=MAX_RESULTS).contains(&self.max_results) {
            return Err(invalid(format!("maxResults must be a whole number from 1 to {MAX_RESULTS}")));
        }
        for (name, limit) in [("timeoutMs", self.timeout), ("deadlineMs", self.deadline)] {
            if limit.is_zero() || limit > LONGEST {
                return Err(invalid(format!("{name} must be a positive number of milliseconds, at most {}", LONGEST.as_millis())));
            }
        }
        if self.sources.is_empty() {
            return Err(invalid("sources is empty: name at least one, or leave it out for all".to_owned()));
        }
        for (place, source) in self.sources.iter().enumerate() {
            if self.sources.iter().take(place).any(|earlier| earlier == source) {
                return Err(invalid(format!("sources has '{}' twice: name each once", source.id())));
            }
        }
        self.sources.iter().map(|source| self.place(*source)).collect()
    }

    fn place(&self, source: Source) -> Result<Place, ToolError> {
        let base = match find(&self.base_urls, source) {
            Some(given) => base(given).ok_or_else(|| {
                let id = source.id();
                invalid(format!("baseUrls.{id} must be an http or https URL without user, password, query and fragment"))
            })?,
            None => Url::parse(source.home()).map_err(|_| invalid("the address of a service is no URL".to_owned()))?,
        };
        let key = find(&self.keys, source).map(|key| key.trim().to_owned()).filter(|key| !key.is_empty());
        if key.as_deref().is_some_and(|key| !is_usable(source, key)) {
            let id = source.id();
            return Err(invalid(format!(
                "keys.{id} is no key: it has control characters, others than ASCII, or over {MAX_KEY_CHARS} of them"
            )));
        }
        Ok(Place { source, endpoint: source.endpoint(&base), key })
    }
}

/// Whether a key can stand where the source wants it: in an address, or else in a header.
pub(super) fn is_usable(source: Source, key: &str) -> bool {
    let fits = source == Source::SerpApi || key.is_ascii();
    fits && !key.chars().any(char::is_control) && cut(key, MAX_KEY_CHARS).is_none()
}

fn base(text: &str) -> Option<Url> {
    let url = Url::parse(text).ok()?;
    let plain = url.username().is_empty() && url.password().is_none() && url.query().is_none() && url.fragment().is_none();
    (plain && matches!(url.scheme(), "http" | "https")).then_some(url)
}

fn find(list: &[(Source, String)], source: Source) -> Option<&str> {
    list.iter().find(|(of, _)| *of == source).map(|(_, value)| value.as_str())
}

fn invalid(message: String) -> ToolError {
    ToolError::new(ErrorCode::InvalidOptions, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(change: impl FnOnce(&mut SearchOptions)) -> String {
        let mut options = SearchOptions::default();
        change(&mut options);
        let Err(error) = options.places() else { panic!("accepted") };
        assert_eq!(error.code, ErrorCode::InvalidOptions);
        error.message
    }

    #[test]
    fn options_out_of_range_are_refused_and_keys_not_repeated() {
        refused(|options| options.max_results = 0);
        refused(|options| options.max_results = 21);
        refused(|options| options.timeout = Duration::ZERO);
        refused(|options| options.deadline = Duration::MAX);
        refused(|options| options.sources.clear());
        refused(|options| options.sources.push(Source::Brave));
        for address in
            ["", "x", "ftp://a.example", "http://user@a.example", "http://:pw@a.example", "http://a.example?q", "http://a.example#x"]
        {
            refused(|options| options.base_urls.push((Source::Brave, address.to_owned())));
        }
        let message = refused(|options| options.keys.push((Source::Brave, "planted\nsecret".to_owned())));
        assert!(!message.contains("planted"));
    }

    #[test]
    fn paths_follow_the_base() {
        let options = SearchOptions { base_urls: vec![(Source::Brave, "http://127.0.0.1:9/b/".to_owned())], ..SearchOptions::default() };
        let endpoints: Vec<_> = options.places().unwrap().into_iter().map(|place| place.endpoint.to_string()).collect();
        assert_eq!(
            endpoints,
            [
                "https://api.tavily.com/search",
                "https://html.duckduckgo.com/html/",
                "http://127.0.0.1:9/b/res/v1/web/search",
                "https://serpapi.com/search"
            ]
        );
    }
}
