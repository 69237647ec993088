//! Draws scenarios from the schema: what the vocabulary gains, random worlds have from then on.

use hopcast_protocols::random::{Purpose, Stream};
use hopcast_protocols::transport::media;
use hopcast_sim::run::Simulation;
use hopcast_sim::scenario::{Loaded, Scenario, Source};
use serde_json::{Map, Value, json};

use super::keys::{ALL, SCHEMA, WORDS_LEFT_OUT, is_kind_left_out, is_left_out, plain, tag};

/// Usual values of keys, where the limits of the schema are far apart.
const USUAL: [(&str, &[&str]); 50] = [
    ("duration", &["20 ms", "60 ms", "150 ms", "300 ms"]),
    ("spacing", &["1 m", "20 m", "100 m", "200 m", "400 m"]),
    ("radius", &["2 m", "50 m", "180 m"]),
    ("area.width", &["10 m", "300 m"]),
    ("area.height", &["10 m", "300 m"]),
    ("placement.width", &["5 m", "50 m", "300 m"]),
    ("placement.height", &["5 m", "50 m", "300 m"]),
    ("channel.width", &["20 MHz", "40 MHz", "80 MHz", "160 MHz"]),
    ("receive", &["60 m", "250 m"]),
    ("carrier_sense", &["250 m", "550 m"]),
    ("frequency", &["914 MHz", "2.4 GHz", "5.2 GHz"]),
    ("band", &["2.4 GHz", "5 GHz"]),
    ("basic_rate", &["1 Mb/s", "2 Mb/s", "6 Mb/s", "24 Mb/s"]),
    ("tx_power", &["0 dBm", "10 dBm", "20 dBm"]),
    ("receive_threshold", &["-96 dBm", "-85 dBm", "-64 dBm"]),
    ("carrier_sense_threshold", &["-100 dBm", "-82 dBm", "-62 dBm"]),
    ("interference_floor", &["-120 dBm", "-100 dBm"]),
    ("guard_interval", &["0.4 us", "0.8 us", "1.6 us", "3.2 us"]),
    ("beacon_interval", &["10.24 ms", "102.4 ms"]),
    ("mtu", &["68 B", "256 B", "576 B", "1500 B", "2296 B"]),
    ("ampdu", &["1 B", "3 kB", "65535 B", "1 MB"]),
    ("amsdu", &["1 B", "3839 B", "7935 B", "11424 B"]),
    ("rts_threshold", &["0 B", "400 B", "2 kB", "1 ms"]),
    ("bytes", &["1 B", "5 kB", "1 MB"]),
    ("size", &["1 B", "100 B", "1400 B", "20 kB"]),
    ("packet", &["1 B", "40 B", "200 B", "1400 B", "4 kB"]),
    ("adaptation.segment", &["0.1 s", "0.5 s"]),
    ("segment", &["1 B", "100 B", "536 B", "1400 B"]),
    ("socket_buffer", &["1 B", "2 kB", "20 kB", "212992 B"]),
    ("application.rate", &["20 kb/s", "500 kb/s", "4 Mb/s", "30 Mb/s"]),
    ("application.interval", &["1 ms", "10 ms", "20 ms"]),
    ("min_rate", &["50 kb/s", "150 kb/s", "1 Mb/s"]),
    ("max_rate", &["1 Mb/s", "5 Mb/s", "20 Mb/s"]),
    ("clips.rate", &["50 kb/s", "1 Mb/s"]),
    ("clips.length", &["1 s", "5 s"]),
    ("clips.trace", &["big-buck-bunny"]),
    ("clips.lower_rates", &["20 kb/s"]),
    ("requests.every", &["0.1 s", "1 s"]),
    ("adaptation.buffer", &["1 s", "30 s"]),
    ("failures.start", &["5 ms", "40 ms"]),
    ("failures.duration", &["10 ms", "1 s"]),
    ("nominal_rate", &["1 Mb/s", "25 Mb/s"]),
    ("links.rate", &["100 kb/s", "2 Mb/s", "100 Mb/s"]),
    ("access.rate", &["100 kb/s", "2 Mb/s", "100 Mb/s"]),
    ("back.rate", &["100 kb/s", "2 Mb/s"]),
    ("up.rate", &["100 kb/s", "2 Mb/s"]),
    ("down.rate", &["100 kb/s", "2 Mb/s"]),
    ("doppler", &["1 Hz", "50 Hz"]),
    ("file", &["big-buck-bunny"]),
    ("network", &["red", "blue"]),
];

