// Makes the one script and the one style sheet that every page carries, always the same bytes.

import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { build } from "esbuild";

const out = process.argv[2] ?? "../src/clew/assets";

await build({
  entryPoints: { reader: "src/page.tsx" },
  outdir: out,
  bundle: true,
  minify: true,
  format: "iife",
  target: ["es2022", "chrome111", "firefox115", "safari16.4"],
  jsx: "automatic",
  jsxImportSource: "preact",
  // Pages are read as UTF-8, but a script that is plain ASCII survives whatever they are opened as.
  charset: "ascii",
  legalComments: "none",
  logLevel: "warning",
});
await build({
  entryPoints: { reader: "style/reader.css" },
  outdir: out,
  bundle: true,
  minify: true,
  target: ["chrome111", "firefox115", "safari16.4"],
  logLevel: "warning",
});

// What stands inside a script element may not look like markup, or a browser could read past its end.
const script = `${out}/reader.js`;
const made = readFileSync(script, "utf8").replaceAll("<!--", "\\x3C!--").replace(/<(\/?script)/gi, "\\x3C$1");

// The licences of what is carried, once, in front of it.
const licence = (name) => ["LICENSE", "LICENSE.txt", "LICENSE-MIT.txt"].map((file) => `node_modules/${name}/${file}`).find((path) => existsSync(path));
const carried = ["preact", "markdown-it", "linkify-it", "mdurl", "uc.micro", "entities", "punycode.js"];
const notices = carried.map((name) => `${name}\n${readFileSync(licence(name), "utf8").trim()}`).join("\n\n");
writeFileSync(`${out}/NOTICE.txt`, `Carried in reader.js:\n\n${notices}\n`);
writeFileSync(script, `/* clew reader. Carries ${carried.join(", ")}: licences in clew/assets/NOTICE.txt of the package clew. */\n${made}`);
