package io.distributedlock;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class ErrorCatalogueTests {

	@Test
	void everyErrorHasItsSectionInOrder() throws IOException {
		List<String> headings = Files.readAllLines(Path.of("..", "docs", "errors.md"))
			.stream()
			.filter((line) -> line.startsWith("### DL-"))
			.map((line) -> line.substring(4, 10))
			.toList();
		assertThat(headings)
			.containsExactlyElementsOf(Arrays.stream(LockError.values()).map(LockError::id).sorted().toList());
	}

}
