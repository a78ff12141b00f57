import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createFakeClock } from "@tau/ai/testing";
import { expect, onTestFinished, test } from "vitest";
import { SandboxGround } from "./ground.ts";
import { defaultSandboxSettings } from "./settings.ts";

test.runIf(process.platform === "linux")(
  "what was put right while a command could not be started is told after the next one",
  async () => {
    const root = realpathSync(mkdtempSync(join(tmpdir(), "tau-ground-")));
    onTestFinished(() => rmSync(root, { recursive: true, force: true }));
    const [workspace = "", home = "", agentDir = ""] = ["ws", "home", "agent"].map((name) => join(root, name));
    for (const path of [workspace, home, agentDir]) mkdirSync(path);
    const ground = new SandboxGround({
      settings: defaultSandboxSettings,
      workspace,
      home,
      agentDir,
      readable: [],
      temporaryDirectories: [],
      clock: createFakeClock(),
      ids: () => "1",
    });
    onTestFinished(() => ground.close());
    ground.begin([]);
    writeFileSync(join(workspace, ".envrc"), "evil");
    ground.cancel();
    ground.begin([]);
    expect(ground.finish().join()).toContain("The sandbox protects .envrc");
  },
);
