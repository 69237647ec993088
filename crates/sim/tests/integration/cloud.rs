//! A streaming cloud over simulated radios.

use hopcast_sim::results::{CloudRecord, OutcomeName, Reason, Replication, RunResult, Spent, StreamRecord};
use hopcast_wire::cloud::Message;

use crate::scenarios::{run_logged, scenario};

/// Nodes of 802.11a at 54 Mb/s, `spacing` metres apart in a line, that reach 25 m and sense 55 m.
fn homes(count: usize, spacing: u32, duration: &str, cloud: &str) -> String {
    placed(count, &format!("{{ shape = \"line\", spacing = \"{spacing} m\" }}"), duration, cloud)
}

/// The same in another placement.
fn placed(count: usize, placement: &str, duration: &str, cloud: &str) -> String {
    format!(
        r#"
        duration = "{duration}"
        [radio]
        standard = "802.11a"
        data_rate = "54 Mb/s"
        rts_threshold = "off"
        propagation = {{ model = "range", receive = "25 m", carrier_sense = "55 m" }}
        [[nodes]]
        name = "home"
        count = {count}
        placement = {placement}
        {cloud}
        "#
    )
}

/// A film at `home0`, and one request of each of the others, `apart` seconds apart from 30 s on.
fn one_each(count: usize, keys: &str, rate: &str, apart: usize) -> String {
    let request = |n: usize| {
        format!("[[cloud.requests]]\nfrom = \"home{n}\"\nclip = \"film\"\nstart = \"{} s\"\n", 30 + apart * (n - 1))
    };
    let requests: String = (1..count).map(request).collect();
    format!(
        "[cloud]\n{keys}\n[[cloud.clips]]\nname = \"film\"\nrate = \"{rate}\"\nlength = \"60 s\"\nat = [\"home0\"]\n{requests}"
    )
}

fn result(text: &str, seed: u64) -> RunResult {
    let scenario = scenario(text);
    let mut replication = Replication::new(&scenario, seed).unwrap();
    while replication.advance() {}
    replication.finish(Spent::default())
}

fn cloud(text: &str) -> CloudRecord {
    result(text, 1).cloud.unwrap()
}

fn outcomes(cloud: &CloudRecord) -> Vec<OutcomeName> {
    cloud.streams.iter().map(|stream| stream.outcome).collect()
}

/// Airtime of a stream of 4 Mb/s in packets of 1316 bytes (clause 17 of IEEE 802.11-2020): the packet has 1360 bytes with its headers
/// and 1396 in the MPDU, of which 52 symbols of 216 bits make 228 µs; SIFS and ACK take 16 + 28 µs, DIFS and the mean backoff
/// 34 + 67.5 µs.
fn airtime_of_4_mbps() -> f64 {
    let exchange = 228e-6 + 44e-6 + 101.5e-6;
    4e6 / (8.0 * 1316.0) * exchange
}

#[test]
fn as_many_streams_are_admitted_as_fit_into_the_airtime_of_80211a() {
    let text = |policy: &str| {
        homes(9, 1, "150 s", &one_each(9, &format!("admission = \"{policy}\"\nprefetch = \"1 s\""), "4 Mb/s", 2))
    };
    let expected = (0.85 / airtime_of_4_mbps()) as u64;
    assert_eq!(expected, 5);
    for policy in ["airtime", "statistical"] {
        let cloud = cloud(&text(policy));
        let totals = &cloud.totals;
        assert_eq!((totals.offered, totals.admitted, totals.refused), (8, expected, 8 - expected), "{policy}");
        assert_eq!((totals.completed_without_hiccup, totals.orphaned_bookings), (expected, 0), "{policy}");
        let refused = cloud.streams.iter().filter(|stream| stream.outcome == OutcomeName::Refused);
        assert!(refused.into_iter().all(|stream| stream.reason == Some(Reason::Airtime)));
    }
    // 25 Mb/s by name are six times 4.
    assert_eq!(cloud(&text("hops")).totals.admitted, 6);
    // Eight need 1.135 of the time: each stands still for up to 8.1 s, and less while not all of them run.
    let all = cloud(&text("all")).totals;
    assert_eq!((all.admitted, all.completed_without_hiccup), (8, 0));
    assert!((40.0..65.0).contains(&all.stalled_s), "{all:?}");
}

