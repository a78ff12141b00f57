import { expect, test } from "vitest";
import { mapImport } from "./map-import.ts";

const imports = {
  "#src/*": "./src/*",
  "#src/deep/*.js": "./deep/*.ts",
  "#main": { browser: "./web.ts", node: { require: "./main.cjs" }, default: "./main.ts" },
  "#listed": [null, "./listed.ts"],
  "#types": { types: "./types.d.ts" },
  "#package": "other-package/part",
};

test.each([
  ["#src/a/b", "./src/a/b"],
  ["#src/deep/a.js", "./deep/a.ts"],
  ["#src/deep/a", "./src/deep/a"],
  ["#src/$&", "./src/$&"],
  ["#main", "./main.cjs"],
  ["#listed", "./listed.ts"],
  ["#package", "other-package/part"],
  ["#types", undefined],
  ["#src/", undefined],
  ["#other", undefined],
  ["#toString", undefined],
])("%s leads to %s", (name, target) => {
  expect(mapImport(name, imports)).toBe(target);
});
