package io.distributedlock.sample;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.regex.Pattern;

import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;

import org.springframework.http.HttpStatus;
import org.springframework.web.cors.CorsUtils;
import org.springframework.web.server.ResponseStatusException;
import org.springframework.web.servlet.HandlerInterceptor;

/**
 * Refuses requests from other machines, whatever interface the server listens on, and
 * requests of other sites' pages in a browser on this machine.
 */
class LoopbackOnly implements HandlerInterceptor {

	/** A site whose name resolves to this machine still sends that name as the host. */
	private static final Pattern LOOPBACK_NAME = Pattern.compile("localhost|127(\\.\\d{1,3}){3}|\\[?[0:]*:1]?");

	@Override
	public boolean preHandle(HttpServletRequest request, HttpServletResponse response, Object handler)
			throws UnknownHostException {
		// The argument is an address, so no name is resolved.
		if (!InetAddress.getByName(request.getRemoteAddr()).isLoopbackAddress() || CorsUtils.isCorsRequest(request)
				|| !LOOPBACK_NAME.matcher(request.getServerName()).matches()) {
			throw new ResponseStatusException(HttpStatus.FORBIDDEN, "The sample is controlled from this machine only");
		}
		return true;
	}

}
