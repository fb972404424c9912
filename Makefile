# Everything a developer runs. Each target fetches what it needs; results go to target/ (or CARGO_TARGET_DIR) and .dwell/.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

TARGET := $(abspath $(or $(CARGO_TARGET_DIR),target))
SCRIPTS := dev/kafka dev/with-kafka dev/tools dev/needs dev/lib/*.sh .ci/run docs/clients/*.sh
DENY_CHECKS := bans licenses sources

.PHONY: help demo bench test lint fmt needs clean-dev

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 20

demo: needs ## a fleet of rollers on a real Kafka, judged by a checker; KEEP=1 leaves it running, DEMO_ARGS=… passes flags
	cargo build --release --locked -p dwell-roller -p dwell-cli -p dwell-demo
	DWELL_BIN_DIR="$(TARGET)/release" dev/with-kafka "$(TARGET)/release/dwell-demo" $(if $(KEEP),--keep) $(DEMO_ARGS)

bench: needs ## the figures of docs/benchmarks.md, into bench/out; BENCH=drain makes one, DWELL_BENCH_QUICK=1 only tries it
	cargo build --release --locked -p dwell-roller -p dwell-bench
	dev/with-kafka "$(TARGET)/release/dwell-bench" $(or $(BENCH),all) $(BENCH_ARGS)

test: needs ## all tests, those on a real Kafka included
	dev/kafka fetch
	dev/tools kcat
	dev/tools python
	cargo build --workspace --bins --locked
	cargo test --workspace --locked --no-run
	DWELL_BIN_DIR="$(TARGET)/debug" dev/with-kafka cargo test --workspace --locked

lint: needs ## formatting, clippy and its bans, docs, scripts, and licences where cargo-deny is installed
	for script in $(SCRIPTS); do bash -n "$$script"; done
	cargo fmt --all -- --check
	cargo clippy --workspace --all-targets --locked -- -D warnings
	RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --locked
	if command -v cargo-deny >/dev/null; then cargo deny --locked check $(DENY_CHECKS); else echo "cargo-deny is not installed: licences and sources not checked"; fi

fmt: ## formats the Rust code
	cargo fmt --all

needs:
	@dev/needs

clean-dev: ## removes the fetched Kafka, the clients and the data of brokers
	rm -rf .dwell
