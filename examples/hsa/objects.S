/* The bytes of the code objects that kernels/make.sh makes: `ticket_ISA` to `ticket_ISA_end`. */
.macro object isa
	.globl	ticket_\isa
	.globl	ticket_\isa\()_end
	.balign	4096
ticket_\isa:
	.incbin	"ticket-\isa\().co"
ticket_\isa\()_end:
.endm

	.section .rodata
	object	gfx906
	object	gfx90a
	object	gfx1030

	.section .note.GNU-stack, "", %progbits
