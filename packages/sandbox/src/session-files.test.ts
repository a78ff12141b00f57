import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createFakeClock } from "@tau/ai/testing";
import { expect, onTestFinished, test } from "vitest";
import { SessionFiles } from "./session-files.ts";
import { defaultSandboxSettings } from "./settings.ts";

test.runIf(process.platform === "linux")(
  "what was put right while a command could not be started is told after the next one",
  async () => {
    const root = realpathSync(mkdtempSync(join(tmpdir(), "tau-files-")));
    onTestFinished(() => rmSync(root, { recursive: true, force: true }));
    const [workspace = "", home = "", agentDir = ""] = ["ws", "home", "agent"].map((name) => join(root, name));
    for (const path of [workspace, home, agentDir]) mkdirSync(path);
    const files = new SessionFiles({
      settings: defaultSandboxSettings,
      workspace,
      home,
      agentDir,
      named: [],
      readable: [],
      outside: undefined,
      temporaryDirectories: [],
      hidesSockets: () => true,
      isReadOnly: false,
      clock: createFakeClock(),
      ids: () => "1",
    });
    onTestFinished(() => files.close());
    files.begin([]);
    writeFileSync(join(workspace, ".envrc"), "evil");
    files.cancel();
    files.begin([]);
    expect(files.finish().join()).toContain("The sandbox protects .envrc");
  },
);
