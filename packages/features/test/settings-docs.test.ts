/** The generated pages are those of the table of settings. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { settingsReference, settingsSchema } from "@tau/config/settings";
import { allFeatures } from "../src/index.ts";

const docs = join(import.meta.dirname, "../../../docs");

const howTo = "It is out of date. Write it again with: node scripts/settings-docs.mjs";

test("docs/settings.md is the reference of the settings as they are", () => {
  const page = readFileSync(join(docs, "settings.md"), "utf8");
  expect(page, howTo).toBe(settingsReference(allFeatures));
});

test("docs/settings.schema.json is the schema of the settings as they are", () => {
  const schema = JSON.parse(readFileSync(join(docs, "settings.schema.json"), "utf8")) as unknown;
  // Through JSON: what is undefined is not written.
  expect(schema, howTo).toEqual(JSON.parse(JSON.stringify(settingsSchema(allFeatures))));
});
