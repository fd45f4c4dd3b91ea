/* const char um_sweep_schema[]: the text of sweep_schema.sql, NUL-terminated. */
	.section .rodata
	.globl um_sweep_schema
	.hidden um_sweep_schema
	.type um_sweep_schema, %object
um_sweep_schema:
	.incbin "sweep_schema.sql"
	.byte 0
	.size um_sweep_schema, . - um_sweep_schema
	.section .note.GNU-stack,"",%progbits
