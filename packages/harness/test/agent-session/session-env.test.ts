/** Tests the variables from which a command learns about its session. */
import { call, scriptedModel, text } from "@tau/ai/testing";
import { expect, onTestFinished, test } from "vitest";
import { SessionManager } from "../../src/session/session-manager.ts";
import { type Desk, openDesk } from "./desk.ts";

const names = ["SESSION_ID", "SESSION_FILE", "PROVIDER", "MODEL", "REASONING_LEVEL"];
const show = `for n in ${names.join(" ")}; do for p in TAU PI; do printenv "$p"_$n || echo "no $p"_$n; done; done; printenv AI_AGENT`;

const getOutput = ({ session }: Desk, index = -1): string[] => {
  const results = session.messages.filter((message) => message.role === "toolResult");
  const block = results.at(index)?.content[0];
  return block?.type === "text" ? block.text.split("\n") : [];
};

const twice = (values: readonly (string | undefined)[]) =>
  values.flatMap((value, index) =>
    ["TAU", "PI"].map((prefix) => (value === undefined ? `no ${prefix}_${names[index]}` : value)),
  );

/** A variable of an outer session, which commands must not get. */
function setOuter(name: string): void {
  process.env[name] = "outer";
  onTestFinished(() => void delete process.env[name]);
}

test("a command of the model knows the session, its file and the model", async () => {
  setOuter("TAU_SESSION_ID");
  const desk = await openDesk([[call("bash", { command: show })], [text("Done.")]]);
  const { session, model } = desk;
  await session.prompt("Look.");
  const values = [session.sessionId, session.sessionFile, model.provider, model.id, session.thinkingLevel];
  expect(getOutput(desk)).toEqual([...twice(values), "tau"]);
});

test("a background job knows them too", async () => {
  const desk = await openDesk([[call("bash", { command: "echo $TAU_SESSION_ID", background: true })], [text("Done.")]]);
  await desk.session.prompt("Start.");
  expect(getOutput(desk)[0]).toBe(desk.session.sessionId);
});

test("a session in memory has no file, and that of an outer session is not passed on", async () => {
  setOuter("TAU_SESSION_FILE");
  setOuter("PI_SESSION_FILE");
  const sessionManager = await SessionManager.inMemory();
  const { session, model } = await openDesk([], { sessionManager });
  const { output } = await session.executeBash(show);
  const values = [session.sessionId, undefined, model.provider, model.id, session.thinkingLevel];
  expect(output.trimEnd().split("\n")).toEqual([...twice(values), "tau"]);
});

test("the next command knows the model and the level that were chosen meanwhile", async () => {
  const { session } = await openDesk([]);
  const other = scriptedModel([]);
  onTestFinished(() => other.dispose());
  await session.setModel({ ...other, id: "other", reasoning: true });
  await session.setThinkingLevel("high");
  const { output } = await session.executeBash("echo $TAU_MODEL $PI_MODEL $TAU_REASONING_LEVEL $PI_REASONING_LEVEL");
  expect(output.trimEnd()).toBe("other other high high");
});

test("the setting shellEnv has the last word", async () => {
  const { session } = await openDesk([], { settings: { shellEnv: { AI_AGENT: "mine", PI_MODEL: "x" } } });
  const { output } = await session.executeBash("echo $AI_AGENT $PI_MODEL");
  expect(output.trimEnd()).toBe("mine x");
});

test("a command finds the variable by which scripts for pi know an agent", async () => {
  const { session } = await openDesk([]);
  expect((await session.executeBash("printenv PI_CODING_AGENT")).output).toBe("true");
});