/// Standards with modulation and coding schemes, and frames of several packets.
const SHAPED: [&str; 3] = ["802.11n", "802.11ac", "802.11ax"];

/// Rates of the standards before 802.11n.
const RATES: [&str; 9] =
    ["1 Mb/s", "2 Mb/s", "5.5 Mb/s", "11 Mb/s", "6 Mb/s", "12 Mb/s", "24 Mb/s", "54 Mb/s", "108 Mb/s"];

/// A valid world of this number, whose flows all have paths. Half of them are drawn around one key or word of the vocabulary, so that
/// rare ones are not left to chance.
///
/// # Panics
/// If a hundred draws give no valid one.
pub(super) fn world(number: u64) -> Value {
    let mut random = Stream::new(number, Purpose::Placement, u64::MAX, 0);
    let wanted = &ALL[random.below(ALL.len() as u32) as usize];
    drawn(number, if random.unit() < 0.5 { wanted } else { "" })
}

/// The same, drawn around this key or word. It may have been taken out again, as it contradicts the rest.
pub(super) fn world_with(number: u64, wanted: &str) -> Value {
    drawn(number, wanted)
}

fn drawn(number: u64, wanted: &str) -> Value {
    let drawn = (0..100).find_map(|attempt| {
        let random = Stream::new(number, Purpose::Placement, attempt, 0);
        let mut draws = Draws { random, density: 0.0, standard: String::new(), wanted: wanted.to_owned() };
        repaired(draws.document())
    });
    drawn.expect("most draws can be repaired")
}

/// Reads a world.
pub(super) fn load(document: &Value) -> Result<Loaded, Vec<String>> {
    let source = Source { text: document.to_string(), name: "world".into(), ..Source::default() };
    Scenario::from_json(&source, &[])
        .map_err(|errors| errors.errors().iter().map(|error| error.field.clone()).collect())
}

/// Whether a world is a scenario whose flows have paths.
pub(super) fn is_valid(document: &Value) -> bool {
    load(document).is_ok_and(|loaded| Simulation::new(&loaded.scenario, loaded.scenario.seed).is_ok())
}

/// Takes out what contradicts the rest, until the scenario is valid; `None` if nothing remains.
fn repaired(mut document: Value) -> Option<Value> {
    for _ in 0..60 {
        match load(&document) {
            Err(fields) => {
                take_out(&mut document, &fields[0])?;
                for field in &fields[1..] {
                    // What several errors name may be gone, or have become valid, after the first.
                    if let Some(pointer) = whole(&document, field) {
                        remove(&mut document, &pointer)?;
                    }
                }
            }
            Ok(loaded) if Simulation::new(&loaded.scenario, loaded.scenario.seed).is_ok() => return Some(document),
            Ok(_) => {
                document.get_mut("flows")?.as_array_mut()?.pop()?;
            }
        }
    }
    None
}

/// Takes out the deepest part of a path that is there: `None` for the whole.
fn take_out(document: &mut Value, field: &str) -> Option<()> {
    let (pointer, _) = deepest(document, field);
    remove(document, &pointer)
}

/// The JSON pointer of a path, if all of it is there.
fn whole(document: &Value, field: &str) -> Option<String> {
    let (pointer, is_whole) = deepest(document, field);
    is_whole.then_some(pointer)
}

/// The JSON pointer of what is there of a path, whose lists have names or numbers; and whether that is all.
fn deepest(document: &Value, field: &str) -> (String, bool) {
    let mut pointer = String::new();
    let mut at = document;
    for step in field.split('.') {
        let next = match at {
            Value::Object(table) if table.contains_key(step) => step.to_owned(),
            Value::Array(items) => match items.iter().position(|item| item["name"] == step) {
                Some(place) => place.to_string(),
                None if step.parse::<usize>().is_ok_and(|place| place < items.len()) => step.to_owned(),
                None => return (pointer, false),
            },
            _ => return (pointer, false),
        };
        pointer = format!("{pointer}/{next}");
        at = document.pointer(&pointer).expect("the step is there");
    }
    (pointer, true)
}

