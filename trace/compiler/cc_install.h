/* Where this umhipcc's own files lie: ../lib/umtrace and ../share/umtrace beside its bin/. */
#ifndef UM_CC_INSTALL_H
#define UM_CC_INSTALL_H

struct um_cc_install {
	char library_folder[4096]; /* absolute */
	char prelude[4096];
	char device_library[4096]; /* libumdevice.a */
	char device_imports[4096]; /* libumdevice_imports.so: what the runtime gives to code objects
				    */
};

/* UM_ENOENT names the file that is missing. */
int um_cc_install_find(struct um_cc_install *out);

#endif
