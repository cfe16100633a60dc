package io.distributedlock.zookeeper.session;

import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import io.distributedlock.LockKey;

import static org.assertj.core.api.Assertions.assertThat;

/** Tests of {@link NodePaths}. */
class NodePathsTests {

	private final NodePaths paths = new NodePaths("/lock-root", "shop");

	@Test
	void lockNodeAndQueueOfAKeyHaveTheSameName() {
		LockPath path = this.paths.of(LockKey.of("orders", "42"));
		assertThat(path.lockNode()).matches("/lock-root/locks/[0-9a-f]{2}/shop:orders:42");
		assertThat(path.queue()).isEqualTo(path.lockNode().replace("/locks/", "/queues/"));
		assertThat(NodePaths.buckets()).hasSize(256).contains(bucket(path.lockNode()));
	}

	@Test
	void differentKeysHaveDifferentPaths() {
		List<String> names = List.of("a", "A", "a ", "a/b", "a%2fb", "a:b", "\u00e4", "a\u0308", "%", "%25", ".", "..");
		Set<String> nodes = names.stream().map(this::lockNode).collect(Collectors.toSet());
		assertThat(nodes).hasSameSizeAs(names);
	}

	@ParameterizedTest
	@ValueSource(ints = { 1, 100 })
	void differentPrefixesNeverShareAPath(int repetitions) {
		String part = "b".repeat(repetitions);
		List<LockPath> paths = List.of(path("a", part, "c"), path("a:" + part, "c"), path("a:" + part + ":c", "d"),
				path("a", part, "c", "d"), path("a%3A" + part, "c"), path("a%3a" + part, "c"), path("a%", part),
				path("a", "%", part), path("a%25", part), path("a\ud800" + part, "c"), path("a?" + part, "c"));
		assertThat(Set.copyOf(paths)).hasSameSizeAs(paths);
	}

	private static LockPath path(String prefix, String name, String... parts) {
		return new NodePaths("/lock-root", prefix).of(LockKey.of(name, parts));
	}

	@Test
	void longKeysAreShortenedAndStayDifferent() {
		String common = "k".repeat(1000);
		Set<String> nodes = Stream.of("1", "2", "3").map((end) -> lockNode(common + end)).collect(Collectors.toSet());
		assertThat(nodes).hasSize(3).allSatisfy((node) -> assertThat(node.length()).isLessThan(90));
	}

	@Test
	void keysAreSpreadOverAllBuckets() {
		Set<String> used = IntStream.range(0, 10_000)
			.mapToObj((number) -> bucket(lockNode("key-" + number)))
			.collect(Collectors.toSet());
		assertThat(used).containsExactlyInAnyOrderElementsOf(NodePaths.buckets());
	}

	@Test
	void processNodeIsNamedAfterItsSession() {
		assertThat(NodePaths.parent("/a/b/c")).isEqualTo("/a/b");
		assertThat(this.paths.process(255)).isEqualTo("/lock-root/processes/ff");
	}

	private String lockNode(String name) {
		return this.paths.of(LockKey.of(name)).lockNode();
	}

	private static String bucket(String lockNode) {
		String parent = NodePaths.parent(lockNode);
		return parent.substring(parent.lastIndexOf('/') + 1);
	}

}
