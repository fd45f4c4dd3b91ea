/* Memory and its place apart: maps, what they show, who may touch them. */
#include "api_fixture.h"

#define PIECE ((size_t)2 << 20)

static const hipMemAllocationProp properties = {
	.type = hipMemAllocationTypePinned,
	.location = {hipMemLocationTypeDevice, 0},
};
static const hipMemAccessDesc all_access = {{hipMemLocationTypeDevice, 0},
					    hipMemAccessFlagsProtReadWrite};

static char *reserved(size_t bytes)
{
	void *place = NULL;

	assert_ok(hipMemAddressReserve(&place, bytes, 0, NULL, 0));
	assert_non_null(place);
	return place;
}

static hipMemGenericAllocationHandle_t created(size_t bytes)
{
	hipMemGenericAllocationHandle_t handle = NULL;

	assert_ok(hipMemCreate(&handle, bytes, &properties, 0));
	return handle;
}

static void test_two_maps_show_one_memory(void **state)
{
	(void)state;
	volatile char *shown; /* the compiler knows nothing of maps */
	char *place = reserved(2 * PIECE);
	hipMemGenericAllocationHandle_t memory = created(PIECE);
	char back[4] = "";

	assert_ok(hipMemMap(place, PIECE, 0, memory, 0));
	assert_ok(hipMemMap(place + PIECE, PIECE, 0, memory, 0));
	assert_ok(hipMemSetAccess(place, 2 * PIECE, &all_access, 1));
	assert_ok(hipMemcpy(place + 100, "abc", 4, hipMemcpyHostToDevice));
	assert_ok(hipMemcpy(back, place + PIECE + 100, 4, hipMemcpyDeviceToHost));
	assert_string_equal(back, "abc");
	shown = place;
	shown[PIECE + 101] = 'x'; /* as kernels do */
	assert_int_equal(shown[101], 'x');
	assert_ok(hipMemUnmap(place, 2 * PIECE));
	assert_ok(hipMemRelease(memory));
	assert_ok(hipMemAddressFree(place, 2 * PIECE));
}

static void test_contents_outlive_a_map(void **state)
{
	(void)state;
	char *place = reserved(PIECE), *other = reserved(PIECE);
	hipMemGenericAllocationHandle_t memory = created(PIECE), empty = created(PIECE);

	assert_ok(hipMemMap(place, PIECE, 0, memory, 0));
	assert_ok(hipMemSetAccess(place, PIECE, &all_access, 1));
	strcpy(place, "kept");
	assert_ok(hipMemUnmap(place, PIECE));
	assert_ok(hipMemMap(place, PIECE, 0, empty, 0));
	assert_ok(hipMemSetAccess(place, PIECE, &all_access, 1));
	assert_string_equal(place, "");
	assert_ok(hipMemMap(other, PIECE, 0, memory, 0));
	assert_ok(hipMemSetAccess(other, PIECE, &all_access, 1));
	assert_string_equal(other, "kept");
	assert_ok(hipMemRelease(memory)); /* is still mapped */
	assert_string_equal(other, "kept");
	assert_ok(hipMemUnmap(other, PIECE));
	assert_ok(hipMemUnmap(place, PIECE));
	assert_ok(hipMemRelease(empty));
	assert_ok(hipMemAddressFree(place, PIECE));
	assert_ok(hipMemAddressFree(other, PIECE));
}

static void test_memory_is_counted_once(void **state)
{
	(void)state;
	char *place = reserved(2 * PIECE);
	size_t before, with, mapped, after;

	assert_ok(hipMemGetInfo(&before, NULL));
	hipMemGenericAllocationHandle_t memory = created(PIECE);

	assert_ok(hipMemGetInfo(&with, NULL));
	assert_int_equal(before - with, PIECE);
	assert_ok(hipMemMap(place, PIECE, 0, memory, 0));
	assert_ok(hipMemGetInfo(&mapped, NULL));
	assert_int_equal(mapped, with);
	assert_ok(hipMemUnmap(place, PIECE));
	assert_ok(hipMemRelease(memory));
	assert_ok(hipMemGetInfo(&after, NULL));
	assert_int_equal(after, before);
	assert_ok(hipMemAddressFree(place, 2 * PIECE));
}

