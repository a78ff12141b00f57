import { describe, expect, test } from "vitest";
import { isRoleName, listRoleNames, mergeRoles, parseRoleReference, resolveRole, type RoleModels } from "./roles.ts";

const resolve = (text: string, roles: RoleModels) => {
  const target = resolveRole(parseRoleReference(text)!, roles);
  switch (target.kind) {
    case "model":
      return `${target.name}${target.level ? ` at ${target.level}` : ""}${target.isDefault ? " (default)" : ""}`;
    case "default_model":
      return `the default model${target.level ? ` at ${target.level}` : ""}`;
    case "unknown_role":
      return `unknown ${target.role}`;
    case "cycle":
      return `cycle ${target.roles.join(" ")}`;
  }
};

describe("which text names a role", () => {
  test.each([
    ["@smol", { role: "smol", level: undefined }],
    ["  @slow:high ", { role: "slow", level: "high" }],
    ["@my-role.2", { role: "my-role.2", level: undefined }],
    ["@räume", { role: "räume", level: undefined }],
    ["smol", undefined],
    ["@", undefined],
    ["@cf/zai-org/glm-5.3", undefined],
    ["workers-ai/@cf/zai-org/glm-5.3", undefined],
    ["@slow:fast", undefined],
    ["@two words", undefined],
  ])("%s", (text, reference) => expect(parseRoleReference(text)).toEqual(reference));

  test("the name of a role needs no character that a reference cannot have", () => {
    expect(["smol", "a.b", "2"].every(isRoleName)).toBe(true);
    expect(["", "@a", "a/b", "a b", "a:low", "-a"].some(isRoleName)).toBe(false);
  });
});

describe("what a role stands for", () => {
  test.each<[string, RoleModels, string]>([
    // Its own model.
    ["@slow", { slow: "anthropic/opus:high" }, "anthropic/opus:high"],
    ["@mine", { mine: "gpt" }, "gpt"],
    // The model of `default`.
    ["@slow", { default: "sonnet" }, "sonnet (default)"],
    ["@mine", { mine: " ", default: "sonnet" }, "sonnet (default)"],
    ["@default", { default: "sonnet" }, "sonnet (default)"],
    ["@slow", { slow: "@default", default: "sonnet" }, "sonnet (default)"],
    // The default model.
    ["@default", {}, "the default model"],
    ["@commit", { slow: "opus" }, "the default model"],
    ["@smol:low", {}, "the default model at low"],
    // The model of another role.
    ["@plan", { plan: "@slow", slow: "opus" }, "opus"],
    ["@a", { a: "@b", b: "@c", c: "model" }, "model"],
    ["@default", { default: "@slow", slow: "opus" }, "opus (default)"],
    // The level nearest to the reference.
    ["@slow:max", { slow: "opus:low" }, "opus:low at max"],
    ["@plan", { plan: "@slow:high", slow: "opus:low" }, "opus:low at high"],
    ["@plan:off", { plan: "@slow:high", slow: "opus" }, "opus at off"],
    // Errors.
    ["@fast", { slow: "opus" }, "unknown fast"],
    ["@constructor", {}, "unknown constructor"],
    ["@plan", { plan: "@fast" }, "unknown fast"],
    ["@a", { a: "@a" }, "cycle a a"],
    ["@plan", { plan: "@a", a: "@b", b: "@a" }, "cycle a b a"],
    ["@smol", { default: "@smol" }, "cycle smol default smol"],
  ])("%s with %j is %s", (text, roles, target) => expect(resolve(text, roles)).toBe(target));

  test("an unknown role and a cycle say what to do", () => {
    expect(resolveRole({ role: "plan", level: undefined }, { plan: "@fast" })).toMatchObject({
      message:
        'There is no role "fast", to which the role plan refers. The roles are: default, smol, slow, plan, commit.',
    });
    expect(resolveRole({ role: "a", level: undefined }, { a: "@b", b: "@a" })).toMatchObject({
      message:
        "The role a stands for no model, because roles refer to each other: @a → @b → @a. Give one of them a model.",
    });
  });
});

describe("where the models of roles come from", () => {
  test.each([
    [{ slow: "file" }, {}, { slow: "file" }],
    [{ slow: "file", smol: "file" }, { roles: { slow: "settings" } }, { slow: "settings", smol: "file" }],
    [{ default: "file" }, {}, { default: "file" }],
    [{ default: "file" }, { roles: { default: "settings" } }, { default: "settings" }],
    [{ default: "file" }, { roles: { default: "settings" }, defaultModel: "stored" }, { default: "stored" }],
    [{ default: "file", smol: "s" }, { defaultProvider: "acme", defaultModel: "stored" }, { smol: "s" }],
    [{ default: "file" }, { defaultProvider: "acme" }, {}],
  ])("of the file %j and the settings %j: %j", (file, settings, roles) =>
    expect(mergeRoles(file, settings)).toEqual(roles),
  );

  test("the known roles are listed first, then the others by name", () => {
    expect(listRoleNames({ zeta: "a", slow: "b", alpha: "c" })).toEqual([
      "default",
      "smol",
      "slow",
      "plan",
      "commit",
      "alpha",
      "zeta",
    ]);
  });
});
