//! Sends one record that arrives in 45 minutes: `cargo run -p dwell-router --example send -- localhost:9092`.

use dwell_router::{Delayed, LevelTable, Router};
use std::time::Duration;

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let brokers = std::env::args().nth(1).unwrap_or_else(|| "localhost:9092".to_owned());
    let router = Router::builder(LevelTable::load("levels.yaml")?).brokers(brokers).connect().await?;
    let remind = Delayed::to("orders").after(Duration::from_secs(45 * 60)).key("order-4711").payload("unpaid?");
    let receipt = router.send(remind).await?;
    println!("{} waits on {} until {} (epoch ms)", receipt.id, receipt.topic, receipt.due_ms);
    Ok(())
}
