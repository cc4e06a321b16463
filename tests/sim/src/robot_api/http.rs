//! The server side of HTTP/1.1: parses requests from bytes in any pieces, and formats responses. Memory is bounded.

/// The largest size of the request line of an HTTP request with its headers \[B\].
const HEAD: usize = 16 * 1024;
/// The largest size of an HTTP request's body \[B\].
const BODY: usize = 1024 * 1024;
/// The largest number of buffered bytes of one HTTP client: a request that is being answered, and some after it.
const WAITING: usize = HEAD + 2 * BODY;
const HEADERS: usize = 64;

/// One HTTP request to the Robot API.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Request {
    pub(crate) method: String,
    /// The path of the HTTP request without its query.
    pub(crate) path: String,
    pub(crate) content_type: String,
    pub(crate) body: Vec<u8>,
    /// `true` if the connection is closed after the answer to the request.
    pub(crate) closes: bool,
}

/// The result of parsing a client's bytes as an HTTP request.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Received {
    Request(Request),
    /// The client waits for the response `100 Continue` before it sends the request's body.
    Continue,
    /// The bytes are not an acceptable request; the connection must be closed. The number is the HTTP status of the
    /// answer.
    Refused(u16),
}

/// The way in which an HTTP request defines the end of its body: by a length or by chunks.
#[derive(Clone, Copy)]
enum Framing {
    Length(usize),
    Chunked,
}

/// The buffered bytes of one HTTP client.
#[derive(Debug, Default)]
pub(crate) struct Session {
    bytes: Vec<u8>,
    /// `true` if the client's last HTTP request is still unanswered.
    pub(crate) waits: bool,
    told_to_continue: bool,
    /// `true` once no more bytes of the client are accepted: after a refusal, or after a request that closes the
    /// connection.
    over: bool,
    overflow: bool,
}

impl Session {
    /// Adds bytes that the client has sent to the buffer.
    pub(crate) fn receive(&mut self, bytes: &[u8]) {
        self.overflow |= self.bytes.len() + bytes.len() > WAITING;
        if !self.overflow && !self.over {
            self.bytes.extend_from_slice(bytes);
        }
    }

    /// Returns the client's next HTTP request, or the immediate response that its bytes need: `100 Continue` or a
    /// refusal. `None` if no request is complete or the one before is not answered yet.
    pub(crate) fn next(&mut self) -> Option<Received> {
        if self.waits || self.over {
            return None;
        }
        if self.overflow {
            return Some(self.refuse(413));
        }
        match parse(&self.bytes) {
            Err(status) => Some(self.refuse(status)),
            Ok(Parsed::Partial { expects }) => {
                let first = expects && !self.told_to_continue;
                self.told_to_continue |= expects;
                first.then_some(Received::Continue)
            }
            Ok(Parsed::Whole { request, size }) => {
                self.bytes.drain(..size);
                self.told_to_continue = false;
                self.over = request.closes;
                Some(Received::Request(request))
            }
        }
    }

    fn refuse(&mut self, status: u16) -> Received {
        self.over = true;
        self.bytes = vec![];
        Received::Refused(status)
    }
}

enum Parsed {
    /// More bytes of the HTTP request must arrive. `expects` is `true` if the client waits for the response `100
    /// Continue`.
    Partial {
        expects: bool,
    },
    Whole {
        request: Request,
        size: usize,
    },
}

fn parse(bytes: &[u8]) -> Result<Parsed, u16> {
    let mut headers = [httparse::EMPTY_HEADER; HEADERS];
    let mut head = httparse::Request::new(&mut headers);
    let start = match head.parse(bytes) {
        Ok(httparse::Status::Complete(size)) if size <= HEAD => size,
        Ok(httparse::Status::Partial) if bytes.len() <= HEAD => return Ok(Parsed::Partial { expects: false }),
        Ok(_) | Err(httparse::Error::TooManyHeaders) => return Err(431),
        Err(_) => return Err(400),
    };
    let value = |name: &str| head.headers.iter().find(|header| header.name.eq_ignore_ascii_case(name)).map(|h| h.value);
    let holds = |name: &str, word: &str| {
        value(name).is_some_and(|value| String::from_utf8_lossy(value).to_ascii_lowercase().contains(word))
    };
    let framing = match (holds("transfer-encoding", "chunked"), value("content-length")) {
        (true, None) => Framing::Chunked,
        // Two definitions of the end: the request is ambiguous.
        (true, Some(_)) => return Err(400),
        (false, None) => Framing::Length(0),
        (false, Some(digits)) => {
            let digits = std::str::from_utf8(digits).ok().filter(|text| text.bytes().all(|byte| byte.is_ascii_digit()));
            Framing::Length(digits.and_then(|text| text.trim().parse().ok()).ok_or(400u16)?)
        }
    };
    let rest = bytes.get(start..).unwrap_or_default();
    let Some((body, taken)) = body(rest, framing)? else {
        return Ok(Parsed::Partial { expects: holds("expect", "100-continue") });
    };
    let target = head.path.unwrap_or_default();
    let request = Request {
        method: head.method.unwrap_or_default().to_owned(),
        path: decoded(target.split_once('?').map_or(target, |(path, _)| path)),
        content_type: value("content-type").map(|v| String::from_utf8_lossy(v).into_owned()).unwrap_or_default(),
        body,
        closes: holds("connection", "close") || (head.version == Some(0) && !holds("connection", "keep-alive")),
    };
    Ok(Parsed::Whole { request, size: start + taken })
}

