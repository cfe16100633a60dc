package io.distributedlock.sample.worker;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.time.Duration;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.boot.ApplicationArguments;
import org.springframework.boot.ApplicationRunner;
import org.springframework.boot.availability.AvailabilityChangeEvent;
import org.springframework.boot.availability.ReadinessState;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Profile;
import org.springframework.stereotype.Component;

import io.distributedlock.LockException;
import io.distributedlock.sample.ControlProcessWatch;
import io.distributedlock.sample.SampleApplication;
import io.distributedlock.sample.SellCommand;
import io.distributedlock.sample.WorkerReport.Ready;

/**
 * Reader of the control process's commands on standard input. The worker lives as long as
 * that is open. The operating system closes it when the control process ends, even if it
 * is killed, so that no worker outlives it.
 */
@Component
@Profile(SampleApplication.WORKER)
class SalesDesk implements ApplicationRunner {

	private static final Log logger = LogFactory.getLog(SalesDesk.class);

	private static final int NO_EVENT = 0;

	private final SeatSales sales;

	private final Sellers sellers;

	private final ReportChannel reports;

	private final JsonMapper json;

	private final ConfigurableApplicationContext context;

	SalesDesk(SeatSales sales, Sellers sellers, ReportChannel reports, JsonMapper json,
			ConfigurableApplicationContext context) {
		this.sales = sales;
		this.sellers = sellers;
		this.reports = reports;
		this.json = json;
		this.context = context;
	}

	@Override
	public void run(ApplicationArguments args) throws IOException {
		warmUp();
		this.reports
			.send(new Ready(this.context.getEnvironment().getRequiredProperty("local.server.port", Integer.class)));
		// Boot would report it after the return of this method, and health with it.
		AvailabilityChangeEvent.publish(this.context, ReadinessState.ACCEPTING_TRAFFIC);
		BufferedReader commands = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
		@Nullable String line = commands.readLine();
		while (line != null) {
			this.sellers.sellOut(this.json.readValue(line, SellCommand.class));
			line = commands.readLine();
		}
		ControlProcessWatch.haltSoon();
		// The web server would keep the process alive.
		this.context.close();
	}

	/**
	 * Loads classes and opens connections before the sale begins: otherwise one process
	 * sells all seats while the others still start.
	 */
	private void warmUp() {
		this.sales.sellUnlocked(NO_EVENT, Duration.ZERO);
		try {
			this.sales.sell(NO_EVENT, Duration.ZERO);
		}
		catch (LockException ex) {
			// The classes are loaded; on a very slow machine the lease was over by then.
			logger.debug("The first lock was not held to the end", ex);
		}
	}

}
