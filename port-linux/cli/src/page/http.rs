//! Reads one request of a browser, and decides whether it is answered.
//!
//! There are five resources, each with an exact name; no file is opened for any. A request that another site's page
//! may trigger is refused by `Host`, `Origin` and `Sec-Fetch-Site`, so that a page opened from elsewhere can read
//! nothing of a robot.

use std::net::{IpAddr, SocketAddr};

/// The longest head of an HTTP request that is accepted \[bytes\].
pub(super) const MOST: usize = 8 * 1024;
/// The largest number of header lines of an HTTP request that is accepted.
const MOST_LINES: usize = 64;

/// A resource that the live page's server offers to browsers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PageResource {
    Page,
    Script,
    Picture,
    Style,
    /// The endless stream of the session's states and events.
    Stream,
}

/// The reason why an HTTP request of a browser is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    NotHttp,
    TooLong,
    TooSlow,
    Method,
    NoSuchThing,
    Host,
    Origin,
    Full,
}

impl Refusal {
    /// Returns the status code and reason phrase of the HTTP response to a refused request, such as `404 Not Found`,
    /// and its body: a text with the cause.
    pub(super) const fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::NotHttp => ("400 Bad Request", "not an HTTP/1.1 request"),
            Self::TooLong => ("431 Request Header Fields Too Large", "the request header is longer than 8 KiB"),
            Self::TooSlow => ("408 Request Timeout", "timeout: no complete request received"),
            Self::Method => ("405 Method Not Allowed", "this page is read-only: use GET"),
            Self::NoSuchThing => ("404 Not Found", "not found; the only page is /"),
            Self::Host => {
                ("421 Misdirected Request", "open the page by the address that the command printed, or by localhost")
            }
            Self::Origin => ("403 Forbidden", "requests from other sites are rejected"),
            Self::Full => ("503 Service Unavailable", "too many pages are open; close one"),
        }
    }
}

/// The result of reading an HTTP request of a browser.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum HttpRequest {
    /// The HTTP request is not complete yet: the end of its head has not arrived.
    More,
    For(PageResource),
    Refused(Refusal),
}

/// Reads the HTTP request in `head`, sent to a server at the address `local`.
pub(super) fn asked(head: &[u8], local: SocketAddr) -> HttpRequest {
    let mut lines = [httparse::EMPTY_HEADER; MOST_LINES];
    let mut request = httparse::Request::new(&mut lines);
    match request.parse(head) {
        Ok(httparse::Status::Complete(_)) => {}
        Ok(httparse::Status::Partial) if head.len() >= MOST => return HttpRequest::Refused(Refusal::TooLong),
        Ok(httparse::Status::Partial) => return HttpRequest::More,
        Err(httparse::Error::TooManyHeaders) => return HttpRequest::Refused(Refusal::TooLong),
        Err(_) => return HttpRequest::Refused(Refusal::NotHttp),
    }
    match judge(&request, local) {
        Ok(thing) => HttpRequest::For(thing),
        Err(refusal) => HttpRequest::Refused(refusal),
    }
}

fn judge(request: &httparse::Request<'_, '_>, local: SocketAddr) -> Result<PageResource, Refusal> {
    if !is_ours(only(request, "host")?.ok_or(Refusal::Host)?, local) {
        return Err(Refusal::Host);
    }
    if request.method != Some("GET") {
        return Err(Refusal::Method);
    }
    let thing = match request.path {
        Some("/") => PageResource::Page,
        Some("/view.js") => PageResource::Script,
        Some("/arm.js") => PageResource::Picture,
        Some("/view.css") => PageResource::Style,
        Some("/stream") => PageResource::Stream,
        _ => return Err(Refusal::NoSuchThing),
    };
    if let Some(origin) = only(request, "origin")?
        && !origin.strip_prefix("http://").is_some_and(|host| is_ours(host, local))
    {
        return Err(Refusal::Origin);
    }
    // A link on another site may lead to the page itself; the other resources are refused to other sites.
    match only(request, "sec-fetch-site")? {
        None | Some("same-origin" | "none") => Ok(thing),
        Some(_) if thing == PageResource::Page => Ok(thing),
        Some(_) => Err(Refusal::Origin),
    }
}

