import { execFileSync } from "node:child_process";
import fc from "fast-check";
import { expect, test } from "vitest";
import { findIdInBranch, toBranch, toSafeId } from "../../src/agents/worktrees/names.ts";

const unique = "00000000-0000-4000-8000-000000000000";

test("any id becomes a short name without a path or a flag in it, which the branch contains", () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.string({ unit: "binary", maxLength: 100 })), (id) => {
      const safe = toSafeId(id);
      expect(safe).toMatch(/^[A-Za-z0-9_][\w-]{0,63}$/);
      expect(toSafeId(safe)).toBe(safe);
      expect(findIdInBranch(toBranch(id, unique))).toBe(safe);
    }),
  );
});

test.each(["fix-login", "..", "a..b", "a.lock", "@{-1}", "a/b", "", "~^:?*[\\", "HEAD"])(
  "git accepts the branch of %j",
  (id) => {
    const branch = toBranch(id, unique);
    expect(execFileSync("git", ["check-ref-format", "--branch", branch], { encoding: "utf8" }).trim()).toBe(branch);
  },
);

test("an ordinary id is the name, and other branches have none", () => {
  expect(toBranch("fix-login_2", unique)).toBe(`pi-fanout-fix-login_2-${unique}`);
  for (const branch of ["main", "pi-fanout-x", `other-${unique}`]) expect(findIdInBranch(branch)).toBeUndefined();
});
