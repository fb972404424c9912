//! The main job on a real broker, judged by an independent checker.
fn main() {}