/// Returns a request's body and the number of bytes that it takes in the stream; `None` if the body has not arrived
/// completely.
fn body(bytes: &[u8], framing: Framing) -> Result<Option<(Vec<u8>, usize)>, u16> {
    match framing {
        Framing::Length(size) if size > BODY => Err(413),
        Framing::Length(size) => Ok(bytes.get(..size).map(|body| (body.to_vec(), size))),
        Framing::Chunked => chunked(bytes),
    }
}

fn chunked(bytes: &[u8]) -> Result<Option<(Vec<u8>, usize)>, u16> {
    const END: &[u8] = b"\r\n";
    let (mut body, mut at) = (vec![], 0);
    loop {
        let rest = bytes.get(at..).unwrap_or_default();
        let (head, size) = match httparse::parse_chunk_size(rest) {
            Ok(httparse::Status::Complete(found)) => found,
            Ok(httparse::Status::Partial) => return Ok(None),
            Err(_) => return Err(400),
        };
        let size = usize::try_from(size).ok().filter(|size| body.len() + size <= BODY).ok_or(413u16)?;
        let data = rest.get(head..).unwrap_or_default();
        let Some(chunk) = data.get(..size + END.len()) else { return Ok(None) };
        // Trailers are not accepted.
        let chunk = chunk.strip_suffix(END).ok_or(400u16)?;
        body.extend_from_slice(chunk);
        at += head + size + END.len();
        if size == 0 {
            return Ok(Some((body, at)));
        }
    }
}

/// Decodes the percent-encoded bytes of an HTTP path; a percent sign without two hexadecimal digits stays as it is.
fn decoded(path: &str) -> String {
    let mut bytes = vec![];
    let mut rest = path.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let byte = after.get(..2).filter(|_| *first == b'%').and_then(|digits| std::str::from_utf8(digits).ok());
        match byte.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = after.get(2..).unwrap_or_default();
            }
            None => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Returns the bytes of an HTTP response with this status and body.
pub(crate) fn response(status: u16, content_type: &str, body: &[u8], closes: bool) -> Vec<u8> {
    let connection = if closes { "close" } else { "keep-alive" };
    let head = format!(
        "HTTP/1.1 {status} {}\r\nContent-Type: {content_type}\r\nContent-Length: {}\r\nConnection: {connection}\r\n\r\n",
        reason(status),
        body.len(),
    );
    [head.as_bytes(), body].concat()
}

/// The HTTP response that permits a client to send the body of its request.
pub(crate) const CONTINUE: &[u8] = b"HTTP/1.1 100 Continue\r\n\r\n";

fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        201 => "Created",
        400 => "Bad Request",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        409 => "Conflict",
        413 => "Content Too Large",
        415 => "Unsupported Media Type",
        431 => "Request Header Fields Too Large",
        _ => "Internal Server Error",
    }
}

