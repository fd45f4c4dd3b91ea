/* A command line as it can be typed again. */
#ifndef UM_SHELL_QUOTE_H
#define UM_SHELL_QUOTE_H

/* The words up to NULL, quoted for sh(1) where they need it; malloc'ed, NULL without memory. */
char *um_shell_quote(char *const *words);

#endif
