# Three brokers of one cluster, each in a directory of its own as in broker.sh: DIR/1, DIR/2, DIR/3; and DIR/broker.env
# with the addresses of all. Sourced by dev/kafka, never run.

NODES=(1 2 3)

prepare_node() { # DIR NODE [N:KEY=VALUE …]
  local dir=$1 node=$2 each
  shift 2
  printf '%s\n' -Xms128m -Xmx384m >"$dir/$node/java.args"
  : >"$dir/$node/environment"
  for each; do
    [[ ${each%%:*} != "$node" ]] || echo "${each#*:}" >>"$dir/$node/environment"
  done
}

# Leaders stay where they are unless somebody moves them.
configure_cluster() { # DIR [key=value …]
  local dir=$1 controller node port brokers=()
  controller=$(free_port)
  shift
  for node in "${NODES[@]}"; do
    port=$(free_port)
    write_config "$dir/$node" "$node" "$port" "$controller" \
      broker.session.timeout.ms=9000 auto.leader.rebalance.enable=false default.replication.factor=3 \
      offsets.topic.replication.factor=3 transaction.state.log.replication.factor=3 "$@"
    brokers+=("127.0.0.1:$port")
    echo "BROKERS=127.0.0.1:$port" >"$dir/$node/broker.env"
  done
  (
    IFS=,
    echo "BROKERS=${brokers[*]}"
  ) >"$dir/broker.env"
}

# Formats and launches all at once: the others come up with the controller. 0: all answer; 1: all are gone.
launch_cluster() { # DIR
  local dir=$1 id node waiting=()
  id=$(cluster_id)
  for node in "${NODES[@]}"; do
    [[ -d $dir/$node/data ]] || format_data "$dir/$node" "$id" &
    waiting+=($!)
  done
  for node in "${waiting[@]}"; do
    wait "$node" || return 1
  done
  for node in "${NODES[@]}"; do
    launch "$dir/$node"
  done
  for node in "${NODES[@]}"; do
    await_answer "$dir/$node" "$(port_of "$dir/$node")" || {
      on_each stop_broker "$dir"
      return 1
    }
  done
}

# on_each COMMAND DIR: for the broker in DIR, or for all brokers of the cluster in DIR, together.
on_each() {
  [[ -d $2/1 ]] || {
    "$1" "$2"
    return
  }
  local node waiting=() code=0
  for node in "${NODES[@]}"; do
    "$1" "$2/$node" &
    waiting+=($!)
  done
  for node in "${waiting[@]}"; do
    wait "$node" || code=1
  done
  return "$code"
}
