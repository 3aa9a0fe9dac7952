#include "textflag.h"

// The supervisor without a shell. Starting a shell costs as much as starting the command
// does, most of it in the dynamic linker and the C library; this program has neither.
//
// It is never called: nativeImage copies it into an executable file. It does what the
// shell's program in supervisor.go does, in its order, and must not refer to anything
// outside of itself.
//
//	BX   argc, argv[0], argv[1] ..., 0, environment ..., 0, as the kernel leaves them
//	R12  the environment
//	R14  scratch: signals to block, signals blocked before, errno of exec, wait status, text
//	R13  the command's process id
//	R9   which entry of the record is being written, R8 its first eight bytes
//
// argv holds a name, the shell, the program and its arguments. No signal handler runs on
// the stack below BX, since there are none.
TEXT native<>(SB), NOSPLIT|NOFRAME, $0-0
	MOVQ SP, BX
	MOVQ 0(BX), AX
	LEAQ 16(BX)(AX*8), R12
	LEAQ -128(BX), R14
	MOVL $0, 16(R14)

	MOVL $157, AX            // prctl(PR_SET_NAME, argv[0])
	MOVL $15, DI
	MOVQ 8(BX), SI
	SYSCALL

	MOVQ $-1, 0(R14)         // rt_sigprocmask(SIG_BLOCK, all, before)
	MOVL $14, AX
	XORL DI, DI
	MOVQ R14, SI
	LEAQ 8(R14), DX
	MOVL $8, R10
	SYSCALL

	MOVL $39, AX             // getpid()
	SYSCALL
	MOVQ $0x203a22646970227b, R8 // {"pid":
	MOVL $0, R9
	JMP  put

start:
	MOVL $58, AX             // vfork()
	SYSCALL
	TESTQ AX, AX
	JEQ  command
	JLT  forkless
	MOVQ AX, R13

await:
	MOVL $61, AX             // wait4(command, status, 0, 0)
	MOVQ R13, DI
	LEAQ 20(R14), SI
	XORL DX, DX
	XORL R10, R10
	SYSCALL
	CMPQ AX, $-4             // EINTR
	JEQ  await
	MOVL 16(R14), AX
	TESTL AX, AX
	JEQ  executed
	MOVQ $0x3a2263657865227b, R8 // {"exec":
	MOVL $1, R9
	JMP  put

unexecuted:                // as a shell says it: 127 for ENOENT, else 126
	MOVL $126, R13
	CMPL 16(R14), $2
	JNE  report
	INCL R13
	JMP  report

executed:
	MOVL 20(R14), R13
	MOVL R13, AX
	ANDL $0x7f, AX
	SHRL $8, R13
	ANDL $0xff, R13
	TESTL AX, AX
	JEQ  report
	LEAL 128(AX), R13        // ended by a signal

report:
	MOVL R13, AX
	MOVQ $0x3a2274697865227b, R8 // {"exit":
	MOVL $2, R9
	JMP  put

forkless:
	NEGQ AX
	MOVL $125, R13
	MOVQ $0x3a226b726f66227b, R8 // {"fork":
	MOVL $2, R9

put:                       // append the entry with the number AX, in one write
	LEAQ 62(R14), SI
	MOVW $0x0a7d, 0(SI)      // }, newline
	MOVL $10, CX

digit:
	XORL DX, DX
	DIVL CX
	ADDL $'0', DX
	DECQ SI
	MOVB DX, 0(SI)
	TESTL AX, AX
	JNE  digit
	SUBQ $8, SI
	MOVQ R8, 0(SI)
	LEAQ 64(R14), DX
	SUBQ SI, DX
	MOVL $1, AX              // write(recordFD, text, length)
	MOVL $3, DI
	SYSCALL
	CMPL R9, $1
	JLT  start
	JEQ  unexecuted
	MOVL $231, AX            // exit_group(status)
	MOVL R13, DI
	SYSCALL

command:                   // in the child, while its parent waits for exec or exit
	MOVL $14, AX             // rt_sigprocmask(SIG_SETMASK, before)
	MOVL $2, DI
	LEAQ 8(R14), SI
	XORL DX, DX
	MOVL $8, R10
	SYSCALL
	MOVL $33, AX             // dup2(stderrFD, 2)
	MOVL $4, DI
	MOVL $2, SI
	SYSCALL
	MOVL $3, AX              // close(stderrFD)
	MOVL $4, DI
	SYSCALL
	MOVL $3, AX              // close(recordFD)
	MOVL $3, DI
	SYSCALL
	MOVL $59, AX             // execve(program, its arguments, environment)
	LEAQ 24(BX), SI
	MOVQ 0(SI), DI
	MOVQ R12, DX
	SYSCALL
	CMPL AX, $-8             // ENOEXEC: a script that does not name its interpreter
	JNE  failed
	MOVL $59, AX             // execve(shell, program and its arguments, environment)
	LEAQ 16(BX), SI
	MOVQ 0(SI), DI
	MOVQ R12, DX
	SYSCALL

failed:
	NEGL AX
	MOVL AX, 16(R14)
	MOVL $231, AX
	MOVL $126, DI
	SYSCALL

// func nativeText() (begin, end unsafe.Pointer)
TEXT ·nativeText(SB), NOSPLIT, $0-16
	LEAQ native<>(SB), AX
	MOVQ AX, begin+0(FP)
	LEAQ ·nativeText(SB), AX
	MOVQ AX, end+8(FP)
	RET
