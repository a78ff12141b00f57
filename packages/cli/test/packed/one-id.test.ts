/** Processes that start a session with the same id at the same time. */
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { exitCodes } from "../../src/process/exit-codes.ts";
import { createModelWorkspace, textReply } from "../kit.ts";
import { runPacked } from "./kit.ts";

const rounds = 6;

test("two processes that start the same id share one session, or one of them fails in one line", async () => {
  const workspace = await createModelWorkspace(Array.from({ length: 3 * rounds }, () => textReply("Yes.")));
  for (let round = 0; round < rounds; round++) {
    const say = (text: string) => runPacked(workspace, ["--session-id", `r${round}`, "-p", text]);
    const ends = await Promise.all([say("first?"), say("second?")]);
    const done = ends.filter(({ code }) => code === exitCodes.done);
    expect(done.length).toBeGreaterThanOrEqual(1);
    for (const { code, out, err } of ends.filter((end) => !done.includes(end))) {
      expect({ code, out }).toEqual({ code: exitCodes.failed, out: "" });
      expect(err).toMatch(/^tau: The session \S+ (?:is being written by|can no longer be written here: ).+\n$/);
    }
    // The session contains exactly the prompts that were answered.
    const before = workspace.server.requests.length;
    expect(await say("third?")).toMatchObject({ code: exitCodes.done, out: "Yes.\n" });
    const asked = JSON.stringify(workspace.server.requests[before]?.body);
    for (const [index, text] of ["first?", "second?"].entries()) {
      expect(asked.includes(text)).toBe(ends[index]!.code === exitCodes.done);
    }
  }
  const sessions = await readdir(join(workspace.agentDir, "sessions"), { recursive: true });
  const files = sessions.filter((name) => name.endsWith(".jsonl"));
  expect(files).toHaveLength(rounds);
});
