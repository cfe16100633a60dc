package io.distributedlock.interceptor.verify;

import org.springframework.asm.Opcodes;

/**
 * How many slots of the operand stack an instruction without operands takes and leaves
 * (JVM specification, chapter 6.5).
 */
final class InstructionSizes {

	private InstructionSizes() {
	}

	/** Returns the number of slots that are taken. */
	static int taken(int opcode) {
		return of(opcode) / 10;
	}

	/** Returns the number of slots that are left in their place. */
	static int left(int opcode) {
		return of(opcode) % 10;
	}

	private static int of(int opcode) {
		return switch (opcode) {
			case Opcodes.ACONST_NULL, Opcodes.ICONST_M1, Opcodes.ICONST_0, Opcodes.ICONST_1, Opcodes.ICONST_2,
					Opcodes.ICONST_3, Opcodes.ICONST_4, Opcodes.ICONST_5, Opcodes.FCONST_0, Opcodes.FCONST_1,
					Opcodes.FCONST_2 ->
				1;
			case Opcodes.LCONST_0, Opcodes.LCONST_1, Opcodes.DCONST_0, Opcodes.DCONST_1 -> 2;
			case Opcodes.POP, Opcodes.MONITORENTER, Opcodes.MONITOREXIT -> 10;
			case Opcodes.INEG, Opcodes.FNEG, Opcodes.I2F, Opcodes.F2I, Opcodes.I2B, Opcodes.I2C, Opcodes.I2S,
					Opcodes.ARRAYLENGTH ->
				11;
			case Opcodes.I2L, Opcodes.I2D, Opcodes.F2L, Opcodes.F2D -> 12;
			case Opcodes.POP2 -> 20;
			case Opcodes.IALOAD, Opcodes.FALOAD, Opcodes.AALOAD, Opcodes.BALOAD, Opcodes.CALOAD, Opcodes.SALOAD,
					Opcodes.IADD, Opcodes.FADD, Opcodes.ISUB, Opcodes.FSUB, Opcodes.IMUL, Opcodes.FMUL, Opcodes.IDIV,
					Opcodes.FDIV, Opcodes.IREM, Opcodes.FREM, Opcodes.ISHL, Opcodes.ISHR, Opcodes.IUSHR, Opcodes.IAND,
					Opcodes.IOR, Opcodes.IXOR, Opcodes.L2I, Opcodes.L2F, Opcodes.D2I, Opcodes.D2F, Opcodes.FCMPL,
					Opcodes.FCMPG ->
				21;
			case Opcodes.LALOAD, Opcodes.DALOAD, Opcodes.LNEG, Opcodes.DNEG, Opcodes.L2D, Opcodes.D2L -> 22;
			case Opcodes.IASTORE, Opcodes.FASTORE, Opcodes.AASTORE, Opcodes.BASTORE, Opcodes.CASTORE, Opcodes.SASTORE ->
				30;
			case Opcodes.LSHL, Opcodes.LSHR, Opcodes.LUSHR -> 32;
			case Opcodes.LASTORE, Opcodes.DASTORE -> 40;
			case Opcodes.LCMP, Opcodes.DCMPL, Opcodes.DCMPG -> 41;
			case Opcodes.LADD, Opcodes.DADD, Opcodes.LSUB, Opcodes.DSUB, Opcodes.LMUL, Opcodes.DMUL, Opcodes.LDIV,
					Opcodes.DDIV, Opcodes.LREM, Opcodes.DREM, Opcodes.LAND, Opcodes.LOR, Opcodes.LXOR ->
				42;
			default -> 0;
		};
	}

}
