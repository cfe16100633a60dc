package io.distributedlock.redis.script;

import java.util.Objects;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.jspecify.annotations.Nullable;

/**
 * The error reply of the server behind the exception of a client: its code is the word
 * with which it begins, such as {@code READONLY}. Text that follows may quote keys and
 * arguments, so no code is looked for there.
 * <p>
 * Up to Redis 6.2 an error within a script has more before its code: <pre>
 * error reply = [ ended ] [ place ] [ "-" ] [ code " " ] text
 * ended       = "ERR Error running script (call to f_" digest "): @user_script:" line ": "
 * place       = "@user_script: " line ": "
 * </pre> {@code ended} is there if the error ended the script, {@code place} if the
 * server did not run the command. From 7.0 on, the place follows the text.
 *
 * @param code the code, or {@code null} if the error has none
 * @param text what follows the code
 */
public record ErrorReply(@Nullable String code, String text) {

	/** The exceptions of Lettuce and Jedis for error replies, superclasses of others. */
	private static final Set<String> TYPES = Set.of("io.lettuce.core.RedisCommandExecutionException",
			"redis.clients.jedis.exceptions.JedisDataException");

	private static final Pattern GRAMMAR = Pattern.compile(
			"(?:ERR Error running script \\(call to (?:f_)?[0-9a-f]+\\): @user_script:\\d+: )?(?:@user_script: \\d+: )?"
					+ "-?(?:(?<code>[A-Z]+) )?(?<text>.+)",
			Pattern.DOTALL);

	private static final Set<String> DENIALS = Set.of("NOPERM", "NOAUTH", "WRONGPASS");

	/**
	 * Texts of denials without a code of their own: commands within a script up to 7.0,
	 * and from 7.2; commands that the server, or a proxy before it, does not have.
	 */
	private static final Pattern DENIED = Pattern.compile("The user executing the script can't |ACL failure in script: "
			+ "|No permissions to access |(?i:unknown command )|Unknown Redis command called from ");

	/** The end of a proxy's error, behind the name of the command. */
	private static final Pattern OTHER_SLOT = Pattern.compile("keys must (?:be )?in (?:the )?same slot\\s*$");

	/** The refusal of a script as such, by proxies that check its text. */
	private static final Pattern SCRIPT_REFUSED = Pattern
		.compile("bad lua script for redis cluster|command eval(?:sha)? not support");

	/** Finds the error reply that caused an exception. */
	public static ErrorReply of(Throwable ex) {
		String message = causeOf(ex).getMessage();
		Matcher matcher = GRAMMAR.matcher(Objects.requireNonNullElse(message, ""));
		return matcher.matches() ? new ErrorReply(matcher.group("code"), matcher.group("text"))
				: new ErrorReply(null, "");
	}

	/**
	 * Returns the exception that the client made from the reply, since wrappers put text
	 * of their own before its message. It is the innermost one of a known type, else,
	 * with another client, the innermost one.
	 */
	private static Throwable causeOf(Throwable ex) {
		Throwable found = null;
		Throwable innermost = ex;
		for (Throwable cause = ex; cause != null; cause = cause.getCause()) {
			innermost = cause;
			if (isInstance(cause, TYPES)) {
				found = cause;
			}
		}
		return (found != null) ? found : innermost;
	}

	/**
	 * Whether the class of an exception, or a superclass, has one of the names: Lettuce
	 * and Jedis are optional.
	 */
	static boolean isInstance(Throwable ex, Set<String> names) {
		for (Class<?> type = ex.getClass(); type != null; type = type.getSuperclass()) {
			if (names.contains(type.getName())) {
				return true;
			}
		}
		return false;
	}

	public boolean hasCode(Set<String> codes) {
		return this.code != null && codes.contains(this.code);
	}

	/**
	 * Whether the keys of one call have different slots. Some proxies before a cluster
	 * say it in words of their own.
	 */
	boolean isCrossSlot() {
		return "CROSSSLOT".equals(this.code) || ("ERR".equals(this.code) && OTHER_SLOT.matcher(this.text).find());
	}

	/** Whether a proxy refuses the script as such, before the server has it. */
	boolean isScriptRefused() {
		return "ERR".equals(this.code) && SCRIPT_REFUSED.matcher(this.text).lookingAt();
	}

	/** Whether the server, or a proxy before it, denies the user a right. */
	public boolean isDenial() {
		return hasCode(DENIALS)
				|| ((this.code == null || this.code.equals("ERR")) && DENIED.matcher(this.text).lookingAt());
	}

}
