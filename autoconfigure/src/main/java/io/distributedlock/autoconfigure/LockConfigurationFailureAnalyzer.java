package io.distributedlock.autoconfigure;

import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.core.Ordered;

import io.distributedlock.LockConfigurationException;

/** Analyzer that shows the problem and the remedy of a mistake with locks. */
final class LockConfigurationFailureAnalyzer extends AbstractFailureAnalyzer<LockConfigurationException>
		implements Ordered {

	/**
	 * Returns an order before Boot's own analyzers, which describe the bean around it.
	 */
	@Override
	public int getOrder() {
		return Ordered.HIGHEST_PRECEDENCE;
	}

	@Override
	protected FailureAnalysis analyze(Throwable rootFailure, LockConfigurationException cause) {
		return new FailureAnalysis(cause.id() + ": " + cause.problem() + ".", cause.action() + ".", cause);
	}

}
