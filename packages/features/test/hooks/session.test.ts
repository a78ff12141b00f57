/** Hooks in real sessions, as Claude Code documents them, with scripts of its documented examples' kind. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { call, text } from "@tau/ai/testing";
import { expect, test } from "vitest";
import { group, listResults, openSession } from "./kit.ts";

const node = JSON.stringify(process.execPath);

/** Reads the JSON on its standard input as `input`, and runs a body of JavaScript. */
const script = (body: string) => `#!/usr/bin/env bash
exec ${node} -e '
const input = JSON.parse(require("node:fs").readFileSync(0, "utf8"));
${body}
'
`;

const blocksSecrets = script(`
  const path = input.tool_input.file_path ?? "";
  if (path.includes(".env") || path.includes("package-lock.json")) {
    console.error("Blocked: " + path.split("/").at(-1) + " is protected");
    process.exit(2);
  }
`);

test("a script that exits with 2 blocks the call, and the model reads its reason", async () => {
  const opened = await openSession([[call("write", { path: ".env.local", content: "x" })], [text("Well.")]], {
    scripts: { "guard.sh": blocksSecrets },
    hooks: { PreToolUse: [group('"$CLAUDE_PROJECT_DIR"/guard.sh', {}, "Edit|Write")] },
  });
  await opened.prompt("go");
  const [result] = listResults(opened);
  expect(result).toMatchObject({ isError: true });
  expect(result!.text).toContain("A hook blocked the call: Blocked: .env.local is protected");
  expect(opened.events.some((event) => event.type === "tool_denied" && event.rule === "hook")).toBe(true);
  await expect(readFile(join(opened.cwd, ".env.local"))).rejects.toThrow(/ENOENT/);
});

test("other calls are not touched by it", async () => {
  const turns = [
    [call("write", { path: "a.txt", content: "x" })],
    [call("bash", { command: "echo hi" })],
    [text("Done.")],
  ];
  const opened = await openSession(turns, {
    scripts: { "guard.sh": blocksSecrets },
    hooks: { PreToolUse: [group("./guard.sh", {}, "Edit|Write")] },
  });
  await opened.prompt("go");
  expect(listResults(opened).map(({ isError }) => isError)).toEqual([false, false]);
});

test("a hook gets the fields of Claude Code, and ours beside them", async () => {
  const opened = await openSession([[call("bash", { command: "echo hi", timeout: 5 })], [text("Done.")]], {
    scripts: { "log.sh": "#!/usr/bin/env bash\ncat > seen.json; echo $CLAUDE_PROJECT_DIR > dir.txt\n" },
    hooks: { PreToolUse: [group("./log.sh", {}, "Bash")] },
  });
  await opened.prompt("go");
  expect(JSON.parse(await readFile(join(opened.cwd, "seen.json"), "utf8"))).toMatchObject({
    session_id: opened.session.sessionId,
    transcript_path: expect.any(String),
    cwd: opened.cwd,
    permission_mode: "acceptEdits",
    hook_event_name: "PreToolUse",
    tool_name: "Bash",
    tool_input: { command: "echo hi", timeout: 5_000 },
    tool_use_id: "call_bash_2",
    tau_tool: { name: "bash", input: { command: "echo hi", timeout: 5 } },
  });
  expect(await readFile(join(opened.cwd, "dir.txt"), "utf8")).toBe(`${opened.cwd}\n`);
});

test("a formatter that runs after an edit is not noticed unless it says something", async () => {
  const format = script(`
    const fs = require("node:fs");
    const path = input.tool_input.file_path;
    fs.writeFileSync(path, fs.readFileSync(path, "utf8").toUpperCase());
    if (input.tool_response.success) console.log("formatted");
  `);
  const turns = [
    [call("write", { path: "a.ts", content: "x" })],
    [call("write", { path: "a.md", content: "y" })],
    [text("Done.")],
  ];
  const opened = await openSession(turns, {
    scripts: { "fmt.sh": format },
    hooks: { PostToolUse: [{ ...group("./fmt.sh", {}, "Write"), paths: ["*.ts"] }] },
  });
  await opened.prompt("go");
  expect(await readFile(join(opened.cwd, "a.ts"), "utf8")).toBe("X");
  expect(await readFile(join(opened.cwd, "a.md"), "utf8")).toBe("y");
  expect(
    listResults(opened)
      .map(({ text }) => text)
      .join(),
  ).not.toContain("formatted");
});

test("what a hook after a call objects to, and its context, are part of the result", async () => {
  const answer = {
    decision: "block",
    reason: "Use tabs.",
    hookSpecificOutput: { hookEventName: "PostToolUse", additionalContext: "See STYLE." },
  };
  const opened = await openSession([[call("write", { path: "a.ts", content: "x" })], [text("Done.")]], {
    scripts: { "lint.sh": script(`console.log(JSON.stringify(${JSON.stringify(answer)}))`) },
    hooks: { PostToolUse: [group("./lint.sh")] },
  });
  await opened.prompt("go");
  expect(listResults(opened)[0]!.text).toContain('<hook event="PostToolUse">\nUse tabs.\n\nSee STYLE.\n</hook>');
});

test("a hook can block a prompt, and its output goes with one that it lets through", async () => {
  const guard = script(`
    if (/password/.test(input.prompt)) {
      console.log(JSON.stringify({ decision: "block", reason: "Secrets do not belong into prompts." }));
    } else console.log("The build is green.");
  `);
  const opened = await openSession([[text("Fine.")]], {
    scripts: { "prompt.sh": guard },
    hooks: { UserPromptSubmit: [group("./prompt.sh")] },
  });
  expect((await opened.session.submit("my password is x", {})).disposition).toBe("handled");
  expect(opened.surface.told.at(-1)).toContain("Secrets do not belong into prompts.");
  await opened.prompt("how is the build");
  expect(JSON.stringify(opened.model.asked[0])).toContain("The build is green.");
  expect(JSON.stringify(opened.model.asked[0])).not.toContain("password");
});

