//! One value per control header, while a copy is written.

use crate::contract::{Kind, Known};
use crate::header::{HeaderSink, RawHeader};

const COUNT: usize = Known::ALL.len();

/// At most one value for every known control header. Absent and null are different.
#[derive(Clone, Copy)]
pub(crate) struct Slots<'a> {
    values: [Option<&'a [u8]>; COUNT],
    present: u64,
}

impl<'a> Slots<'a> {
    pub(crate) const fn new() -> Self {
        Slots { values: [None; COUNT], present: 0 }
    }

    /// The slots of these headers, the last of several counting; `other` sees all headers that have no slot.
    pub(crate) fn gather(
        headers: impl Iterator<Item = RawHeader<'a>>,
        mut other: impl FnMut(Kind, RawHeader<'a>),
    ) -> Self {
        let mut slots = Slots::new();
        for header in headers {
            match Kind::of(header.name) {
                Kind::Known(known) => slots.put(known, header.value),
                kind => other(kind, header),
            }
        }
        slots
    }

    /// `None` is absent, `Some(None)` null.
    pub(crate) fn get(&self, known: Known) -> Option<Option<&'a [u8]>> {
        self.has(known).then(|| self.values.get(known as usize).copied().flatten())
    }

    pub(crate) const fn has(&self, known: Known) -> bool {
        self.present & (1 << known as u32) != 0
    }

    pub(crate) fn put(&mut self, known: Known, value: Option<&'a [u8]>) {
        if let Some(slot) = self.values.get_mut(known as usize) {
            *slot = value;
            self.present |= 1 << known as u32;
        }
    }

    pub(crate) fn set(&mut self, known: Known, text: &'a [u8]) {
        self.put(known, Some(text));
    }

    pub(crate) fn remove(&mut self, gone: &[Known]) {
        for known in gone {
            self.present &= !(1 << *known as u32);
        }
    }

    /// Writes what is present, in the order of the contract.
    pub(crate) fn write(&self, sink: &mut (impl HeaderSink + ?Sized)) {
        let mut rest = self.present;
        while rest != 0 {
            let number = rest.trailing_zeros() as usize;
            rest &= rest - 1;
            if let (Some(known), Some(value)) = (Known::ALL.get(number), self.values.get(number)) {
                sink.put(known.name().as_bytes(), *value);
            }
        }
    }
}

const _: () = assert!(COUNT <= 64, "one bit per header");
