import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { foldName, isWithin, mightBeWithin } from "../src/platform/within.ts";

describe("what is allowed", () => {
  test.each([
    ["/root", "/root", true],
    ["/root", "/root/file", true],
    ["/", "/file", true],
    ["/root", "/rootless", false],
    ["/root", "/", false],
    ["/root", "/ROOT/file", false],
    ["/root", "/root./file", false],
    ["/root/é", "/root/e\u0301/file", false],
  ])("below %s, %s is allowed: %s", (root, path, answer) => {
    expect(isWithin(root, path)).toBe(answer);
  });
});

describe("what is forbidden", () => {
  test.each([
    ".git/hooks",
    ".GIT/hooks",
    ".Git/HOOKS/pre-commit",
    ".git./hooks",
    ".git /hooks",
    ".git. . ./hooks",
    ".git/hooks.",
    ".g\u200cit/hooks",
    ".gi\u200dt/hooks",
    "\ufeff.git/hooks",
    ".git\u206a/hooks",
    ".git\u00ad/hooks",
    ".gi\uff54/hooks",
    "GIT~1/hooks",
    "git~1/HOOKS~1",
    "GIT~12/hooks",
    "GI7EBA~1/hooks",
    ".git::$INDEX_ALLOCATION/hooks",
    ".git:x/hooks",
    ".git/hooks::$DATA",
    ".git\\hooks\\pre-commit",
    ".git//hooks",
    ".git/./hooks",
    ".g\u0131t/hoo\u212as",
  ])("%j might be .git/hooks", (path) => {
    expect(mightBeWithin("/root/.git/hooks", `/root/${path}`)).toBe(true);
  });

  test.each([
    "git/hooks",
    ".gitignore",
    ".git",
    ".git/hook",
    ".github/hooks",
    "x.git/hooks",
    "GIT~/hooks",
    "GIT~1.TXT/hooks",
    "GOT~1/hooks",
    "a/.git/hooks",
  ])("%j is not .git/hooks", (path) => {
    expect(mightBeWithin("/root/.git/hooks", `/root/${path}`)).toBe(false);
  });

  test("short names keep the beginning of the ending", () => {
    expect(mightBeWithin("/package.json", "/PACKAG~1.JSO")).toBe(true);
    expect(mightBeWithin("/package.json", "/PACKAG~1.JS")).toBe(false);
    expect(mightBeWithin("/.gitmodules", "/GITMOD~4")).toBe(true);
    // The short one may be the name that is forbidden.
    expect(mightBeWithin("/PROGRA~1/x", "/Program Files/x")).toBe(true);
  });

  test("however letters are cased, composed, hidden or followed, it is the same name", () => {
    const disguises: ((text: string) => string)[] = [
      (text) => text.toUpperCase(),
      (text) => text.toLowerCase(),
      (text) => text.normalize("NFC"),
      (text) => text.normalize("NFD"),
      (text) => `${text}. `,
      (text) => `${text}:stream:$DATA`,
      (text) => [...text].join("\u200b"),
    ];
    // A name without a stream, in letters of any script.
    const name = fc.string({ unit: "grapheme", minLength: 1 }).map((text) => text.replaceAll(/[/\\:~]/g, "x"));
    fc.assert(
      fc.property(name, fc.array(fc.constantFrom(...disguises)), (text, chosen) => {
        fc.pre(foldName(text) !== "");
        const disguised = chosen.reduce((so, disguise) => disguise(so), text);
        expect(foldName(disguised)).toBe(foldName(text));
        expect(mightBeWithin(`/a/${text}`, `/A/${disguised}/below`)).toBe(true);
      }),
      { numRuns: 2_000 },
    );
  });

  test("whatever is within is also within by any spelling", () => {
    const path = fc.array(fc.constantFrom("a", "A", ".git", "b c", "GIT~1", "é", "...", "x:y"), { maxLength: 4 });
    fc.assert(
      fc.property(path, path, (root, below) => {
        const [above, all] = [`/${root.join("/")}`, `/${[...root, ...below].join("/")}`];
        expect(isWithin(above, all)).toBe(true);
        expect(mightBeWithin(above, all)).toBe(true);
      }),
    );
  });
});
