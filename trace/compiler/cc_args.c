#include "cc_args.h"

#include "cc_bundle.h"
#include "trace/base/error.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	COMPILE = 1,
	LINK = 2,
	BOTH = COMPILE | LINK,
	DROP = 0,
};

enum shape {
	ALONE,	  /* -c */
	PREFIX,	  /* -fPIC, -Wall: the value is joined */
	SEPARATE, /* -Xclang VALUE */
	EITHER,	  /* -I VALUE or -IVALUE */
};

struct parser {
	struct um_cc_args *args;
	const char *x; /* language in force */
};

typedef int (*option_action)(struct parser *, const char *value);

static int set_stage_compile(struct parser *p, const char *value);
static int set_stage_assembly(struct parser *p, const char *value);
static int set_stage_preprocess(struct parser *p, const char *value);
static int set_stage_syntax(struct parser *p, const char *value);
static int set_stage_bundle(struct parser *p, const char *value);
static int set_output(struct parser *p, const char *value);
static int set_language(struct parser *p, const char *value);
static int set_level(struct parser *p, const char *value);
static int add_archs(struct parser *p, const char *value);
static int set_relocatable(struct parser *p, const char *value);
static int clear_relocatable(struct parser *p, const char *value);
static int refuse_temporaries(struct parser *p, const char *value);
static int set_help(struct parser *p, const char *value);
static int set_version(struct parser *p, const char *value);
static int set_show(struct parser *p, const char *value);
static int set_nvidia(struct parser *p, const char *value);
static int ignore(struct parser *p, const char *value);

/*
 * The first entry that fits decides. Options not listed go to the compiler and, when they start
 * with -f, -m, -W, -g, -O, -B or --, to the linking clang as well, which ignores what is not for
 * it.
 */