static void test_handles(void **state)
{
	(void)state;
	char *place = reserved(PIECE);
	hipMemGenericAllocationHandle_t memory = created(PIECE), again = NULL;
	hipMemAllocationProp got;

	assert_ok(hipMemMap(place, PIECE, 0, memory, 0));
	assert_ok(hipMemRetainAllocationHandle(&again, place + 5));
	assert_ptr_equal(again, memory);
	assert_ok(hipMemGetAllocationPropertiesFromHandle(&got, memory));
	assert_int_equal(got.type, hipMemAllocationTypePinned);
	assert_ok(hipMemUnmap(place, PIECE));
	assert_ok(hipMemRelease(memory));
	assert_ok(hipMemRelease(memory)); /* was retained */
	assert_hip(hipMemRelease(memory), hipErrorInvalidValue);
	assert_hip(hipMemGetAllocationPropertiesFromHandle(&got, memory), hipErrorInvalidValue);
	assert_hip(hipMemRetainAllocationHandle(&again, place), hipErrorInvalidValue);
	assert_ok(hipMemAddressFree(place, PIECE));
}

static void test_access(void **state)
{
	(void)state;
	char *place = reserved(PIECE);
	hipMemGenericAllocationHandle_t memory = created(PIECE);
	hipMemAccessDesc wish = all_access;
	unsigned long long flags = 77;

	assert_ok(hipMemMap(place, PIECE, 0, memory, 0));
	assert_ok(hipMemGetAccess(&flags, &wish.location, place));
	assert_int_equal(flags, hipMemAccessFlagsProtNone);
	wish.flags = hipMemAccessFlagsProtRead;
	assert_ok(hipMemSetAccess(place, PIECE, &wish, 1));
	assert_ok(hipMemGetAccess(&flags, &wish.location, place + 100));
	assert_int_equal(flags, hipMemAccessFlagsProtRead);
	assert_int_equal(place[3], 0);
	assert_hip(hipMemSetAccess(place, PIECE / 2, &wish, 1), hipErrorInvalidValue);
	assert_hip(hipMemSetAccess(place, PIECE, NULL, 1), hipErrorInvalidValue);
	assert_hip(hipMemSetAccess(place, PIECE, &wish, 0), hipErrorInvalidValue);
	wish.flags = (hipMemAccessFlags)2;
	assert_hip(hipMemSetAccess(place, PIECE, &wish, 1), hipErrorInvalidValue);
	wish = all_access;
	wish.location.id = 3;
	assert_hip(hipMemSetAccess(place, PIECE, &wish, 1), hipErrorInvalidDevice);
	assert_hip(hipMemGetAccess(&flags, &wish.location, place), hipErrorInvalidDevice);
	assert_hip(hipMemGetAccess(NULL, &all_access.location, place), hipErrorInvalidValue);
	assert_ok(hipMemUnmap(place, PIECE));
	assert_hip(hipMemGetAccess(&flags, &all_access.location, place), hipErrorInvalidValue);
	assert_ok(hipMemRelease(memory));
	assert_ok(hipMemAddressFree(place, PIECE));
}

static void test_granularity(void **state)
{
	(void)state;
	hipMemAllocationProp wrong = properties;
	size_t least, best;

	assert_ok(hipMemGetAllocationGranularity(&least, &properties,
						 hipMemAllocationGranularityMinimum));
	assert_ok(hipMemGetAllocationGranularity(&best, &properties,
						 hipMemAllocationGranularityRecommended));
	assert_true(least && best % least == 0);
	assert_hip(hipMemGetAllocationGranularity(NULL, &properties,
						  hipMemAllocationGranularityMinimum),
		   hipErrorInvalidValue);
	assert_hip(hipMemGetAllocationGranularity(&least, &properties,
						  (hipMemAllocationGranularity_flags)2),
		   hipErrorInvalidValue);
	wrong.location.id = 9;
	assert_hip(
		hipMemGetAllocationGranularity(&least, &wrong, hipMemAllocationGranularityMinimum),
		hipErrorInvalidDevice);
}