/// Removes what is at a JSON pointer.
pub(super) fn remove(document: &mut Value, pointer: &str) -> Option<()> {
    let (parent, last) = pointer.rsplit_once('/')?;
    match document.pointer_mut(parent)? {
        Value::Object(table) => drop(table.remove(last)),
        Value::Array(items) => drop(items.remove(last.parse().ok()?)),
        _ => return None,
    }
    Some(())
}

struct Draws {
    random: Stream,
    /// Probability that an optional key is given.
    density: f64,
    /// That of most radios.
    standard: String,
    /// The key or word that is given in any case; empty: none.
    wanted: String,
}

impl Draws {
    fn document(&mut self) -> Value {
        let of = |key: &str| &SCHEMA["properties"][key];
        let node = &of("nodes")["items"];
        self.density = [0.05, 0.15, 0.35][self.random.below(3) as usize];
        let mut radio = self.table(of("radio"), ".radio");
        self.standard = self.word(&of("radio")["properties"]["standard"]["oneOf"], ".radio.standard");
        radio.insert("standard".into(), self.standard.clone().into());
        if let Some(queue) = radio.get_mut("queue")
            && ["airtime_fairness", "airtime_limit"].iter().any(|key| queue[key] != Value::Null)
        {
            queue["discipline"] = "mac80211".into();
        }
        if let Some(Value::Object(queue)) = radio.get_mut("queue")
            && queue.get("discipline").is_some_and(|discipline| discipline == "mac80211")
        {
            queue.remove("driver_packets");
        }
        let is_infrastructure = self.chance(0.2);
        let routing = self.value(&node["properties"]["routing"], ".nodes.routing");
        let mut names = Vec::new();
        let mut devices = Vec::new();
        let mut hubs = Vec::new();
        let mut nodes = Vec::new();
        for (place, name) in ["a", "b", "c"].into_iter().take(1 + self.random.below(3) as usize).enumerate() {
            let mut group = self.table(node, ".nodes");
            if self.is_wanted(".nodes.routing") || !self.chance(0.1) {
                routing.clone().map(|routing| group.insert("routing".into(), routing));
            }
            let role = match (is_infrastructure, place) {
                (true, 0) => "access-point",
                (true, _) => "station",
                _ if place > 0 && (self.wanted == ".nodes.role=hub" || self.chance(0.05)) => "hub",
                _ if place > 0 && self.chance(0.2) => "wired",
                _ => "ad-hoc",
            };
            group.insert("role".into(), role.into());
            if role == "ad-hoc" {
                devices.push(name);
            }
            let count = if role == "access-point" { 1 } else { 1 + self.random.below(4) };
            let at: Vec<Value> = (0..count).map(|_| json!([self.length(), self.length()])).collect();
            if role == "wired" || role == "hub" {
                group.retain(|key, _| !["placement", "mobility", "radios", "card"].contains(&key.as_str()));
            } else if group.get("mobility").is_some_and(|mobility| mobility["model"] == "streets") {
                self.draw_streets(&mut group, count);
            } else if !self.is_wanted(".nodes.placement") && self.chance(0.3) {
                group.insert("placement".into(), json!({ "shape": "points", "at": at }));
            } else if !group.contains_key("placement") {
                let placement = self.value(&node["properties"]["placement"], ".nodes.placement");
                placement.map(|placement| group.insert("placement".into(), placement));
            }
            group.insert("name".into(), name.into());
            if role == "hub" {
                group.remove("count");
                hubs.push(name);
                nodes.push(Value::from(group));
                continue;
            }
            if count == 1 && self.chance(0.5) {
                group.remove("count");
                names.push(name.to_owned());
            } else {
                group.insert("count".into(), count.into());
                names.extend((0..count).map(|number| format!("{name}{number}")));
            }
            nodes.push(Value::from(group));
        }
        let mut document = Map::new();
        if self.is_wanted(".name") || self.chance(self.density) {
            document.insert("name".into(), "world".into());
        }
        document.insert("duration".into(), self.usual(".duration").expect("it is there"));
        document.insert("seed".into(), self.random.below(1 << 30).into());
        document.insert("radio".into(), radio.into());
        document.insert("nodes".into(), nodes.into());
        let least = u32::from(self.is_wanted(".links"));
        let mut links: Vec<Value> = (0..self.random.below(4).max(least))
            .map(|_| {
                let mut link = self.table(&of("links")["items"], ".links");
                link.insert("between".into(), json!([self.one(&names), self.one(&names)]));
                if !link.contains_key("rate") {
                    link.insert("rate".into(), self.usual(".links.rate").expect("it is there"));
                }
                link.into()
            })
            .collect();
        for hub in hubs {
            let ends = [0; 2].map(|_| self.one(&names));
            links.extend(ends.map(|end| json!({ "between": [hub, end], "rate": "2 Mb/s" })));
        }
        if !links.is_empty() {
            document.insert("links".into(), links.into());
        }
        let flows: Vec<Value> = (0..1 + self.random.below(4))
            .map(|number| {
                let mut flow = self.table(&of("flows")["items"], ".flows");
                for (key, value) in
                    [("name", format!("f{number}")), ("from", self.one(&names)), ("to", self.one(&names))]
                {
                    flow.insert(key.into(), value.into());
                }
                if flow.contains_key("via") {
                    flow.insert("via".into(), json!([self.one(&names)]));
                }
                flow.into()
            })
            .collect();
        document.insert("flows".into(), flows.into());
        if self.is_wanted(".cloud") || self.chance(0.1) {
            let mut cloud = self.cloud(of("cloud"), &devices, &names);
            // Batches go without RTS and EDCA.
            if cloud["batch"].as_u64().is_some_and(|batch| batch > 1) {
                if self.is_wanted(".radio.rts_threshold") || self.is_wanted(".radio.edca") {
                    cloud.as_object_mut().and_then(|cloud| cloud.remove("batch"));
                } else if let Some(radio) = document["radio"].as_object_mut() {
                    radio.remove("edca");
                    radio.insert("rts_threshold".into(), "off".into());
                }
            }
            document.insert("cloud".into(), cloud);
        }
        document.into()
    }