/// The bundled film, twice in 60 s. By its frames, summed up apart from this code, a second in the buffer needs 1.2823 times the mean rate, two
/// seconds need 1.1102 times, and with five the mean is enough.
fn of_variable_rate(text: &str) -> String {
    text.replace("length = \"60 s\"", "length = \"60 s\"\ntrace = \"big-buck-bunny\"")
}

#[test]
fn a_film_whose_rate_varies_reserves_what_its_peaks_need() {
    for (prefetch, share) in [("1 s", 1.2823), ("2 s", 1.1102), ("5 s", 1.0)] {
        let keys = format!("admission = \"airtime\"\nprefetch = \"{prefetch}\"");
        let cloud = cloud(&of_variable_rate(&homes(9, 1, "150 s", &one_each(9, &keys, "4 Mb/s", 2))));
        let totals = &cloud.totals;
        let expected = (0.85 / (airtime_of_4_mbps() * share)) as u64;
        assert_eq!((totals.admitted, totals.completed_without_hiccup), (expected, expected), "{prefetch}");
        let packets = 4_000_000 * 60 / 8 / 1316 * expected;
        assert!((packets..packets + packets / 100).contains(&totals.media_packets), "{packets}: {totals:?}");
        assert!(totals.stored_bytes.abs_diff(4_000_000 * 60 / 8) < 100, "{totals:?}");
    }
}

/// At 6 Mb/s a link carries 5.14 Mb/s of media: a film of 4.2 Mb/s in the mean, but not with its peaks.
#[test]
fn a_buffer_carries_a_film_over_its_peaks() {
    let film = |admission: &str, prefetch: &str| {
        let keys = format!("admission = \"{admission}\"\nprefetch = \"{prefetch}\"");
        let text = homes(2, 1, "150 s", &one_each(2, &keys, "4.2 Mb/s", 2)).replace("54 Mb/s", "6 Mb/s");
        cloud(&of_variable_rate(&text)).totals
    };
    let short = film("all", "1 s");
    assert!(short.completed == 1 && short.hiccups > 0, "{short:?}");
    let long = film("airtime", "5 s");
    assert_eq!((long.admitted, long.completed_without_hiccup), (1, 1), "{long:?}");
    assert_eq!(film("airtime", "1 s").admitted, 0);
}

/// The source judges by its own profiles, and tells its neighbours the airtime that follows from them.
#[test]
fn a_source_that_lies_admits_too_many_or_none() {
    let told = |factor: &str| {
        let text = homes(9, 1, "150 s", &one_each(9, "admission = \"airtime\"\nprefetch = \"1 s\"", "4 Mb/s", 2));
        cloud(&format!("{text}\n[[cloud.lies]]\nat = [\"home0\"]\nfactor = {factor}\n")).totals
    };
    assert_eq!((told("1").admitted, told("1").completed_without_hiccup), (5, 5));
    assert_eq!((told("10").admitted, told("10").completed_without_hiccup), (8, 0));
    assert_eq!(told("0.1").admitted, 0);
}

