# One broker in one directory: DIR/server.properties, DIR/data, DIR/server.log, DIR/pid, DIR/broker.env, and where it is
# to run in a way of its own DIR/java.args and DIR/environment, a line each. Sourced by dev/kafka, never run.

# Node 1 is the controller as well.
write_config() { # DIR NODE PORT CONTROLLER_PORT [key=value …]
  local dir=$1 node=$2 port=$3 controller=$4 roles=broker listeners="PLAINTEXT://127.0.0.1:$3"
  shift 4
  if [[ $node == 1 ]]; then
    roles=broker,controller
    listeners+=",CONTROLLER://127.0.0.1:$controller"
  fi
  cat >"$dir/server.properties" <<PROPERTIES
process.roles=$roles
node.id=$node
controller.quorum.voters=1@127.0.0.1:$controller
listeners=$listeners
advertised.listeners=PLAINTEXT://127.0.0.1:$port
controller.listener.names=CONTROLLER
log.dirs=$dir/data
broker.session.timeout.ms=5000
broker.heartbeat.interval.ms=1000
num.partitions=1
auto.create.topics.enable=false
group.initial.rebalance.delay.ms=0
offsets.topic.replication.factor=1
offsets.topic.num.partitions=8
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
transaction.state.log.num.partitions=4
share.coordinator.state.topic.replication.factor=1
share.coordinator.state.topic.min.isr=1
PROPERTIES
  # Java takes the last of two equal keys, so what was asked for goes last.
  (($# == 0)) || printf '%s\n' "$@" >>"$dir/server.properties"
}

# Below the range from which outgoing connections take theirs, so that a restarted broker finds its port free.
free_port() {
  local port
  while true; do
    port=$((20000 + RANDOM % 12000))
    (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null || break
  done
  echo "$port"
}

cluster_id() { head -c 16 /dev/urandom | base64 | tr '+/' 'AB' | cut -c 1-22; }

format_data() { # DIR CLUSTER_ID
  java -Xmx256m -cp "$LIBS/*" -Dlog4j2.configurationFile="$ROOT/dev/lib/log4j2.properties" \
    kafka.tools.StorageTool format -t "$2" -c "$1/server.properties" >"$1/format.log" 2>&1 ||
    die "formatting $1/data failed: $(grep -v '^[[:space:]]*at ' "$1/format.log")"
}

# Runs the broker in a session of its own: a Ctrl-C at the terminal is for the command that uses it.
launch() { # DIR
  local dir=$1
  [[ ! -f $dir/server.log ]] || cat "$dir/server.log" >>"$dir/server.log.old"
  local args=(-Xms256m -Xmx1g) environment=()
  [[ ! -f $dir/java.args ]] || mapfile -t args <"$dir/java.args"
  [[ ! -f $dir/environment ]] || mapfile -t environment <"$dir/environment"
  setsid env ${environment[@]+"${environment[@]}"} java "${args[@]}" -cp "$LIBS/*" -Dlog4j2.configurationFile="$ROOT/dev/lib/log4j2.properties" \
    kafka.Kafka "$dir/server.properties" </dev/null >"$dir/server.log" 2>&1 3>&- 8>&- 9>&- &
  echo "$! $(started_at $!)" >"$dir/pid.part"
  mv "$dir/pid.part" "$dir/pid"
}

# The pid of DIR's broker, if it runs. The start time guards against a pid that was given to somebody else.
broker_pid() { # DIR
  local pid start
  { read -r pid start <"$1/pid"; } 2>/dev/null || return 1
  is_same_process "$pid" "$start" || return 1
  echo "$pid"
}

port_of() { sed -n 's/^BROKERS=127.0.0.1:\([0-9]*\)$/\1/p' "$1/broker.env"; }

# The start message, then an answer to an ApiVersions request (key 18, version 0, no client id).
answers() { # DIR PORT
  grep -qs 'Kafka Server started' "$1/server.log" || return 1
  local size
  size=$(timeout 5 bash -c 'exec 3<>"/dev/tcp/127.0.0.1/$0" &&
    printf "\0\0\0\x0a\0\x12\0\0\0\0\0\x01\xff\xff" >&3 && head -c 4 <&3 | wc -c' "$2" 2>/dev/null) || return 1
  ((size == 4))
}

is_up_or_over() { answers "$1" "$2" || ! broker_pid "$1" >/dev/null; }

# 0: it answers; 1: it ended or did not come up in time, and is gone.
launch_and_wait() { # DIR PORT
  launch "$1"
  await_answer "$1" "$2"
}

await_answer() { # DIR PORT
  if within 90 is_up_or_over "$1" "$2" && answers "$1" "$2"; then
    return
  fi
  stop_broker "$1"
  return 1
}

stop_broker() { # DIR
  local pid
  pid=$(broker_pid "$1") || {
    rm -f "$1/pid"
    return 0
  }
  kill -TERM "$pid" 2>/dev/null || true
  kill -CONT "$pid" 2>/dev/null || true # a frozen process would never see the first signal
  if ! within 20 is_gone "$pid"; then
    say "broker $pid did not stop within 20 s, killing it"
  fi
  kill_broker "$1"
}

kill_broker() { # DIR
  local pid
  if pid=$(broker_pid "$1"); then
    kill -KILL "$pid" 2>/dev/null || true
    within 10 is_gone "$pid" || die "broker $pid survived SIGKILL"
  fi
  rm -f "$1/pid"
}

log_tail() {
  say "--- the end of $1/server.log"
  tail -n 30 "$1/server.log" >&2 || true
  say '---'
}

# Outlives its starter, even a starter that is killed: ends the broker when OWNER is gone, or itself when DIR is.
watch_owner() { # DIR OWNER START
  while [[ -d $1 ]]; do
    if ! is_same_process "$2" "$3"; then
      kill_broker "$1"
      [[ ! -f $1/ephemeral ]] || rm -rf "$1"
      return
    fi
    sleep 1
  done
}
