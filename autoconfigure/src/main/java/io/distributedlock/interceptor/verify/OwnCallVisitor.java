package io.distributedlock.interceptor.verify;

import java.util.HashMap;
import java.util.Map;
import java.util.function.Consumer;

import org.jspecify.annotations.Nullable;

import org.springframework.asm.ConstantDynamic;
import org.springframework.asm.Handle;
import org.springframework.asm.Label;
import org.springframework.asm.MethodVisitor;
import org.springframework.asm.Opcodes;
import org.springframework.asm.SpringAsmInfo;
import org.springframework.asm.Type;

/**
 * Visitor of a method's code that finds the calls, and references to methods, whose
 * receiver is certainly the object itself. It follows the receiver through the operand
 * stack; where two ways meet, only what is certain on both remains. The class file has to
 * be read with expanded frames.
 */
final class OwnCallVisitor extends MethodVisitor {

	private final @Nullable String enclosing;

	private final Consumer<OwnCall> calls;

	private final boolean instance;

	private final Map<Label, TrackedStack> jumps = new HashMap<>();

	private TrackedStack stack;

	private boolean reachable = true;

	private int line = -1;

	/**
	 * Creates a visitor.
	 * @param instance whether variable 0 has the object
	 * @param enclosing the descriptor of the enclosing class whose object is looked for,
	 * or {@code null} for the object of this class
	 * @param calls receives each call
	 */
	OwnCallVisitor(boolean instance, @Nullable String enclosing, Consumer<OwnCall> calls) {
		super(SpringAsmInfo.ASM_VERSION);
		this.instance = instance && enclosing == null;
		this.enclosing = enclosing;
		this.calls = calls;
		this.stack = TrackedStack.empty(this.instance);
	}

	@Override
	public void visitLineNumber(int number, Label start) {
		this.line = number;
	}

	@Override
	public void visitLabel(Label label) {
		TrackedStack jumped = this.jumps.get(label);
		if (!this.reachable) {
			this.stack = (jumped != null) ? jumped.copy() : TrackedStack.empty(this.instance);
		}
		else if (jumped != null) {
			this.stack = this.stack.merge(jumped);
		}
		this.reachable = true;
	}

	@Override
	public void visitFrame(int type, int localCount, Object[] locals, int stackCount, Object[] items) {
		int depth = 0;
		for (int i = 0; i < stackCount; i++) {
			depth += (items[i] == Opcodes.LONG || items[i] == Opcodes.DOUBLE) ? 2 : 1;
		}
		this.stack.requireDepth(depth);
	}

	@Override
	public void visitInsn(int opcode) {
		switch (opcode) {
			case Opcodes.DUP -> this.stack.duplicate(1, 0);
			case Opcodes.DUP_X1 -> this.stack.duplicate(1, 1);
			case Opcodes.DUP_X2 -> this.stack.duplicate(1, 2);
			case Opcodes.DUP2 -> this.stack.duplicate(2, 0);
			case Opcodes.DUP2_X1 -> this.stack.duplicate(2, 1);
			case Opcodes.DUP2_X2 -> this.stack.duplicate(2, 2);
			case Opcodes.SWAP -> this.stack.swap();
			case Opcodes.IRETURN, Opcodes.LRETURN, Opcodes.FRETURN, Opcodes.DRETURN, Opcodes.ARETURN, Opcodes.RETURN,
					Opcodes.ATHROW ->
				this.reachable = false;
			default -> replace(InstructionSizes.taken(opcode), InstructionSizes.left(opcode));
		}
	}

	private void replace(int taken, int left) {
		this.stack.pop(taken);
		this.stack.push(left);
	}

	@Override
	public void visitIntInsn(int opcode, int operand) {
		replace((opcode == Opcodes.NEWARRAY) ? 1 : 0, 1);
	}

	@Override
	public void visitLdcInsn(Object value) {
		boolean wide = value instanceof Long || value instanceof Double
				|| (value instanceof ConstantDynamic dynamic && dynamic.getSize() == 2);
		this.stack.push(wide ? 2 : 1);
	}

	@Override
	public void visitVarInsn(int opcode, int index) {
		switch (opcode) {
			case Opcodes.ALOAD -> this.stack.pushObject(this.stack.isOwnVariable(index));
			case Opcodes.ILOAD, Opcodes.FLOAD -> this.stack.push(1);
			case Opcodes.LLOAD, Opcodes.DLOAD -> this.stack.push(2);
			case Opcodes.ASTORE -> this.stack.setVariable(index, this.stack.popObject());
			default -> {
				this.stack.pop((opcode == Opcodes.LSTORE || opcode == Opcodes.DSTORE) ? 2 : 1);
				this.stack.setVariable(index, false);
			}
		}
	}

