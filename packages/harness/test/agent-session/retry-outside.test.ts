import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { call, text } from "@tau/ai/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Question } from "@tau/policy";
import { findProgram } from "@tau/sandbox/internal";
import { openDesk } from "./desk.ts";

const hasBwrap = findProgram("bwrap", "/nowhere") !== undefined;
const server = createServer((_request, response) => response.end("the answer"));
let host = "";

beforeAll(async () => {
  await once(server.listen(0, "127.0.0.2"), "listening");
  host = `127.0.0.2:${(server.address() as AddressInfo).port}`;
});
afterAll(() => void server.close());

/** Runs one command; answers with what the model is told, and what a person was asked. */
async function run(command: () => string, answers?: string[]) {
  const questions: Question[] = [];
  const desk = await openDesk([[call("bash", { command: command() })], [text("done")]], {
    settings: { sandbox: { mode: "auto" } },
    ...(answers && {
      ask: async (question: Question) => {
        questions.push(question);
        const rule = answers.shift()!;
        return rule === "no" ? { decision: "deny" } : { decision: "allow", choice: "once", rule };
      },
    }),
  });
  await desk.session.prompt("go");
  const results = desk.session.messages.flatMap((message) => (message.role === "toolResult" ? [message] : []));
  const told = results[0]!.content.map((part) => (part.type === "text" ? part.text : "")).join("\n");
  return { questions, told, isError: results[0]!.isError, events: desk.events };
}

const fetch = () => `curl -sSf http://${host}/`;

test("a command runs again with the network that a person allows", async ({ skip }) => {
  skip(!hasBwrap);
  const { told, isError, questions } = await run(fetch, [`network ${host}`]);
  expect(questions).toHaveLength(1);
  expect(told).toMatch(/the answer[^]*run again with network access to 127\.0\.0\.2/);
  expect(isError).toBe(false);
});

test("a command runs again outside if a person says so", async ({ skip }) => {
  skip(!hasBwrap);
  const command = () => `${fetch()} && echo "$HTTPS_PROXY." && curl --noproxy '*' -sSf http://${host}/`;
  const { told, isError } = await run(command, [`outside ${command()}`]);
  expect(isError).toBe(false);
  expect(told).toMatch(/the answer[^]*the answer[^]*run again outside of the sandbox/);
});

test("a command runs once if a person says no, and the model is told", async ({ skip }) => {
  skip(!hasBwrap);
  const { told, isError, events } = await run(() => `echo ran >>count; ${fetch()} || wc -l <count >&2; false`, ["no"]);
  expect(isError).toBe(true);
  expect(told).toMatch(/^1$/m);
  expect(told).toMatch(/refused network access to 127\.0\.0\.2[^]*The user did not allow the command to run again/);
  expect(events.filter(({ type }) => type === "tool_denied")).toHaveLength(1);
});

test("without a person nothing runs again, and what to configure is told", async ({ skip }) => {
  skip(!hasBwrap);
  const { told, isError, events } = await run(fetch);
  expect(isError).toBe(true);
  expect(told).toContain(`sandbox.network: ${JSON.stringify({ allow: [host] })}`);
  expect(events.find(({ type }) => type === "tool_denied")).toMatchObject({
    rule: "sandbox",
    advice: expect.stringContaining("sandbox.network"),
  });
});
