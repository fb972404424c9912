#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use super::*;
use crate::sender::SendFailure;
use std::sync::mpsc::{Receiver, Sender, channel};

type Answers = Receiver<(u8, Option<SendTrouble>)>;

struct Fixture {
    line: Line,
    tell: Sender<(u8, Option<SendTrouble>)>,
}

fn letter(bytes: usize) -> Letter {
    Letter { topic: "orders".into(), key: None, payload: Some(vec![0; bytes]), headers: Vec::new() }
}

/// Room for so many records, and for so many of 1000 bytes.
fn fixture(records: usize, thousands: usize) -> (Fixture, Answers) {
    let options = SenderOptions {
        max_records: records,
        max_bytes: thousands * letter(1000).size(),
        timeout: Duration::from_secs(3600),
        ..SenderOptions::default()
    };
    let (tell, told) = channel();
    (Fixture { line: Line::new(&options), tell }, told)
}

impl Fixture {
    fn join(&self, number: u8, bytes: usize) -> Option<Ticket> {
        let tell = self.tell.clone();
        let reply = Reply::new("orders".into(), move |result| {
            let trouble = result.err().map(|f: SendFailure| f.trouble().clone());
            let _ = tell.send((number, trouble));
        });
        self.line.join(letter(bytes), reply)
    }
}

#[test]
fn records_go_in_order_while_there_is_room() {
    let (f, _told) = fixture(10, 2);
    let tickets: Vec<_> = (0..3).map(|n| f.join(n, 1000).unwrap()).collect();
    let (first, waiting) = f.line.admit().unwrap();
    let (second, _w2) = f.line.admit().unwrap();
    assert_eq!([first, second], tickets[..2]);
    assert!(f.line.admit().is_none(), "two thousand bytes are under way");
    f.line.left(waiting.size);
    assert_eq!(f.line.admit().unwrap().0, tickets[2]);
}

#[test]
fn a_small_record_does_not_overtake_a_large_one() {
    let (f, _told) = fixture(10, 2);
    f.join(0, 1000);
    f.join(1, 1500);
    f.join(2, 1);
    let (_, first) = f.line.admit().unwrap();
    assert!(f.line.admit().is_none());
    f.line.left(first.size);
    assert_eq!(f.line.admit().unwrap().1.letter.payload.unwrap().len(), 1500);
}

#[test]
fn records_are_bounded_too_and_a_giant_goes_alone() {
    let (f, _told) = fixture(1, 1);
    f.join(0, 1_000_000);
    f.join(1, 1);
    let (_, giant) = f.line.admit().unwrap();
    assert!(f.line.admit().is_none());
    assert_eq!(f.line.outstanding(), Outstanding { waiting: 1, sent: Load { records: 1, bytes: giant.size } });
    f.line.left(giant.size);
    assert!(f.line.admit().is_some());
}

#[test]
fn a_record_put_back_is_the_first_again() {
    let (f, _told) = fixture(10, 10);
    let first = f.join(0, 1);
    f.join(1, 1);
    let (ticket, waiting) = f.line.admit().unwrap();
    f.line.put_back(ticket, waiting);
    assert_eq!(f.line.outstanding().sent, Load::default());
    assert_eq!(f.line.admit().map(|(t, _)| t), first);
}

#[test]
fn a_withdrawn_record_is_answered_and_gone_and_only_while_it_waits() {
    let (f, told) = fixture(10, 10);
    let tickets: Vec<_> = (0..2).map(|n| f.join(n, 1).unwrap()).collect();
    let (_, gone) = f.line.admit().unwrap();
    for ticket in tickets {
        f.line.withdraw(ticket);
    }
    assert_eq!(told.try_recv().unwrap(), (1, Some(SendTrouble::Withdrawn)));
    assert!(told.try_recv().is_err(), "the other one was on its way");
    assert!(f.line.admit().is_none());
    drop(gone);
}

#[test]
fn who_waits_too_long_is_told_so() {
    let (f, told) = fixture(10, 10);
    f.join(0, 1);
    f.line.expire(mono());
    assert!(told.try_recv().is_err());
    f.line.expire(mono().plus(Duration::from_secs(3601)));
    assert_eq!(told.try_recv().unwrap(), (0, Some(SendTrouble::NoRoom(Duration::from_secs(3600)))));
}

#[test]
fn a_closed_line_takes_nobody_and_ends_when_empty_or_out_of_patience() {
    let (f, told) = fixture(10, 10);
    f.join(0, 1);
    assert_eq!(f.line.ended(mono()), Ended::No);
    f.line.close(Duration::from_secs(60));
    assert_eq!(f.join(1, 1), None);
    assert_eq!(told.try_recv().unwrap(), (1, Some(SendTrouble::Closed)));
    assert_eq!(f.line.ended(mono()), Ended::No, "one is still waiting");
    assert_eq!(f.line.ended(mono().plus(Duration::from_secs(61))), Ended::Yes);
    f.line.send_home();
    assert_eq!(told.try_recv().unwrap(), (0, Some(SendTrouble::Closed)));
    assert_eq!(f.line.ended(mono()), Ended::Yes);
}