/// Eight streams of 4 Mb/s that need 1.135 of the time, so that their displays stand still; and three over one to three hops that fit, one after the other.
#[test]
fn batches_carry_what_packets_carry() {
    let all = |batch: u32| {
        let keys = format!("admission = \"all\"\nbatch = {batch}\nprefetch = \"1 s\"");
        let totals = cloud(&homes(9, 1, "150 s", &one_each(9, &keys, "4 Mb/s", 2))).totals;
        assert!(totals.completed == 8 && totals.stalled_s > 40.0, "{totals:?}");
        totals.played_s + totals.stalled_s
    };
    let (packets, batches) = (all(1), all(8));
    assert!((batches / packets - 1.0).abs() < 0.03, "{batches} s instead of {packets} s");
    let fitting = |batch: u32| {
        let keys = format!("batch = {batch}\nprefetch = \"1 s\"");
        let cloud = cloud(&homes(4, 20, "250 s", &one_each(4, &keys, "6 Mb/s", 70)));
        assert_eq!((cloud.totals.completed_without_hiccup, cloud.totals.offered), (3, 3));
        cloud.streams.iter().map(|stream| stream.start_up_s.unwrap()).collect::<Vec<_>>()
    };
    for (packets, batches) in fitting(1).into_iter().zip(fitting(16)) {
        assert!((batches - packets).abs() < 0.1, "{batches} s instead of {packets} s");
    }
}

/// Homes in a line, 20 m apart, sense 55 m: four of them have a hidden one, three have none.
#[test]
fn batches_of_hidden_devices_are_told() {
    let warnings = |count: usize, batch: u32| {
        let keys = format!("batch = {batch}");
        let scenario = scenario(&homes(count, 20, "60 s", &one_each(count, &keys, "4 Mb/s", 2)));
        hopcast_sim::run::Simulation::new(&scenario, 1).unwrap().warnings().to_vec()
    };
    let told = warnings(4, 2);
    assert!(told.len() == 1 && told[0].contains("not all devices sense each other"), "{told:?}");
    assert_eq!([warnings(3, 2), warnings(4, 1)], [vec![], Vec::<String>::new()]);
}

#[test]
fn a_stream_of_k_hops_in_one_range_takes_k_times_the_airtime() {
    let streams = |hops: usize| {
        // Each display is `hops` hops away from its clip; all sense each other within two hops.
        let text = homes(hops + 1, 20, "110 s", &one_each(hops + 1, "prefetch = \"1 s\"", "6 Mb/s", 100));
        let cloud = cloud(
            &text
                .replace("start = \"30 s\"", "start = \"100 s\"")
                .replace(&format!("start = \"{} s\"", 30 + 100 * (hops - 1)), "start = \"30 s\""),
        );
        cloud.streams.last().unwrap().clone()
    };
    // 6 Mb/s take 0.213 of the time on a link: three hops fit into 0.85, and the fourth does not.
    for (hops, outcome) in [(2, OutcomeName::Completed), (3, OutcomeName::Completed), (4, OutcomeName::Refused)] {
        let stream = streams(hops);
        assert_eq!(stream.outcome, outcome, "{hops} hops: {stream:?}");
        assert_eq!(stream.hiccups, 0);
        assert!(outcome == OutcomeName::Refused || stream.hops == hops as u32);
    }
}

/// Half a second for answers, then a second of media at 1.5 times the rate: 2/3 s. At first feedbacks clock the source: 8, 24 and 56
/// packets in the first three intervals instead of 57 each take 0.146 s more. Messages take milliseconds.
#[test]
fn the_first_picture_comes_after_the_search_and_the_buffer() {
    let cloud = cloud(&homes(3, 20, "100 s", &one_each(3, "", "4 Mb/s", 100)));
    let [first, ..] = &cloud.streams[..] else { panic!("there was a request") };
    let start_up = first.start_up_s.unwrap();
    assert!((1.30..1.34).contains(&start_up), "{start_up}");
    assert_eq!((first.hops, first.prefetch_s, first.source.as_deref()), (1, 1.0, Some("home0")));
    assert_eq!(first.predicted_stall, Some(0.0));
    assert_eq!(cloud.totals.start_up_median_s, Some(start_up));
}

