import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import { ask } from "../src/process/ask.ts";
import { createIo, createWorkspace } from "./kit.ts";

test("what is asked stays when a key removes what was typed, and cannot control the terminal", async () => {
  const input = new PassThrough();
  const { io, written } = createIo(await createWorkspace(), { input, terminal: { input: true, err: true } });
  const answer = ask(io, "It is old.\nDelete \u001b]0;evil\u0007? [y/N] ");
  input.write("ye\u007f");
  await expect.poll(() => written.err).toContain("\u001b[0J");
  expect(written.err.split("\u001b[0J").at(-1)).toMatch(/^Delete \u241b\]0;evil\u2407\? \[y\/N\] y/);
  input.write("\r");
  expect(await answer).toBe("y");
});