/// Returns the field `file` of an HTML form: its file name and content. `None` if the form has no such field.
pub(crate) fn form_file(content_type: &str, body: &[u8]) -> Option<(String, String)> {
    let boundary = content_type.split(';').find_map(|part| part.trim().strip_prefix("boundary="))?.trim_matches('"');
    let text = String::from_utf8_lossy(body);
    text.split(&format!("--{boundary}")).skip(1).find_map(|part| {
        let (head, content) = part.strip_prefix("\r\n")?.split_once("\r\n\r\n")?;
        let head = head.lines().find(|line| line.to_ascii_lowercase().starts_with("content-disposition:"))?;
        let field = |name: &str| {
            head.split(';')
                .find_map(|field| Some(field.trim().strip_prefix(name)?.strip_prefix('=')?.trim_matches('"')))
        };
        (field("name") == Some("file")).then(|| {
            (
                field("filename").unwrap_or_default().to_owned(),
                content.strip_suffix("\r\n").unwrap_or(content).to_owned(),
            )
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn session(bytes: &[u8]) -> Session {
        let mut session = Session::default();
        session.receive(bytes);
        session
    }

    const PUT: &[u8] =
        b"PUT /a%20b?c=d HTTP/1.1\r\nHost: ur\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}";

    #[test]
    fn a_request_is_the_same_in_any_pieces() {
        let Some(Received::Request(whole)) = session(PUT).next() else { panic!("no request") };
        assert_eq!((whole.method.as_str(), whole.path.as_str(), &whole.body[..]), ("PUT", "/a b", &b"{}"[..]));
        for cut in 1..PUT.len() {
            let mut session = session(&PUT[..cut]);
            assert_eq!(session.next(), None, "{cut}");
            session.receive(&PUT[cut..]);
            assert_eq!(
                session.next(),
                Some(Received::Request(Request { body: b"{}".to_vec(), ..clone(&whole) })),
                "{cut}"
            );
        }
    }

    fn clone(request: &Request) -> Request {
        let Request { method, path, content_type, closes, .. } = request;
        let (method, path, content_type) = (method.clone(), path.clone(), content_type.clone());
        Request { method, path, content_type, body: vec![], closes: *closes }
    }

    #[test]
    fn pipelined_requests_come_one_by_one_when_the_one_before_is_answered() {
        let mut session = session(&[PUT, PUT].concat());
        assert!(matches!(session.next(), Some(Received::Request(_))));
        session.waits = true;
        assert_eq!(session.next(), None);
        session.waits = false;
        assert!(matches!(session.next(), Some(Received::Request(_))));
        assert_eq!(session.next(), None);
    }

    #[test]
    fn chunks_make_one_body() {
        let head = "POST /x HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n";
        let mut whole = session(format!("{head}3\r\nabc\r\n4\r\ndefg\r\n0\r\n\r\n").as_bytes());
        let Some(Received::Request(request)) = whole.next() else { panic!("no request") };
        assert_eq!(request.body, b"abcdefg");
        assert_eq!(session(format!("{head}3\r\nab").as_bytes()).next(), None);
        assert_eq!(session(format!("{head}3\r\nabcde").as_bytes()).next(), Some(Received::Refused(400)));
        assert_eq!(session(format!("{head}zz\r\n").as_bytes()).next(), Some(Received::Refused(400)));
        assert_eq!(session(format!("{head}fffffff\r\n").as_bytes()).next(), Some(Received::Refused(413)));
    }

    #[test]
    fn what_is_too_long_or_no_request_is_refused_once_and_nothing_follows() {
        let long = format!("GET /x HTTP/1.1\r\nX: {}", "y".repeat(HEAD));
        let many = format!("GET /x HTTP/1.1\r\n{}\r\n", "A: b\r\n".repeat(HEADERS + 1));
        let cases: [(&[u8], u16); 8] = [
            (b"robotmode\n\n", 400),
            (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 400),
            (long.as_bytes(), 431),
            (many.as_bytes(), 431),
            (b"PUT /x HTTP/1.1\r\nContent-Length: 99999999\r\n\r\n", 413),
            (b"PUT /x HTTP/1.1\r\nContent-Length: 99999999999999999999999\r\n\r\n", 400),
            (b"PUT /x HTTP/1.1\r\nContent-Length: -1\r\n\r\n", 400),
            (b"PUT /x HTTP/1.1\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n{}", 400),
        ];
        for (bytes, status) in cases {
            let mut session = session(bytes);
            assert_eq!(session.next(), Some(Received::Refused(status)), "{}", String::from_utf8_lossy(bytes));
            session.receive(PUT);
            assert_eq!(session.next(), None);
        }
    }

    #[test]
    fn a_client_that_floods_costs_bounded_memory() {
        let mut session = session(PUT);
        session.waits = true;
        (0..1000).for_each(|_| session.receive(&[b'x'; 64 * 1024]));
        assert!(session.bytes.len() <= WAITING);
        session.waits = false;
        assert_eq!(session.next(), Some(Received::Refused(413)));
    }

    #[test]
    fn leave_to_send_is_given_once() {
        let mut session = session(b"PUT /x HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n");
        assert_eq!((session.next(), session.next()), (Some(Received::Continue), None));
        session.receive(b"{}");
        assert!(matches!(session.next(), Some(Received::Request(_))));
    }

    #[test]
    fn a_connection_ends_as_its_client_asks() {
        let closes = |head: &str| match session(format!("GET / {head}\r\n\r\n").as_bytes()).next() {
            Some(Received::Request(request)) => request.closes,
            other => panic!("{other:?}"),
        };
        assert!(closes("HTTP/1.0") && closes("HTTP/1.1\r\nConnection: close"));
        assert!(!closes("HTTP/1.1") && !closes("HTTP/1.0\r\nConnection: keep-alive"));
    }

    #[test]
    fn a_form_has_its_file() {
        let form = "--b\r\nContent-Disposition: form-data; name=\"note\"\r\n\r\nhi\r\n--b\r\nContent-Disposition: form-data; \
                    name=\"file\"; filename=\"weld.urpx\"\r\nContent-Type: text/plain\r\n\r\nline\r\n\r\nend\r\n--b--\r\n";
        let file = form_file("multipart/form-data; boundary=b", form.as_bytes());
        assert_eq!(file, Some(("weld.urpx".into(), "line\r\n\r\nend".into())));
        assert_eq!(form_file("multipart/form-data; boundary=c", form.as_bytes()), None);
        assert_eq!(form_file("application/json", b"{}"), None);
    }
}
