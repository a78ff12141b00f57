import type { PermissionMode, WritingMode } from "@tau/protocol";
import { expect, test } from "vitest";
import { Permissions, type PermissionsParts } from "./permissions.ts";

const create = (parts: Partial<PermissionsParts> = {}) =>
  new Permissions({
    getOwn: () => "edit",
    getProjectLimit: () => undefined,
    getParent: () => undefined,
    chosen: undefined,
    plans: false,
    logged: undefined,
    loggedWriting: parts.logged === "plan" ? undefined : parts.logged,
    ...parts,
  });

test("the log of a session makes it stricter, and never freer, whoever opens it", () => {
  expect(create({ logged: "ask" }).mode).toBe("ask");
  const free = create({ logged: "free" });
  expect(free.mode).toBe("edit");
  expect(free.notResumed).toContain("was left in the permission mode free. That is not kept");
  expect(create({ logged: "free", getOwn: () => "free" }).notResumed).toBeUndefined();
  expect(create({ logged: "edit", getOwn: () => "ask" }).mode).toBe("ask");
});

test("a flag goes before settings and log, but not beyond the project", () => {
  expect(create({ chosen: "free", logged: "ask" }).mode).toBe("free");
  expect(create({ chosen: "free", getProjectLimit: () => "ask" }).mode).toBe("ask");
});

test("neither a project nor a parent can be exceeded, and the sentence says which of them it is", () => {
  const limited = create({ getProjectLimit: () => "edit" });
  expect(limited.choices).toEqual(["plan", "ask", "edit"]);
  expect(() => limited.choose("free")).toThrow("the project's setting policy.permissionMode allows edit at most");
  let parent: WritingMode = "ask";
  const child = create({ getParent: () => ({ mode: parent, writingMode: parent }) });
  expect(child.mode).toBe("ask");
  expect(() => child.choose("edit")).toThrow("the session that started this one allows ask at most");
  // It follows its parent.
  parent = "free";
  expect(child.mode).toBe("edit");
});

test("a name that is no mode is refused", () => {
  expect(() => create().choose("loose")).toThrow("There is no permission mode");
});

test("plan mode is on top of another mode, which applies again afterwards", () => {
  const permissions = create({ chosen: "free" });
  permissions.choose("plan");
  expect([permissions.mode, permissions.writingMode]).toEqual(["plan", "free"]);
  expect(permissions.describe()).toEqual({ mode: "plan", choices: ["plan", "ask", "edit", "free"], afterPlan: "free" });
  permissions.choose("ask");
  expect(permissions.describe()).toEqual({ mode: "ask", choices: ["plan", "ask", "edit", "free"] });
});

test.each<[name: string, parts: Partial<PermissionsParts>, modes: [PermissionMode, WritingMode]]>([
  ["a flag", { plans: true, chosen: "ask" }, ["plan", "ask"]],
  ["a flag for the mode", { chosen: "plan" }, ["plan", "edit"]],
  ["the settings", { getOwn: () => "plan" }, ["plan", "edit"]],
  ["the log", { logged: "plan", loggedWriting: "ask" }, ["plan", "ask"]],
  ["a project", { getProjectLimit: () => "plan", chosen: "free" }, ["plan", "free"]],
  ["a parent", { getParent: () => ({ mode: "plan", writingMode: "ask" }) }, ["plan", "ask"]],
])("%s turns it on", (_name, parts, modes) => {
  const permissions = create(parts);
  expect([permissions.mode, permissions.writingMode]).toEqual(modes);
});

test("a child leaves plan mode with its parent, and not before", () => {
  let parent: PermissionMode = "plan";
  const child = create({ getParent: () => ({ mode: parent, writingMode: "edit" }), chosen: "free" });
  expect(() => child.choose("edit")).toThrow("the session that started this one allows plan at most");
  expect(child.mode).toBe("plan");
  parent = "edit";
  expect(child.mode).toBe("edit");
});

test("a flag for another mode goes before a log in plan mode", () => {
  expect(create({ chosen: "edit", logged: "plan" }).mode).toBe("edit");
});
