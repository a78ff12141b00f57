import { describe, expect, test } from "vitest";
import { isProtectedPath } from "./protected-names.ts";

const roots = { roots: ["/src/app", "/tmp"], home: "/home/me" };

describe("a protected path", () => {
  test.each([
    "/src/app/.git/hooks/pre-commit",
    "/src/app/.git/config",
    "/src/app/.git/modules/a/config",
    "/src/app/.git",
    "/src/app/.GIT/Hooks/pre-commit",
    "/src/app/sub/.git/hooks/x",
    "/src/app/.tau/settings.json",
    "/src/app/.pi",
    "/src/app/.envrc",
    "/src/app/packages/a/.envrc",
    "/src/app/.vscode/tasks.json",
    "/src/app/.VSCode/Tasks.json",
    "/src/app/.mcp.json",
    "/src/app/.bashrc",
    "/src/app/.claude/settings.json",
  ])("%s", (path) => {
    expect(isProtectedPath(path, roots)).toBe(true);
  });

  test.each([
    "/src/app",
    "/src/app/index.ts",
    "/src/app/.gitignore",
    "/src/app/.github/workflows/ci.yml",
    "/src/app/.git/info/exclude",
    "/src/app/.vscode/extensions.json",
    "/src/app/.env",
    "/src/app/dotfiles/.bashrc",
    "/src/app/bin/run",
    "/src/app/.npmrc",
    "/elsewhere/.envrc",
  ])("is not %s", (path) => {
    expect(isProtectedPath(path, roots)).toBe(false);
  });

  test("may be one of a home directory that is a root", () => {
    const home = { roots: ["/home/me"], home: "/home/me" };
    expect(isProtectedPath("/home/me/bin/git", home)).toBe(true);
    expect(isProtectedPath("/home/me/.config/fish/config.fish", home)).toBe(true);
    expect(isProtectedPath("/home/me/project/bin/git", home)).toBe(false);
  });
});