static const struct option {
	const char *name;
	enum shape shape;
	int whose;
	option_action action;
} options[] = {
	{"-c", ALONE, DROP, set_stage_compile},
	{"-S", ALONE, DROP, set_stage_assembly},
	{"-E", ALONE, DROP, set_stage_preprocess},
	{"-M", ALONE, COMPILE, set_stage_preprocess},
	{"-MM", ALONE, COMPILE, set_stage_preprocess},
	{"-fsyntax-only", ALONE, DROP, set_stage_syntax},
	{"--genco", ALONE, DROP, set_stage_bundle},
	{"--cuda-host-only", ALONE, COMPILE, NULL},
	{"-o", EITHER, DROP, set_output},
	{"-x", EITHER, DROP, set_language},
	{"--help", ALONE, DROP, set_help},
	{"-h", ALONE, DROP, set_help},
	{"--version", ALONE, DROP, set_version},
	{"-v", ALONE, BOTH, NULL},
	{"-###", ALONE, DROP, set_show},
	{"--nvidia", ALONE, DROP, set_nvidia},
	{"--offload-arch=", PREFIX, DROP, add_archs},
	{"--amdgpu-target=", PREFIX, DROP, add_archs},
	{"--no-offload-arch=", PREFIX, DROP, ignore},
	{"-fgpu-rdc", ALONE, DROP, set_relocatable},
	{"-fno-gpu-rdc", ALONE, DROP, clear_relocatable},
	{"-save-temps", PREFIX, DROP, refuse_temporaries},
	{"--save-temps", PREFIX, DROP, refuse_temporaries},
	{"--hip-link", ALONE, DROP, ignore},
	{"-use-staticlib", ALONE, DROP, ignore},
	{"-use-sharedlib", ALONE, DROP, ignore},
	{"-ccbin", SEPARATE, DROP, ignore},
	{"-static-libstdc++", ALONE, LINK, NULL},
	{"-static-libgcc", ALONE, LINK, NULL},
	{"-shared", ALONE, LINK, NULL},
	{"--emit-static-lib", ALONE, LINK, NULL},
	{"-static", ALONE, LINK, NULL},
	{"-static-pie", ALONE, LINK, NULL},
	{"-rdynamic", ALONE, LINK, NULL},
	{"-pie", ALONE, LINK, NULL},
	{"-no-pie", ALONE, LINK, NULL},
	{"-nopie", ALONE, LINK, NULL},
	{"-nostdlib", ALONE, LINK, NULL},
	{"-nodefaultlibs", ALONE, LINK, NULL},
	{"-nostartfiles", ALONE, LINK, NULL},
	{"-fuse-ld=", PREFIX, LINK, NULL},
	{"-s", ALONE, LINK, NULL},
	{"-r", ALONE, LINK, NULL},
	{"-l", EITHER, LINK, NULL},
	{"-L", EITHER, LINK, NULL},
	{"-Wl,", PREFIX, LINK, NULL},
	{"-Xlinker", SEPARATE, LINK, NULL},
	{"-T", EITHER, LINK, NULL},
	{"-u", EITHER, LINK, NULL},
	{"-z", SEPARATE, LINK, NULL},
	{"-rpath", SEPARATE, LINK, NULL},
	{"-pthread", ALONE, BOTH, NULL},
	{"-target", SEPARATE, BOTH, NULL},
	{"-isysroot", EITHER, BOTH, NULL},
	{"-I", EITHER, COMPILE, NULL},
	{"-D", EITHER, COMPILE, NULL},
	{"-U", EITHER, COMPILE, NULL},
	{"-include", EITHER, COMPILE, NULL},
	{"-imacros", EITHER, COMPILE, NULL},
	{"-isystem-after", EITHER, COMPILE, NULL},
	{"-isystem", EITHER, COMPILE, NULL},
	{"-iquote", EITHER, COMPILE, NULL},
	{"-idirafter", EITHER, COMPILE, NULL},
	{"-iprefix", EITHER, COMPILE, NULL},
	{"-iwithprefixbefore", EITHER, COMPILE, NULL},
	{"-iwithprefix", EITHER, COMPILE, NULL},
	{"-MF", EITHER, COMPILE, NULL},
	{"-MT", EITHER, COMPILE, NULL},
	{"-MQ", EITHER, COMPILE, NULL},
	{"-MJ", EITHER, COMPILE, NULL},
	{"-M", PREFIX, COMPILE, NULL},
	{"-Xclang", SEPARATE, COMPILE, NULL},
	{"-Xpreprocessor", SEPARATE, COMPILE, NULL},
	{"-Xassembler", SEPARATE, COMPILE, NULL},
	{"-Xarch_host", SEPARATE, COMPILE, NULL},
	{"-Xarch_device", SEPARATE, COMPILE, NULL},
	{"-mllvm", SEPARATE, COMPILE, NULL},
	{"--param", SEPARATE, COMPILE, NULL},
	{"-std=", PREFIX, COMPILE, NULL},
	{"--std=", PREFIX, COMPILE, NULL},
	{"-O", PREFIX, BOTH, set_level},
	{"-g", PREFIX, BOTH, NULL},
	{"-W", PREFIX, COMPILE, NULL},
	{"-f", PREFIX, BOTH, NULL},
	{"-m", PREFIX, BOTH, NULL},
	{"-B", EITHER, BOTH, NULL},
	{"--", PREFIX, BOTH, NULL},
};

static int set_stage_compile(struct parser *p, const char *value)
{
	(void)value;
	p->args->stage = UM_CC_COMPILE;
	return 0;
}

static int set_stage_assembly(struct parser *p, const char *value)
{
	(void)value;
	p->args->stage = UM_CC_ASSEMBLY;
	return 0;
}

static int set_stage_preprocess(struct parser *p, const char *value)
{
	(void)value;
	p->args->stage = UM_CC_PREPROCESS;
	return 0;
}

static int set_stage_syntax(struct parser *p, const char *value)
{
	(void)value;
	p->args->stage = UM_CC_SYNTAX;
	return 0;
}

static int set_stage_bundle(struct parser *p, const char *value)
{
	(void)value;
	p->args->stage = UM_CC_BUNDLE;
	return 0;
}

static int set_output(struct parser *p, const char *value)
{
	p->args->output = value;
	return 0;
}

static int set_language(struct parser *p, const char *value)
{
	p->x = strcmp(value, "none") ? value : NULL;
	return 0;
}

