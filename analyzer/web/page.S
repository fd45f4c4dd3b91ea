/* const char um_page_html[]: the page that npm's esbuild made, NUL-terminated. */
	.section .rodata
	.globl um_page_html
	.hidden um_page_html
	.type um_page_html, %object
um_page_html:
	.incbin "report.html"
	.byte 0
	.size um_page_html, . - um_page_html
	.section .note.GNU-stack,"",%progbits
