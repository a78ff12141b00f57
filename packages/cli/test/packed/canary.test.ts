/** Starting the program in a project runs nothing of it, and connects to the user's model only. */
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { textReply, toolReply } from "../kit.ts";
import { type CanaryProject, createCanaryProject, forbiddenText } from "./canary-project.ts";
import { runPacked, start } from "./kit.ts";
import { openPty } from "./pty.ts";
import { findTraceProblem, getTraceCommand, readSystemCalls } from "./system-calls.ts";

const problem = findTraceProblem();
if (problem !== undefined) console.warn(`SKIPPED: no program can be traced here, so no canary is tested: ${problem}`);

const getTraceFile = ({ home }: CanaryProject) => join(home, "..", "trace");

const getOptions = (project: CanaryProject) => ({
  through: getTraceCommand(getTraceFile(project)),
  env: { HOME: project.home, SHELL: "/bin/bash" },
});

/** `executed` has what the program started, without itself. */
async function readTrace(project: CanaryProject) {
  const { executed, connected } = await readSystemCalls(getTraceFile(project));
  const [program, ...others] = executed;
  expect(program).toContain("tau.cjs");
  const port = new URL(project.server.url).port;
  const isModel = (address: string) => address.includes(`htons(${port})`) && address.includes('"127.0.0.1"');
  return { executed: others, connected: connected.filter((address) => !isModel(address)) };
}

async function checkNothingCounted(project: CanaryProject): Promise<void> {
  expect(await project.listMarkers()).toEqual([]);
  expect(await readdir(project.directory)).not.toContain("stolen");
  for (const { body } of project.server.requests) expect(JSON.stringify(body)).not.toContain(forbiddenText);
}

async function checkUntouched(project: CanaryProject): Promise<void> {
  expect(project.fileCount).toBeGreaterThanOrEqual(30);
  expect(await readTrace(project)).toEqual({ executed: [], connected: [] });
  await checkNothingCounted(project);
}

describe.skipIf(problem !== undefined)("in a project that is not trusted", () => {
  test.each([
    ["tau -p", ["-p", "Hi"]],
    ["tau --mode json", ["--mode", "json", "Hi"]],
  ])("%s runs nothing of the project", async (_name, args) => {
    const project = await createCanaryProject([textReply("Hello.")]);
    expect(await runPacked(project, args, getOptions(project))).toMatchObject({ code: 0 });
    expect(project.server.requests).toHaveLength(1);
    await checkUntouched(project);
  });

  test("tau --mode rpc runs nothing of the project", async () => {
    const project = await createCanaryProject([textReply("Hello.")]);
    const commands = [
      "get_state",
      "get_commands",
      "get_available_models",
      "get_settings",
      "get_trust",
      "reload",
      "get_session_stats",
    ].map((type) => ({ type }));
    const input = [...commands, { type: "prompt", message: "Hi" }].map((command) => `${JSON.stringify(command)}\n`);
    const program = await start(project, ["--mode", "rpc"], { ...getOptions(project), input: input.join("") });
    expect(await program.ended).toMatchObject({ code: 0 });
    expect(program.output().out).toContain('"type":"response"');
    await checkUntouched(project);
  });

  test("the interactive program runs nothing of the project", async () => {
    const project = await createCanaryProject([textReply("Hello there.")]);
    const pty = await openPty(project, { ...getOptions(project), rows: 50 });
    await pty.sees("[y/N]");
    // The question names what waits.
    for (const name of [".tau/SYSTEM.md", ".tau/extensions", ".mcp.json"]) expect(await pty.screen()).toContain(name);
    pty.type("n\r");
    await pty.sees(/64k +small/);
    pty.type("Hi");
    pty.type("\r");
    await pty.sees("Hello there.");
    pty.type("\u0004");
    expect(await pty.ended()).toMatchObject({ code: 0 });
    await checkUntouched(project);
  });

  test("tau doctor and tau trust run programs of the system only", async () => {
    for (const command of ["doctor", "trust"]) {
      const project = await createCanaryProject([]);
      await runPacked(project, [command], getOptions(project));
      const { executed, connected } = await readTrace(project);
      expect(executed.filter((line) => line.includes(project.directory) || /"git"/.test(line))).toEqual([]);
      expect(connected.filter((address) => !address.includes("AF_UNIX"))).toEqual([]);
      await checkNothingCounted(project);
    }
  });

  test("the trace and the markers show what does run", async () => {
    const project = await createCanaryProject([toolReply("bash", { command: "sh ./canary.sh" }), textReply("Done.")]);
    await runPacked(project, ["--sandbox", "off", "-p", "Run it."], getOptions(project));
    expect((await readTrace(project)).executed.join("\n")).toContain("canary.sh");
    expect(await project.listMarkers()).toEqual(["shell"]);
  });
});