static int set_level(struct parser *p, const char *value)
{
	static const char *const levels[][2] = {{"", "O1"},  {"0", "O0"}, {"1", "O1"},
						{"2", "O2"}, {"3", "O3"}, {"s", "Os"},
						{"z", "Oz"}, {"g", "O1"}, {"fast", "O3"}};

	p->args->level_given = true;
	for (size_t i = 0; i < sizeof levels / sizeof *levels; i++)
		if (!strcmp(value, levels[i][0]))
			p->args->level = levels[i][1];
	return 0;
}

static int add_archs(struct parser *p, const char *value)
{
	while (*value) {
		size_t length = strcspn(value, ",");

		if (strncmp(value, "gfx", 3) && strncmp(value, "sm_", 3))
			return um_fail(UM_EINVAL,
				       "--offload-arch=%s: name an AMD architecture, such as "
				       "gfx90a, or with --nvidia one of NVIDIA's, such as sm_90",
				       value);
		um_argv_pushf(&p->args->archs, "%.*s", (int)length, value);
		value += length + (value[length] == ',');
	}
	return 0;
}

static int set_relocatable(struct parser *p, const char *value)
{
	(void)value;
	p->args->relocatable = true;
	return 0;
}

static int clear_relocatable(struct parser *p, const char *value)
{
	(void)value;
	p->args->relocatable = false;
	return 0;
}

static int refuse_temporaries(struct parser *p, const char *value)
{
	(void)p;
	(void)value;
	return um_fail(UM_EINVAL, "-save-temps is not supported: -E and -S show what becomes of "
				  "the source");
}

static int set_help(struct parser *p, const char *value)
{
	(void)value;
	p->args->help = true;
	return 0;
}

static int set_version(struct parser *p, const char *value)
{
	(void)value;
	p->args->version = true;
	return 0;
}

static int set_show(struct parser *p, const char *value)
{
	(void)value;
	p->args->show_only = true;
	return 0;
}

static int set_nvidia(struct parser *p, const char *value)
{
	(void)value;
	p->args->nvidia = true;
	return 0;
}

/* Understood, and without a meaning here. */
static int ignore(struct parser *p, const char *value)
{
	(void)p;
	(void)value;
	return 0;
}

static bool fits(const struct option *o, const char *text)
{
	size_t length = strlen(o->name);

	if (o->shape == ALONE || o->shape == SEPARATE)
		return !strcmp(text, o->name);
	return !strncmp(text, o->name, length);
}

static const struct option *find_option(const char *text)
{
	for (size_t i = 0; i < sizeof options / sizeof *options; i++)
		if (fits(&options[i], text))
			return &options[i];
	return NULL;
}

static enum um_cc_language language_of(const char *path, const char *x)
{
	static const struct {
		const char *suffix;
		enum um_cc_language language;
	} suffixes[] = {
		{".hip", UM_CC_HIP},  {".cpp", UM_CC_HIP}, {".cc", UM_CC_HIP},	{".cxx", UM_CC_HIP},
		{".c++", UM_CC_HIP},  {".cu", UM_CC_HIP},  {".cuh", UM_CC_HIP}, {".C", UM_CC_HIP},
		{".c", UM_CC_C},      {".s", UM_CC_OTHER}, {".S", UM_CC_OTHER}, {".i", UM_CC_OTHER},
		{".ii", UM_CC_OTHER},
	};
	const char *dot = strrchr(path, '.');

	if (x)
		return !strcmp(x, "hip") || !strcmp(x, "cu") ? UM_CC_HIP : UM_CC_OTHER;
	for (size_t i = 0; dot && i < sizeof suffixes / sizeof *suffixes; i++)
		if (!strcmp(dot, suffixes[i].suffix))
			return suffixes[i].language;
	return UM_CC_OBJECT;
}

static void add_input(struct parser *p, const char *path)
{
	struct um_cc_args *args = p->args;
	struct um_cc_input *input = &args->inputs[args->input_count++];

	*input = (struct um_cc_input){.path = path,
				      .language = language_of(path, p->x),
				      .x = p->x,
				      .link_index = args->link.count};
	um_argv_push(&args->link, input->language == UM_CC_OBJECT ? path : "");
}