#[test]
fn a_clip_that_is_stored_is_shown_at_once_and_one_out_of_reach_is_not_found() {
    let requests = r#"
        [cloud]
        [[cloud.clips]]
        name = "near"
        rate = "1 Mb/s"
        length = "10 s"
        at = ["home0"]
        [[cloud.clips]]
        name = "far"
        rate = "1 Mb/s"
        length = "10 s"
        at = ["home1"]
        [[cloud.requests]]
        from = "home0"
        clip = "near"
        start = "15 s"
        [[cloud.requests]]
        from = "home0"
        clip = "far"
        start = "15 s"
        "#;
    let cloud = cloud(&homes(2, 40, "30 s", requests));
    assert_eq!(outcomes(&cloud), [OutcomeName::Completed, OutcomeName::NotFound]);
    let local = &cloud.streams[0];
    assert_eq!((local.hops, local.start_up_s, local.played_s), (0, Some(0.0), 10.0));
    assert_eq!((cloud.totals.local, cloud.totals.admitted, cloud.totals.not_found), (1, 0, 1));
}

#[test]
fn requests_and_results_depend_on_the_seed_alone() {
    let arrivals =
        "[[cloud.requests]]\nfrom = \"home\"\nclip = \"film\"\nstart = \"20 s\"\nevery = \"20 s\"\nstop = \"60 s\"";
    let text = homes(3, 20, "90 s", &(one_each(2, "", "2 Mb/s", 1) + arrivals));
    let records = |seed| result(&text, seed).cloud.unwrap();
    assert_eq!(records(3), records(3));
    let asked =
        |cloud: &CloudRecord| cloud.streams.iter().map(|stream: &StreamRecord| stream.asked_s).collect::<Vec<_>>();
    assert_ne!(asked(&records(3)), asked(&records(4)));
    // A rule that refuses changes nothing of when users ask.
    let refusing = text.replace("[cloud]", "[cloud]\nadmission = \"hops\"\nnominal_rate = \"1 Mb/s\"");
    let refused = result(&refusing, 3).cloud.unwrap();
    assert_eq!(asked(&refused), asked(&records(3)));
    assert_eq!(refused.totals.admitted, 0);
}

#[test]
fn what_is_on_the_air_are_messages_with_media_behind() {
    let scenario = scenario(&homes(2, 20, "35 s", &one_each(2, "", "4 Mb/s", 1)));
    let (_, sent) = run_logged(&scenario);
    let packets = sent.iter().filter_map(|(.., frame)| frame.payload.as_deref()?.packet().cloned());
    let messages: Vec<(Message, u32)> = packets
        .filter_map(|packet| {
            Some((Message::parse(packet.content()?).expect("a device sends messages"), packet.octets()))
        })
        .collect();
    let media = messages.iter().filter(|(message, _)| matches!(message, Message::Media { .. }));
    let lengths: Vec<u32> = media.map(|&(_, length)| length).collect();
    // The display begins 1.31 s after its request, so that at 35 s it has shown 3.69 s and buffers 1 to 1.2 s, in packets of 2.632 ms.
    assert!((1_780..=1_860).contains(&lengths.len()), "{}", lengths.len());
    assert!(lengths.iter().all(|&length| length == 20 + 8 + 16 + 1316));
    assert!(messages.iter().any(|(message, length)| *message == Message::Padding && *length == 1360));
    assert!(messages.iter().any(|(message, _)| matches!(message, Message::Confirm { .. })));
}

/// The clip has 8 Mb/s · 1 s / 8 = 1 MB: home0 offers it, and home2 shows it twice. The second time it is there, with room for it.
#[test]
fn what_a_home_has_displayed_is_there_the_second_time() {
    let clip = "[[cloud.clips]]\nname = \"film\"\nrate = \"1 Mb/s\"\nlength = \"8 s\"\nat = [\"home0\"]\n";
    let request =
        |start: u32| format!("[[cloud.requests]]\nfrom = \"home2\"\nclip = \"film\"\nstart = \"{start} s\"\n");
    let sources = |size: &str| {
        let cache = format!("[[cloud.caches]]\nat = [\"home\"]\nsize = \"{size}\"\n");
        let record = cloud(&homes(3, 20, "70 s", &format!("[cloud]\n{clip}{cache}{}{}", request(30), request(50))));
        assert_eq!(outcomes(&record), [OutcomeName::Completed, OutcomeName::Completed]);
        (record.streams.iter().map(|stream| stream.source.clone().unwrap()).collect::<Vec<_>>(), record.totals)
    };
    let (found, totals) = sources("1 MB");
    assert_eq!((found, totals.local, totals.stored_bytes), (vec!["home0".into(), "home2".into()], 1, 2_000_000));
    let (found, totals) = sources("999999 B");
    assert_eq!((found, totals.local, totals.stored_bytes), (vec!["home0".into(), "home0".into()], 0, 1_000_000));
}

