package io.distributedlock.sample;

import org.junit.jupiter.api.Tag;

/** The tour with locks in Redis. */
@Tag("matrix")
@Tag("full")
class ControlRoomInRedisTests extends ControlRoomContract {

	ControlRoomInRedisTests() {
		super("redis", "Redis 7.0.15");
	}

}
