import { expect, test } from "vitest";
import { listPathRoles } from "./path-roles.ts";

const rules = [
  { pattern: "**/*.py", role: "slow" },
  { pattern: "**/planning/**", role: "plan" },
  { pattern: "src/*.ts", role: "smol" },
  { pattern: "*.md", role: "commit" },
  { pattern: "/etc/**", role: "mine" },
];

test.each([
  [["a.py"], ["slow"]],
  [["deep/er/a.py"], ["slow"]],
  [["planning/a.txt"], ["plan"]],
  [["x/planning/y/a.txt"], ["plan"]],
  [["src/a.ts"], ["smol"]],
  [["src/deep/a.ts"], []],
  [["deep/README.md"], ["commit"]],
  [["/etc/hosts"], ["mine"]],
  [["a.pyc", "planning", "b.PY"], []],
  // The order of the file comes first, not that of the paths or which rule is narrower.
  [
    ["planning/b.md", "a.py"],
    ["slow", "plan", "commit"],
  ],
  [["planning/a.py"], ["slow", "plan"]],
])("%j has the roles %j", (paths, roles) => {
  expect(listPathRoles(rules, paths).map(({ role }) => role)).toEqual(roles);
});
