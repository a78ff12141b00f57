import type { PermissionMode } from "@tau/protocol";
import { expect, test } from "vitest";
import { Permissions, type PermissionsParts } from "./permissions.ts";

const create = (parts: Partial<PermissionsParts> = {}) =>
  new Permissions({
    getOwn: () => "edit",
    getProjectLimit: () => undefined,
    getParentMode: () => undefined,
    chosen: undefined,
    logged: undefined,
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
  expect(limited.choices).toEqual(["ask", "edit"]);
  expect(() => limited.choose("free")).toThrow("the project's setting policy.permissionMode allows edit at most");
  let parent: PermissionMode = "ask";
  const child = create({ getParentMode: () => parent });
  expect(child.mode).toBe("ask");
  expect(() => child.choose("edit")).toThrow("the session that started this one allows ask at most");
  // It follows its parent.
  parent = "free";
  expect(child.mode).toBe("edit");
});

test.each([
  ["plan", "does not exist yet"],
  ["loose", "There is no permission mode"],
])("%s is refused", (name, message) => {
  expect(() => create().choose(name)).toThrow(message);
});
