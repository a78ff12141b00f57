import fc from "fast-check";
import { expect, test } from "vitest";
import { filterResources } from "./filter-resources.ts";
import { toggleResource } from "./toggle-resource.ts";

const names = ["skills/a.md", "skills/b.md", "skills/c.md"];

test.each<[readonly string[] | undefined, boolean, readonly string[] | undefined]>([
  [undefined, true, undefined],
  [undefined, false, ["-skills/a.md"]],
  [["-skills/a.md"], true, undefined],
  [["-skills/a.md", "-skills/b.md"], true, ["-skills/b.md"]],
  [[], true, ["skills/a.md"]],
  [[], false, []],
  [["!*"], true, ["!*", "+skills/a.md"]],
  [["!*", "+skills/a.md"], false, ["!*"]],
  [["skills/b.md"], true, ["skills/b.md", "+skills/a.md"]],
])("%j with the first turned to %s is %j", (list, isOn, expected) => {
  expect(toggleResource(list, { names, name: names[0]!, isOn })).toEqual(expected);
});

test("a resource is as it was turned, and no other changes", () => {
  const entry = fc
    .tuple(fc.constantFrom("", "!", "+", "-"), fc.constantFrom(...names, "*", "b.*", "skills"))
    .map((parts) => parts.join(""));
  const lists = fc.option(fc.array(entry, { maxLength: 4 }), { nil: undefined });
  fc.assert(
    fc.property(lists, fc.constantFrom(...names), fc.boolean(), (list, name, isOn) => {
      const apply = (each: readonly string[] | undefined) => filterResources(names, each ? [each] : []);
      const after = apply(toggleResource(list, { names, name, isOn }));
      fc.pre(
        !list?.includes("+skills") && !list?.includes("-skills") && !(list?.length === 1 && /^[+-]/.test(list[0]!)),
      );
      expect(after.includes(name)).toBe(isOn);
    }),
  );
});
