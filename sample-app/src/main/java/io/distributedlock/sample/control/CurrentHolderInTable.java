package io.distributedlock.sample.control;

import java.util.Optional;

import org.springframework.context.annotation.Profile;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;

import io.distributedlock.sample.SampleApplication;

/**
 * Reads the lock table.
 */
@Component
@Profile("!" + SampleApplication.WORKER + " & !" + EmbeddedRedisServer.PROFILE + " & !"
		+ EmbeddedZooKeeperServer.PROFILE)
class CurrentHolderInTable implements CurrentHolder {

	private final JdbcClient jdbc;

	CurrentHolderInTable(JdbcClient jdbc) {
		this.jdbc = jdbc;
	}

	@Override
	public Optional<HoldingProcess> find() {
		return this.jdbc.sql("""
				SELECT holder, grant_order FROM distributed_lock
				WHERE owner IS NOT NULL AND owner NOT LIKE 'reserved:%' AND expires_at > CURRENT_TIMESTAMP
				ORDER BY acquired_at DESC FETCH FIRST 1 ROW ONLY
				""").query((row, number) -> HoldingProcess.of(row.getString(1), row.getLong(2))).optional();
	}

}
