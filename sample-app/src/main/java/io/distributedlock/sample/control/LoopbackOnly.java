package io.distributedlock.sample.control;

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
 * Refuses whoever is not on this machine, wherever the server listens, and pages of other
 * sites in a browser that is.
 */
class LoopbackOnly implements HandlerInterceptor {

	/** A site whose name was pointed to this machine still asks for it by that name. */
	private static final Pattern LOOPBACK_NAME = Pattern.compile("localhost|127(\\.\\d{1,3}){3}|\\[?[0:]*:1]?");

	@Override
	public boolean preHandle(HttpServletRequest request, HttpServletResponse response, Object handler)
			throws UnknownHostException {
		// An address and no name: nothing is looked up.
		if (!InetAddress.getByName(request.getRemoteAddr()).isLoopbackAddress() || CorsUtils.isCorsRequest(request)
				|| !LOOPBACK_NAME.matcher(request.getServerName()).matches()) {
			throw new ResponseStatusException(HttpStatus.FORBIDDEN, "The sample is controlled from this machine only");
		}
		return true;
	}

}
