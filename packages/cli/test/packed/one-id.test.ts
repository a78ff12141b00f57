/** Processes that begin a session with one id at the same moment. */
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { exitCodes } from "../../src/exit-codes.ts";
import { createModelWorkspace, says } from "../kit.ts";
import { runPacked } from "./kit.ts";

const rounds = 6;

test("an id that is given to two at once is one session, and who comes second says why in one line", async () => {
  const workspace = await createModelWorkspace(Array.from({ length: 3 * rounds }, () => says("Yes.")));
  for (let round = 0; round < rounds; round++) {
    const say = (text: string) => runPacked(workspace, ["--session-id", `r${round}`, "-p", text]);
    const ends = await Promise.all([say("first?"), say("second?")]);
    const done = ends.filter(({ code }) => code === exitCodes.done);
    expect(done.length).toBeGreaterThanOrEqual(1);
    for (const { code, out, err } of ends.filter((one) => !done.includes(one))) {
      expect({ code, out }).toEqual({ code: exitCodes.failed, out: "" });
      expect(err).toMatch(/^tau: The session \S+ (?:is being written by|can no longer be written here: ).+\n$/);
    }
    // All who were answered are in it, and nobody else.
    const before = workspace.server.requests.length;
    expect(await say("third?")).toMatchObject({ code: exitCodes.done, out: "Yes.\n" });
    const asked = JSON.stringify(workspace.server.requests[before]?.body);
    for (const [at, text] of ["first?", "second?"].entries()) {
      expect(asked.includes(text)).toBe(ends[at]!.code === exitCodes.done);
    }
  }
  const sessions = await readdir(join(workspace.agentDir, "sessions"), { recursive: true });
  const files = sessions.filter((name) => name.endsWith(".jsonl"));
  expect(files).toHaveLength(rounds);
});