/// Four streams of 4 Mb/s need 0.57 of the time: in any order no display stands still.
#[test]
fn in_any_order_streams_that_fit_are_shown_without_a_hiccup() {
    for order in ["fifo", "round-robin", "earliest-deadline", "earliest-hiccup"] {
        let keys = format!("admission = \"all\"\nschedule = \"{order}\"");
        let totals = cloud(&homes(5, 1, "110 s", &one_each(5, &keys, "4 Mb/s", 2))).totals;
        assert_eq!((totals.completed_without_hiccup, totals.orphaned_bookings), (4, 0), "{order}");
    }
}

fn eight_films_in_four_rates(keys: &str) -> CloudRecord {
    let rates = "rate = \"4 Mb/s\"\nlower_rates = [\"1 Mb/s\", \"2 Mb/s\", \"3 Mb/s\"]";
    cloud(&homes(9, 1, "150 s", &one_each(9, keys, "4 Mb/s", 2)).replace("rate = \"4 Mb/s\"", rates))
}

/// Eight films of 4 Mb/s need 1.135 of the time, so that all of them stand still. Displays that choose among four rates share what there is: at most
/// 4 / 1.135 = 3.52 Mb/s each in the mean. No rule promises that none stands still.
#[test]
fn displays_that_adapt_the_rate_hardly_stand_still() {
    for rule in ["bba", "bola", "robust-mpc"] {
        let keys = format!("admission = \"all\"\nadaptation = {{ rule = \"{rule}\", segment = \"2 s\" }}");
        let cloud = eight_films_in_four_rates(&keys);
        let totals = &cloud.totals;
        assert_eq!((totals.admitted, totals.completed, totals.orphaned_bookings), (8, 8, 0), "{rule}");
        assert!(totals.hiccups <= 1, "{rule}: {}", totals.hiccups);
        let rates: Vec<f64> = cloud.streams.iter().filter_map(|stream| stream.rate_mean_bps).collect();
        assert!(rates.len() == 8 && rates.iter().all(|rate| (1e6..=4e6).contains(rate)), "{rule}: {rates:?}");
        let mean = rates.iter().sum::<f64>() / 8.0;
        assert!((2e6..3.52e6).contains(&mean), "{rule}: {mean}");
        assert!(cloud.streams.iter().all(|stream| stream.rate_changes.is_some_and(|changes| changes > 0)), "{rule}");
        assert_eq!(totals.stored_bytes, (1 + 2 + 3 + 4) * 1_000_000 * 60 / 8);
    }
}

/// By their highest rate five of eight films fit into 0.85 of the time. By their lowest one all eight do, with 0.28 of the time, and they show more than that.
#[test]
fn displays_that_reserve_their_lowest_rate_are_admitted() {
    for (reserve, admitted) in [("highest", 5), ("lowest", 8)] {
        let adaptation = format!("{{ rule = \"robust-mpc\", segment = \"2 s\", reserve = \"{reserve}\" }}");
        let keys = format!("admission = \"airtime\"\nadaptation = {adaptation}");
        let cloud = eight_films_in_four_rates(&keys);
        let totals = &cloud.totals;
        assert_eq!((totals.admitted, totals.completed), (admitted, admitted), "{reserve}");
        // More than the lowest rate is not promised, and a display that tries it may stand still once.
        assert!(totals.hiccups <= u64::from(reserve == "lowest"), "{reserve}: {}", totals.hiccups);
        assert!(cloud.streams.iter().filter_map(|stream| stream.rate_mean_bps).all(|rate| rate > 2e6), "{reserve}");
    }
}

