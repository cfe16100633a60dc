package io.distributedlock.interceptor.verify;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.function.ObjIntConsumer;

import org.springframework.asm.Handle;
import org.springframework.asm.Label;
import org.springframework.asm.MethodVisitor;
import org.springframework.asm.Opcodes;
import org.springframework.asm.SpringAsmInfo;
import org.springframework.asm.Type;

/**
 * Visitor of an instance method's code that finds the calls whose receiver is
 * {@code this}. It keeps, of the values that were loaded last, which are {@code this}. It
 * forgets them all where two ways meet and at an instruction that computes, so that no
 * other receiver is taken for {@code this}.
 */
final class OwnCallVisitor extends MethodVisitor {

	private final ObjIntConsumer<String> calls;

	/** Whether a value is {@code this}, the last one first. */
	private final Deque<Boolean> values = new ArrayDeque<>();

	private int line;

	/**
	 * Creates a visitor.
	 * @param calls receives the name and descriptor of each method called, and the line
	 */
	OwnCallVisitor(ObjIntConsumer<String> calls) {
		super(SpringAsmInfo.ASM_VERSION);
		this.calls = calls;
	}

	@Override
	public void visitLineNumber(int number, Label start) {
		this.line = number;
	}

	@Override
	public void visitVarInsn(int opcode, int index) {
		if (opcode <= Opcodes.ALOAD) {
			this.values.push(opcode == Opcodes.ALOAD && index == 0);
		}
	}

	@Override
	public void visitInsn(int opcode) {
		if (opcode == Opcodes.DUP || (opcode >= Opcodes.ACONST_NULL && opcode <= Opcodes.DCONST_1)) {
			this.values.push(false);
		}
		else if (opcode < Opcodes.I2L || opcode > Opcodes.I2S) {
			this.values.clear();
		}
	}

	@Override
	public void visitIntInsn(int opcode, int operand) {
		replace((opcode == Opcodes.NEWARRAY) ? 1 : 0);
	}

	@Override
	public void visitLdcInsn(Object value) {
		replace(0);
	}

	@Override
	public void visitFieldInsn(int opcode, String owner, String name, String descriptor) {
		replace((opcode == Opcodes.GETFIELD) ? 1 : 0);
	}

	@Override
	public void visitMethodInsn(int opcode, String owner, String name, String descriptor, boolean isInterface) {
		boolean own = replace(Type.getArgumentCount(descriptor) + ((opcode != Opcodes.INVOKESTATIC) ? 1 : 0));
		if (own && (opcode == Opcodes.INVOKEVIRTUAL || opcode == Opcodes.INVOKEINTERFACE)) {
			this.calls.accept(name + descriptor, this.line);
		}
	}

	@Override
	public void visitInvokeDynamicInsn(String name, String descriptor, Handle bootstrap, Object... arguments) {
		replace(Type.getArgumentCount(descriptor));
	}

	@Override
	public void visitFrame(int type, int localCount, Object[] locals, int stackCount, Object[] items) {
		this.values.clear();
	}

	/**
	 * Replaces values by one other. A call without a result, which leaves one too many,
	 * is a statement, or the constructor of an object that was not counted before.
	 * @return whether the first of the values replaced is {@code this}
	 */
	private boolean replace(int count) {
		boolean own = false;
		for (int i = 0; i < count; i++) {
			own = Boolean.TRUE.equals(this.values.poll());
		}
		this.values.push(false);
		return own;
	}

}
