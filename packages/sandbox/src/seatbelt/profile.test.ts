import { expect, test } from "vitest";
import { createSeatbeltProfile, type SeatbeltAccess } from "./profile.ts";

const access: SeatbeltAccess = {
  mounts: [
    { kind: "writable", path: "/private/tmp", from: "/private/var/own/tmp" },
    { kind: "writable", path: "/Users/ann/app" },
    { kind: "hidden-directory", path: "/Users/ann/.ssh" },
    { kind: "hidden-file", path: "/Users/ann/app/.env" },
    { kind: "read-only", path: "/Users/ann/app/vendor" },
  ],
  temporary: "/private/var/own/tmp",
  protected: [
    {
      root: "/Users/ann/app",
      names: [".git/hooks", ".vscode/tasks.json"],
      parents: [
        { name: ".git", exists: true },
        { name: ".vscode", exists: false },
      ],
    },
  ],
  network: { ports: [5001], reachesHosts: false },
};

/** The rules, with the paths in place of the parameters. */
function write(changes: Partial<SeatbeltAccess> = {}): string[] {
  const { rules, parameters } = createSeatbeltProfile({ ...access, ...changes });
  const text = rules.replaceAll(/\(param "(\w+)"\)/g, (_, name: string) => parameters[name]!);
  return text.trimEnd().split("\n");
}

/**
 * Decides as the system does, as far as the rules name files: the last rule that matches applies. Only the filters that are
 * written here.
 */
function may(operation: "file-read*" | "file-write*", path: string, rules: readonly string[]): boolean {
  const matches = (filter: string) => {
    const [, kind, value = ""] = /^\((literal|subpath|regex) #?"?(.*?)"?\)$/.exec(filter) ?? [];
    if (kind === "literal") return path === value;
    if (kind === "subpath") return path === value || path.startsWith(`${value}/`);
    return kind === "regex" && new RegExp(value).test(path);
  };
  const last = rules.findLast((rule) => {
    const [, operations = "", filter = ""] = /^\((?:allow|deny) ([\w* -]+?)(?: (\(.*))?\)$/.exec(rule) ?? [];
    return operations.split(" ").includes(operation) && (filter === "" || matches(filter));
  });
  return last?.startsWith("(allow") ?? false;
}

test("everything is denied that no rule allows", () => {
  const rules = write();
  expect(rules.slice(0, 2)).toEqual(["(version 1)", "(deny default)"]);
  expect(rules).not.toContain("(allow default)");
  // A hard link would give a hidden file a name that no rule hides.
  expect(rules.join("\n")).not.toMatch(/file-link|mach-lookup|ipc-posix-shm|file\*/);
});

test.each([
  ["/Users/ann/app/src/index.ts", true, true],
  ["/Users/ann/app", true, true],
  ["/Users/ann/app/.env", false, false],
  ["/Users/ann/app/.envrc.example", true, true],
  ["/Users/ann/.ssh/id_ed25519", false, false],
  ["/Users/ann/app/vendor/lib.js", true, false],
  ["/Users/ann/other/file", true, false],
  ["/Users/ann/application/file", true, false],
  ["/usr/lib/dyld", true, false],
  ["/private/tmp/of-another-program", false, false],
  ["/private/var/own/tmp/mine", true, true],
  ["/Users/ann/app/.git/index", true, true],
  ["/Users/ann/app/.git/hooks", true, false],
  ["/Users/ann/app/.GIT/Hooks/pre-commit", true, false],
  ["/Users/ann/app/.git/hooks-of-mine", true, true],
  ["/Users/ann/app/xgit/hooks", true, true],
  ["/Users/ann/app/.vscode", true, false],
  ["/Users/ann/app/.vscode/tasks.json", true, false],
  ["/Users/ann/app/packages/.vscode/tasks.json", true, true],
  ["/dev/ttys003", false, false],
])("of %s a command may read: %s, and write: %s", (path, reads, writes) => {
  const rules = write();
  expect([may("file-read*", path, rules), may("file-write*", path, rules)]).toEqual([reads, writes]);
});

test("what rules below depend on can be neither renamed nor removed", () => {
  const rules = write();
  expect(rules).toContain("(deny file-write-unlink (literal /Users/ann/app))");
  expect(rules).toContain("(deny file-write-unlink (literal /Users/ann/app/.git))");
});

test("in plan mode only temporary files can be written", () => {
  const rules = write({ mounts: [{ kind: "read-only", path: "/Users/ann/app" }], protected: [] });
  expect(may("file-write*", "/Users/ann/app/src/index.ts", rules)).toBe(false);
  expect(may("file-write*", "/private/var/own/tmp/mine", rules)).toBe(true);
});

test("no name of a file ends a rule", () => {
  const root = '/Users/ann/") (allow default) ("/日本 [x]';
  const { rules, parameters } = createSeatbeltProfile({
    ...access,
    mounts: [{ kind: "writable", path: root }],
    protected: [{ root, names: [".envrc"], parents: [] }],
  });
  expect(Object.values(parameters)).toContain(root);
  expect(rules).not.toContain("allow default");
  const pattern = /#"(\^.*)"/.exec(rules.split("\n").find((rule) => rule.includes("[eE][nN]"))!)![1]!;
  expect(pattern).not.toContain('"');
  expect(new RegExp(pattern).test(`${root}/.envrc`)).toBe(true);
  expect(new RegExp(pattern).test(`${root}/envrc`)).toBe(false);
});

test("a command connects to the proxy, to ports that are allowed, and to nothing else", () => {
  const network = (changes: Partial<SeatbeltAccess>) =>
    write(changes).filter((rule) => /network|mach|socket/.test(rule));
  expect(network({})).toEqual([
    '(allow network-bind network-inbound (local ip "localhost:*"))',
    '(allow network-outbound (remote ip "localhost:5001"))',
    "(allow network-bind network-inbound network-outbound (subpath /Users/ann/app))",
    "(allow network-bind network-inbound network-outbound (subpath /private/var/own/tmp))",
  ]);
  expect(network({ network: { ports: [5001, 5432], reachesHosts: true } })).toEqual(
    expect.arrayContaining([
      '(allow network-outbound (remote ip "localhost:5432"))',
      '(allow mach-lookup (global-name "com.apple.trustd") (global-name "com.apple.trustd.agent"))',
    ]),
  );
  expect(network({ network: "all" })[0]).toBe("(allow network*)");
});
