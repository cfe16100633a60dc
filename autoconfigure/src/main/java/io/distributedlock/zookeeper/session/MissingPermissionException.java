package io.distributedlock.zookeeper.session;

import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.ZooDefs.OpCode;

/**
 * Refusal of a request for a permission that the client lacks, with the node to which it
 * has to be granted: that is the parent of a node that is created or deleted.
 */
final class MissingPermissionException extends KeeperException {

	private static final long serialVersionUID = 1L;

	private final String permission;

	private final String node;

	private MissingPermissionException(String permission, String node) {
		super(Code.NOAUTH);
		this.permission = permission;
		this.node = node.isEmpty() ? "/" : node;
	}

	/**
	 * Creates the refusal of a request.
	 * @param request the request's number in {@link OpCode}
	 * @param path the path of the request
	 */
	static MissingPermissionException of(int request, String path) {
		return switch (request) {
			case OpCode.create, OpCode.createContainer ->
				new MissingPermissionException("CREATE", NodePaths.parent(path));
			case OpCode.delete -> new MissingPermissionException("DELETE", NodePaths.parent(path));
			case OpCode.setData -> new MissingPermissionException("WRITE", path);
			default -> new MissingPermissionException("READ", path);
		};
	}

	@Override
	public String getPath() {
		return this.node;
	}

	@Override
	public String getMessage() {
		return this.permission + " on the node '" + this.node + "'";
	}

}
