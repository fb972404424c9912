//! Records on their ordinary way cost no allocation.
#![allow(clippy::unwrap_used, unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use dwell_wire::{HeaderSink, Place, RawHeader, decode, hop, names, release, set_aside};

struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
}

// SAFETY: every call goes to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.with(|count| count.set(count.get() + 1));
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps the contract of `dealloc`.
        unsafe { System.dealloc(at, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Only adds up, so that what allocates is not the sink.
#[derive(Default)]
struct Bytes(usize);

impl HeaderSink for Bytes {
    fn put(&mut self, name: &[u8], value: Option<&[u8]>) {
        self.0 += name.len() + value.map_or(0, <[u8]>::len);
    }
}

#[test]
fn good_records_are_read_and_forwarded_without_an_allocation() {
    let full_trail = "2h,".repeat(170);
    let headers = [
        ("traceparent", Some("00-4bf9")),
        (names::TARGET, Some("orders")),
        (names::DELAY, Some("2700000")),
        (names::TRAIL, Some(full_trail.as_str())),
        ("tenant", None),
    ];
    let raw = headers.map(|(name, value)| RawHeader { name: name.as_bytes(), value: value.map(str::as_bytes) });
    let place = Place { topic: "delay-5s", partition: 0, offset: 1, append_ms: 1_700_000_000_000 };
    let mut sink = Bytes::default();

    let before = ALLOCATIONS.with(Cell::get);
    let control = decode(raw.into_iter()).unwrap();
    release(raw.into_iter(), &control, &place, "5s", 1_700_000_005_000, &mut sink);
    hop(raw.into_iter(), &control, &place, "5s", 1_700_002_700_000, &mut sink);
    set_aside(raw.into_iter(), &control, &place, "5s", None, &mut sink);
    let after = ALLOCATIONS.with(Cell::get);

    assert_eq!(after - before, 0);
    assert!(sink.0 > 1_000, "the steps wrote their headers");
}
