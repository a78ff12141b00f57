import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "vitest";
import { openApp } from "./kit.ts";

test("Alt-A opens the panel of sub-agents, and the text in the editor stays", async () => {
  const app = await openApp([], {});
  app.type("half a thought");
  app.terminal.sendInput("\x1ba");
  await app.sees("explore");
  app.press("escape");
  await app.sees("half a thought");
});

test("Alt-A says that the feature is off, and asks no model", async () => {
  const app = await openApp([], {
    prepare: ({ agentDir }) =>
      writeFile(join(agentDir, "settings.json"), JSON.stringify({ features: { agents: false } })),
  });
  app.terminal.sendInput("\x1ba");
  await app.sees("This session has no /agents");
});
