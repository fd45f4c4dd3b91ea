/* A policy file of any bytes: refused with a place, or taken with an effective text that means the
 * same. */
#include "fuzz.h"

#include "sim/policy/policy.h"
#include "trace/base/error.h"

#include <stdlib.h>
#include <string.h>

static struct um_policy *parsed_again(const char *text)
{
	struct um_policy *policy;

	if (um_policy_parse(&policy, "again.yaml", text, strlen(text)))
		um_fuzz_bug("the effective policy is refused", um_error_message());
	return policy;
}

static void check_text(const struct um_policy *policy)
{
	char *once, *twice;

	if (um_policy_text(&once, policy))
		um_fuzz_bug("no text", um_error_message());
	struct um_policy *again = parsed_again(once);
	if (um_policy_text(&twice, again) || strcmp(once, twice) != 0)
		um_fuzz_bug("the effective policy means something else", once);
	um_policy_destroy(again);
	free(once);
	free(twice);
}

/* Once the driver is known too; what that finds wrong is a wrong policy, with its reason. */
static void check_settled(struct um_policy *policy)
{
	static const struct um_machine_spec machines[] = {
		{.name = "a", .arch = "gfx90a", .devices = 1, .xnack = UM_XNACK_PROCESS},
		{.name = "n", .arch = "sm_90", .devices = 1, .xnack = UM_XNACK_ALWAYS},
	};
	const struct um_machine_spec *machine = &machines[policy->rule_count % 2];
	int error = um_policy_settle(policy, machine, UM_XNACK_ON);

	if (error && (error != UM_EINVAL || !*um_error_message()))
		um_fuzz_bug("settling fails without a reason", um_error_message());
	if (!error)
		check_text(policy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	struct um_policy *policy = NULL;
	int error = um_policy_parse(&policy, "fuzz.yaml", (const char *)data, bytes);

	um_fuzz_check_result(error, policy);
	if (!error) {
		check_text(policy);
		check_settled(policy);
	}
	um_policy_destroy(policy);
	return 0;
}
