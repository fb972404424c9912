# The broker's jars: fetched once into .dwell/, complete or absent, however many scripts ask at the same time.
# Sourced, never run.

KAFKA_VERSION=$(sed -n 's:.*<kafka.version>\(.*\)</kafka.version>.*:\1:p' "$ROOT/dev/lib/kafka-pom.xml")
LIBS="$STATE/kafka-$KAFKA_VERSION"

need_java() {
  need java openjdk-17-jre-headless
  local major
  major=$(java -version 2>&1 | sed -n 's/.* version "\([0-9]*\).*/\1/p' | head -n 1)
  [[ ${major:-0} -ge 17 ]] ||
    die "Java 17 or newer is needed, found ${major:-an unknown version}. On Debian: sudo apt-get update && sudo apt-get install -y openjdk-17-jre-headless"
}

fetch() {
  need_java
  [[ -d $LIBS ]] && return
  need mvn maven
  need flock util-linux
  mkdir -p "$STATE"
  (
    flock -w 900 9 || die "another script has been fetching Kafka for 15 minutes; see $STATE/fetch.lock"
    [[ -d $LIBS ]] || download
  ) 9>"$STATE/fetch.lock"
}

download() {
  local part="$LIBS.part" try
  say "fetching Kafka $KAFKA_VERSION with Maven …"
  for try in 1 2 3; do
    rm -rf "$part"
    if timeout 600 mvn -q -B -Dstyle.color=never -f "$ROOT/dev/lib/kafka-pom.xml" dependency:copy-dependencies \
      -DoutputDirectory="$part" -DincludeScope=runtime >&2 9>&-; then
      mv "$part" "$LIBS"
      return
    fi
    say "Maven failed, try $try of 3"
  done
  die "Kafka $KAFKA_VERSION could not be fetched; the messages of Maven are above"
}
