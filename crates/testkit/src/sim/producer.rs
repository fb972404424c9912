//! What is sent to the levels, and what must become of it.

use super::cluster::{Headers, PARTITIONS};
use super::world::{Ev, FAULTS_END, LEVELS, SECOND, World};
use dwell_wire::{Reason, names};

/// What a record asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wish {
    Level,
    After(u64),
    /// µs from the time of sending, by the clock of the level's leader.
    At(u64),
}

#[derive(Debug, Clone)]
pub(super) struct Order {
    pub(super) id: String,
    pub(super) level: usize,
    pub(super) part: usize,
    pub(super) key: usize,
    pub(super) target: &'static str,
    pub(super) wish: Wish,
    pub(super) big: bool,
    /// Where it must be parked, if it cannot be released.
    pub(super) parked_as: Option<Reason>,
    pub(super) deliver_at_ms: Option<i64>,
    /// When it was written, µs, and the leader's stamp; zero before.
    pub(super) true_us: u64,
    pub(super) append_ms: i64,
    bad_header: Option<&'static str>,
}

impl World {
    pub(super) fn plan_orders(&mut self) {
        for n in 0..self.rng.range(20, 60) as usize {
            let order = self.draw_order(n);
            let t = self.rng.range(SECOND, FAULTS_END);
            self.orders.push(order);
            self.at(t, Ev::Produce(n));
        }
    }

    fn draw_order(&mut self, n: usize) -> Order {
        let key = self.rng.index(3);
        let mut order = Order {
            id: format!("r{n}"),
            level: self.rng.index(LEVELS.len()),
            part: key % PARTITIONS,
            key,
            target: "orders",
            wish: Wish::Level,
            big: false,
            parked_as: None,
            deliver_at_ms: None,
            true_us: 0,
            append_ms: 0,
            bad_header: None,
        };
        match self.rng.range(0, 20) {
            0..4 => order.wish = Wish::After(self.rng.range(0, 45_000)),
            4..7 => order.wish = Wish::At(self.rng.range(0, 45 * SECOND)),
            7..10 => order.target = "payments",
            10 => order.target = "ghost",
            _ => {}
        }
        if self.weather.bad_records {
            self.spoil(&mut order);
        }
        order
    }

    fn spoil(&mut self, order: &mut Order) {
        match self.rng.range(0, 16) {
            0 => {
                order.bad_header = Some("soon");
                order.parked_as = Some(Reason::BadHeader);
            }
            1 => {
                order.target = "";
                order.parked_as = Some(Reason::NoTarget);
            }
            2 => {
                order.target = "secrets";
                order.parked_as = Some(Reason::TargetNotAllowed);
            }
            3 => {
                order.target = "orders";
                order.big = true;
                order.parked_as = Some(Reason::TooLarge);
            }
            _ => {}
        }
    }

    pub(super) fn produce(&mut self, n: usize) {
        let order = self.orders[n].clone();
        let topic = format!("delay-{}", LEVELS[order.level]);
        if !self.cluster.is_up(&topic, self.t) {
            self.after(200_000, Ev::Produce(n));
            return;
        }
        let leader = self.cluster.part(&topic, order.part).map_or(0, |p| p.leader);
        let now_ms = self.cluster.clocks[leader].at(self.t).div_euclid(1000);
        if let Wish::At(us) = order.wish {
            self.orders[n].deliver_at_ms = Some(now_ms + us as i64 / 1000);
        }
        self.orders[n].true_us = self.t;
        self.orders[n].append_ms = now_ms;
        let headers = self.orders[n].headers();
        self.note(|| format!("produce {order:?}"));
        self.cluster.append(self.t, &topic, order.part, (&order.id, order.key, order.big), headers);
        self.poke(order.level, order.part);
    }
}

impl Order {
    fn headers(&self) -> Headers {
        let mut headers = vec![
            (b"user".to_vec(), None),
            (names::TARGET.as_bytes().to_vec(), Some(self.target.as_bytes().to_vec())),
            (names::ID.as_bytes().to_vec(), Some(self.id.as_bytes().to_vec())),
        ];
        let mut put = |name: &str, value: String| headers.push((name.as_bytes().to_vec(), Some(value.into_bytes())));
        if let Wish::After(ms) = self.wish {
            put(names::DELAY, ms.to_string());
        }
        if let Some(at) = self.deliver_at_ms {
            put(names::DELIVER_AT, at.to_string());
        }
        if let Some(text) = self.bad_header {
            put(names::DELAY, text.to_owned());
        }
        headers
    }
}
