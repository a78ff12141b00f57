import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { protocols } from "../protocols/index.ts";
import { getModels, getProviders } from "./catalog.ts";
import { type CompatFamily, compatFamilies, compatFlags, type FieldUse, modelFields } from "./fields.ts";

const models = getProviders().flatMap((provider) => getModels(provider));

const getFamily = (api: string): CompatFamily | undefined =>
  (compatFamilies as Record<string, CompatFamily | undefined>)[api];

describe("every field and flag in the catalogue", () => {
  test("is listed, and what is listed occurs", () => {
    const fields = new Set<string>();
    for (const { provider: _added, ...model } of models) {
      for (const field of Object.keys(model)) fields.add(field);
      for (const field of Object.keys(model.cost)) fields.add(`cost.${field}`);
    }
    expect([...fields].sort()).toEqual(Object.keys(modelFields).sort());
  });

  test("as a compat flag is listed for its API, and what is listed occurs", () => {
    const flags = new Set<string>();
    for (const { api, compat = {} } of models) {
      for (const flag of Object.keys(compat)) flags.add(`${getFamily(api) ?? api}: ${flag}`);
    }
    const listed = Object.entries(compatFlags).flatMap(([family, rows]) =>
      Object.keys(rows).map((flag) => `${family}: ${flag}`),
    );
    expect([...flags].sort()).toEqual(listed.sort());
  });

  test("that is ignored has a reason, and what is used has a place", () => {
    const uses: FieldUse[] = [modelFields, ...Object.values(compatFlags)].flatMap((rows) => Object.values(rows));
    expect(uses.filter((use) => ("used" in use ? use.used : use.ignored).length < 5)).toEqual([]);
  });

  for (const [family, rows] of Object.entries(compatFlags)) {
    test.runIf(family in protocols)(`that ${family} uses is read in its sources`, () => {
      const source = createSource(family);
      const used = Object.entries(rows).filter(([, use]) => "used" in use);
      expect(used.map(([flag]) => flag).filter((flag) => !source.includes(flag))).toEqual([]);
    });
  }
});

/** A protocol's own files and those that all share, but for the table that fills in defaults: naming is not reading. */
function createSource(family: string): string {
  const folder = join(import.meta.dirname, "../protocols");
  const isSource = (name: string) => name.endsWith(".ts") && !name.endsWith(".test.ts") && name !== "compat.ts";
  const read = (path: string) =>
    readdirSync(path, { withFileTypes: true })
      .filter((entry) => entry.isFile() && isSource(entry.name))
      .map((entry) => readFileSync(join(path, entry.name), "utf8"));
  return [...read(join(folder, family)), ...read(folder)].join("\n");
}
