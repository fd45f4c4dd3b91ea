/* Ways to call HIP that do not look like one where the user stands. */
#ifndef SITES_H
#define SITES_H

#include <hip/hip_runtime.h>

#include <cstdio>
#include <cstdlib>

#define CHECK(call)                                                                                \
	do {                                                                                       \
		hipError_t error_ = (call);                                                        \
		if (error_ != hipSuccess)                                                          \
			fail(error_, __FILE__, __LINE__);                                          \
	} while (0)

[[noreturn]] inline void fail(hipError_t error, const char *file, int line)
{
	std::fprintf(stderr, "%s:%d: %s\n", file, line, hipGetErrorName(error));
	std::exit(1);
}

/* After the call, so that no compiler makes a jump of it. */
inline void check(hipError_t error)
{
	if (error != hipSuccess)
		fail(error, "?", 0);
}

namespace um
{
template <typename T> struct allocator {
	using value_type = T;
	allocator() = default;
	template <typename U> allocator(const allocator<U> &)
	{
	}
	T *allocate(std::size_t n)
	{
		void *memory;
		check(hipMallocManaged(&memory, n * sizeof(T))); // in:allocate
		return static_cast<T *>(memory);
	}
	void deallocate(T *memory, std::size_t)
	{
		check(hipFree(memory)); // in:deallocate
	}
	bool operator==(const allocator &) const
	{
		return true;
	}
	bool operator!=(const allocator &) const
	{
		return false;
	}
};

class buffer
{
      public:
	explicit buffer(std::size_t n)
	{
		check(hipMallocManaged(&data, n * sizeof(float))); // in:buffer
	}
	~buffer()
	{
		check(hipFree(data)); // in:~buffer
	}
	float *data;
};
} // namespace um

float *library_make(std::size_t n);
void library_step(float *data, int n);

#endif
