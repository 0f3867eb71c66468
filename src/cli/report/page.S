/* The files of a report's page as bytes, a zero behind each: report_page.c puts them together. */
.macro file name path
	.globl	report_\name
	.hidden	report_\name
report_\name:
	.incbin	"\path"
	.byte	0
.endm

	.section .rodata
	file	page_html, "page.html"
	file	page_css, "page.css"
	file	page_js, "page.js"
	file	timeline_js, "timeline.js"

	.section .note.GNU-stack, "", %progbits
