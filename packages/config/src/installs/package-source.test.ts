import { expect, test } from "vitest";
import { isPinned, parseSource } from "./package-source.ts";

const parse = (text: string) => parseSource(text, "/base", (path) => path.replace(/^~/, "/home/me"));

test.each([
  ["npm:left", { kind: "npm", id: "npm:left", name: "left", range: undefined }],
  ["npm:left@1.2.3", { kind: "npm", id: "npm:left", name: "left", range: "1.2.3" }],
  ["npm:@me/left@^1.0 || >=2", { kind: "npm", id: "npm:@me/left", name: "@me/left", range: "^1.0 || >=2" }],
  ["./left", { kind: "local", id: "/base/left", path: "/base/left" }],
  ["..", { kind: "local", id: "/", path: "/" }],
  ["~/left", { kind: "local", id: "/home/me/left", path: "/home/me/left" }],
  ["/abs/left", { kind: "local", id: "/abs/left", path: "/abs/left" }],
])("%s is understood", (text, expected) => {
  expect(parse(text)).toEqual(expected);
});

test.each([
  ["git:example.org/me/left", "https://example.org/me/left", undefined],
  ["git:example.org/me/left@v1", "https://example.org/me/left", "v1"],
  ["https://Example.org/me/left.git", "https://Example.org/me/left.git", undefined],
  ["https://me@example.org:8443/me/left@feature/x", "https://me@example.org:8443/me/left", "feature/x"],
  ["ssh://git@example.org/me/left@v1", "ssh://git@example.org/me/left", "v1"],
  ["git:git@example.org:me/left.git@v1", "git@example.org:me/left.git", "v1"],
  ["git@example.org:me/left", "git@example.org:me/left", undefined],
])("%s is the same repository, reached by %s", (text, url, ref) => {
  expect(parse(text)).toEqual({
    kind: "git",
    id: "git:example.org/me/left",
    url,
    ref,
    directory: ["example.org", "me", "left"],
  });
});

test("a repository on this computer is a file address", () => {
  const expected = { kind: "git", id: "git:file/srv/left", url: "file:///srv/left.git", ref: "main" };
  expect(parse("git:/srv/left.git@main")).toMatchObject(expected);
  expect(parse("git:file:///srv/left.git@main")).toMatchObject(expected);
});

test.each([
  "left",
  "",
  "npm:",
  "npm:--registry=x",
  "npm:../left",
  "npm:Left",
  "npm:node_modules",
  "npm:left@file:../x",
  "npm:left@git+ssh://x/y",
  "npm:left@http://x/y.tgz",
  "npm:left@npm:right@1",
  "npm:left@--x",
  "git:example.org",
  "git:example.org/../../etc",
  "git:-x/y",
  "git:example.org/me/left@--upload-pack=x",
  "git:example.org/me/left@a..b",
  "git:ext::sh -c x",
  "ext::sh/x",
  "git://example.org/me/left",
  "http://example.org/me/left",
  "https://example.org/me/le ft",
])("%j is refused with a sentence", (text) => {
  const parsed = parse(text);
  expect(parsed.kind).toBe("invalid");
  expect(parsed).toHaveProperty("message", expect.stringMatching(/^".*\.$/s));
});

test.each([
  ["npm:left@1.2.3", true],
  ["npm:left@1.2.3-beta.1", true],
  ["npm:left@1.2", false],
  ["npm:left@latest", false],
  ["npm:left", false],
  [`git:example.org/me/left@${"0".repeat(40)}`, true],
  ["git:example.org/me/left@v1", false],
  ["./left", false],
])("whether an update of %s can change it", (text, expected) => {
  const parsed = parse(text);
  expect(parsed.kind !== "invalid" && isPinned(parsed)).toBe(expected);
});