    /// A cloud with one clip and one request, whose devices, if they are named, are these groups.
    fn cloud(&mut self, of: &Value, devices: &[&str], names: &[String]) -> Value {
        let mut cloud = self.table(of, ".cloud");
        let mut names = names.to_vec();
        if cloud.remove("devices").is_some() && !devices.is_empty() {
            names.retain(|name| devices.iter().any(|device| name.starts_with(device)));
            cloud.insert("devices".into(), json!(devices));
        }
        let mut clip = self.table(&of["properties"]["clips"]["items"], ".cloud.clips");
        clip.insert("name".into(), "film".into());
        clip.insert("at".into(), json!([self.one(&names)]));
        if cloud.contains_key("adaptation") {
            clip.insert("lower_rates".into(), json!([self.usual(".cloud.clips.lower_rates")]));
            clip.remove("block");
            clip.remove("trace");
        }
        if clip.contains_key("trace") {
            clip.remove("block");
            clip.remove("lower_rates");
        } else if !clip.contains_key("rate") {
            clip.insert("rate".into(), self.usual(".cloud.clips.rate").into());
        }
        for key in ["caches", "failures", "lies"] {
            if let Some(list) = cloud.get_mut(key).and_then(Value::as_array_mut) {
                list.truncate(1);
                list.iter_mut().for_each(|table| table["at"] = json!([self.one(&names)]));
            }
        }
        let mut request = self.table(&of["properties"]["requests"]["items"], ".cloud.requests");
        request.insert("from".into(), self.one(&names).into());
        if clip.contains_key("block") {
            request.remove("patience");
        }
        let clip_name = if clip.contains_key("count") && self.chance(0.5) { "film0" } else { "film" };
        request.insert("clip".into(), clip_name.into());
        cloud.insert("clips".into(), json!([clip]));
        cloud.insert("requests".into(), json!([request]));
        cloud.into()
    }

