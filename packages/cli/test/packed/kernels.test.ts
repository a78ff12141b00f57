/** Kernels of the packed program when it is killed in the middle of a cell. */
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readlinkSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createModelWorkspace, toolReply } from "../kit.ts";
import { processesWith, sleeping, start } from "./kit.ts";

const kills = process.env["TAU_LONG"] === undefined ? 2 : 200;
const hasPython = spawnSync("python3", ["--version"]).status === 0;

/** The processes whose working directory is there. */
const listProcessesIn = (directory: string): string[] =>
  readdirSync("/proc").filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readlinkSync(`/proc/${pid}/cwd`).startsWith(directory);
    } catch {
      // It has ended, or belongs to another user.
      return false;
    }
  });

/** A cell that starts a program and is then busy, in one of the ways that a cell can be. */
function createCell(index: number, command: string): { language: string; code: string } {
  const args = JSON.stringify(command.split(" "));
  const begin = 'open("begun", "w").close()';
  const busy = ["while True: pass", "import time; time.sleep(1000)", "import asyncio; await asyncio.sleep(1000)"];
  if (hasPython && index % 2 === 0)
    return {
      language: "python",
      code: `import subprocess\nsubprocess.Popen(${args}, start_new_session=True)\n${begin}\n${busy[(index / 2) % 3]!}`,
    };
  const [program, ...rest] = command.split(" ");
  const spawn = `require("child_process").spawn("${program}", ${JSON.stringify(rest)}, { detached: true, stdio: "ignore" })`;
  const loop = index % 4 === 1 ? "for (;;);" : "await new Promise(() => setInterval(() => {}, 1000));";
  return { language: "javascript", code: `${spawn}; require("fs").writeFileSync("begun", ""); ${loop}` };
}

test(
  "a kill of the program leaves nothing of a kernel that is busy, and nothing that its cell has started",
  { timeout: 60_000 + kills * 20_000 },
  async () => {
    for (let index = 0; index < kills; index++) {
      const command = sleeping();
      const workspace = await createModelWorkspace([
        toolReply("call_tool", { name: "eval", arguments: createCell(index, command) }),
      ]);
      const settings = { defaultModel: "acme/small", policy: { profile: "permissive" } };
      await writeFile(join(workspace.agentDir, "settings.json"), JSON.stringify(settings));
      const run = await start(workspace, ["-p", "Go."]);
      await expect.poll(() => existsSync(join(workspace.directory, "begun")), { timeout: 30_000 }).toBe(true);
      await expect.poll(() => processesWith(command).length, { timeout: 30_000 }).toBeGreaterThan(0);
      run.child.kill("SIGKILL");
      await run.ended;
      await expect.poll(() => processesWith(command), { timeout: 20_000 }).toEqual([]);
      await expect.poll(() => listProcessesIn(workspace.directory), { timeout: 20_000 }).toEqual([]);
    }
  },
);
