/*
 * Atomics that LLVM 15 has for amdgcn only (BUFFER_ATOMIC_INC and _DEC in AMD's instruction set
 * manuals). umhipcc hooks calls of um_atomic_* as one atomic access to what `address` points to.
 */
unsigned um_atomic_inc(unsigned *address, unsigned limit);
unsigned um_atomic_dec(unsigned *address, unsigned limit);

unsigned um_atomic_inc(unsigned *address, unsigned limit)
{
	unsigned old = __atomic_load_n(address, __ATOMIC_RELAXED);

	while (!__atomic_compare_exchange_n(address, &old, old >= limit ? 0 : old + 1, 0,
					    __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		continue;
	return old;
}

unsigned um_atomic_dec(unsigned *address, unsigned limit)
{
	unsigned old = __atomic_load_n(address, __ATOMIC_RELAXED);

	while (!__atomic_compare_exchange_n(address, &old,
					    old == 0 || old > limit ? limit : old - 1, 0,
					    __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		continue;
	return old;
}
