import { linkSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createPolicy } from "../create-policy.ts";
import { resolvePolicy } from "../extension-policy.ts";
import { createSecretBroker } from "../secrets/secret-broker.ts";
import { classifyCommand } from "./classify-command.ts";
import { withDiskLinks } from "./disk-links.ts";
import { followLinks, isUnresolved } from "./links.ts";

describe("following links", () => {
  const disk = new Map([
    ["/app/out", "/home/me"],
    ["/app/near", "src/deep"],
    ["/app/up", ".."],
    ["/app/loop", "loop"],
    ["/bin", "usr/bin"],
  ]);
  const follow = (path: string, own: Record<string, string[]> = {}, keepsLast = false) =>
    followLinks(path, {
      links: new Map(Object.entries(own)),
      readLink: (name) => disk.get(name),
      keepsLast,
    });

  test.each([
    ["/app/src/a.ts", ["/app/src/a.ts"]],
    ["/app/out/.bashrc", ["/home/me/.bashrc"]],
    ["/app/near/x", ["/app/src/deep/x"]],
    ["/app/near/../x", ["/app/src/x"]],
    ["/app/up/x", ["/x"]],
    ["/app/./src//x/", ["/app/src/x"]],
    ["/bin/rm", ["/usr/bin/rm"]],
    ["/../x", ["/x"]],
  ])("%s leads to %j", (path, expected) => expect(follow(path)).toEqual(expected));

  test("the last part may be meant itself, unless a slash follows it", () => {
    expect(follow("/app/out", {}, true)).toEqual(["/app/out"]);
    expect(follow("/app/out/", {}, true)).toEqual(["/home/me"]);
    expect(follow("/app/out/x", {}, true)).toEqual(["/home/me/x"]);
  });

  test("a link that the script makes may be there or not", () => {
    expect(follow("/app/h/x", { "/app/h": ["/home/me"] })).toEqual(["/home/me/x", "/app/h/x"]);
    expect(follow("/app/h*/x", { "/app/h1": ["/home/me"] })).toContain("/home/me/x");
  });

  test("loops, targets that are not known and too many ways end as not resolved", () => {
    expect(follow("/app/loop/x").some(isUnresolved)).toBe(true);
    expect(follow("/app/h/x", { "/app/h": ["\uFFFF"] }).some(isUnresolved)).toBe(true);
    const many = `/app${"/a".repeat(200)}/x`;
    const targets = { "/app/a": [".", "b"], "/app/b/a": ["..", "."] };
    expect(follow(many, targets).some(isUnresolved)).toBe(true);
  });
});

describe("links on the disk", () => {
  const directory = realpathSync(mkdtempSync(join(tmpdir(), "tau-exec-links-")));
  const [home, workspace, other] = ["home", "work", "other"].map((name) => join(directory, name)) as [
    string,
    string,
    string,
  ];
  beforeAll(() => {
    for (const path of [home, workspace, other, join(home, ".ssh"), join(workspace, "src")])
      mkdirSync(path, { recursive: true });
    writeFileSync(join(home, ".bashrc"), "");
    symlinkSync(home, join(workspace, "docs"));
    symlinkSync("docs", join(workspace, "chain"));
    symlinkSync(other, join(workspace, "elsewhere"));
    symlinkSync("src", join(workspace, "inside"));
    symlinkSync(join(home, ".bashrc"), join(workspace, "notes.txt"));
    symlinkSync(workspace, join(directory, "shortcut"));
    symlinkSync("missing", join(workspace, "dangling"));
    linkSync(join(home, ".bashrc"), join(workspace, "src", "hard"));
  });
  afterAll(() => rmSync(directory, { recursive: true, force: true }));

  // Temporary directories would be harmless, so the paths of the test are put somewhere else.
  const classify = (command: string, cwd = workspace) => {
    const toTest = (path: string) => path.replace(/^\/place/, () => directory);
    const fromTest = (path: string) => path.replace(directory, "/place");
    const context = { cwd: fromTest(cwd), home: fromTest(home), workspace: fromTest(cwd) };
    const { readLink } = withDiskLinks({ cwd, home, workspace: cwd });
    const read = (path: string) => {
      const target = readLink!(toTest(path));
      return target === undefined ? undefined : fromTest(target);
    };
    return classifyCommand(command, withDiskLinks(context, read));
  };

  test.each([
    ["echo x >> docs/.bashrc", "high", "persistence"],
    ["echo x >> chain/.zshrc", "high", "persistence"],
    ["cd docs && echo x >> .profile", "high", "persistence"],
    ["cd docs/../src; echo x > y", "low", null],
    ["echo x >> notes.txt", "high", "persistence"],
    ["cp key.pub docs/.ssh/authorized_keys", "critical", "credential_change"],
    ["cat docs/.ssh/id_rsa", "high", "exfiltration"],
    ["rm -rf docs/", "critical", "recursive_delete"],
    ["rm -rf docs/*", "critical", "recursive_delete"],
    ["rm -rf elsewhere/x", "high", "recursive_delete"],
    ["echo x > elsewhere/y", "medium", "persistence"],
    ["mv docs/project x", "medium", "recursive_delete"],
    ["rm docs", "low", null],
    ["rm -rf docs chain notes.txt", "low", null],
    ["echo x > inside/a.ts", "low", null],
    ["rm -rf inside/a", "low", null],
    ["echo x > dangling", "low", null],
  ])("%s: %s", (command, tier, kind) => {
    expect(classify(command)).toMatchObject({ tier, class: kind });
  });

  test("a workspace that is reached through a link is still the workspace", () => {
    const cwd = join(directory, "shortcut");
    expect(classify("echo x > src/a.ts; rm -rf build", cwd).tier).toBe("low");
    expect(classify(`echo x > ${"/place/work"}/src/a.ts`, cwd).tier).toBe("low");
    expect(classify("echo x >> docs/.bashrc", cwd).tier).toBe("high");
  });

  test("the policy reads links of the disk where no sandbox holds commands", async () => {
    const decide = (isSandboxed: boolean) =>
      createPolicy({
        rules: { roots: [workspace], home, agentDir: join(home, ".tau") },
        getMode: () => "edit",
        getPolicy: () => resolvePolicy(),
        secrets: createSecretBroker({ policy: () => resolvePolicy().secretBroker, isOwnKey: () => false, env: {} }),
        context: { cwd: workspace, home, workspace },
        isSandboxed: async () => isSandboxed,
        getNetwork: () => "none",
        getGrantedPaths: () => [],
        getTaint: async () => undefined,
        shell: undefined,
      })({
        subject: { kind: "model", sessionId: "s" },
        capability: "exec",
        target: { kind: "command", command: "echo x >> docs/.bashrc" },
      });
    expect(await decide(false)).toMatchObject({ kind: "ask", reason: expect.stringContaining(dirname(workspace)) });
    expect((await decide(true)).kind).toBe("allow");
  });
});

test.each([
  "tar xf a.tgz -C out && echo x > out/config",
  "tar xf a.tgz && echo x > a/config",
  "unzip a.zip -d out; cp x out/config",
  "git clone https://x.example/r.git && echo x > r/config",
  'ln -s "$(cat target)" h; echo x > h/y',
  "ln -s a b; ln -s b a; echo x > a/y",
])("what may be a link, and leads nobody knows where, is asked about when it is written through: %s", (command) => {
  const context = { cwd: "/src/app", home: "/home/me", workspace: "/src/app" };
  expect(classifyCommand(command, context)).toMatchObject({ tier: "medium", class: "opaque_exec" });
});
