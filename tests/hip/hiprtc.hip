/* A program that is compiled while this one runs, its names, its errors. */
#include "hip_test.h"

#include <hip/hiprtc.h>

#include <string>
#include <vector>

static const char *const source = R"(
#include "factor.h"
template <typename T> __global__ void scale(T *data, unsigned count)
{
	unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < count)
		data[i] *= FACTOR + EXTRA;
}
extern "C" __global__ void fill(float *data) { data[threadIdx.x] = threadIdx.x; }
)";

static std::string log_of(hiprtcProgram program)
{
	size_t bytes = 0;
	hiprtcGetProgramLogSize(program, &bytes);
	std::string log(bytes, '\0');
	hiprtcGetProgramLog(program, &log[0]);
	return log;
}

static std::vector<char> compile(hiprtcProgram program)
{
	const char *options[] = {"-DEXTRA=1", "--gpu-architecture=gfx90a"};
	hiprtcResult result = hiprtcCompileProgram(program, 2, options);
	size_t bytes = 0;
	printf("compiled: %s\n", hiprtcGetErrorString(result));
	if (result != HIPRTC_SUCCESS)
		fputs(log_of(program).c_str(), stderr);
	hiprtcGetCodeSize(program, &bytes);
	std::vector<char> code(bytes);
	hiprtcGetCode(program, code.data());
	return code;
}

static void run(hipModule_t module, const char *scale_name)
{
	hipFunction_t fill, scale;
	float *data = managed<float>(64);
	unsigned count = 64;
	void *fill_args[] = {&data}, *scale_args[] = {&data, &count};
	printf("fill: %s\n", hipGetErrorName(hipModuleGetFunction(&fill, module, "fill")));
	printf("scale: %s\n", hipGetErrorName(hipModuleGetFunction(&scale, module, scale_name)));
	(void)hipModuleLaunchKernel(fill, 1, 1, 1, 64, 1, 1, 0, NULL, fill_args, NULL);
	(void)hipModuleLaunchKernel(scale, 1, 1, 1, 64, 1, 1, 0, NULL, scale_args, NULL);
	long wrong = hipDeviceSynchronize() != hipSuccess;
	for (int i = 0; i < 64; i++)
		wrong += data[i] != 3.0f * i;
	verdict("hiprtc", wrong);
}

static void errors()
{
	hiprtcProgram program;
	hiprtcCreateProgram(&program, "__global__ void broken( { }", "broken.hip", 0, NULL, NULL);
	printf("broken: %s\n", hiprtcGetErrorString(hiprtcCompileProgram(program, 0, NULL)));
	printf("names the file: %d\n", log_of(program).find("broken.hip:1:") != std::string::npos);
	hiprtcDestroyProgram(&program);
}

int main()
{
	const char *header = "#define FACTOR 2\n", *header_name = "factor.h", *lowered = "?";
	hiprtcProgram program;
	hipModule_t module;
	hiprtcCreateProgram(&program, source, "scale.hip", 1, &header, &header_name);
	hiprtcAddNameExpression(program, "scale<float>");
	std::vector<char> code = compile(program);
	hiprtcResult named = hiprtcGetLoweredName(program, "scale<float>", &lowered);
	printf("lowered: %s %s\n", hiprtcGetErrorString(named), lowered);
	printf("loaded: %s\n", hipGetErrorName(hipModuleLoadData(&module, code.data())));
	run(module, lowered);
	hiprtcDestroyProgram(&program);
	errors();
	return 0;
}
