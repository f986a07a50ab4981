// The tests of the renderer that need no browser.

import { build } from "esbuild";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { spawnSync } from "node:child_process";

const out = mkdtempSync(join(tmpdir(), "clew-web-"));
const tests = readdirSync("test").filter((name) => name.endsWith(".test.ts"));
await build({
  entryPoints: tests.map((name) => `test/${name}`), outdir: out, outExtension: { ".js": ".mjs" }, bundle: true,
  format: "esm", platform: "node", jsx: "automatic", jsxImportSource: "preact", logLevel: "warning",
});
const done = spawnSync(process.execPath, ["--test", ...tests.map((name) => join(out, name.replace(/\.ts$/, ".mjs")))], { stdio: "inherit" });
rmSync(out, { recursive: true });
process.exit(done.status ?? 1);
