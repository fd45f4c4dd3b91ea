/* The report page as it was built (CMakeLists.txt), with a mark where the data go (render_report.h). */
#ifndef UM_PAGE_H
#define UM_PAGE_H

/* HTML, NUL-terminated; NULL where umtrace was configured with -DUM_WEB=OFF. */
const char *um_page_template(void);

#endif
