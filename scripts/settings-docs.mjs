/** Writes docs/settings.md and docs/settings.schema.json from the table of settings. */
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";

const root = join(import.meta.dirname, "..");
const run = (...args) => execFileSync(process.execPath, args, { cwd: root, stdio: "inherit" });

run("scripts/build.mjs");
const { settingsReference, settingsSchema } = await import("../packages/config/dist/settings/index.js");
const { allFeatures } = await import("../packages/features/dist/index.js");
writeFileSync(join(root, "docs/settings.md"), settingsReference(allFeatures));
writeFileSync(join(root, "docs/settings.schema.json"), `${JSON.stringify(settingsSchema(allFeatures), null, 2)}\n`);
run("node_modules/oxfmt/bin/oxfmt", "docs/settings.md", "docs/settings.schema.json");