#[test]
fn what_a_cloud_cannot_do_is_named() {
    let errors_with = |keys: &str, change: &str, to: &str| {
        let text = homes(2, 20, "35 s", &one_each(2, keys, "4 Mb/s", 1)).replace(change, to);
        let source = hopcast_sim::scenario::Source { text, name: "test.toml".into(), ..Default::default() };
        hopcast_sim::scenario::Scenario::parse(&source, &[]).unwrap_err().to_string()
    };
    let errors = |change: &str, to: &str| errors_with("", change, to);
    let clip = errors("clip = \"film\"", "clip = \"flim\"");
    assert!(clip.contains("cloud.requests.0.clip") && clip.contains("did you mean \"film\""), "{clip}");
    let at = errors("at = [\"home0\"]", "at = [\"shed\"]");
    assert!(at.contains("there is no node \"shed\""), "{at}");
    let role = errors("name = \"home\"", "name = \"home\"\nreal = true");
    assert!(role.contains("no simulated node of role \"ad-hoc\""), "{role}");
    let device = errors("[cloud]", "[cloud]\ndevices = [\"home0\"]");
    assert!(device.contains("\"home1\" is not among the devices of the cloud"), "{device}");
    let stop = errors("start = \"30 s\"", "start = \"30 s\"\nstop = \"40 s\"");
    assert!(stop.contains("has no effect on one request"), "{stop}");
    let rates = |change: &str| errors("rate = \"4 Mb/s\"", &format!("rate = \"4 Mb/s\"\n{change}"));
    let falling = rates("lower_rates = [\"2 Mb/s\", \"1 Mb/s\"]");
    assert!(
        falling.contains("cloud.clips.film.lower_rates") && falling.contains("don't rise up to the rate"),
        "{falling}"
    );
    assert!(rates("lower_rates = [\"4 Mb/s\"]").contains("don't rise up to the rate of the clip (4 Mb/s)"));
    let blocks = rates("block = \"5 s\"\nlower_rates = [\"2 Mb/s\"]");
    assert!(blocks.contains("has no effect on a clip in blocks"), "{blocks}");
    let traced = rates("trace = \"big-buck-bunny\"\nblock = \"5 s\"\nlower_rates = [\"1 Mb/s\"]");
    assert!(traced.matches("does not fit a clip whose rate varies").count() == 2, "{traced}");
    assert!(rates("trace = \"big-buck-bonny\"").contains("there is no such trace"));
    let missing = errors("rate = \"4 Mb/s\"", "");
    assert!(missing.contains("cloud.clips.film.rate: is missing"), "{missing}");
    let patience = "block = \"5 s\"\n[[cloud.requests]]\npatience = \"5 s\"";
    let patience = errors("[[cloud.requests]]", patience);
    assert!(
        patience.contains("cloud.requests.0.patience") && patience.contains("no effect on a clip in blocks"),
        "{patience}"
    );
    let waiting = |clips: &str| errors("[[cloud.requests]]", &format!("{clips}[[cloud.requests]]\npatience = \"5 s\""));
    let second = "[[cloud.clips]]\nname = \"film\"\nrate = \"1 Mb/s\"\nlength = \"60 s\"\nat = [\"home0\"]\n";
    assert!(waiting(second).contains("there is already a clip \"film\""));
    assert!(waiting("trace = \"big-buck-bonny\"\n").contains("there is no such trace"));
    let adaptation = |keys: &str| errors("[cloud]", &format!("[cloud]\nadaptation = {{ rule = \"bba\"{keys} }}"));
    assert!(adaptation("").contains("has no effect, as each clip has one rate"));
    let segment = adaptation(", segment = \"150.5 ms\"");
    assert!(segment.contains("is not a whole number of milliseconds"), "{segment}");
    let buffer = adaptation(", segment = \"4 s\", buffer = \"7 s\"");
    assert!(buffer.contains("7 s is less than two segments of 4 s"), "{buffer}");
    let cache = "[[cloud.caches]]\nat = [\"home\", \"home1\"]\nsize = \"1 MB\"\n";
    let cache = errors("[[cloud.clips]]", &format!("{cache}[[cloud.clips]]"));
    assert!(cache.contains("cloud.caches.0.at.1") && cache.contains("\"home1\" is named twice"), "{cache}");
    let lies = "[[cloud.lies]]\nat = [\"home1\"]\nfactor = 2\n";
    let lies = errors("[[cloud.clips]]", &format!("{lies}{lies}[[cloud.clips]]"));
    assert!(lies.contains("cloud.lies.1.at.0") && lies.contains("\"home1\" is named twice"), "{lies}");
    let failure =
        |start: u32| format!("[[cloud.failures]]\nat = [\"home1\"]\nstart = \"{start} s\"\nduration = \"5 s\"\n");
    let twice = errors("[[cloud.clips]]", &format!("{}{}[[cloud.clips]]", failure(9), failure(5)));
    assert!(twice.contains("cloud.failures.1.at.0") && twice.contains("\"home1\" is already down then"), "{twice}");
    let standard = errors("standard = \"802.11a\"\n        data_rate = \"54 Mb/s\"", "standard = \"802.11ac\"");
    assert!(standard.contains("needs stations that send each packet in its own frame"), "{standard}");
    let batch = errors_with("batch = 2", "rts_threshold = \"off\"", "rts_threshold = \"1395 B\"");
    assert!(batch.contains("cloud.batch") && batch.contains("needs media without RTS and CTS"), "{batch}");
    let batch = errors_with("batch = 2", "rts_threshold = \"off\"", "rts_threshold = \"off\"\nedca = \"2012\"");
    assert!(batch.contains("cloud.batch") && batch.contains("needs DCF"), "{batch}");
}

