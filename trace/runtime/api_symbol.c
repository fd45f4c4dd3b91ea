/* Variables of device code: they live in the code object and are read and written there. */
#include "copy.h"

static hipError_t get_address(void **out, const void *symbol)
{
	uint64_t bytes;

	return out ? um_variable_find(out, &bytes, symbol) : hipErrorInvalidValue;
}

hipError_t hipGetSymbolAddress(void **out, const void *symbol)
{
	UM_ENTER();
	return um_leave(get_address(out, symbol));
}

static hipError_t get_size(size_t *out, const void *symbol)
{
	void *address;

	return out ? um_variable_find(&address, out, symbol) : hipErrorInvalidValue;
}

hipError_t hipGetSymbolSize(size_t *out, const void *symbol)
{
	UM_ENTER();
	return um_leave(get_size(out, symbol));
}

hipError_t um_variable_part(char **out, const void *symbol, size_t bytes, size_t offset)
{
	void *address;
	uint64_t whole;
	hipError_t error = um_variable_find(&address, &whole, symbol);

	if (error)
		return error;
	if (offset > whole || bytes > whole - offset)
		return hipErrorInvalidValue;
	*out = (char *)address + offset;
	return hipSuccess;
}

struct request {
	size_t bytes, offset;
	hipMemcpyKind kind;
	hipStream_t stream;
	bool async;
};

static hipError_t copy(void *to, const void *from, const struct request *request)
{
	return um_copy_run(&(struct um_copy){
		.to = {to, request->bytes, request->bytes},
		.from = {from, request->bytes, request->bytes},
		.extent = {request->bytes, 1, 1},
		.kind = request->kind,
		.stream = request->stream,
		.async = request->async,
	});
}

static hipError_t to_symbol(const void *symbol, const void *from, const struct request *request)
{
	char *to;

	if (request->kind != hipMemcpyHostToDevice && request->kind != hipMemcpyDeviceToDevice &&
	    request->kind != hipMemcpyDefault)
		return hipErrorInvalidMemcpyDirection;
	hipError_t error = um_variable_part(&to, symbol, request->bytes, request->offset);

	return error ? error : copy(to, from, request);
}

static hipError_t from_symbol(void *to, const void *symbol, const struct request *request)
{
	char *from;

	if (request->kind != hipMemcpyDeviceToHost && request->kind != hipMemcpyDeviceToDevice &&
	    request->kind != hipMemcpyDefault)
		return hipErrorInvalidMemcpyDirection;
	hipError_t error = um_variable_part(&from, symbol, request->bytes, request->offset);

	return error ? error : copy(to, from, request);
}

hipError_t hipMemcpyToSymbol(const void *symbol, const void *from, size_t bytes, size_t offset,
			     hipMemcpyKind kind)
{
	struct request request = {bytes, offset, kind, NULL, false};

	UM_ENTER();
	return um_leave(to_symbol(symbol, from, &request));
}

hipError_t hipMemcpyToSymbol_spt(const void *symbol, const void *from, size_t bytes, size_t offset,
				 hipMemcpyKind kind)
{
	struct request request = {bytes, offset, kind, hipStreamPerThread, false};

	UM_ENTER();
	return um_leave(to_symbol(symbol, from, &request));
}

hipError_t hipMemcpyToSymbolAsync(const void *symbol, const void *from, size_t bytes, size_t offset,
				  hipMemcpyKind kind, hipStream_t stream)
{
	struct request request = {bytes, offset, kind, stream, true};

	UM_ENTER();
	return um_leave(to_symbol(symbol, from, &request));
}

hipError_t hipMemcpyFromSymbol(void *to, const void *symbol, size_t bytes, size_t offset,
			       hipMemcpyKind kind)
{
	struct request request = {bytes, offset, kind, NULL, false};

	UM_ENTER();
	return um_leave(from_symbol(to, symbol, &request));
}

hipError_t hipMemcpyFromSymbol_spt(void *to, const void *symbol, size_t bytes, size_t offset,
				   hipMemcpyKind kind)
{
	struct request request = {bytes, offset, kind, hipStreamPerThread, false};

	UM_ENTER();
	return um_leave(from_symbol(to, symbol, &request));
}

hipError_t hipMemcpyFromSymbolAsync(void *to, const void *symbol, size_t bytes, size_t offset,
				    hipMemcpyKind kind, hipStream_t stream)
{
	struct request request = {bytes, offset, kind, stream, true};

	UM_ENTER();
	return um_leave(from_symbol(to, symbol, &request));
}
