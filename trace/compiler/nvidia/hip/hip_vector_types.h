#include <vector_functions.h>
#include <vector_types.h>
