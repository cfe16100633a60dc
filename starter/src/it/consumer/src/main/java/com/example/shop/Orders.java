package com.example.shop;

import io.distributedlock.LockContext;
import io.distributedlock.annotation.DistributedLock;

import org.springframework.stereotype.Service;

@Service
public class Orders {

	@DistributedLock(name = "orders", key = "#orderId")
	public String pay(long orderId) {
		return "Order " + orderId + " is paid under the token " + LockContext.current().fencingToken();
	}

}
