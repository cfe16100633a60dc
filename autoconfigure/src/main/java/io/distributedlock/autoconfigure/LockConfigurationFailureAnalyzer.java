package io.distributedlock.autoconfigure;

import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.core.Ordered;

import io.distributedlock.LockConfigurationException;

/** Shows a mistake with locks as what is wrong and what to do. */
final class LockConfigurationFailureAnalyzer extends AbstractFailureAnalyzer<LockConfigurationException>
		implements Ordered {

	/** Before Boot's own, which would describe the binding or bean around it. */
	@Override
	public int getOrder() {
		return Ordered.HIGHEST_PRECEDENCE;
	}

	@Override
	protected FailureAnalysis analyze(Throwable rootFailure, LockConfigurationException cause) {
		return new FailureAnalysis(cause.id() + ": " + cause.problem() + ".", cause.action() + ".", cause);
	}

}
