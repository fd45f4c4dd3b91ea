/* Functions of an ELF file by address: .symtab, and where that was stripped, .dynsym. */
#ifndef UM_ELF_SYMBOLS_H
#define UM_ELF_SYMBOLS_H

#include <libelf.h>
#include <stdint.h>

struct um_elf_symbols;

/* Reads `elf`, which must last as long. NULL without memory, or where there are none. */
struct um_elf_symbols *um_elf_symbols_create(Elf *elf);
void um_elf_symbols_destroy(struct um_elf_symbols *); /* NULL is legal */
/* The mangled name of the function that `address` lies in; NULL: none. Lives as long as the ELF. */
const char *um_elf_symbols_find(const struct um_elf_symbols *, uint64_t address);

#endif