/// Returns the single value of a header in an HTTP request; `None` without this header. Two values are refused, because
/// it is unknown which one a proxy would use.
fn only<'r>(request: &httparse::Request<'_, 'r>, name: &str) -> Result<Option<&'r str>, Refusal> {
    let mut values = request.headers.iter().filter(|header| header.name.eq_ignore_ascii_case(name));
    match (values.next(), values.next()) {
        (None, _) => Ok(None),
        (Some(header), None) => std::str::from_utf8(header.value).map(Some).map_err(|_| Refusal::NotHttp),
        (Some(_), Some(_)) => Err(Refusal::NotHttp),
    }
}

/// Returns `true` if `host`, a name with a port, is the address that the client connected to, or the name of this
/// machine's loopback interface.
fn is_ours(host: &str, local: SocketAddr) -> bool {
    let (name, port) = match host.rsplit_once(':') {
        // The last colon may be one of an IPv6 address without a port.
        Some((name, port)) if !port.ends_with(']') => (name, port.parse().ok()),
        _ => (host, Some(80)),
    };
    if port != Some(local.port()) {
        return false;
    }
    let ip = local.ip().to_canonical();
    if name.eq_ignore_ascii_case("localhost") {
        return ip.is_loopback();
    }
    let bare = name.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(name);
    bare.parse::<IpAddr>().is_ok_and(|named| named.to_canonical() == ip)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn at(local: &str, head: &str) -> HttpRequest {
        asked(head.as_bytes(), local.parse().expect("an address"))
    }

    fn get(path: &str, further: &str) -> HttpRequest {
        at("127.0.0.1:8750", &format!("GET {path} HTTP/1.1\r\nHost: 127.0.0.1:8750\r\n{further}\r\n"))
    }

    #[test]
    fn the_five_things_are_had_by_their_exact_names_and_no_path_leads_elsewhere() {
        for (path, thing) in [
            ("/", PageResource::Page),
            ("/view.js", PageResource::Script),
            ("/arm.js", PageResource::Picture),
            ("/view.css", PageResource::Style),
            ("/stream", PageResource::Stream),
        ] {
            assert_eq!(get(path, ""), HttpRequest::For(thing));
        }
        for path in [
            "/../etc/passwd",
            "/%2e%2e/%2e%2e/etc/passwd",
            "//etc/passwd",
            "/view.js/",
            "/view.js?x",
            "/VIEW.JS",
            "/index.html",
            "/stream/..",
            "http://127.0.0.1:8750/",
            "*",
        ] {
            assert_eq!(get(path, ""), HttpRequest::Refused(Refusal::NoSuchThing), "{path}");
        }
    }

    #[test]
    fn only_the_address_that_is_listened_on_and_localhost_are_answered() {
        let asks = |local: &str, host: &str| at(local, &format!("GET / HTTP/1.1\r\nHost: {host}\r\n\r\n"));
        for (local, host) in [
            ("127.0.0.1:8750", "127.0.0.1:8750"),
            ("127.0.0.1:8750", "localhost:8750"),
            ("127.0.0.1:8750", "LocalHost:8750"),
            ("[::1]:8750", "[::1]:8750"),
            ("[::1]:8750", "localhost:8750"),
            ("127.0.0.1:80", "localhost"),
            ("[::1]:80", "[::1]"),
            ("192.168.56.7:8750", "192.168.56.7:8750"),
            ("[::ffff:192.168.56.7]:8750", "192.168.56.7:8750"),
        ] {
            assert_eq!(asks(local, host), HttpRequest::For(PageResource::Page), "{host} at {local}");
        }
        for (local, host) in [
            ("127.0.0.1:8750", "evil.example:8750"),
            ("127.0.0.1:8750", "localhost.evil.example:8750"),
            ("127.0.0.1:8750", "127.0.0.1.evil.example:8750"),
            ("127.0.0.1:8750", "localhost"),
            ("127.0.0.1:8750", "localhost:8751"),
            ("127.0.0.1:8750", "user@127.0.0.1:8750"),
            ("127.0.0.1:8750", ""),
            ("127.0.0.1:8750", "127.0.0.1:8750:8750"),
            ("192.168.56.7:8750", "localhost:8750"),
            ("192.168.56.7:8750", "robot-pc:8750"),
        ] {
            assert_eq!(asks(local, host), HttpRequest::Refused(Refusal::Host), "{host} at {local}");
        }
        assert_eq!(at("127.0.0.1:8750", "GET / HTTP/1.1\r\n\r\n"), HttpRequest::Refused(Refusal::Host));
        let twice = "GET / HTTP/1.1\r\nHost: 127.0.0.1:8750\r\nHost: evil.example\r\n\r\n";
        assert_eq!(at("127.0.0.1:8750", twice), HttpRequest::Refused(Refusal::NotHttp));
    }

    #[test]
    fn pages_of_other_sites_read_nothing() {
        for origin in
            ["http://evil.example", "https://127.0.0.1:8750", "null", "http://127.0.0.1:8751", "http://localhost"]
        {
            assert_eq!(
                get("/stream", &format!("Origin: {origin}\r\n")),
                HttpRequest::Refused(Refusal::Origin),
                "{origin}"
            );
        }
        for origin in ["http://127.0.0.1:8750", "http://localhost:8750"] {
            assert_eq!(get("/stream", &format!("Origin: {origin}\r\n")), HttpRequest::For(PageResource::Stream));
        }
        for site in ["cross-site", "same-site"] {
            assert_eq!(get("/stream", &format!("Sec-Fetch-Site: {site}\r\n")), HttpRequest::Refused(Refusal::Origin));
            assert_eq!(get("/view.js", &format!("Sec-Fetch-Site: {site}\r\n")), HttpRequest::Refused(Refusal::Origin));
            assert_eq!(
                get("/", &format!("Sec-Fetch-Site: {site}\r\n")),
                HttpRequest::For(PageResource::Page),
                "a link to it"
            );
        }
        assert_eq!(get("/stream", "Sec-Fetch-Site: same-origin\r\n"), HttpRequest::For(PageResource::Stream));
    }

    #[test]
    fn it_is_read_and_nothing_else() {
        for method in ["POST", "PUT", "DELETE", "HEAD", "OPTIONS", "TRACE", "get"] {
            let head = format!("{method} / HTTP/1.1\r\nHost: 127.0.0.1:8750\r\n\r\n");
            assert_eq!(at("127.0.0.1:8750", &head), HttpRequest::Refused(Refusal::Method), "{method}");
        }
    }

    #[test]
    fn a_head_that_is_too_long_and_what_is_no_http_are_refused() {
        assert_eq!(get("/", &format!("X: {}", "x".repeat(MOST))), HttpRequest::Refused(Refusal::TooLong));
        assert_eq!(get("/", &"X: x\r\n".repeat(MOST_LINES)), HttpRequest::Refused(Refusal::TooLong));
        for nonsense in ["\u{16}\u{3}\u{1}\u{2}", "GET /\r\n\r\n", "GET / HTTP/9\r\n\r\n", "\0\0\0\0"] {
            assert_eq!(at("127.0.0.1:8750", nonsense), HttpRequest::Refused(Refusal::NotHttp), "{nonsense:?}");
        }
    }

    proptest! {
        #[test]
        fn whatever_comes_it_is_answered_refused_or_waited_for(head in proptest::collection::vec(any::<u8>(), 0..600)) {
            let asked = asked(&head, SocketAddr::from(([127, 0, 0, 1], 8750)));
            prop_assert!(!matches!(asked, HttpRequest::For(_)), "no Host can be among so few random bytes");
        }

        #[test]
        fn a_request_in_pieces_is_waited_for_until_its_end(cut in 0_usize..50) {
            let head = b"GET /stream HTTP/1.1\r\nHost: 127.0.0.1:8750\r\n\r\n";
            let local = SocketAddr::from(([127, 0, 0, 1], 8750));
            let expected = if cut >= head.len() { HttpRequest::For(PageResource::Stream) } else { HttpRequest::More };
            prop_assert_eq!(asked(&head[..cut.min(head.len())], local), expected);
        }
    }
}
