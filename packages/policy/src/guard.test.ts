/** Judge, guard and real tools together, on real files. */
import { execFileSync } from "node:child_process";
import {
  linkSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import type { BeforeToolCallContext } from "@tau/agent";
import { createFiles, createGuardedFiles, createTools, type ToolName } from "@tau/tools";
import fc from "fast-check";
import { expect, onTestFinished, test } from "vitest";
import { createDefaultPolicy } from "./default-policy.ts";
import { Grants } from "./grants.ts";
import { createGuard, createPathGuard } from "./guard.ts";
import { createJudge } from "./judge.ts";
import { pathStanding, realPathRules } from "./paths.ts";
import type { Answer, Ask } from "./policy.ts";

/** Where everything is; `work` is the only root. */
function createDirectories(files: Record<string, string> = {}) {
  const top = realpathSync(mkdtempSync(join(tmpdir(), "tau-policy-")));
  onTestFinished(() => rmSync(top, { recursive: true, force: true }));
  const all = { "work/a.txt": "inside", "out/b.txt": "OUTSIDE", "work-2/c.txt": "OUTSIDE", ...files };
  for (const [name, text] of Object.entries(all)) {
    mkdirSync(dirname(join(top, name)), { recursive: true });
    writeFileSync(join(top, name), text);
  }
  mkdirSync(join(top, "home"), { recursive: true });
  return { top, work: join(top, "work"), out: join(top, "out"), home: join(top, "home") };
}

/** Calls tools as the engine does: judged first, then executed, then ended. */
function createCaller({ work, home }: { work: string; home: string }, ask?: Ask) {
  const paths = { roots: [work], home, agentDir: join(home, ".tau") };
  const grants = new Grants();
  const guardFiles = createGuardedFiles();
  const tools = createTools({ cwd: work, files: guardFiles(createPathGuard(paths, grants, () => false)) });
  onTestFinished(() => tools.dispose());
  const everywhere = createFiles();
  let count = 0;
  const judge = createJudge({
    decide: createDefaultPolicy(paths),
    ask,
    audit: () => undefined,
    grants,
    remembered: { covers: async () => false, add: async () => {} },
    subject: { kind: "model", sessionId: "s" },
    cwd: work,
    home: "/home/ann",
    getMode: () => "edit",
    files: everywhere,
    ids: () => `q${++count}`,
  });
  return async (
    name: ToolName,
    args: Record<string, unknown>,
    between: () => void | Promise<void> = () => undefined,
  ) => {
    const id = `c${++count}`;
    const call = {
      toolCall: { type: "toolCall", id, name, arguments: args },
      args,
      context: { tools: Object.values(tools.byName) },
    } as unknown as BeforeToolCallContext;
    const verdict = await judge(call);
    if (verdict?.block) return `blocked: ${verdict.reason}`;
    await between();
    try {
      const files = guardFiles(createPathGuard(paths, grants.forCall(id), () => false));
      const context = { files, spawn: tools.spawn };
      const { content } = await tools.byName[name].execute(id, args, undefined, undefined, context);
      return content.map((part) => (part.type === "text" ? part.text : part.type)).join("\n");
    } catch (error) {
      return `refused: ${(error as Error).message}`;
    } finally {
      grants.endCall(id);
    }
  };
}

/** Answers in turn, and keeps what was asked for. */
function person(...answers: Answer[]) {
  const asked: string[] = [];
  const ask: Ask = async ({ request: { capability, target } }) => {
    asked.push(`${capability} ${target.kind === "path" ? target.path : target.kind}`);
    return answers.shift() ?? { decision: "deny" };
  };
  return { ask, asked };
}

test("inside the workspace every tool works unasked", async () => {
  const directories = createDirectories();
  const { ask, asked } = person();
  const call = createCaller(directories, ask);
  expect(await call("read", { path: "a.txt" })).toContain("inside");
  expect(await call("write", { path: "new/d.txt", content: "one" })).not.toMatch(/^(blocked|refused)/);
  expect(await call("edit", { path: "new/d.txt", edits: [{ oldText: "one", newText: "two" }] })).toMatch(/^Edited/);
  expect(await call("grep", { pattern: "two" })).toContain("new/d.txt");
  expect(await call("find", { pattern: "*.txt" })).toBe("a.txt\nnew/d.txt");
  expect(await call("ls", {})).toBe("a.txt\nnew/");
  expect(await call("bash", { command: "echo hello" })).toContain("hello");
  expect(asked).toEqual([]);
});

test("unattended, nothing outside is read, written or searched", async () => {
  const directories = createDirectories();
  const call = createCaller(directories);
  const b = join(directories.out, "b.txt");
  const results = [
    await call("read", { path: b }),
    await call("write", { path: b, content: "x" }),
    await call("edit", { path: b, edits: [{ oldText: "OUTSIDE", newText: "x" }] }),
    await call("ls", { path: ".." }),
    await call("find", { pattern: "*", path: directories.out }),
    await call("grep", { pattern: "OUT", path: directories.out }),
    await call("read", { path: "../work-2/c.txt" }),
    await call("write", { path: "../new/deep.txt", content: "x" }),
  ];
  for (const result of results) expect(result).toMatch(/^blocked: .* No person is there to ask/);
  expect(readFileSync(b, "utf8")).toBe("OUTSIDE");
});

test("what a person allows is read, once: the next call asks again", async () => {
  const directories = createDirectories();
  const b = join(directories.out, "b.txt");
  const { ask, asked } = person({ decision: "allow" }, { decision: "deny" });
  const call = createCaller(directories, ask);
  expect(await call("read", { path: "../out/b.txt" })).toContain("OUTSIDE");
  expect(await call("read", { path: b })).toMatch(/^blocked: The user did not allow/);
  expect(asked).toEqual([`read ${b}`, `read ${b}`]);
});

test("a file that a person lets be changed is changed, though a change reads first", async () => {
  const directories = createDirectories();
  const { ask, asked } = person({ decision: "allow" }, { decision: "allow" });
  const call = createCaller(directories, ask);
  const b = join(directories.out, "b.txt");
  expect(await call("edit", { path: b, edits: [{ oldText: "OUTSIDE", newText: "changed" }] })).toMatch(/^Edited/);
  expect(await call("write", { path: "../out/made/new.txt", content: "made" })).not.toMatch(/^(blocked|refused)/);
  expect(asked).toEqual([`write ${b}`, `write ${join(directories.out, "made/new.txt")}`]);
  expect(readFileSync(b, "utf8")).toBe("changed");
});

test("a directory that a person allows is searched with all that is below it, its credentials apart", async () => {
  const directories = createDirectories({
    "home/notes/n.txt": "needle",
    "home/.ssh/id_rsa": "needle KEY",
    "home/.ssh/id_rsa.pub": "needle",
  });
  const { ask, asked } = person({ decision: "allow", choice: "session" });
  const call = createCaller(directories, ask);
  expect(await call("find", { pattern: "*.txt", path: directories.home })).toBe(join(directories.home, "notes/n.txt"));
  const found = await call("grep", { pattern: "needle", path: directories.home });
  expect(found).toContain("notes/n.txt");
  expect(found).toContain("id_rsa.pub");
  expect(found).not.toContain("KEY");
  expect(await call("read", { path: join(directories.home, "notes/n.txt") })).toContain("needle");
  expect(asked).toEqual([`read ${directories.home}`]);
});

test("a link in the workspace that leads outside is judged by where it leads", async () => {
  const directories = createDirectories();
  symlinkSync("../out", join(directories.work, "link"));
  const { ask, asked } = person();
  const call = createCaller(directories, ask);
  for (const name of ["read", "ls"] as const) expect(await call(name, { path: "link/b.txt" })).toMatch(/^blocked/);
  expect(await call("write", { path: "link/new.txt", content: "x" })).toMatch(/^blocked/);
  expect(asked).toEqual([
    `read ${join(directories.out, "b.txt")}`,
    `read ${join(directories.out, "b.txt")}`,
    `write ${join(directories.out, "new.txt")}`,
  ]);
});

test("a link that is swapped between judging and opening leads nowhere", async () => {
  const directories = createDirectories({ "home/.ssh/id_rsa": "KEY" });
  const link = join(directories.work, "link");
  const point = (target: string) => {
    rmSync(link, { force: true });
    symlinkSync(target, link);
  };
  const { ask } = person({ decision: "allow" }, { decision: "allow" }, { decision: "allow" });
  const call = createCaller(directories, ask);
  point("a.txt");
  expect(await call("read", { path: "link" }, () => point("../out/b.txt"))).toMatch(
    /^refused: Reading .*out\/b\.txt is not allowed\. It is outside the workspace/,
  );
  // Also when it was allowed to lead outside, but somewhere else.
  point("../out/b.txt");
  expect(await call("read", { path: "link" }, () => point("../work-2/c.txt"))).toMatch(/^refused: .*work-2/);
  point("../out/b.txt");
  expect(await call("write", { path: "link", content: "x" }, () => point("../work-2/c.txt"))).toMatch(/^refused/);
  point("../out");
  expect(await call("read", { path: "link" }, () => point("../home/.ssh/id_rsa"))).toMatch(/^refused: .*credentials/);
  expect(readFileSync(join(directories.top, "work-2/c.txt"), "utf8")).toBe("OUTSIDE");
});

test("a credential file stays closed by all its spellings, though a person would allow everything", async () => {
  const directories = createDirectories({ "work/.tau/x": "", "home/.ssh/id_rsa": "KEY", "home/.tau/auth.json": "KEY" });
  const key = join(directories.home, ".ssh/id_rsa");
  symlinkSync(key, join(directories.work, "link"));
  symlinkSync(directories.home, join(directories.work, "home"));
  const { ask, asked } = person(
    ...Array.from({ length: 40 }, (): Answer => ({ decision: "allow", choice: "session" })),
  );
  const call = createCaller(directories, ask);
  await call("ls", { path: directories.home });
  const spellings = [
    key,
    relative(directories.work, key),
    `${directories.home}//.ssh/./../.ssh/id_rsa`,
    "link",
    "home/.ssh/id_rsa",
    `@${key}`,
    `/proc/self/root${key}`,
    join(directories.home, ".tau/auth.json"),
  ];
  for (const path of spellings) {
    expect(await call("read", { path }), path).toMatch(/^blocked: .*credentials/);
    expect(await call("write", { path, content: "x" }), path).toMatch(/^blocked: .*credentials/);
  }
  const found = await call("grep", { pattern: "KEY", path: join(directories.home, ".ssh") });
  expect(found).toBe(
    await call("grep", { pattern: "no such words", path: join(directories.home, ".ssh") }).then((none) =>
      none.replace("no such words", "KEY"),
    ),
  );
  expect(await call("read", { path: "/proc/self/environ" })).toMatch(/^blocked: .*credentials/);
  expect(asked).toEqual([`read ${directories.home}`]);
  expect(readFileSync(key, "utf8")).toBe("KEY");
});

test("a file of the workspace with a second name can be read", async () => {
  const directories = createDirectories();
  execFileSync("ln", [join(directories.work, "a.txt"), join(directories.work, "same.txt")]);
  expect(await createCaller(directories)("read", { path: "same.txt" })).toContain("inside");
});

test("no spelling of a path escapes its root", async () => {
  const directories = createDirectories({ "work/sub/e.txt": "inside", "work/@at/f.txt": "inside" });
  symlinkSync("../out", join(directories.work, "link"));
  symlinkSync("..", join(directories.work, "sub/up"));
  symlinkSync("../../out/b.txt", join(directories.work, "sub/file-link"));
  symlinkSync(directories.work, join(directories.out, "back"));
  symlinkSync("../nowhere", join(directories.work, "dangling"));
  const call = createCaller(directories);
  const part = fc.oneof(
    fc.constantFrom(
      "..",
      ".",
      "",
      "sub",
      "up",
      "link",
      "back",
      "out",
      "work",
      "work-2",
      "@at",
      "file-link",
      "dangling",
    ),
    fc.constantFrom("a.txt", "b.txt", "c.txt", "e.txt", "f.txt"),
  );
  const start = fc.constantFrom(
    "",
    "",
    "/",
    "@",
    `${directories.work}/`,
    `${directories.top}/`,
    `${directories.work}/../`,
    "/proc/self/cwd/",
    "~/",
  );
  const given = fc
    .tuple(start, fc.array(part, { minLength: 1, maxLength: 6 }))
    .map(([from, rest]) => from + rest.join("/"));
  let seen = 0;
  await fc.assert(
    fc.asyncProperty(given, async (path) => {
      const read = await call("read", { path });
      expect(read, path).not.toContain("OUTSIDE");
      if (read.includes("inside\n") || read.endsWith("inside")) seen++;
      await call("write", { path: `${path}/new.txt`, content: "made" });
      const listed = await call("ls", { path });
      if (!/^(blocked|refused)/.test(listed)) expect(listed, path).not.toMatch(/^[bc]\.txt$/m);
    }),
    { numRuns: 150, examples: [["a.txt"], ["link/back/a.txt"], ["sub/up/sub/file-link"]] },
  );
  expect(seen).toBeGreaterThan(0);
  const outside = execFileSync(
    "find",
    [directories.top, "-name", "new.txt", "-not", "-path", `${directories.work}/*`],
    {
      encoding: "utf8",
    },
  );
  expect(outside).toBe("");
  for (const name of ["out/b.txt", "work-2/c.txt"])
    expect(readFileSync(join(directories.top, name), "utf8")).toBe("OUTSIDE");
});

test("rules that are given by links hold for what the links lead to", async () => {
  const directories = createDirectories({ "home/.ssh/id_rsa": "KEY" });
  const named = join(directories.top, "named");
  symlinkSync("work", named);
  symlinkSync("home", join(directories.top, "my-home"));
  symlinkSync("circle", join(directories.top, "circle"));
  const rules = {
    roots: [`${named}/`],
    readable: [join(directories.top, "missing"), join(directories.top, "circle")],
    home: join(directories.top, "my-home"),
    agentDir: "/x",
  };
  const real = await realPathRules(rules, (path) => createFiles().realPath(path));
  expect(real).toEqual({
    ...rules,
    named: [],
    closed: [],
    deniesOutside: false,
    roots: [directories.work],
    home: directories.home,
  });
  const standings = ["work/a.txt", "out/b.txt", "home/.ssh/id_rsa"].map((name) =>
    pathStanding(join(directories.top, name), "write", real),
  );
  expect(standings).toEqual(["allowed", "asks", "denied"]);
});

test("a guard refuses with the code that tools know, in the words it was given", async () => {
  const guard = createGuard({
    isAllowed: (path) => path === "/a",
    explain: (path, access) => `no ${access} of ${path}`,
  });
  expect(await guard("/a", "read", { hardLinks: 1 })).toBeUndefined();
  await expect(guard("/b", "write", { hardLinks: 1 })).rejects.toMatchObject({
    name: "ToolsError",
    code: "denied",
    message: "no write of /b",
  });
  const silent = createGuard({ isAllowed: () => false });
  await expect(silent("/b", "read", { hardLinks: 1 })).rejects.toThrow("Reading /b is not allowed.");
});

test("what one call was granted is refused to another that runs beside it", async () => {
  const directories = createDirectories();
  const outside = join(directories.out, "b.txt");
  const link = join(directories.work, "link");
  symlinkSync("a.txt", link);
  const { ask, asked } = person({ decision: "allow" });
  const call = createCaller(directories, ask);
  let beside = "";
  const granted = await call("read", { path: outside }, async () => {
    // Judged as a link that leads inside, and opened when it leads to what the other call was granted.
    beside = await call("read", { path: "link" }, () => {
      unlinkSync(link);
      symlinkSync(outside, link);
    });
  });
  expect(beside).toMatch(/^refused: Reading .*out\/b\.txt is not allowed/);
  expect(granted).toContain("OUTSIDE");
  expect(asked).toEqual([`read ${outside}`]);
});

test("what was removed while a person thought about it is simply not there", async () => {
  const directories = createDirectories();
  const b = join(directories.out, "b.txt");
  const call = createCaller(directories, async () => {
    unlinkSync(b);
    return { decision: "allow" };
  });
  expect(await call("read", { path: b })).toMatch(/^refused: There is no file/);
});

test("a credential is not read through a hard link in the workspace, and other files with two names are", async () => {
  const directories = createDirectories({ "home/.tau/auth.json": "SECRET", "home/.ssh/id_rsa": "SECRET" });
  const { work, home, out } = directories;
  linkSync(join(home, ".tau/auth.json"), join(work, "a.json"));
  linkSync(join(home, ".ssh/id_rsa"), join(work, "key.txt"));
  linkSync(join(out, "b.txt"), join(work, "b.txt"));
  const call = createCaller(directories);
  expect(await call("read", { path: "a.json" })).toContain("is where credentials are kept");
  expect(await call("read", { path: "key.txt" })).toContain("is where credentials are kept");
  expect(await call("read", { path: "b.txt" })).toContain("OUTSIDE");
});

test("in a closed directory only the roots inside it apply", () => {
  const rules = {
    roots: ["/tmp", "/tmp/shared/mine"],
    closed: ["/tmp/shared"],
    home: "/home/me",
    agentDir: "/home/me/.tau",
  };
  const standings = ["/tmp/a", "/tmp/shared/mine/a", "/tmp/shared/theirs/a", "/tmp/shared"].map((path) =>
    pathStanding(path, "write", rules),
  );
  expect(standings).toEqual(["allowed", "allowed", "asks", "asks"]);
  const whole = { ...rules, closed: ["/tmp"] };
  expect(pathStanding("/tmp/a", "write", whole)).toBe("allowed");
});
