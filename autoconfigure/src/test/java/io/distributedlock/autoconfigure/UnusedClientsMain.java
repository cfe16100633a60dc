package io.distributedlock.autoconfigure;

import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.context.annotation.ImportCandidates;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.DeferredImportSelector;
import org.springframework.context.annotation.Import;
import org.springframework.core.type.AnnotationMetadata;

/** Application with a database and all auto-configurations of this library. */
final class UnusedClientsMain {

	private UnusedClientsMain() {
	}

	public static void main(String[] arguments) {
		new SpringApplicationBuilder(Application.class).web(WebApplicationType.NONE).run(arguments).close();
	}

	@Configuration(proxyBeanMethods = false)
	@ImportAutoConfiguration(DataSourceAutoConfiguration.class)
	@Import(Ours.class)
	static class Application {

	}

	static class Ours implements DeferredImportSelector {

		@Override
		public String[] selectImports(AnnotationMetadata importing) {
			return ImportCandidates.load(AutoConfiguration.class, getClass().getClassLoader())
				.getCandidates()
				.stream()
				.filter((name) -> name.startsWith("io.distributedlock."))
				.toArray(String[]::new);
		}

	}

}
