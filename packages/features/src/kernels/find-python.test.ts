import { expect, test } from "vitest";
import { findPython } from "./find-python.ts";

const find = (programs: readonly string[], setting?: string, env: Record<string, string> = { PATH: "/usr/bin:/bin" }) =>
  findPython({ setting, env, cwd: "/work", isProjectTrusted: true, exists: (path) => programs.includes(path) });

test("the setting comes first, then VIRTUAL_ENV, .venv, venv and PATH", () => {
  const programs = ["/opt/py", "/ve/bin/python3", "/work/.venv/bin/python", "/work/venv/bin/python3", "/bin/python3"];
  const env = { PATH: "/usr/bin:/bin", VIRTUAL_ENV: "/ve" };
  expect(find(programs, "/opt/py", env)).toBe("/opt/py");
  expect(find(programs, undefined, env)).toBe("/ve/bin/python3");
  expect(find(programs)).toBe("/work/.venv/bin/python");
  expect(find(programs.slice(3))).toBe("/work/venv/bin/python3");
  expect(find(programs.slice(4))).toBe("/bin/python3");
  expect(find([])).toBeUndefined();
});

test("a setting that names nothing is not replaced by another Python", () => {
  expect(find(["/bin/python3"], "python3.99")).toBeUndefined();
  expect(find(["/bin/python3.9"], "python3.9")).toBe("/bin/python3.9");
  expect(find(["/work/own/py"], "own/py")).toBe("/work/own/py");
});

test("a relative directory of PATH is not used", () => {
  expect(find(["/work/python3", "python3"], undefined, { PATH: ".:relative" })).toBeUndefined();
});

test("the environments of a project that is not trusted are not used", () => {
  const programs = ["/work/.venv/bin/python3", "/work/venv/bin/python", "/bin/python3"];
  const exists = (path: string) => programs.includes(path);
  const place = { setting: undefined, env: { PATH: "/usr/bin:/bin" }, cwd: "/work", exists };
  expect(findPython({ ...place, isProjectTrusted: false })).toBe("/bin/python3");
  expect(findPython({ ...place, isProjectTrusted: true })).toBe("/work/.venv/bin/python3");
});
