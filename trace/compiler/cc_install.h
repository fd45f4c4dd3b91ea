/* This umhipcc's own files, in the tree that it lies in (trace/base/paths.h). */
#ifndef UM_CC_INSTALL_H
#define UM_CC_INSTALL_H

struct um_cc_install {
	char *library_folder; /* the runtime's, absolute */
	char *prelude;
	char *include_folder; /* headers of AMD's that Debian does not have: roctx.h */
	char *device_library; /* libumdevice.a */
	char *device_imports; /* libumdevice_imports.so: what the runtime gives to code objects */
};

/* UM_ENOENT names the file that is missing. Free with um_cc_install_fini() in any case. */
int um_cc_install_find(struct um_cc_install *out);
void um_cc_install_fini(struct um_cc_install *);

#endif