    /// Streets that fit the area, places on them, and pauses that go with stops.
    fn draw_streets(&mut self, group: &mut Map<String, Value>, count: u32) {
        let metres = |length: u32| format!("{length} m");
        let [x, y] = [0; 2].map(|_| [1, 5, 20, 100][self.random.below(4) as usize]);
        let [columns, rows] = [0; 2].map(|_| 1 + self.random.below(3));
        let [width, height] = [metres(x * columns), metres(y * rows)];
        let is_uniform = self.chance(0.5);
        let mobility = group["mobility"].as_object_mut().expect("a table");
        mobility.insert("block".into(), json!([metres(x), metres(y)]));
        if mobility.contains_key("stop") || mobility.contains_key("pause") {
            mobility.insert("stop".into(), json!(0.5));
            mobility.insert("pause".into(), json!(["1 ms", "30 ms"]));
        }
        if !is_uniform || mobility.contains_key("area") {
            mobility.insert("area".into(), json!({ "width": width, "height": height, "x": "0 m", "y": "0 m" }));
        }
        let placement = match is_uniform {
            true => json!({ "shape": "uniform", "width": width, "height": height }),
            false => {
                let at: Vec<Value> = (0..count)
                    .map(|_| [self.random.below(columns + 1) * x, self.random.below(rows + 1) * y].map(metres))
                    .map(|place| json!(place))
                    .collect();
                json!({ "shape": "points", "at": at })
            }
        };
        group.insert("placement".into(), placement);
    }