static void test_wrong_maps(void **state)
{
	(void)state;
	char *place = reserved(2 * PIECE);
	hipMemGenericAllocationHandle_t memory = created(PIECE);
	char *outside = place + 2 * PIECE;

	assert_hip(hipMemMap(place, PIECE, 4096, memory, 0), hipErrorInvalidValue);
	assert_hip(hipMemMap(place, PIECE, 0, memory, 1), hipErrorInvalidValue);
	assert_hip(hipMemMap(place, PIECE, 0, NULL, 0), hipErrorInvalidValue);
	assert_hip(hipMemMap(place, 2 * PIECE, 0, memory, 0), hipErrorInvalidValue);
	assert_hip(hipMemMap(place + 1, PIECE, 0, memory, 0), hipErrorInvalidValue);
	assert_hip(hipMemMap(place, 100, 0, memory, 0), hipErrorInvalidValue);
	assert_hip(hipMemMap(outside, PIECE, 0, memory, 0), hipErrorInvalidValue);
	assert_hip(hipMemUnmap(place, PIECE), hipErrorInvalidValue);
	assert_ok(hipMemMap(place, PIECE, 0, memory, 0));
	assert_hip(hipMemMap(place, PIECE, 0, memory, 0), hipErrorInvalidValue);
	assert_hip(hipMemUnmap(place, PIECE / 2), hipErrorInvalidValue);
	assert_hip(hipMemUnmap(place, 2 * PIECE), hipErrorInvalidValue);
	assert_hip(hipMemAddressFree(place, 2 * PIECE), hipErrorInvalidValue);
	assert_hip(hipFree(place), hipErrorInvalidValue);
	assert_ok(hipMemUnmap(place, PIECE));
	assert_hip(hipMemAddressFree(place, PIECE), hipErrorInvalidValue);
	assert_ok(hipMemAddressFree(place, 2 * PIECE));
	assert_hip(hipMemAddressFree(place, 2 * PIECE), hipErrorInvalidValue);
	assert_ok(hipMemRelease(memory));
}

static void test_wrong_wishes(void **state)
{
	(void)state;
	hipMemAllocationProp wrong = properties;
	hipMemGenericAllocationHandle_t memory;
	void *place;

	assert_hip(hipMemAddressReserve(NULL, PIECE, 0, NULL, 0), hipErrorInvalidValue);
	assert_hip(hipMemAddressReserve(&place, 0, 0, NULL, 0), hipErrorInvalidValue);
	assert_hip(hipMemAddressReserve(&place, PIECE, 3, NULL, 0), hipErrorInvalidValue);
	assert_hip(hipMemAddressReserve(&place, PIECE, 0, NULL, 1), hipErrorInvalidValue);
	assert_hip(hipMemAddressReserve(&place, (size_t)1 << 60, 0, NULL, 0), hipErrorOutOfMemory);
	assert_hip(hipMemCreate(NULL, PIECE, &properties, 0), hipErrorInvalidValue);
	assert_hip(hipMemCreate(&memory, PIECE, NULL, 0), hipErrorInvalidValue);
	assert_hip(hipMemCreate(&memory, 100, &properties, 0), hipErrorInvalidValue);
	assert_hip(hipMemCreate(&memory, PIECE, &properties, 1), hipErrorInvalidValue);
	assert_hip(hipMemCreate(&memory, (size_t)1 << 50, &properties, 0), hipErrorOutOfMemory);
	wrong.type = hipMemAllocationTypeInvalid;
	assert_hip(hipMemCreate(&memory, PIECE, &wrong, 0), hipErrorInvalidValue);
	wrong = properties;
	wrong.location.id = 4;
	assert_hip(hipMemCreate(&memory, PIECE, &wrong, 0), hipErrorInvalidDevice);
	wrong = properties;
	wrong.requestedHandleType = hipMemHandleTypePosixFileDescriptor;
	assert_hip(hipMemCreate(&memory, PIECE, &wrong, 0), hipErrorNotSupported);
	assert_hip(hipMemRelease(NULL), hipErrorInvalidValue);
}

static void test_reset(void **state)
{
	(void)state;
	size_t before, after;
	char *place = reserved(PIECE);

	assert_ok(hipMemGetInfo(&before, NULL));
	assert_ok(hipMemMap(place, PIECE, 0, created(PIECE), 0));
	created(PIECE);
	assert_ok(hipDeviceReset());
	assert_ok(hipMemGetInfo(&after, NULL));
	assert_int_equal(after, before);
	assert_ok(hipMemAddressFree(place, PIECE));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_two_maps_show_one_memory),
		cmocka_unit_test(test_contents_outlive_a_map),
		cmocka_unit_test(test_memory_is_counted_once),
		cmocka_unit_test(test_handles),
		cmocka_unit_test(test_access),
		cmocka_unit_test(test_granularity),
		cmocka_unit_test(test_wrong_maps),
		cmocka_unit_test(test_wrong_wishes),
		cmocka_unit_test(test_reset),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