/// Five homes: `home1` is the relay between the ends, and `home2` and `home3` are a way around it of three hops.
fn detour(duration: &str, cloud: &str) -> String {
    let placement = r#"{ shape = "points", at = [["0 m", "0 m"], ["20 m", "0 m"], ["10 m", "20 m"], ["30 m", "20 m"], ["40 m", "0 m"]] }"#;
    let film = r#"
        [[cloud.clips]]
        name = "film"
        rate = "1 Mb/s"
        length = "60 s"
        at = ["home0"]
        [[cloud.requests]]
        from = "home4"
        clip = "film"
        start = "20 s"
        "#;
    placed(5, placement, duration, &format!("{cloud}\n{film}"))
}

/// The relay is killed at 40 s. The display no longer hears it 5.5 s later, looks at its neighbours each 0.1 s, and searches for 0.1 s; then messages and media take
/// milliseconds.
#[test]
fn a_display_whose_relay_was_killed_gets_its_media_over_another_path() {
    let killed = "[cloud]\nadmission = \"all\"\n[[cloud.failures]]\nat = [\"home1\"]\nstart = \"40 s\"";
    let [untouched, lost] = ["[cloud]\nadmission = \"all\"", killed].map(|keys| cloud(&detour("150 s", keys)));
    let [before, after] = [&untouched, &lost].map(|cloud| &cloud.streams[0]);
    assert_eq!((before.hops, before.reroutes, before.outcome), (2, 0, OutcomeName::Completed));
    assert!(before.longest_gap_s.unwrap() < 0.5, "{before:?}");
    assert_eq!((after.hops, after.reroutes, after.outcome), (3, 1, OutcomeName::Completed));
    let gap = after.longest_gap_s.unwrap();
    assert!((5.6..6.0).contains(&gap), "{gap}");
    // A second was buffered, and the display goes on when it has as much again, which comes as fast as the path is.
    assert!((gap - 1.3..gap).contains(&after.longest_stall_s), "{after:?}");
    assert_eq!(lost.totals.orphaned_bookings, 0);
}

