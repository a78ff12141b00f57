/** Tests that what a model writes to a terminal is judged as a command of bash is. */
import { call, text } from "@tau/ai/testing";
import { findHelper } from "@tau/sandbox/internal";
import { expect, test } from "vitest";
import { openDesk } from "./desk.ts";

// oxlint-disable-next-line no-console -- a test that is left out must be seen
if (findHelper() === undefined) console.log("The sandbox's helper is not built: TERMINALS ARE NOT TESTED.");

const start = [call("bash", { command: "PS1='$ ' bash --norc", tty: true })];
const write = (written: string) => [call("jobs", { action: "write", id: "1", text: written })];

interface Judged {
  outcomes: string[];
  questions: string[];
}

/** Runs the calls one after the other, with a person who allows all that they are asked. */
async function judge(
  writes: readonly string[],
  { sandbox = "auto" as "auto" | "off", plans = false } = {},
): Promise<Judged> {
  const questions: string[] = [];
  const desk = await openDesk([start, [text("Started.")], ...writes.map(write), [text("Done.")]], {
    settings: { sandbox: { mode: sandbox } },
    ask: async ({ summary, reason }) => {
      questions.push(`${summary} — ${reason}`);
      return { decision: "allow" };
    },
  });
  const { session } = desk;
  await session.prompt("Start it.");
  questions.length = 0;
  if (plans) await session.setPermissionMode("plan");
  const before = session.messages.length;
  await session.prompt("Write.");
  const results = session.messages.slice(before).filter((message) => message.role === "toolResult");
  const outcomes = results.map(({ content }) =>
    content.map((part) => (part.type === "text" ? part.text : "")).join(""),
  );
  await session.dispose();
  return { outcomes, questions };
}

test.runIf(findHelper() !== undefined)(
  "what is denied as a command is denied on a terminal, however it is split",
  async () => {
    const { outcomes, questions } = await judge([
      "rm -rf /<enter>",
      "echo 'a b'<enter>",
      "cd /<enter>",
      "rm -rf *<enter>",
      "<ctrl-c>rm -rf ",
      "/<enter>",
      "<ctrl-c>bash <<E<enter>",
      "rm -rf /<enter>",
    ]);
    for (const index of [0, 3, 5, 7]) expect(outcomes[index]).toMatch(/^The policy denied this command.*It deletes/);
    expect(outcomes[1]).toMatch(/\n\$ echo 'a b'\na b\n\$/);
    expect(outcomes.join("")).not.toContain("$ rm -rf /");
    expect(questions).toEqual([]);
  },
);

test.runIf(findHelper() !== undefined)("nothing is written in plan mode, not even to leave a program", async () => {
  const { outcomes, questions } = await judge(["ls<enter>", "<ctrl-c>"], { plans: true });
  for (const outcome of outcomes) expect(outcome).toMatch(/Plan mode is on/);
  expect(questions).toEqual([]);
});

test("a session that may only read has neither jobs nor terminals", async () => {
  const desk = await openDesk([start, write("ls<enter>"), [text("Done.")]], { tools: ["read", "grep"] });
  await desk.session.prompt("Start it.");
  const results = desk.session.messages.filter((message) => message.role === "toolResult");
  expect(results.map(({ isError }) => isError)).toEqual([true, true]);
  expect(desk.session.jobs.list()).toEqual([]);
});

test.runIf(findHelper() !== undefined)("without a sandbox a person is asked about each text", async () => {
  const { outcomes, questions } = await judge(["echo one<enter>", "echo one<enter>", "<ctrl-c>"], { sandbox: "off" });
  const asked =
    "Write to job 1: echo one<enter> — The terminal is not in the sandbox, so each text for it is asked about.";
  expect(questions).toEqual([asked, asked]);
  expect(outcomes[1]!.split("\none\n")).toHaveLength(3);
});

test.runIf(findHelper() !== undefined)("keys whose effect is not known are asked about each time", async () => {
  const { outcomes, questions } = await judge(["echo one<enter>", "<up><enter>"]);
  expect(questions).toEqual([expect.stringContaining("Its keys change a line")]);
  expect(outcomes[1]!.split("\none\n")).toHaveLength(3);
});
