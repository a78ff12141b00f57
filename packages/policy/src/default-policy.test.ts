import { isWithin } from "@tau/tools";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createDefaultPolicy } from "./default-policy.ts";
import { type PathRules, pathStanding, ruledStanding } from "./paths.ts";
import { capabilities, type Capability, type Subject, type Target } from "./policy.ts";

const subject: Subject = { kind: "model", sessionId: "s" };
const rules: PathRules = {
  roots: ["/w/app", "/tmp", "/home/ann"],
  readable: ["/home/ann/.tau/skills", "/opt/skills"],
  home: "/home/ann",
  agentDir: "/home/ann/.tau",
};

const verdict = (capability: Capability, target: Target, options = rules) => {
  const { kind, rule } = createDefaultPolicy(options)({ subject, capability, target });
  return `${kind} by ${rule}`;
};

test.each<[Capability, string, string]>([
  ["read", "/w/app", "allow by root"],
  ["write", "/w/app/src/a.ts", "allow by root"],
  ["read", "/w/app-2/a.ts", "ask by outside"],
  ["read", "/opt/skills/pdf/SKILL.md", "allow by readable"],
  ["write", "/opt/skills/pdf/SKILL.md", "ask by outside"],
  ["read", "/etc/hosts", "ask by outside"],
  ["write", "/etc/hosts", "ask by outside"],
  ["read", "/etc/shadow", "deny by credential-file"],
  ["read", "/home/ann/.ssh/id_rsa", "deny by credential-file"],
  ["write", "/home/ann/.ssh/id_rsa", "deny by credential-file"],
  ["read", "/home/ann/.tau/auth.json", "deny by credential-file"],
  ["read", "/w/app/../../etc/hosts", "ask by outside"],
  ["read", "/w/app/../../etc/shadow", "deny by credential-file"],
  ["read", "w/app", "ask by outside"],
  ["write", "/w/app/.git/hooks/pre-commit", "ask by protected"],
  ["write", "/w/app/.git/config", "ask by protected"],
  ["write", "/w/app/packages/a/.envrc", "ask by protected"],
  ["write", "/w/app/.GIT/hooks/pre-commit", "ask by protected"],
  ["write", "/w/app/.vscode/tasks.json", "ask by protected"],
  ["write", "/w/app/.tau/settings.json", "ask by protected"],
  ["write", "/home/ann/.tau/extensions/a.ts", "ask by agent-directory"],
  ["read", "/w/app/.git/hooks/pre-commit", "allow by root"],
  ["write", "/w/app/.gitignore", "allow by root"],
  ["write", "/w/app/.github/workflows/ci.yml", "allow by root"],
])("%s of %s: %s", (capability, path, expected) => {
  expect(verdict(capability, { kind: "path", path })).toBe(expected);
});

test.each<[Capability, string, string]>([
  ["read", "/w/app/src/a.ts", "allow by root"],
  ["read", "/opt/skills/pdf/SKILL.md", "allow by readable"],
  ["write", "/w/app/.git/hooks/pre-commit", "ask by protected"],
  ["write", "/opt/skills/pdf/SKILL.md", "deny by closed-outside"],
  ["read", "/w/app-2/a.ts", "deny by closed-outside"],
  ["write", "/w/app-2/.git/hooks/pre-commit", "deny by closed-outside"],
  ["write", "/home/ann/.tau/extensions/a.ts", "deny by closed-outside"],
  ["read", "/w/app/../app-2/a.ts", "deny by closed-outside"],
  ["read", "/etc/shadow", "deny by credential-file"],
])("where the outside is closed, %s of %s: %s", (capability, path, expected) => {
  const closed = { ...rules, roots: ["/w/app"], deniesOutside: true };
  expect(verdict(capability, { kind: "path", path }, closed)).toBe(expected);
});

test("what has no path is allowed, and said to be so by default", () => {
  const targets: Target[] = [
    { kind: "command", command: "rm -rf /" },
    { kind: "name", name: "weather" },
  ];
  for (const capability of capabilities) {
    for (const target of targets) expect(verdict(capability, target)).toBe("allow by default");
  }
});

test("a path that is wanted for anything but reading is judged as if it were written", () => {
  expect(verdict("exec", { kind: "path", path: "/opt/skills/run.sh" })).toBe("ask by outside");
  expect(verdict("exec", { kind: "path", path: "/home/ann/.ssh/id_rsa" })).toBe("deny by credential-file");
});

test("reasons name the path and say what to do", () => {
  const decide = createDefaultPolicy(rules);
  const reasons = ["/etc/shadow", "/etc/hosts"].map((path) =>
    decide({ subject, capability: "read", target: { kind: "path", path } }),
  );
  expect(reasons).toEqual([
    {
      kind: "deny",
      rule: "credential-file",
      reason:
        "/etc/shadow is where credentials are kept, and no tool may open it. If something from it is needed, ask the user.",
    },
    {
      kind: "ask",
      rule: "outside",
      reason: "Reading /etc/hosts needs permission: it is outside the workspace.",
    },
  ]);
});

