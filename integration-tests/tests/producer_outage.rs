//! The broker is away while a router with a small buffer goes on sending: it holds back, every send gets one answer
//! with a type, and every answer is true.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use dwell_integration_tests::own_broker::OwnBroker;
use dwell_integration_tests::{Fleet, fleet, within};
use dwell_kafka::reader::WholeRecord;
use dwell_router::{Delayed, Fate, Receipt, Router, SendError};
use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// More callers than there is room for.
const CALLERS: usize = 24;
const ROOM: usize = 8;
const ROOM_BYTES: usize = 64 * 1024;
/// Between two sends of one caller, so that the topic stays small.
const PACE: Duration = Duration::from_millis(3);

/// What a caller was told of one record.
struct Told {
    id: String,
    result: Result<Receipt, SendError>,
    begun: Instant,
    took: Duration,
}

/// Ends the callers, also where the test has failed.
struct Ended<'t>(&'t AtomicBool);

impl Drop for Ended<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// A broker, a fleet on it and callers that send without a pause.
struct Outage {
    broker: OwnBroker,
    fleet: Fleet,
    router: Router,
    timeout: Duration,
    hooked: Arc<Mutex<Vec<String>>>,
    most_waiting: AtomicUsize,
    acknowledged: AtomicUsize,
    done: AtomicBool,
}

impl Outage {
    fn prepare(timeout: Duration) -> Outage {
        // Fails here, and not later, where the shared cluster is missing too.
        fleet::brokers();
        let broker = OwnBroker::start();
        let fleet = Fleet::on(broker.address(), "{5s: {}}", "");
        fleet.create_topics();
        let hooked = Arc::new(Mutex::new(Vec::new()));
        let hook = hooked.clone();
        let router = Router::builder(fleet.table.clone())
            .brokers(broker.address())
            .timeout(timeout)
            .buffer(ROOM_BYTES, ROOM)
            .on_result(move |outcome| hook.lock().unwrap().push(outcome.id.to_owned()))
            .connect_blocking()
            .unwrap();
        let (most_waiting, acknowledged) = (AtomicUsize::new(0), AtomicUsize::new(0));
        Outage { broker, fleet, router, timeout, hooked, most_waiting, acknowledged, done: AtomicBool::new(false) }
    }

    /// Sends all the time, also during `script`, and until records go through after it.
    fn run(&self, script: impl FnOnce(&OwnBroker)) -> Vec<Told> {
        std::thread::scope(|scope| {
            let ended = Ended(&self.done);
            let callers: Vec<_> = (0..CALLERS).map(|caller| scope.spawn(move || self.call(caller))).collect();
            scope.spawn(|| self.watch_the_bounds());
            self.wait_for_more(10 * CALLERS);
            script(&self.broker);
            self.wait_for_more(10 * CALLERS);
            drop(ended);
            callers.into_iter().flat_map(|caller| caller.join().unwrap()).collect()
        })
    }

    fn call(&self, caller: usize) -> Vec<Told> {
        let mut all = Vec::new();
        while !self.done.load(Ordering::Relaxed) {
            let id = format!("{caller}-{}", all.len());
            let record = Delayed::to(self.fleet.target_name("orders")).after(Duration::from_secs(3)).id(&id);
            let begun = Instant::now();
            let result = self.router.blocking().send(record.key(caller.to_string()).payload("x".repeat(500)));
            self.acknowledged.fetch_add(usize::from(result.is_ok()), Ordering::Relaxed);
            all.push(Told { id, result, begun, took: begun.elapsed() });
            std::thread::sleep(PACE);
        }
        all
    }