    /// Whether the key or word that is wanted is at this path or below.
    fn is_wanted(&self, path: &str) -> bool {
        self.wanted.strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[', '=']))
    }

    /// The properties of a table: those that it must have, and some of the others.
    fn table(&mut self, schema: &Value, path: &str) -> Map<String, Value> {
        let required: Vec<&str> =
            schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        let mut table = Map::new();
        for (key, of) in schema["properties"].as_object().into_iter().flatten() {
            let path = format!("{path}.{key}");
            let is_given = required.contains(&key.as_str()) || self.is_wanted(&path) || self.chance(self.density);
            if is_given && !is_left_out(&path, of) {
                self.value(of, &path).map(|value| table.insert(key.clone(), value));
            }
        }
        table
    }

    /// A value of the key at this path.
    fn value(&mut self, schema: &Value, path: &str) -> Option<Value> {
        let key = path.rsplit('.').next().expect("a name");
        if let Some(constant) = schema.get("const") {
            return Some(constant.clone());
        }
        if let Some(kinds) = schema["oneOf"].as_array() {
            if !kinds.iter().any(|kind| kind["properties"].is_object()) {
                return Some(self.word(&schema["oneOf"], path).into());
            }
            let word_of = |kind: &Value| tag(kind).map_or_else(String::new, |(_, word)| word.to_owned());
            let of_wanted = |kind: &&Value| {
                let word = word_of(kind);
                self.wanted == format!("{path}={word}") || self.is_wanted(&format!("{path}[{word}]"))
            };
            let fits = |kind: &&Value| {
                !is_kind_left_out(kind) && !WORDS_LEFT_OUT.contains(&format!("{path}={}", word_of(kind)).as_str())
            };
            let fitting: Vec<&Value> = kinds.iter().filter(fits).collect();
            let kind = match fitting.iter().copied().find(of_wanted) {
                Some(kind) => kind,
                None => fitting[self.random.below(fitting.len() as u32) as usize],
            };
            let path = format!("{path}[{}]", word_of(kind));
            return Some(self.table(kind, &path).into());
        }
        let words: Vec<String> =
            schema["x-or"].as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect();
        if let Some(word) = words.iter().find(|word| self.wanted == format!("{path}={word}")) {
            return Some(word.clone().into());
        }
        if !words.is_empty() && !self.is_wanted(&format!("{path}.")) && self.chance(0.4) {
            return Some(self.one(&words).into());
        }
        let type_of = &schema["type"];
        let is = |name: &str| type_of == name || type_of.as_array().is_some_and(|all| all.iter().any(|t| t == name));
        match key {
            "channel" if self.chance(0.5) => {
                return Some([1, 6, 11, 36, 42, 100][self.random.below(6) as usize].into());
            }
            "number" => return Some([1, 6, 36, 42, 100][self.random.below(5) as usize].into()),
            "data_rate" => {
                let has_schemes = SHAPED.contains(&self.standard.as_str());
                return Some(match has_schemes {
                    true => format!("mcs {}", self.random.below(12)).into(),
                    false => RATES[self.random.below(9) as usize].into(),
                });
            }
            "congestion" if is("string") => {
                return Some(
                    media::Congestion::ALL[self.random.below(media::Congestion::ALL.len() as u32) as usize]
                        .name()
                        .into(),
                );
            }
            "from" | "to" | "block" if is("array") => return Some(json!([self.length(), self.length()])),
            "via" => return Some(json!([])),
            "attenuation" if is("array") => return Some(json!(["3 dB", "20 dB"])),
            _ => {}
        }
        if schema["properties"].is_object() {
            return Some(self.table(schema, path).into());
        }
        if type_of == "array" {
            let items = (0..1 + self.random.below(2)).filter_map(|_| self.value(&schema["items"], path)).collect();
            return Some(Value::Array(items));
        }
        let one = |draws: &mut Self| draws.usual(path).or_else(|| draws.number(schema));
        if schema["x-steps"] == true && self.chance(0.3) {
            return Some(json!([["0 s", one(self)?], ["15 ms", one(self)?], ["40 ms", one(self)?]]));
        }
        if schema["x-range"] == true && self.chance(0.5) {
            let (low, high) = if key == "speed" { ("1 m/s", "8 m/s") } else { ("0 s", "20 ms") };
            return Some(json!([low, high]));
        }
        match type_of.as_str() {
            Some("boolean") => Some(self.chance(0.5).into()),
            Some("string") => self.usual(path),
            _ => one(self),
        }
    }

    /// One of the usual values.
    fn usual(&mut self, path: &str) -> Option<Value> {
        let path = plain(path);
        let fits = |known: &str| path.strip_suffix(known).is_some_and(|before| before.ends_with('.'));
        let (_, values) = USUAL.iter().find(|(known, _)| fits(known))?;
        Some(values[self.random.below(values.len() as u32) as usize].into())
    }

    /// A number between the limits, most often a small one.
    fn number(&mut self, schema: &Value) -> Option<Value> {
        let limit = |key: &str| schema[key].as_f64();
        let low = limit("minimum").or(limit("exclusiveMinimum")).unwrap_or(0.0);
        let high = limit("maximum").unwrap_or(1e9);
        if schema["x-quantity"].is_null() {
            if schema["type"] == "integer"
                || schema["format"].as_str().is_some_and(|of| of.starts_with("uint"))
                || schema["type"].as_array().is_some_and(|all| all.iter().any(|of| of == "integer"))
            {
                let largest = high.min(low + [3.0, 20.0, 300.0][self.random.below(3) as usize]);
                return Some((low as u64 + u64::from(self.random.below((largest - low) as u32 + 1))).into());
            }
            let largest = high.min(if self.chance(0.5) { 1.0 } else { 10.0 });
            let drawn = low + (largest - low).max(0.0) * self.random.unit();
            return Some(json!(if self.chance(0.15) { low } else { drawn }));
        }
        let (usual_low, usual_high, unit): (f64, f64, &str) = match schema["x-quantity"].as_str()? {
            "time" => (1e-4, 1.0, "s"),
            "size" => (1.0, 3000.0, "B"),
            "rate" => (2e4, 5e7, "b/s"),
            "length" => (0.5, 300.0, "m"),
            "speed" => (0.1, 30.0, "m/s"),
            "level" => (0.5, 30.0, "dB"),
            "frequency" => (1.0, 100.0, "Hz"),
            other => panic!("no usual values for a {other}"),
        };
        if self.chance(0.1) && low == 0.0 && schema["exclusiveMinimum"].is_null() {
            return Some(format!("0 {unit}").into());
        }
        let (low, high) = (usual_low.max(low), usual_high.min(high));
        let drawn = low * libm::pow(high / low, self.random.unit());
        let drawn = if unit == "B" { drawn.round() } else { drawn };
        Some(format!("{drawn} {unit}").into())
    }

    /// One of the words, which a key at this path can have.
    fn word(&mut self, words: &Value, path: &str) -> String {
        let words: Vec<String> = words
            .as_array()
            .expect("words")
            .iter()
            .filter_map(|word| word["const"].as_str())
            .map(str::to_owned)
            .collect();
        match words.iter().find(|word| self.wanted == format!("{path}={word}")) {
            Some(word) => word.clone(),
            None => self.one(&words),
        }
    }

    fn one(&mut self, of: &[String]) -> String {
        of[self.random.below(of.len() as u32) as usize].clone()
    }

    fn length(&mut self) -> String {
        format!("{} m", self.random.below(300))
    }

    fn chance(&mut self, probability: f64) -> bool {
        self.random.unit() < probability
    }
}