static void keep(struct um_cc_args *args, int whose, const char *text)
{
	if (whose & COMPILE)
		um_argv_push(&args->compile, text);
	if (whose & LINK)
		um_argv_push(&args->link, text);
}

/* Takes the argument at *at, and its value when that stands apart. */
static int take(struct parser *p, const struct um_argv *all, size_t *at)
{
	const char *text = all->items[(*at)++], *value;
	const struct option *o;

	if (*text != '-' || !text[1]) {
		add_input(p, text);
		return 0;
	}
	o = find_option(text);
	if (!o) {
		keep(p->args, COMPILE, text);
		return 0;
	}
	keep(p->args, o->whose, text);
	value = text + strlen(o->name);
	if (o->shape == SEPARATE || (o->shape == EITHER && !*value)) {
		if (*at == all->count)
			return um_fail(UM_EINVAL, "%s needs a value", text);
		value = all->items[(*at)++];
		keep(p->args, o->whose, value);
	}
	return o->action ? o->action(p, value) : 0;
}

/* One argument of a response file: blanks end it, quotes and backslash keep them (GNU's rules). */
static char *next_word(char **text)
{
	char *from = *text, *word, *to, quote = 0;

	while (isspace((unsigned char)*from))
		from++;
	if (!*from)
		return NULL;
	for (word = to = from; *from && (quote || !isspace((unsigned char)*from)); from++) {
		if (*from == '\\' && from[1])
			*to++ = *++from;
		else if (quote ? *from == quote : *from == '"' || *from == '\'')
			quote = quote ? 0 : *from;
		else
			*to++ = *from;
	}
	*text = *from ? from + 1 : from;
	*to = 0;
	return word;
}

static int expand(struct um_argv *out, const char *text)
{
	void *file;
	size_t bytes;
	char *rest, *word;
	int error;

	if (*text != '@') {
		um_argv_push(out, text);
		return 0;
	}
	error = um_read_file(&file, &bytes, text + 1);
	if (error)
		return error;
	rest = file;
	while ((word = next_word(&rest)))
		um_argv_push(out, word);
	free(file);
	return 0;
}

/* AMD's stand for themselves, NVIDIA's only under --nvidia. */
static int check_archs(const struct um_cc_args *args)
{
	for (size_t i = 0; i < args->archs.count; i++)
		if (args->nvidia == !strncmp(args->archs.items[i], "gfx", 3))
			return um_fail(UM_EINVAL,
				       args->nvidia ? "--offload-arch=%s: --nvidia takes NVIDIA's, "
						      "such as sm_90"
						    : "--offload-arch=%s is NVIDIA's: add --nvidia",
				       args->archs.items[i]);
	return 0;
}

/* Linking of relocatable code for AMD's GPUs is AMD's. */
static void leave_out_archs(struct um_cc_args *args)
{
	if (!args->relocatable || args->stage == UM_CC_BUNDLE)
		return;
	for (size_t i = 0; i < args->archs.count; i++)
		fprintf(stderr,
			"umhipcc: warning: -fgpu-rdc: no code for %s is made; the program runs "
			"with umtrace's runtime only\n",
			args->archs.items[i]);
	um_argv_fini(&args->archs);
}

int um_cc_args_parse(struct um_cc_args *out, int argc, char **argv)
{
	struct parser p = {.args = out};
	int error = 0;

	*out = (struct um_cc_args){.level = "O3"};
	for (int i = 0; i < argc && !error; i++)
		error = expand(&out->words, argv[i]);
	out->inputs = calloc(out->words.count + 1, sizeof *out->inputs);
	if (!out->inputs)
		return um_fail(UM_ENOMEM, "out of memory");
	for (size_t at = 0; at < out->words.count && !error;)
		error = take(&p, &out->words, &at);
	if (!error)
		error = check_archs(out);
	if (!error && !out->nvidia)
		leave_out_archs(out);
	return error;
}

void um_cc_args_fini(struct um_cc_args *args)
{
	um_argv_fini(&args->words);
	um_argv_fini(&args->archs);
	um_argv_fini(&args->compile);
	um_argv_fini(&args->link);
	free(args->inputs);
}