test("the start of a session gives context, and its end is reported", async () => {
  const opened = await openSession([[text("Hi.")]], {
    hooks: {
      SessionStart: [group("echo branch main", {}, "startup"), group("echo never", {}, "resume")],
      SessionEnd: [group("cat > end.json")],
    },
  });
  await opened.prompt("hi");
  const sent = JSON.stringify(opened.model.asked[0]);
  expect(sent).toContain("branch main");
  expect(sent).not.toContain("never");
  const { cwd, session } = opened;
  await session.dispose();
  expect(JSON.parse(await readFile(join(cwd, "end.json"), "utf8"))).toMatchObject({ hook_event_name: "SessionEnd" });
});

test("a hook at the end asks for more work, at most eight times in a row", async () => {
  const turns = Array.from({ length: 9 }, (_, index) => [text(`Answer ${index}.`)]);
  const opened = await openSession(turns, {
    hooks: { Stop: [group("cat >> seen.txt; echo >> seen.txt; echo Run the tests. >&2; exit 2")] },
  });
  await opened.prompt("go");
  expect(opened.model.asked).toHaveLength(9);
  expect(JSON.stringify(opened.model.asked[1])).toContain("Run the tests.");
  const lines = (await readFile(join(opened.cwd, "seen.txt"), "utf8")).trim().split("\n");
  expect(lines.map((line) => (JSON.parse(line) as Record<string, unknown>)["stop_hook_active"])).toEqual([
    false,
    ...Array(8).fill(true),
  ]);
  expect(opened.surface.told.at(-1)).toContain("8 times in a row");
});

test("a hook before a compaction can block it", async () => {
  const settings = { compaction: { keepRecentTokens: 100, reserveTokens: 100 } };
  const opened = await openSession([[text("word ".repeat(3_000))], [text("More.")]], {
    settings,
    hooks: { PreCompact: [group("echo Not now. >&2; exit 2", {}, "manual")] },
  });
  await opened.prompt("go");
  await opened.prompt("on");
  expect((await opened.session.compact()).kind).not.toBe("compacted");
  expect(opened.surface.told.at(-1)).toContain("Not now.");
});

const ask = {
  hookSpecificOutput: { hookEventName: "PreToolUse", permissionDecision: "ask", permissionDecisionReason: "Deploys?" },
};

test.each([
  ["allow", { decision: "allow" } as const, false],
  ["deny", { decision: "deny" } as const, true],
])("a hook can make a question of a call: %s", async (_name, answer, isError) => {
  const questions: string[] = [];
  const opened = await openSession([[call("write", { path: "a.txt", content: "x" })], [text("Done.")]], {
    scripts: { "ask.sh": script(`console.log(JSON.stringify(${JSON.stringify(ask)}))`) },
    hooks: { PreToolUse: [group("./ask.sh")] },
    ask: async (question) => {
      questions.push(question.summary);
      return answer;
    },
  });
  await opened.prompt("go");
  expect(questions).toHaveLength(1);
  expect(questions[0]).toContain("Deploys?");
  expect(listResults(opened)[0]!.isError).toBe(isError);
});

test("a hook that allows a call changes nothing of what the policy refuses", async () => {
  const allow = { hookSpecificOutput: { hookEventName: "PreToolUse", permissionDecision: "allow" } };
  const opened = await openSession(
    [[call("write", { path: ".git/hooks/pre-commit", content: "x" })], [text("Done.")]],
    {
      scripts: { "allow.sh": script(`console.log(JSON.stringify(${JSON.stringify(allow)}))`) },
      hooks: { PreToolUse: [group("./allow.sh")] },
    },
  );
  await opened.prompt("go");
  expect(listResults(opened)[0]!.isError).toBe(true);
});

test("a hook that stops the run ends it", async () => {
  const stop = { continue: false, stopReason: "Enough." };
  const opened = await openSession([[call("bash", { command: "echo hi" })]], {
    scripts: { "stop.sh": script(`console.log(JSON.stringify(${JSON.stringify(stop)}))`) },
    hooks: { PreToolUse: [group("./stop.sh")] },
  });
  await opened.prompt("go");
  expect(opened.model.asked).toHaveLength(1);
  expect(listResults(opened)[0]!.text).toContain("Enough.");
});

test("hooks are told of questions of the policy", async () => {
  const opened = await openSession([[call("write", { path: "/elsewhere.txt", content: "x" })], [text("Done.")]], {
    hooks: { Notification: [group("cat > note.json", {}, "permission_prompt")] },
    ask: async () => ({ decision: "deny" }),
  });
  await opened.prompt("go");
  const read = async () => JSON.parse(await readFile(join(opened.cwd, "note.json"), "utf8")) as unknown;
  await expect.poll(read, { timeout: 20_000 }).toMatchObject({ notification_type: "permission_prompt" });
});

test("/hooks lists them and what they did last", async () => {
  const opened = await openSession([[call("bash", { command: "echo hi" })], [text("Done.")]], {
    hooks: { PreToolUse: [group("echo no >&2; exit 2", {}, "Bash")], Stop: [group("true", { timeout: 5 })] },
  });
  await opened.prompt("go");
  await opened.session.submit("/hooks", {});
  expect(opened.surface.menus.at(-1)).toEqual([
    "PreToolUse Bash: echo no >&2; exit 2 · blocked (1 run)",
    "Stop: true · no objection (1 run)",
  ]);
});
