package io.distributedlock.interceptor.verify;

import java.io.IOException;
import java.io.InputStream;
import java.util.HashSet;
import java.util.Set;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.asm.ClassReader;
import org.springframework.asm.ClassVisitor;
import org.springframework.asm.MethodVisitor;
import org.springframework.asm.Opcodes;
import org.springframework.asm.SpringAsmInfo;

import io.distributedlock.interceptor.verify.OwnCallVisitor.OwnCall;

/**
 * Reader of the class file of one class, and of those of its inner classes, for the calls
 * that an object of the class makes to itself. What cannot be read is left out.
 */
final class OwnCallReader {

	private static final Log logger = LogFactory.getLog(OwnCallReader.class);

	private final Class<?> type;

	private final String name;

	private final Consumer consumer;

	private final Set<String> inner = new HashSet<>();

	private OwnCallReader(Class<?> type, Consumer consumer) {
		this.type = type;
		this.name = type.getName().replace('.', '/');
		this.consumer = consumer;
	}

	/**
	 * Reads a class.
	 * @param type the class
	 * @param consumer receives each call that has the object as its receiver
	 */
	static void read(Class<?> type, Consumer consumer) {
		OwnCallReader reader = new OwnCallReader(type, consumer);
		reader.read(reader.name);
	}

	private void read(String className) {
		String enclosing = className.equals(this.name) ? null : "L" + this.name + ";";
		ClassLoader loader = this.type.getClassLoader();
		try (InputStream file = (loader != null) ? loader.getResourceAsStream(className + ".class") : null) {
			if (file == null) {
				throw new IOException("there is no class file");
			}
			new ClassReader(file).accept(new Visitor(className, enclosing), ClassReader.EXPAND_FRAMES);
		}
		catch (IOException | RuntimeException ex) {
			logger.debug("The class " + className.replace('/', '.') + " is not searched for calls of its own locked"
					+ " methods: " + ex);
		}
	}

	/** Receives the calls that are found. */
	@FunctionalInterface
	interface Consumer {

		/**
		 * Receives a call.
		 * @param place the method that has the call
		 * @param call the call
		 */
		void accept(Place place, OwnCall call);

	}

	/**
	 * A method that has a call.
	 *
	 * @param className the name of its class, which may be an inner one
	 * @param file the name of the source file, or {@code null}
	 * @param method the name of the method; for a lambda that of the method around it
	 * @param descriptor the descriptor of the method, or {@code null} if the call is in a
	 * lambda or an inner class, and so may run at another time
	 */
	record Place(String className, @Nullable String file, String method, @Nullable String descriptor) {
	}

	/** Visitor of one class file. */
	private final class Visitor extends ClassVisitor {

		private final String className;

		private final @Nullable String enclosing;

		private @Nullable String file;

		Visitor(String className, @Nullable String enclosing) {
			super(SpringAsmInfo.ASM_VERSION);
			this.className = className;
			this.enclosing = enclosing;
		}

		@Override
		public void visitSource(@Nullable String source, @Nullable String debug) {
			this.file = source;
		}

		@Override
		public void visitInnerClass(String innerName, @Nullable String outer, @Nullable String simple, int access) {
			if (innerName.startsWith(OwnCallReader.this.name + "$") && OwnCallReader.this.inner.add(innerName)) {
				read(innerName);
			}
		}

		@Override
		public @Nullable MethodVisitor visitMethod(int access, String method, String descriptor,
				@Nullable String signature, String @Nullable [] exceptions) {
			if ((access & Opcodes.ACC_BRIDGE) != 0) {
				return null;
			}
			boolean lambda = (access & Opcodes.ACC_SYNTHETIC) != 0 && method.startsWith("lambda$");
			String shown = lambda ? enclosingMethod(method) : method;
			return new OwnCallVisitor((access & Opcodes.ACC_STATIC) == 0, this.enclosing,
					(call) -> OwnCallReader.this.consumer.accept(new Place(this.className.replace('/', '.'), this.file,
							shown, (lambda || this.enclosing != null) ? null : descriptor), call));
		}

		/** Returns the name between the first dollar sign and the last. */
		private static String enclosingMethod(String lambda) {
			int from = lambda.indexOf('$') + 1;
			int to = lambda.lastIndexOf('$');
			String found = (to > from) ? lambda.substring(from, to) : lambda;
			return found.equals("new") ? "<init>" : found;
		}

	}

}
