import { emptyView, type SessionEvent } from "@tau/protocol";
import { expect, test } from "vitest";
import { parseSessionArgs } from "../src/start/args.ts";
import { type PromptSession, sendPrompt } from "../src/modes/send-prompt.ts";
import { createIo, createWorkspace } from "./kit.ts";

test("the progress line is erased before an error of the prompt is told", async () => {
  const { io, written } = createIo(await createWorkspace(), { terminal: { err: true }, env: { TERM: "xterm" } });
  const parsed = parseSessionArgs(["-p", "Hello"]);
  if (parsed.kind !== "session") throw new Error(parsed.kind);
  const unused = () => Promise.reject(new Error("It is not used."));
  const plain = { redactEvent: (event: SessionEvent) => [event], redactLine: (line: string) => line };
  const session: PromptSession = {
    id: "s",
    shown: { view: emptyView, onEvent: () => () => {}, onChange: () => () => {}, approve: () => {}, abort: unused },
    getHeader: unused,
    getStats: unused,
    jsonEvents: "tau",
    createRedactor: async () => plain,
    start: async () => {},
    run: async () => {
      await expect.poll(() => written.err).toContain("waiting for the model");
      throw new Error("The connection is lost.");
    },
  };
  const ended = sendPrompt(session, { prompt: "Hello" }, { options: parsed.options, io, isAttended: false });
  await expect(ended).rejects.toThrow("The connection is lost.");
  expect(written.err.endsWith("waiting for the model\u001b[G\u001b[2K")).toBe(true);
});
