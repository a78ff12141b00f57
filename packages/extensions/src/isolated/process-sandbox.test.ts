import { expect, test } from "vitest";
import { type ProcessSandboxFacts, toNodeOptions, toBwrapArguments, toProcessEnvironment } from "./process-sandbox.ts";

const facts: ProcessSandboxFacts = {
  system: ["/usr"],
  program: ["/opt/node", "/opt/tau/child.cjs"],
  extension: ["/home/me/.tau/npm/guest"],
  workspace: "/home/me",
  hidden: [
    { path: "/home/me/.tau", isDirectory: true },
    { path: "/home/me/.netrc", isDirectory: false },
    { path: "/elsewhere/secret", isDirectory: false },
  ],
  machineWide: ["/proc/sys"],
  isRoot: false,
};
const toText = (changes: Partial<ProcessSandboxFacts> = {}) =>
  toBwrapArguments({ ...facts, ...changes }, { filter: 6, info: 7 }).join(" ");

test("nothing can be written to but temporary files, and there is no network", () => {
  expect(toText()).not.toMatch(/--bind /);
  expect(toText()).toContain("--unshare-net");
  expect(toText()).toMatch(/--remount-ro \/dev --remount-ro \/ --chdir \/home\/me$/);
});

test("credentials below the workspace are hidden, and the extension's own code below them is not", () => {
  const text = toText();
  expect(text).toContain("--ro-bind /dev/null /home/me/.netrc");
  expect(text).not.toContain("/elsewhere/secret");
  const order = ["--ro-bind /home/me /home/me", "--tmpfs /home/me/.tau", "--ro-bind /home/me/.tau/npm/guest"];
  expect(order.map((part) => text.indexOf(part))).toEqual(
    order.map((part) => text.indexOf(part)).toSorted((a, b) => a - b),
  );
  expect(order.every((part) => text.includes(part))).toBe(true);
});

test("without the right to read, the workspace is not there", () => {
  const { workspace: _workspace, ...without } = facts;
  const text = toBwrapArguments(without, { filter: 6, info: 7 }).join(" ");
  expect(text).not.toContain("--ro-bind /home/me /home/me ");
  expect(text).toMatch(/--chdir \/tmp$/);
});

test("root keeps one right over files and gets no user namespace", () => {
  expect(toText()).toContain("--unshare-user");
  expect(toText({ isRoot: true })).not.toContain("--unshare-user");
  expect(toText({ isRoot: true })).toContain("--cap-drop ALL --cap-add CAP_DAC_OVERRIDE --seccomp");
});

test("of the environment only what says how to write text is kept", () => {
  const env = { LANG: "de", LC_ALL: "C", TZ: "UTC", HOME: "/home/me", PATH: "/evil", NODE_OPTIONS: "-r x", TOKEN: "t" };
  expect(toProcessEnvironment(env)).toEqual({
    LANG: "de",
    LC_ALL: "C",
    TZ: "UTC",
    PATH: "/usr/local/bin:/usr/bin:/bin",
    HOME: "/tmp/home",
    TAU_DIR: "/tmp/home/.tau",
    TMPDIR: "/tmp",
  });
});

test.each([
  [["--permission"], "--permission"],
  [["--experimental-permission"], "--experimental-permission"],
  [[], undefined],
])("Node's permissions are used where it has them: %j", (flags, expected) => {
  const options = toNodeOptions(new Set(flags), 256);
  expect(options).toContain("--max-old-space-size=256");
  expect(options.find((option) => option.endsWith("permission"))).toBe(expected);
});
