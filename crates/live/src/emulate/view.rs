//! A page that shows an emulation while it runs: HTTP on loopback, in a thread that the emulation never waits for.
//!
//! The emulation gives its news to the thread in a channel of bounded length. If the thread does not keep up, news are lost, and the page
//! says so. The thread keeps the latest news, and each page asks for those that it does not have yet:
//!
//! | target | answer |
//! |---|---|
//! | `/` | the viewer's page |
//! | `/recording.json` | the description of the run, with `live` |
//! | `/live?from=N&page=P` | the news from number N on; P is a number that the page has drawn for itself |
//!
//! News are a length (u32, little-endian), that many bytes of JSON ([`Head`]), and the records of each lot: events, samples, positions.

use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::sync::mpsc::{Receiver, SyncSender, TryRecvError, sync_channel};
use std::thread::JoinHandle;

use hopcast_protocols::time::{Duration, Instant};
use hopcast_sim::record::{KINDS, News};
use listenfd::ListenFd;
use nix::poll::PollFd;
use serde::Serialize;
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::platform::clock::Clock;
use crate::platform::wait;
use crate::serve::{Answers, HTML, OK, Page, Server, is_local};

/// The viewer's page, as the package of Python has it.
const PAGE: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../python/hopcast/view/page.html"));

/// News on the way to the thread: ten seconds of them.
const WAITING: usize = 100;
/// Bytes of news that are kept for pages to come; a page keeps as many.
const WINDOW: usize = 16 << 20;
/// Bytes of news in an answer, unless a single lot has more.
const ANSWER: usize = 1 << 20;
/// The longest sleep of the thread: how soon it takes news.
const TICK: std::time::Duration = std::time::Duration::from_millis(50);
/// A page that has not asked for this time is gone; pages that are there have as much time to take the last news.
const GONE: Duration = Duration::from_secs(2);
/// The most pages that are waited for.
const MAX_PAGES: usize = 32;

/// News, with the number of events that were lost before them.
struct Lot {
    news: News,
    missed: u64,
}

/// A socket for the page on a port of 127.0.0.1; on one that is free for port 0. Where the command runs without root, it has the socket of
/// the process that has started it, which is outside of its network namespace.
///
/// # Errors
/// [`Failure::Input`]: the platform's.
pub(super) fn listen(port: u16) -> Result<TcpListener, Failure> {
    let given = ListenFd::from_env().take_tcp_listener(0).transpose();
    given.unwrap_or_else(|| TcpListener::bind((Ipv4Addr::LOCALHOST, port))).map_err(|error| refused(&error))
}

/// Why there is no page.
pub(super) fn refused(error: &io::Error) -> Failure {
    Failure::Input(format!("--view: can't listen there: {error}"))
}

/// The page of a running emulation. When it is dropped, pages that are open get the last news, within two seconds.
pub(super) struct View {
    address: SocketAddr,
    sender: Option<SyncSender<Lot>>,
    /// Events that the thread did not get.
    missed: u64,
    thread: Option<JoinHandle<()>>,
}

impl View {
    /// Serves the page on this socket ([`listen`]).
    ///
    /// # Errors
    /// The platform's.
    pub(super) fn open(listener: TcpListener, mut description: Value) -> io::Result<Self> {
        let address = listener.local_addr()?;
        let server = Server::http(listener)?;
        let run = u64::from(std::process::id());
        description["live"] = json!({ "run": run, "window_bytes": WINDOW });
        let (sender, receiver) = sync_channel(WAITING);
        let desk = RefCell::new(Desk::new(run, address.port(), description.to_string().into_bytes()));
        let thread = std::thread::Builder::new().name("view".into()).spawn(move || serve(server, &desk, &receiver))?;
        Ok(Self { address, sender: Some(sender), missed: 0, thread: Some(thread) })
    }

    /// The address of the page.
    pub(super) fn address(&self) -> String {
        format!("http://{}/", self.address)
    }