	@Override
	public void visitTypeInsn(int opcode, String type) {
		if (opcode != Opcodes.CHECKCAST) {
			replace((opcode == Opcodes.NEW) ? 0 : 1, 1);
		}
	}

	@Override
	public void visitFieldInsn(int opcode, String owner, String name, String descriptor) {
		int size = Type.getType(descriptor).getSize();
		switch (opcode) {
			case Opcodes.GETSTATIC -> this.stack.push(size);
			case Opcodes.PUTSTATIC -> this.stack.pop(size);
			case Opcodes.PUTFIELD -> this.stack.pop(size + 1);
			default -> {
				this.stack.pop(1);
				if (name.startsWith("this$") && descriptor.equals(this.enclosing)) {
					this.stack.pushObject(true);
				}
				else {
					this.stack.push(size);
				}
			}
		}
	}

	@Override
	public void visitMethodInsn(int opcode, String owner, String name, String descriptor, boolean isInterface) {
		reportHandOvers(descriptor);
		int sizes = Type.getArgumentsAndReturnSizes(descriptor);
		this.stack.pop((sizes >> 2) - 1);
		if (opcode != Opcodes.INVOKESTATIC && this.stack.popObject()) {
			report(opcode == Opcodes.INVOKESPECIAL, owner, name, descriptor);
		}
		this.stack.push(sizes & 3);
	}

	@Override
	public void visitInvokeDynamicInsn(String name, String descriptor, Handle bootstrap, Object... arguments) {
		int sizes = Type.getArgumentsAndReturnSizes(descriptor);
		int captured = (sizes >> 2) - 1;
		if (this.stack.isOwn(captured)) {
			for (Object argument : arguments) {
				if (argument instanceof Handle handle && handle.getTag() >= Opcodes.H_INVOKEVIRTUAL
						&& handle.getTag() != Opcodes.H_INVOKESTATIC) {
					report(handle.getTag() == Opcodes.H_INVOKESPECIAL, handle.getOwner(), handle.getName(),
							handle.getDesc());
				}
			}
		}
		replace(captured, sizes & 3);
	}

	/** Reports arguments that are the object itself, as a type of the JDK. */
	private void reportHandOvers(String descriptor) {
		Type[] arguments = Type.getArgumentTypes(descriptor);
		int depth = 0;
		for (int i = arguments.length - 1; i >= 0; i--) {
			depth += arguments[i].getSize();
			if (arguments[i].getDescriptor().startsWith("Ljava/") && this.stack.isOwn(depth)) {
				this.calls
					.accept(new OwnCall(this.line, false, arguments[i].getInternalName(), OwnCall.HANDED_OVER, ""));
			}
		}
	}

	private void report(boolean special, String owner, String name, String descriptor) {
		this.calls.accept(new OwnCall(this.line, special, owner, name, descriptor));
	}

	@Override
	public void visitMultiANewArrayInsn(String descriptor, int dimensions) {
		replace(dimensions, 1);
	}

	@Override
	public void visitJumpInsn(int opcode, Label label) {
		boolean two = opcode >= Opcodes.IF_ICMPEQ && opcode <= Opcodes.IF_ACMPNE;
		if (opcode != Opcodes.GOTO) {
			this.stack.pop(two ? 2 : 1);
		}
		jumpTo(label);
		this.reachable = opcode != Opcodes.GOTO;
	}

	@Override
	public void visitTableSwitchInsn(int min, int max, Label otherwise, Label... labels) {
		visitLookupSwitchInsn(otherwise, new int[0], labels);
	}

	@Override
	public void visitLookupSwitchInsn(Label otherwise, int[] keys, Label[] labels) {
		this.stack.pop(1);
		jumpTo(otherwise);
		for (Label label : labels) {
			jumpTo(label);
		}
		this.reachable = false;
	}

	private void jumpTo(Label label) {
		this.jumps.merge(label, this.stack.copy(), TrackedStack::merge);
	}

	/**
	 * A call whose receiver is the object itself, or one that hands the object over to
	 * code of the JDK, such as an executor.
	 *
	 * @param line the line of the source, or -1
	 * @param special whether it is a call of exactly that method, such as by
	 * {@code super}
	 * @param owner the internal name of the class that the call names, or as which the
	 * object is handed over
	 * @param name the name of the method, or {@link #HANDED_OVER}
	 * @param descriptor the descriptor of the method
	 */
	record OwnCall(int line, boolean special, String owner, String name, String descriptor) {

		/** A word that no method has as its name. */
		static final String HANDED_OVER = "this";

	}

}