test.each(["", ".", "w", "a\0b", "/a\0b"])("%j is refused as a directory of the policy", (root) => {
  expect(() => createDefaultPolicy({ ...rules, roots: [root] })).toThrow(
    expect.objectContaining({ code: "invalid_input", message: expect.stringContaining(JSON.stringify(root)) }),
  );
});

test("a root may end with a slash, and may be the root of everything", () => {
  expect(verdict("write", { kind: "path", path: "/w/app" }, { ...rules, roots: ["/w/app/"] })).toBe("allow by root");
  expect(verdict("write", { kind: "path", path: "/x" }, { ...rules, roots: ["/"] })).toBe("allow by root");
});

describe("laws", () => {
  const name = fc.constantFrom("w", "app", "app-2", "home", "ann", ".ssh", "id_rsa", "config", "etc", "shadow", "tmp");
  const path = fc.array(name, { maxLength: 5 }).map((names) => `/${names.join("/")}`);
  const paths = fc.array(path, { maxLength: 4 });
  const access = fc.constantFrom("read" as const, "write" as const);
  const strictness = { allowed: 0, asks: 1, denied: 2 };
  const standing = (at: string, how: "read" | "write", roots: readonly string[], readable: readonly string[]) =>
    strictness[pathStanding(at, how, { ...rules, roots, readable })];

  // A root brings its protected names along: `/w/.ssh` can be a root by itself, and is a protected name of the root `/w`.
  test("removing a directory never allows more, except to write its protected names, and what is denied stays denied", () => {
    fc.assert(
      fc.property(path, access, paths, paths, path, (at, how, roots, readable, extra) => {
        const before = standing(at, how, roots, readable);
        for (const more of [
          ruledStanding(at, how, { ...rules, roots: [...roots, extra], readable }),
          ruledStanding(at, how, { ...rules, roots, readable: [...readable, extra] }),
        ]) {
          if (more.rule === "protected") expect([how, more.standing]).toEqual(["write", "asks"]);
          else expect(strictness[more.standing]).toBeLessThanOrEqual(before);
          expect(more.standing === "denied").toBe(before === strictness.denied);
        }
      }),
      { numRuns: 500, examples: [["/w/.ssh", "write", ["/w/.ssh"], [], "/w"]] },
    );
  });

  test("writing is never allowed where reading is not", () => {
    fc.assert(
      fc.property(path, paths, paths, (at, roots, readable) => {
        expect(standing(at, "write", roots, readable)).toBeGreaterThanOrEqual(standing(at, "read", roots, readable));
      }),
    );
  });

  test("no spelling of a path is allowed unless it is written out and below a root", () => {
    const spelled = fc
      .array(fc.oneof(name, fc.constantFrom("..", ".", "", "...", "~", "%2e%2e", "..\\")), { maxLength: 8 })
      .map((names) => names.join("/"));
    fc.assert(
      fc.property(fc.constantFrom("", "/", "/w/app/", "/tmp/"), spelled, access, (start, rest, how) => {
        const at = start + rest;
        if (pathStanding(at, how, { ...rules, readable: [] }) !== "allowed") return;
        expect(at.split("/")).not.toContain("..");
        expect(rules.roots.some((root) => isWithin(root, at))).toBe(true);
      }),
      { numRuns: 1_000 },
    );
  });
});

test.each<[Capability, string, string]>([
  ["write", "/home/ann/.tau/worktrees/app-1/fix/src/a.ts", "allow by root"],
  ["write", "/home/ann/.tau/worktrees/app-1/fix/.git", "ask by protected"],
  ["write", "/home/ann/.tau/worktrees/app-1/fix/.tau/settings.json", "ask by protected"],
  ["write", "/home/ann/.tau/worktrees/app-1/other/a.ts", "ask by agent-directory"],
  ["write", "/home/ann/.tau/worktrees/app-1/.tau-worktrees/fix.json", "ask by agent-directory"],
  ["write", "/home/ann/.tau/skills/a.md", "ask by agent-directory"],
  ["write", "/home/ann/.tau/settings.json", "deny by own-settings"],
  ["read", "/home/ann/.tau/auth.json", "deny by credential-file"],
])("in a worktree of tau's own directory, %s %s: %s", (capability, path, expected) => {
  const roots = ["/home/ann/.tau/worktrees/app-1/fix", "/home/ann"];
  expect(verdict(capability, { kind: "path", path }, { ...rules, roots })).toBe(expected);
});

test.each([
  "/home/ann/.tau",
  "/home/ann/.tau/worktrees",
  "/home/ann/.tau/worktrees/app-1",
  "/home/ann/.tau/skills/a/b",
])("the root %s opens nothing of tau's own directory", (root) => {
  const path = `${root}/a/b/c.md`;
  expect(verdict("write", { kind: "path", path }, { ...rules, roots: [root] })).toBe("ask by agent-directory");
});