    /// Tells what has happened, without waiting.
    pub(super) fn tell(&mut self, news: News) {
        let Some(sender) = &self.sender else { return };
        let events = news.len() as u64;
        if sender.try_send(Lot { news, missed: self.missed }).is_err() {
            self.missed += events;
        }
    }
}

impl Drop for View {
    fn drop(&mut self) {
        // The thread sees that nothing more comes.
        drop(self.sender.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// The thread: answers until the emulation is over and its pages know.
fn serve(mut server: Server, desk: &RefCell<Desk>, receiver: &Receiver<Lot>) {
    let clock = Clock::new();
    let mut over: Option<Instant> = None;
    loop {
        let mut descriptors: Vec<PollFd<'_>> = server.fds().map(|(fd, flags)| PollFd::new(fd, flags)).collect();
        if wait::any(&mut descriptors, Some(TICK)).is_err() {
            wait::sleep(TICK);
        }
        let now = clock.now();
        while over.is_none() {
            match receiver.try_recv() {
                Ok(lot) => desk.borrow_mut().take(lot),
                Err(TryRecvError::Empty) => break,
                Err(TryRecvError::Disconnected) => {
                    desk.borrow_mut().is_over = true;
                    over = Some(now);
                }
            }
        }
        desk.borrow_mut().now = now;
        server.serve(now, desk);
        let is_told = |over: Instant| {
            now >= over + GONE || (server.is_idle() && desk.borrow().pages.values().all(|page| page.is_told))
        };
        if over.is_some_and(is_told) {
            return;
        }
    }
}

/// What the thread knows.
struct Desk {
    run: u64,
    port: u16,
    description: Vec<u8>,
    now: Instant,
    /// The latest news.
    kept: VecDeque<Lot>,
    /// The number of the first of them.
    first: u64,
    bytes: usize,
    /// Events by kind in the news before them.
    before: [u64; KINDS],
    is_over: bool,
    /// By the number that a page has drawn.
    pages: BTreeMap<u64, Asked>,
}

/// A page that asks for news.
struct Asked {
    at: Instant,
    /// It has all news of an emulation that is over.
    is_told: bool,
}

/// The head of an answer.
#[derive(Debug, Serialize)]
struct Head {
    /// Tells two emulations at one address apart.
    run: u64,
    /// No more news will come.
    over: bool,
    /// The number of the first lot.
    first: u64,
    /// Events by kind before it.
    before: [u64; KINDS],
    /// Events that were lost on the way here by the end of the last lot.
    missed: u64,
    /// By lot: the time in ns, and the lengths of events, samples and positions in bytes.
    lots: Vec<(u64, usize, usize, usize)>,
    /// There are more.
    more: bool,
}

impl Desk {
    fn new(run: u64, port: u16, description: Vec<u8>) -> Self {
        Self {
            run,
            port,
            description,
            now: Instant::START,
            kept: VecDeque::new(),
            first: 0,
            bytes: 0,
            before: [0; KINDS],
            is_over: false,
            pages: BTreeMap::new(),
        }
    }

    /// Keeps news, and forgets the oldest ones beyond the window.
    fn take(&mut self, lot: Lot) {
        self.bytes += lot.news.bytes();
        self.kept.push_back(lot);
        while self.bytes > WINDOW
            && self.kept.len() > 1
            && let Some(oldest) = self.kept.pop_front()
        {
            self.bytes -= oldest.news.bytes();
            self.first += 1;
            add(&mut self.before, &oldest.news);
        }
    }

    /// The news from number `from` on.
    fn news(&self, from: u64) -> (Head, Vec<u8>) {
        let first = from.clamp(self.first, self.first + self.kept.len() as u64);
        let skipped = (first - self.first) as usize;
        let mut head = Head {
            run: self.run,
            over: false,
            first,
            before: self.before,
            missed: self.kept.back().map_or(0, |lot| lot.missed),
            lots: Vec::new(),
            more: false,
        };
        self.kept.iter().take(skipped).for_each(|lot| add(&mut head.before, &lot.news));
        let mut bytes = Vec::new();
        for Lot { news, missed } in self.kept.iter().skip(skipped) {
            if !bytes.is_empty() && bytes.len() + news.bytes() > ANSWER {
                head.more = true;
                break;
            }
            head.missed = *missed;
            head.lots.push((news.time.as_nanos(), news.events.len(), news.samples.len(), news.positions.len()));
            [&news.events, &news.samples, &news.positions].into_iter().for_each(|part| bytes.extend_from_slice(part));
        }
        head.over = self.is_over && !head.more;
        (head, bytes)
    }

    /// Remembers that a page has asked, and what it was told.
    fn note(&mut self, page: u64, is_told: bool) {
        let now = self.now;
        self.pages.retain(|_, asked| asked.at + GONE > now);
        if self.pages.len() < MAX_PAGES || self.pages.contains_key(&page) {
            self.pages.insert(page, Asked { at: now, is_told });
        }
    }
}

fn add(counts: &mut [u64; KINDS], news: &News) {
    counts.iter_mut().zip(news.counts()).for_each(|(count, more)| *count += more);
}

impl Answers for RefCell<Desk> {
    fn line(&self) -> Vec<u8> {
        // There is no local socket.
        Vec::new()
    }

    fn metrics(&self) -> String {
        // They have an address of their own.
        String::new()
    }

    fn get(&self, target: &str, host: Option<&str>) -> Page {
        let mut desk = self.borrow_mut();
        let port = host.and_then(|host| host.rsplit_once(':')).and_then(|(_, port)| port.parse().ok());
        if port != Some(desk.port) || !host.is_some_and(is_local) {
            return Page::text("403 Forbidden", "open the address that hopcast has printed\n");
        }
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let page = |kind, body| Page { code: OK, kind, body };
        match path {
            "/" => page(HTML, PAGE.into()),
            "/recording.json" => page("application/json", desk.description.clone()),
            "/live" => {
                let [from, number] = ["from=", "page="].map(|name| {
                    query.split('&').find_map(|part| part.strip_prefix(name)).and_then(|text| text.parse().ok())
                });
                let Some(from) = from else { return Page::text("400 Bad Request", "from which number?\n") };
                let (head, bytes) = desk.news(from);
                if let Some(number) = number {
                    desk.note(number, head.over);
                }
                let head = serde_json::to_vec(&head).expect("the head is plain data");
                page("application/octet-stream", [&(head.len() as u32).to_le_bytes()[..], &head, &bytes].concat())
            }
            _ => Page::text("404 Not Found", "the page is at /\n"),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};
    use std::net::TcpStream;

    use super::*;

    /// A lot of `events` events of the kind `kind`.
    fn news(time: u64, events: usize, kind: u8) -> News {
        let mut record = [0; 32];
        record[16] = kind;
        News { time: Instant::from_nanos(time), events: record.repeat(events), ..News::default() }
    }

    fn get(port: u16, target: &str, host: &str) -> (String, Vec<u8>) {
        let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).expect("it listens");
        write!(stream, "GET {target} HTTP/1.1\r\nHost: {host}\r\n\r\n").expect("it reads");
        let mut reply = Vec::new();
        stream.read_to_end(&mut reply).expect("it answers");
        let end = reply.windows(4).position(|four| four == b"\r\n\r\n").expect("a head") + 4;
        (String::from_utf8_lossy(&reply[..end]).into_owned(), reply.split_off(end))
    }

    fn head(body: &[u8]) -> (Value, &[u8]) {
        let (len, rest) = body.split_at(4);
        let (head, rest) = rest.split_at(u32::from_le_bytes(len.try_into().expect("four bytes")) as usize);
        (serde_json::from_slice(head).expect("JSON"), rest)
    }

    #[test]
    fn a_page_gets_what_it_does_not_have_yet() {
        let mut view = View::open(listen(0).expect("loopback"), json!({})).expect("loopback");
        let port = view.address.port();
        let host = format!("127.0.0.1:{port}");
        (1..=3).for_each(|time| view.tell(news(time, time as usize, 2)));
        let clock = Clock::new();
        let lots = loop {
            let (_, body) = get(port, "/live?from=1", &host);
            let (head, bytes) = head(&body);
            if head["lots"].as_array().is_some_and(|lots| lots.len() == 2) {
                assert_eq!(bytes.len(), (2 + 3) * 32);
                break head;
            }
            assert!(clock.now() < Instant::START + Duration::from_secs(10), "{head}");
        };
        assert_eq!(lots["before"][2], 1, "the event of the first lot");
        assert_eq!(lots["lots"], json!([[2, 64, 0, 0], [3, 96, 0, 0]]));
        assert_eq!((&lots["over"], &lots["more"], &lots["missed"]), (&json!(false), &json!(false), &json!(0)));

        // A page that asks after the end is told so, and the thread ends with that.
        assert!(get(port, "/live?from=3&page=7", &host).0.starts_with("HTTP/1.1 200"));
        let asks = std::thread::spawn(move || {
            loop {
                let (_, body) = get(port, "/live?from=3&page=7", &host);
                if head(&body).0["over"] == json!(true) {
                    return;
                }
            }
        });
        let began = clock.now();
        drop(view);
        asks.join().expect("it was told");
        assert!(clock.now() < began + GONE, "nothing else is waited for");
    }

    #[test]
    fn pages_of_other_sites_read_nothing() {
        let view = View::open(listen(0).expect("loopback"), json!({ "secret": 1 })).expect("loopback");
        let port = view.address.port();
        assert!(view.address.ip().is_loopback());
        for host in ["example.com", &format!("example.com:{port}"), "127.0.0.1", "127.0.0.1:1"] {
            for target in ["/", "/recording.json", "/live?from=0"] {
                let (head, body) = get(port, target, host);
                assert!(head.starts_with("HTTP/1.1 403"), "{head}");
                assert!(!String::from_utf8_lossy(&body).contains("secret"));
            }
        }
        for host in ["127.0.0.1", "localhost"] {
            let (head, body) = get(port, "/recording.json", &format!("{host}:{port}"));
            assert!(head.starts_with("HTTP/1.1 200"), "{head}");
            assert!(String::from_utf8_lossy(&body).contains("secret"));
        }
    }

    #[test]
    fn a_window_is_kept_and_the_events_before_it_are_counted() {
        let mut desk = Desk::new(1, 1, Vec::new());
        let (lots, events) = (40, 20_000);
        (0..lots).for_each(|time| desk.take(Lot { news: news(time, events, (time % 2) as u8), missed: 0 }));
        assert!(desk.bytes <= WINDOW && desk.bytes + events * 32 > WINDOW);
        let (head, bytes) = desk.news(0);
        assert_eq!(head.first, lots - desk.kept.len() as u64);
        assert_eq!(head.before[..2].iter().sum::<u64>(), head.first * events as u64);
        assert!(head.more && bytes.len() <= ANSWER);
        let (head, bytes) = desk.news(lots + 9);
        assert_eq!((head.first, head.lots.len(), bytes.len()), (lots, 0, 0));
        assert_eq!(head.before[..2].iter().sum::<u64>(), lots * events as u64);
    }

    #[test]
    fn an_emulation_does_not_wait_for_a_page_that_reads_nothing() {
        let mut view = View::open(listen(0).expect("loopback"), json!({})).expect("loopback");
        let silent: Vec<TcpStream> = (0..20)
            .map(|_| {
                let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, view.address.port())).expect("it listens");
                write!(stream, "GET /live?from=0 HTTP/1.1\r\nHost: 127.0.0.1:{}\r\n\r\n", view.address.port())
                    .expect("the kernel takes it");
                stream
            })
            .collect();
        let lot = news(0, 30_000, 0);
        let clock = Clock::new();
        let longest = (0..200).map(|_| {
            let copy = lot.clone();
            let began = clock.now();
            view.tell(copy);
            clock.now().saturating_since(began)
        });
        let longest = longest.max().expect("there are some");
        assert!(longest < Duration::from_millis(50), "{longest:?}");
        drop(silent);
    }
}
