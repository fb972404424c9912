//! What must be true when a run is over.

use super::cluster::{PARTITIONS, Record};
use super::producer::{Order, Wish};
use super::world::{LEVELS, World};
use dwell_roller_core::Stamp;
use dwell_wire::{Reason, names};
use std::rc::Rc;

const DELAY_MS: [i64; 3] = [1_000, 5_000, 30_000];

impl World {
    fn copies(&self, topic: &str, id: &str) -> Vec<Rc<Record>> {
        let log = self.cluster.part(topic, 0).map(|p| p.log.as_slice()).unwrap_or_default();
        log.iter().filter(|r| r.id == id).cloned().collect()
    }

    pub(super) fn conclude(&mut self) -> (usize, usize, usize) {
        let (mut delivered, mut parked, mut repeated) = (0, 0, 0);
        for order in self.orders.clone() {
            let copies = self.copies(order.target, &order.id);
            let human = self.copies("delay-parked", &order.id);
            delivered += usize::from(!copies.is_empty());
            parked += usize::from(!human.is_empty());
            repeated += copies.len().saturating_sub(1);
            self.check_arrival(&order, copies.len(), &human);
            for copy in &copies {
                self.check_time(&order, copy);
            }
            self.check_calm(&order, &copies);
        }
        self.check_order();
        self.check_ends();
        (delivered, parked, repeated)
    }

    fn check_arrival(&mut self, order: &Order, copies: usize, parked: &[Rc<Record>]) {
        let w = self.weather;
        let unwell = w.sick_target || w.outages;
        let may_park = |reason: &str| match order.parked_as {
            Some(wanted) => reason == wanted.as_str(),
            None if order.target == "ghost" => {
                reason == Reason::TargetUnknown.as_str() || unwell && reason == Reason::TargetUnavailable.as_str()
            }
            None => unwell && reason == Reason::TargetUnavailable.as_str(),
        };
        for p in parked {
            let reason = header(p, names::REASON);
            if !may_park(&reason) {
                self.flaw(format!("{order:?} parked as {reason:?}"));
            }
        }
        if copies + parked.len() == 0 {
            self.flaw(format!("lost: {order:?}"));
        }
        if copies > 0 && order.parked_as.is_some() {
            self.flaw(format!("released, but should have been parked: {order:?}"));
        }
        if copies > 1 && !w.may_repeat() {
            self.flaw(format!("{copies} copies without a reason: {order:?}"));
        }
    }

    /// Where no clock steps, the brokers' clocks decide, to the millisecond. Where one did, clocks may stay far apart;
    /// then a record may be early by them only if truly no less time has passed, but for the size of the step.
    fn check_time(&mut self, order: &Order, copy: &Record) {
        let own = DELAY_MS[order.level];
        let asked_ms = if let Wish::After(ms) = order.wish { own.max(ms as i64) } else { own };
        let stepped = self.cluster.stepped(order.true_us, copy.true_us) as i64;
        let stamped = self.source_stamp(order);
        let by_clock = copy.append_ms < order.append_ms + asked_ms;
        let truly_short = asked_ms * 1000 - (copy.true_us - order.true_us) as i64;
        // A millisecond of stamps cut short, and 40 µs each second between two drifting clocks.
        let early = match stamped {
            Some(Stamp::Append(_)) if !self.weather.steps => by_clock,
            Some(Stamp::Append(_)) => by_clock && truly_short > stepped + 1_000 + asked_ms / 20,
            _ => truly_short > stepped + 1_000 + asked_ms / 20,
        };
        if early {
            self.flaw(format!("early by {truly_short} µs (stamped {}): {order:?}", copy.append_ms));
        }
        if order.deliver_at_ms.is_some_and(|at| copy.append_ms < at - (stepped + 999) / 1000) {
            self.flaw(format!("before the time asked for (stamped {}): {order:?}", copy.append_ms));
        }
    }

    fn source_stamp(&self, order: &Order) -> Option<Stamp> {
        let topic = format!("delay-{}", LEVELS[order.level]);
        let log = &self.cluster.part(&topic, order.part)?.log;
        log.iter().find(|r| r.id == order.id).map(|r| r.stamp)
    }

    /// Where nothing went wrong, a record is at most as late as the brokers' clocks are apart.
    fn check_calm(&mut self, order: &Order, copies: &[Rc<Record>]) {
        let w = self.weather;
        let rough = w.may_repeat() || w.steps || w.create_time || w.bad_records;
        if rough || order.wish != Wish::Level || order.target == "ghost" {
            return;
        }
        let Some(copy) = copies.first() else { return };
        let late = (copy.true_us - order.true_us) as i64 - DELAY_MS[order.level] * 1000;
        if late > 900_000 {
            self.flaw(format!("late by {late} µs for no reason: {order:?}"));
        }
    }

    fn check_order(&mut self) {
        if self.weather.may_disorder() || self.weather.flaky_producer {
            return;
        }
        let mut orders: Vec<_> = self.orders.clone();
        orders.retain(|o| o.wish == Wish::Level && o.target == "orders");
        orders.sort_by_key(|o| o.true_us);
        for lane in 0..LEVELS.len() * 3 {
            let mut last = 0;
            for o in orders.iter().filter(|o| o.level * 3 + o.key == lane) {
                let log = self.cluster.part("orders", 0).map(|p| p.log.as_slice()).unwrap_or_default();
                let at = log.iter().position(|r| r.id == o.id).unwrap_or(usize::MAX);
                if at < last {
                    self.flaw(format!("out of order: {o:?}"));
                }
                last = at;
            }
        }
    }

    fn check_ends(&mut self) {
        for (level, name) in LEVELS.iter().enumerate() {
            for part in 0..PARTITIONS {
                let end = self.cluster.end(&format!("delay-{name}"), part);
                let committed = self.seats[level][part].committed;
                if committed != end {
                    self.flaw(format!("{name}-{part} is stuck: committed {committed} of {end}"));
                }
            }
        }
    }
}

fn header(record: &Record, name: &str) -> String {
    let found = record.headers.iter().rev().find(|(n, _)| n == name.as_bytes());
    let value = found.and_then(|(_, v)| v.as_deref()).unwrap_or_default();
    String::from_utf8_lossy(value).into_owned()
}
