import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parseTheme } from "./theme-file.ts";
import { themeTokens, tokenFallbacks } from "./tokens.ts";

const page = readFileSync(join(import.meta.dirname, "../../../../docs/themes.md"), "utf8");

test("docs/themes.md names every color of a theme, and those that may be left out", () => {
  const [required = "", rest = ""] = page.split("Required: ")[1]!.split("With a fallback: ");
  const fallbacks = [...rest.split("\n\n")[0]!.matchAll(/`(\w+)` \(`(\w+)`\)/g)].map(([, name, other]) => [
    name,
    other,
  ]);
  expect(Object.fromEntries(fallbacks)).toEqual(tokenFallbacks);
  expect([...required.matchAll(/`(\w+)`/g)].map(([, name]) => name)).toEqual(
    themeTokens.filter((name) => !(name in tokenFallbacks)),
  );
});

test("the theme that docs/themes.md begins is one with the colors that it leaves out", () => {
  const example = JSON.parse(/```json\n([\s\S]*?)```/.exec(page)![1]!) as { colors: Record<string, string> };
  const colors = { ...Object.fromEntries(themeTokens.map((name) => [name, ""])), ...example.colors };
  expect(parseTheme(JSON.stringify({ ...example, colors }), "sea.json")).toMatchObject({ theme: { name: "sea" } });
});
