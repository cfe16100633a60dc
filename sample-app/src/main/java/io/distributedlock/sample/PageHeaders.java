package io.distributedlock.sample;

import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;

import org.springframework.web.servlet.HandlerInterceptor;

/**
 * Tells browsers that the page loads nothing from elsewhere, and is in no other page.
 */
class PageHeaders implements HandlerInterceptor {

	private static final String POLICY = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
			+ "img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

	@Override
	public boolean preHandle(HttpServletRequest request, HttpServletResponse response, Object handler) {
		response.setHeader("Content-Security-Policy", POLICY);
		response.setHeader("X-Content-Type-Options", "nosniff");
		return true;
	}

}
