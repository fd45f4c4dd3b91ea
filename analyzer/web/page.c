#include "page.h"

#include <stddef.h>

#if UM_WEB
extern const char um_page_html[] __attribute__((visibility("hidden")));

const char *um_page_template(void)
{
	return um_page_html;
}
#else
const char *um_page_template(void)
{
	return NULL;
}
#endif
