//! The services that are asked.

use crate::http::Url;

/// A search service.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Source {
    /// Tavily: results, and an answer in a sentence.
    Tavily,
    /// DuckDuckGo's page without scripts: needs no key.
    DuckDuckGo,
    /// Brave.
    Brave,
    /// SerpAPI: results of Google.
    SerpApi,
}

impl Source {
    /// All of them, in the order in which they are asked unless another one is given.
    pub const ALL: [Source; 4] = [Source::Tavily, Source::DuckDuckGo, Source::Brave, Source::SerpApi];

    /// The name in options.
    pub fn id(self) -> &'static str {
        match self {
            Source::Tavily => "tavily",
            Source::DuckDuckGo => "duckduckgo",
            Source::Brave => "brave",
            Source::SerpApi => "serpapi",
        }
    }

    /// The name that models and people read.
    pub fn label(self) -> &'static str {
        match self {
            Source::Tavily => "Tavily",
            Source::DuckDuckGo => "DuckDuckGo",
            Source::Brave => "Brave",
            Source::SerpApi => "SerpAPI",
        }
    }

    /// The environment variable that holds its key, if it needs one.
    pub fn key_variable(self) -> Option<&'static str> {
        match self {
            Source::Tavily => Some("TAVILY_API_KEY"),
            Source::DuckDuckGo => None,
            Source::Brave => Some("BRAVE_API_KEY"),
            Source::SerpApi => Some("SERPAPI_API_KEY"),
        }
    }

    /// The source of a name in options.
    pub fn from_id(id: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|source| source.id() == id)
    }

    /// Where the service is, unless another place is given.
    pub(super) fn home(self) -> &'static str {
        match self {
            Source::Tavily => "https://api.tavily.com",
            Source::DuckDuckGo => "https://html.duckduckgo.com",
            Source::Brave => "https://api.search.brave.com",
            Source::SerpApi => "https://serpapi.com",
        }
    }

    /// The endpoint below a base.
    pub(super) fn endpoint(self, base: &Url) -> Url {
        let path = match self {
            Source::Tavily | Source::SerpApi => "/search",
            Source::DuckDuckGo => "/html/",
            Source::Brave => "/res/v1/web/search",
        };
        let mut url = base.clone();
        url.set_path(&format!("{}{path}", base.path().trim_end_matches('/')));
        url
    }
}
