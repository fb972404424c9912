//! `/livez`, `/readyz`, `/metrics`. No probe asks Kafka anything.

use crate::health::{DEAD_AFTER, Health};
use axum::Router;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::IntoResponse;
use axum::routing::get;
use dwell_kafka::clock::mono;
use metrics_exporter_prometheus::PrometheusHandle;
use std::sync::Arc;
use tokio::net::TcpListener;

#[derive(Clone)]
struct Probed {
    levels: Arc<Vec<Arc<Health>>>,
    metrics: PrometheusHandle,
}

/// Serves until the process ends.
pub(crate) async fn serve(listener: TcpListener, levels: Vec<Arc<Health>>, metrics: PrometheusHandle) {
    let state = Probed { levels: Arc::new(levels), metrics };
    let app = Router::new()
        .route("/livez", get(livez))
        .route("/readyz", get(readyz))
        .route("/metrics", get(render))
        .with_state(state);
    if let Err(error) = axum::serve(listener, app).await {
        tracing::error!(%error, "the HTTP server ended");
    }
}

/// Alive: every loop turns. Brokers that are away do not matter.
async fn livez(State(s): State<Probed>) -> impl IntoResponse {
    let now = mono();
    let dead = s.levels.iter().filter(|h| h.silence(now) > DEAD_AFTER);
    say(dead.map(|h| format!("{}: the loop last turned {:?} ago", h.level, h.silence(now))).collect())
}

/// Ready: every level is rolled, with however many partitions.
async fn readyz(State(s): State<Probed>) -> impl IntoResponse {
    say(s.levels.iter().filter_map(|h| Some(format!("{}: {}", h.level, h.why_not_ready()?))).collect())
}

fn say(faults: Vec<String>) -> (StatusCode, String) {
    match faults.is_empty() {
        true => (StatusCode::OK, "ok\n".to_owned()),
        false => (StatusCode::SERVICE_UNAVAILABLE, faults.join("\n") + "\n"),
    }
}

async fn render(State(s): State<Probed>) -> impl IntoResponse {
    ([(header::CONTENT_TYPE, "text/plain; version=0.0.4")], s.metrics.render())
}
