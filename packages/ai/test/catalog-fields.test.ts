import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { protocols } from "../src/protocols/index.ts";
import { getModels, getProviders } from "../src/catalog/catalog.ts";
import { type CompatFamily, compatFamilies, compatFlags, type FieldUse, modelFields } from "./catalog-fields.ts";

const models = getProviders().flatMap((provider) => getModels(provider));

const getFamily = (api: string): CompatFamily | undefined =>
  (compatFamilies as Record<string, CompatFamily | undefined>)[api];

describe("the list of catalogue fields", () => {
  test("contains exactly the fields that occur", () => {
    const fields = new Set<string>();
    for (const { provider: _provider, ...model } of models) {
      for (const field of Object.keys(model)) fields.add(field);
      for (const field of Object.keys(model.cost)) fields.add(`cost.${field}`);
    }
    expect([...fields].sort()).toEqual(Object.keys(modelFields).sort());
  });

  test("contains exactly the compat flags that occur", () => {
    const flags = new Set<string>();
    for (const { api, compat = {} } of models) {
      for (const flag of Object.keys(compat)) flags.add(`${getFamily(api) ?? api}: ${flag}`);
    }
    const listed = Object.entries(compatFlags).flatMap(([family, rows]) =>
      Object.keys(rows).map((flag) => `${family}: ${flag}`),
    );
    expect([...flags].sort()).toEqual(listed.sort());
  });

  test("has a text for every entry", () => {
    const uses: FieldUse[] = [modelFields, ...Object.values(compatFlags)].flatMap((rows) => Object.values(rows));
    expect(uses.filter((use) => ("used" in use ? use.used : use.ignored).length < 5)).toEqual([]);
  });

  for (const [family, rows] of Object.entries(compatFlags)) {
    test.runIf(family in protocols)(`marks as used only flags that occur in the sources of ${family}`, () => {
      const source = readSource(family);
      const used = Object.entries(rows).filter(([, use]) => "used" in use);
      expect(used.map(([flag]) => flag).filter((flag) => !source.includes(flag))).toEqual([]);
    });
  }
});

/** The sources of a protocol and of all protocols, without `compat.ts`, which lists flags but does not use them. */
function readSource(family: string): string {
  const folder = join(import.meta.dirname, "../src/protocols");
  const isSource = (name: string) => name.endsWith(".ts") && !name.endsWith(".test.ts") && name !== "compat.ts";
  const read = (path: string) =>
    readdirSync(path, { withFileTypes: true })
      .filter((entry) => entry.isFile() && isSource(entry.name))
      .map((entry) => readFileSync(join(path, entry.name), "utf8"));
  return [...read(join(folder, family)), ...read(folder)].join("\n");
}
