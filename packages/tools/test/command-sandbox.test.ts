/** Tests the notices after a command in a sandbox, also when the sandbox fails. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { systemClock } from "@tau/ai";
import { createTools } from "../src/create-tools.ts";
import type { CommandSandbox, ConfinedProcess } from "../src/platform/command-sandbox.ts";
import { createFiles } from "../src/platform/files.ts";
import { createSpawn } from "../src/platform/spawn.ts";
import { scratch } from "./scratch.ts";
import { holdTimers } from "./shell-kit.ts";

const spawn = createSpawn();

type Failures = Partial<Pick<ConfinedProcess, "killAll" | "hadLeftovers">> & { finish?: () => never };

/** Runs commands as they are, in a group of their own. */
function createSandbox({ finish, ...failures }: Failures): CommandSandbox {
  return {
    enter: async (request) => ({
      async start() {
        const child = await spawn({ ...request, detached: true });
        return {
          ...child,
          killAll: () => child.signal("SIGKILL", "group"),
          findFirst: async () => child.pid,
          hadLeftovers: () => false,
          ...failures,
        };
      },
      finish: async () => finish?.() ?? { notices: [] },
    }),
  };
}

const fail = (): never => {
  throw new Error("The disk is full.");
};

function createCaller(failures: Failures, clock = systemClock) {
  const tools = createTools({ cwd: scratch(), clock });
  onTestFinished(() => tools.dispose());
  const context = { files: createFiles(), spawn, sandbox: createSandbox(failures) };
  const call = async (name: "bash" | "jobs", args: Record<string, unknown>, signal?: AbortSignal) => {
    const { content } = await tools.byName[name].execute("1", args, signal, undefined, context);
    return content.map((part) => (part.type === "text" ? part.text : part.type)).join("\n");
  };
  return { tools, call };
}

test("a sandbox that cannot be left is told after the output", async () => {
  const { call } = createCaller({ finish: fail });
  expect(await call("bash", { command: "echo hi" })).toBe(
    "hi\n[The sandbox could not check what the command changed: The disk is full.]",
  );
});

test("a command whose processes cannot be counted is told after the output", async () => {
  const { call } = createCaller({ hadLeftovers: fail });
  expect(await call("bash", { command: "echo hi" })).toBe(
    "hi\n[Processes of the command may still be running: The disk is full.]",
  );
});

test("a job whose sandbox fails ends, and makes room for others", async () => {
  const { call, tools } = createCaller({ finish: fail });
  await call("bash", { command: "echo hi", background: true });
  await expect.poll(() => tools.jobs.list()[0]?.ended?.status).toEqual({ kind: "exited", code: 0 });
  expect(await call("jobs", { action: "read", id: "1" })).toContain("The disk is full.");
});

test("a job that cannot be ended at its timeout is told of in its output", async () => {
  const wasKilled = join(scratch(), "killed");
  const killAll = () => {
    writeFileSync(wasKilled, "");
    fail();
  };
  const { clock, fire } = holdTimers((afterMs) => afterMs === 7_000);
  const { call, tools } = createCaller({ killAll }, clock);
  const command = `trap '' TERM; echo ready; until [ -e ${wasKilled} ]; do sleep 0.02; done; echo late`;
  await call("bash", { command, background: true, timeout: 7 });
  await expect.poll(() => call("jobs", { action: "read", id: "1" })).toContain("ready");
  fire();
  await expect.poll(() => tools.jobs.list()[0]?.ended?.why).toBe("timeout");
  expect(await call("jobs", { action: "read", id: "1" })).toContain(
    "late\n[Processes of the command may still be running: The disk is full.]",
  );
});

test("the file with a long output is for tools that see it", async () => {
  const { call } = createCaller({});
  expect(await call("bash", { command: "seq 3000" })).toMatch(
    /Full output: .*\.log \(for read and grep; commands may not see it\)\]$/,
  );
});
