// One file of HTML out of src/: node build.mjs OUT
// The page may load nothing: script and style stand in it, and its Content-Security-Policy names their
// hashes. The data go where the mark is (analyzer/render/render_report.h).
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const out = process.argv[2];
if (!out) {
	console.error("usage: node build.mjs OUT");
	process.exit(2);
}

async function bundle(entry) {
	const result = await build({
		entryPoints: [join(here, "src", entry)],
		bundle: true,
		minify: true,
		write: false,
		format: "iife",
		target: ["es2020"],
		charset: "ascii",
		legalComments: "inline",
		logLevel: "warning",
	});
	return result.outputFiles[0].text.trim();
}

const hash = (text) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;

const script = await bundle("main.ts");
const style = await bundle("page.css");
if (/<\/(script|style)/i.test(script + style)) {
	console.error("build.mjs: script or style would end its own element");
	process.exit(1);
}
const policy = [
	"default-src 'none'",
	`script-src ${hash(script)}`,
	`style-src ${hash(style)}`,
	"base-uri 'none'",
	"form-action 'none'",
].join("; ");
const parts = { POLICY: policy, STYLE: style, SCRIPT: script };
const html = readFileSync(join(here, "src", "page.html"), "utf8").replace(
	/@(POLICY|STYLE|SCRIPT)@/g,
	(_, name) => parts[name],
);
writeFileSync(out, html);
