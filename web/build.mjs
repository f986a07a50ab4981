// Makes the script and the style sheet of exported pages, and those of the app, always the same bytes.

import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { build } from "esbuild";

const out = process.argv[2] ?? "../src/clew/assets";

// Each by itself: a page carries one of them, and neither knows of the other.
for (const entryPoints of [{ reader: "src/page.tsx" }, { app: "src/app/main.tsx" }]) {
  await build({
    entryPoints,
    outdir: out,
    bundle: true,
    minify: true,
    format: "iife",
    target: ["es2022", "chrome111", "firefox115", "safari16.4"],
    jsx: "automatic",
    jsxImportSource: "preact",
    charset: "ascii",
    legalComments: "none",
    logLevel: "warning",
  });
}
await build({
  entryPoints: { reader: "style/reader.css", app: "style/app.css" },
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
writeFileSync(`${out}/NOTICE.txt`, `Carried in reader.js and app.js:\n\n${notices}\n`);
const words = `Carries ${carried.join(", ")}: licences in clew/assets/NOTICE.txt of the package clew.`;
writeFileSync(script, `/* clew reader. ${words} */\n${made}`);
writeFileSync(`${out}/app.js`, `/* clew app. ${words} */\n${readFileSync(`${out}/app.js`, "utf8")}`);

// The list of a folder carries a script and a style of its own. They stand in a module: what writes the list opens nothing.
const small = (entry, more = {}) => build({ entryPoints: [entry], bundle: true, minify: true, write: false, charset: "ascii", target: ["es2022", "chrome111", "firefox115", "safari16.4"], ...more });
const text = (result) => JSON.stringify(result.outputFiles[0].text.trim());
writeFileSync(process.argv[3] ?? "../src/clew/export/html_index_assets.py", `"""The script and the style of the list of pages. Made by \`make web\`; do not edit."""

# ruff: noqa: E501
# fmt: off

from typing import Final

SCRIPT: Final = ${text(await small("src/index_page.ts", { format: "iife" }))}

STYLE: Final = ${text(await small("style/index.css"))}
`);
