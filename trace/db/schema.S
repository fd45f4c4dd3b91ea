/* const char um_schema[]: the text of schema.sql, NUL-terminated. */
	.section .rodata
	.globl um_schema
	.hidden um_schema
	.type um_schema, %object
um_schema:
	.incbin "schema.sql"
	.byte 0
	.size um_schema, . - um_schema
	.section .note.GNU-stack,"",%progbits
