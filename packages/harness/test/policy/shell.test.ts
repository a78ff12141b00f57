import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { call, text } from "@tau/ai/testing";
import { expect, test } from "vitest";
import { openDesk, temporaryDirectory } from "../agent-session/desk.ts";

test("the policy judges commands for the shell that runs them, also after the setting was changed", async () => {
  const cwd = await temporaryDirectory();
  const shellPath = join(cwd, "fish");
  await writeFile(shellPath, '#!/bin/sh\necho of-fish\nexec sh "$@"\n', { mode: 0o755 });
  const turns = [[call("bash", { command: "ls" })], [text("Done.")]];
  let questions = 0;
  const { session } = await openDesk([...turns, ...turns], {
    cwd,
    settings: { shellPath },
    sandbox: { mode: "off" },
    ask: async () => {
      questions++;
      return { decision: "allow" };
    },
  });
  await session.prompt("List.");
  await session.settingsManager.update("global", { shellPath: null });
  expect(session.settings.shellPath).toBeUndefined();
  await session.prompt("List again.");
  expect(JSON.stringify(session.messages).match(/of-fish/g)).toHaveLength(2);
  expect(questions).toBe(2);
});
