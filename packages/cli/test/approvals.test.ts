/** Questions about calls outside of the workspace, and what the user is told when a call is denied. */
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { describe, expect, test } from "vitest";
import { formatQuestion, parseAnswer } from "../src/modes/answer-approvals.ts";
import { exitCodes } from "../src/process/exit-codes.ts";
import { createModelWorkspace, run, type RunOptions, textReply, toolReply } from "./kit.ts";

// These exist everywhere, and not below the directory for temporary files, where everything is allowed.
const terminal = { input: true, err: true };
const secret = "/etc/shadow";
const file = "/etc/passwd";

/** The model reads a file as often as there are replies, and what it was told is in the requests. */
async function createReader(reads: number, path = file) {
  const replies = Array.from({ length: reads }, () => [toolReply("read", { path }), textReply("Done.")]).flat();
  const workspace = await createModelWorkspace(replies);
  const read = async (args: readonly string[] = [], options: RunOptions = {}) => {
    const result = await run(workspace, [...args, "-p", "Read it"], options);
    const told = JSON.stringify((workspace.server.requests.at(-1)!.body as { messages: unknown[] }).messages.at(-1));
    return { ...result, told };
  };
  return { workspace, read };
}

const content = "root:x:0:0";

describe("on a terminal", () => {
  test("the user is asked on standard error, and a yes counts for the call alone", async () => {
    const { read } = await createReader(2);
    const yes = await read([], { terminal, input: "y\n" });
    expect(yes).toMatchObject({ code: exitCodes.done, out: "Done.\n" });
    expect(yes.told).toContain(content);
    for (const text of [
      "Reading /etc/passwd needs",
      "1  Yes, this once",
      "6  Always, in every project: read /etc/passwd",
      "[y/2/3/4/5/6/N]",
    ]) {
      expect(yes.err).toContain(text);
    }
    const no = await read([], { terminal, input: "\n" });
    expect(no).toMatchObject({
      code: exitCodes.denied,
      told: expect.stringContaining("The user did not allow the call"),
    });
    expect(no.err).toContain("You said no.");
  });

  test("an answer for the project is stored, and not asked for again there", async () => {
    const { workspace, read } = await createReader(2);
    await read([], { terminal, input: "4\n" });
    const stored = JSON.parse(await readFile(join(workspace.agentDir, "approvals.json"), "utf8")) as unknown;
    expect(stored).toMatchObject({ rules: [{ capability: "read", project: workspace.directory }] });
    const { told, err } = await read([], { terminal, input: "" });
    expect(told).toContain(content);
    expect(err).not.toContain("Allow it?");
  });

  test("Ctrl-C at the question ends the run", async () => {
    const { workspace } = await createReader(1);
    const input = new PassThrough();
    let isAsked = false;
    const onErr = (err: string) => {
      if (isAsked || !err.includes("Allow it?")) return;
      isAsked = true;
      setImmediate(() => input.write("\u0003"));
    };
    const { code, out } = await run(workspace, ["-p", "Read it"], { terminal, input, onErr });
    expect({ code, out, requests: workspace.server.requests.length }).toEqual({ code: 130, out: "", requests: 1 });
  });
});

test("a question shows the whole command, with everything visible, and only what was offered is a yes", () => {
  const command = `echo ${"x".repeat(2_000)}\nrm \u001b[2K\u202eend`;
  const choices = [
    { choice: "once", label: "Yes, this once" },
    { choice: "session", rule: "exec\nx", label: "Yes, for this session: run\nx" },
  ] as const;
  const approval = { id: "1", toolCallId: "c", toolName: "bash", summary: "s", reason: "r", choices };
  const question = formatQuestion({ ...approval, commands: [["bash", "-c", command]] });
  expect(question).toContain(`echo ${"x".repeat(2_000)}\n  rm \\u{1b}[2K\\u{202e}end\n`);
  expect(question).toContain("1  Yes, this once\n  2  Yes, for this session: run\\nx\n  n  No\n");
  const decide = (typed: string) => parseAnswer(approval, typed).choice ?? "no";
  expect(["y", "YES", "once", " 2 ", "3", "always", "", "n", "yy"].map(decide)).toEqual(
    "once once once session no no no no no".split(" "),
  );
});

describe("without a terminal", () => {
  test("a denied call is named with the flag that allows it, and the model is told what it can do", async () => {
    const { read } = await createReader(2);
    const { err, told, code } = await read();
    expect(code).toBe(exitCodes.denied);
    expect(err).toContain("read was not allowed to read /etc/passwd. It is outside the workspace.");
    expect(err).toContain("--add-dir /etc or the setting additionalDirectories");
    expect(told).toContain("say in your answer what you need it for");
    expect(told).not.toContain("--add-dir");
    const allowed = await read(["--add-dir", "/etc"]);
    expect(allowed).toMatchObject({ code: exitCodes.done, told: expect.stringContaining(content) });
  });

  test("a directory is allowed by its own name, and a file at the root by no flag", async () => {
    const workspace = await createModelWorkspace([
      toolReply("ls", { path: "/etc" }),
      toolReply("read", { path: "/no-such-file" }),
      textReply("Done."),
    ]);
    const { err } = await run(workspace, ["-p", "Look"]);
    expect(err).toContain("--add-dir /etc or");
    expect(err).toContain(
      "read /no-such-file. It is outside the workspace. To allow it: answer the question of tau -p in a terminal.",
    );
  });

  test("a credential file is refused without advice to ask the user, for whom it is", async () => {
    const { workspace, read } = await createReader(1, secret);
    const { err, told } = await read(["--add-dir", "/etc"]);
    expect(err).toContain("/etc/shadow. It holds credentials, so no flag or setting allows it.");
    expect(err).not.toContain("ask the user");
    expect(told).toContain("ask the user");
    const mention = await run(workspace, ["-p", `@${secret}`, "Read it"]);
    expect(mention.err).toContain("where credentials are kept");
    expect(mention.err).not.toContain("ask the user");
  });
});

describe("added directories", () => {
  test("--add-dir has to name a directory", async () => {
    const { workspace } = await createReader(0);
    await writeFile(join(workspace.directory, "a.txt"), "");
    for (const path of ["a.txt", "nowhere"]) {
      const { code, err } = await run(workspace, ["--add-dir", path, "-p", "Hi"]);
      expect({ code, err }).toEqual({ code: exitCodes.usage, err: expect.stringContaining(`no directory ${path}`) });
    }
  });

  test("a session that is continued has the directories of this process alone", async () => {
    const { read } = await createReader(3);
    expect((await read(["--add-dir", "/usr", "--add-dir", "/etc"])).told).toContain(content);
    expect((await read(["--continue"])).told).toContain("outside the workspace");
    expect((await read(["--continue", "--add-dir", "/etc"])).told).toContain(content);
  });

  test("the setting allows them, that of a project once it is trusted", async () => {
    const { workspace, read } = await createReader(3);
    await mkdir(join(workspace.directory, ".tau"));
    const project = join(workspace.directory, ".tau", "settings.json");
    await writeFile(project, '{ "additionalDirectories": ["/etc"] }');
    expect((await read()).told).toContain("outside the workspace");
    expect((await read(["-a"])).told).toContain(content);
    await writeFile(project, "{}");
    const own = { defaultModel: "acme/small", additionalDirectories: ["/etc"] };
    await writeFile(join(workspace.agentDir, "settings.json"), JSON.stringify(own));
    expect((await read()).told).toContain(content);
  });
});