    fn watch_the_bounds(&self) {
        while !self.done.load(Ordering::Relaxed) {
            let now = self.router.outstanding();
            assert!(now.sent.records <= ROOM && now.sent.bytes <= ROOM_BYTES, "{now:?}");
            assert!(now.sent.records + now.waiting <= CALLERS, "a caller has one record under way: {now:?}");
            self.most_waiting.fetch_max(now.waiting, Ordering::Relaxed);
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    fn wait_for_more(&self, count: usize) {
        let aim = self.acknowledged.load(Ordering::Relaxed) + count;
        within(Duration::from_secs(60), "records go through", || {
            (self.acknowledged.load(Ordering::Relaxed) >= aim).then_some(())
        });
    }

    /// Compares what the callers were told with what the level holds. Returns how many timeouts said "not written", and
    /// how many "may be".
    fn audit(&self, told: &[Told]) -> (usize, usize) {
        let records = self.fleet.read(&self.fleet.level_topic("5s"));
        let mut places: HashMap<&str, Vec<(i32, i64)>> = HashMap::new();
        for r in &records {
            places.entry(r.header("dwell-id").unwrap()).or_default().push(place(r));
        }
        let (mut not_written, mut may_be) = (0, 0);
        for Told { id, result, took, .. } in told {
            let here = places.remove(id.as_str()).unwrap_or_default();
            assert!(here.len() <= 1, "{id} is there more than once: {here:?}, {result:?}");
            assert!(*took < 2 * self.timeout + Duration::from_secs(5), "{id} was answered after {took:?}");
            match result {
                Ok(receipt) => assert_eq!(here, [(receipt.partition, receipt.offset)], "acknowledged: {receipt:?}"),
                Err(error @ SendError::Timeout { id: named, waited, fate, .. }) => {
                    assert_eq!((named, *waited), (id, self.timeout), "{error}");
                    match fate {
                        Fate::NotWritten => assert!(here.is_empty(), "{id} is there, but: {error}"),
                        Fate::MayBeWritten => may_be += 1,
                    }
                    not_written += usize::from(*fate == Fate::NotWritten);
                }
                Err(other) => panic!("{id}: {other}"),
            }
        }
        assert!(places.is_empty(), "nobody sent these: {places:?}");
        self.audit_hook(told);
        (not_written, may_be)
    }

    fn audit_hook(&self, told: &[Told]) {
        let hooked = self.hooked.lock().unwrap();
        let different: HashSet<&str> = hooked.iter().map(String::as_str).collect();
        assert_eq!((hooked.len(), different.len()), (told.len(), told.len()), "the hook hears of every record once");
    }
}

fn place(r: &WholeRecord) -> (i32, i64) {
    (r.partition, r.offset)
}

/// None of those that began while the broker was away, and were answered before it was back, may have been acknowledged.
fn assert_nothing_was_promised(told: &[Told], away: Instant, back: Instant) {
    let meanwhile = |t: &&Told| t.begun > away && t.begun + t.took < back;
    let (mut count, mut early) = (0, 0);
    for t in told.iter().filter(meanwhile) {
        assert!(t.result.is_err(), "{} was acknowledged by nobody", t.id);
        count += 1;
        early += usize::from(t.took < Duration::from_millis(500));
    }
    assert!(count > 0, "some timed out while the broker was away");
    assert_eq!(early, 0, "callers are held back and do not spin");
}

#[test]
fn a_broker_that_is_dead_for_half_a_minute_holds_callers_back_and_loses_nothing_in_silence() {
    let outage = Outage::prepare(Duration::from_secs(10));
    let mut times = None;
    let told = outage.run(|broker| {
        broker.kill();
        let away = Instant::now();
        std::thread::sleep(Duration::from_secs(30));
        times = Some((away, Instant::now()));
        broker.restart();
    });
    let (away, back) = times.unwrap();
    assert_nothing_was_promised(&told, away, back);
    let (not_written, may_be) = outage.audit(&told);
    println!("{} sends, {not_written} timeouts without, {may_be} with a doubt", told.len());
    assert!(outage.most_waiting.load(Ordering::Relaxed) >= CALLERS - ROOM, "callers waited in line");
    assert!(not_written >= CALLERS, "most never left the line or the client");
}

#[test]
fn a_broker_that_hangs_is_a_doubt_where_the_record_was_on_its_way_and_the_doubt_is_told() {
    let outage = Outage::prepare(Duration::from_secs(3));
    let mut times = None;
    let told = outage.run(|broker| {
        broker.freeze();
        let away = Instant::now();
        std::thread::sleep(Duration::from_secs(8));
        times = Some((away, Instant::now()));
        broker.thaw();
    });
    let (away, back) = times.unwrap();
    assert_nothing_was_promised(&told, away, back);
    let (not_written, may_be) = outage.audit(&told);
    println!("{} sends, {not_written} timeouts without, {may_be} with a doubt", told.len());
    assert!(may_be > 0, "what was on the wire may have been written");
    assert!(not_written > 0, "what waited in line was not");
}
