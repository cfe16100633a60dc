#!/usr/bin/env bash
# Measures this library beside others. --help tells more.
set -euo pipefail
project="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
java="${JAVA_HOME:+$JAVA_HOME/bin/}java"
options=
# Newer JVMs warn at each start of what Maven and Netty do; older ones do not know the first option.
if "$java" --sun-misc-unsafe-memory-access=allow -version > /dev/null 2>&1; then
	export MAVEN_OPTS="--sun-misc-unsafe-memory-access=allow ${MAVEN_OPTS:-}"
	options=--enable-native-access=ALL-UNNAMED
fi
# What the build checks is checked by the build.
"$project/mvnw" -f "$project/pom.xml" -q -B -ntp -pl benchmarks -am package \
	-Dmaven.test.skip=true -Dmaven.javadoc.skip=true -Dmaven.source.skip=true -Dcheckstyle.skip=true \
	-Dspring-javaformat.skip=true -Denforcer.skip=true -Derror-prone.skip=true
# The JVM gets the signals itself, and ends what it has started.
exec "$java" $options -XX:-UsePerfData -Xmx1g \
	-cp "$project/benchmarks/target/classes:$(cat "$project/benchmarks/target/classpath.txt")" \
	io.distributedlock.benchmarks.run.Benchmarks "$project" "$@"