/// The only source is down from 15 to 50 s, and is heard again after two hellos. A user who waits searches each 6.5 s, and a start takes 1.2 s.
#[test]
fn a_user_who_waits_sees_the_clip_once_its_source_is_back() {
    let failure = "[[cloud.failures]]\nat = [\"home0\"]\nstart = \"15 s\"\nduration = \"35 s\"";
    let asked = |patience: &str| {
        let request = one_each(2, "admission = \"all\"", "1 Mb/s", 1) + &format!("patience = \"{patience}\"\n");
        cloud(&homes(2, 20, "130 s", &(request + failure))).streams.remove(0)
    };
    let waited = asked("60 s");
    assert_eq!(waited.outcome, OutcomeName::Completed);
    let start = waited.asked_s + waited.start_up_s.unwrap();
    assert!((51.0..60.0).contains(&start), "{start}");
    assert_eq!((asked("0 s").outcome, asked("10 s").outcome), (OutcomeName::NotFound, OutcomeName::NotFound));
}

/// There is no way around the relay. It is back after 3 s and says of the next packet that it knows no such stream, so the source stops; the
/// display learns the same from its next REFRESH, within 5 s. The relay's neighbours hear it, and it them, within two hellos.
#[test]
fn a_relay_that_was_rebooted_is_reserved_again() {
    let request = one_each(3, "admission = \"all\"", "1 Mb/s", 100).replace("start = \"130 s\"", "start = \"20 s\"");
    let failure = "[[cloud.failures]]\nat = [\"home1\"]\nstart = \"40 s\"\nduration = \"3 s\"";
    let cloud = cloud(&homes(3, 20, "120 s", &(request + failure)));
    let stream = cloud.streams.iter().find(|stream| stream.display == "home2").unwrap();
    assert_eq!((stream.hops, stream.reroutes, stream.outcome), (2, 1, OutcomeName::Completed));
    let gap = stream.longest_gap_s.unwrap();
    assert!((3.5..3.0 + 5.0 + 1.0).contains(&gap), "{gap}");
    assert_eq!(cloud.totals.orphaned_bookings, 0);
}

/// The relay no longer hears a display that was killed 5.5 s later, ends its own booking, and tells the source.
#[test]
fn what_a_killed_display_has_booked_ends() {
    let failure =
        "[cloud]\nadmission = \"all\"\n[[cloud.failures]]\nat = [\"home4\"]\nstart = \"40 s\"\nduration = \"30 s\"";
    let orphans = |duration: &str| cloud(&detour(duration, failure)).totals.orphaned_bookings;
    assert_eq!((orphans("45.4 s"), orphans("45.7 s")), (2, 0));
    let cloud = cloud(&detour("56 s", failure));
    assert_eq!(outcomes(&cloud), [OutcomeName::Broken]);
    // From the first picture, 1.3 s after the request, to its end.
    let shown = cloud.streams[0].played_s;
    assert!((18.0..19.0).contains(&shown), "{shown}");
}

#[test]
fn a_device_that_is_down_makes_no_requests_and_keeps_what_it_stores() {
    let failure = "[cloud]\n[[cloud.failures]]\nat = [\"home0\", \"home4\"]\nstart = \"10 s\"\nduration = \"15 s\"";
    let later = "[[cloud.requests]]\nfrom = \"home4\"\nclip = \"film\"\nstart = \"60 s\"";
    let cloud = cloud(&(detour("140 s", failure) + later));
    assert_eq!((cloud.totals.offered, outcomes(&cloud)), (1, vec![OutcomeName::Completed]));
    assert_eq!((cloud.streams[0].asked_s, cloud.streams[0].source.as_deref()), (60.0, Some("home0")));
}
