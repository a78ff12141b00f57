/**
 * Tries on this machine whether Seatbelt refuses what it must refuse. Its rules are documented by nobody, and differ between
 * versions of macOS: what was not seen to hold does not count as a sandbox.
 */
import { spawn as nodeSpawn } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { getErrorMessage, untilTimeout } from "@tau/ai/internal";
import { systemClock } from "@tau/ai";
import type { SandboxState } from "../state.ts";
import { toArguments } from "./arguments.ts";
import { createSeatbeltProfile } from "./profile.ts";

/** Where macOS has it. Never from `PATH`, which may lead to another one. */
export const seatbeltProgram = "/usr/bin/sandbox-exec";

/** Lists each attempt of a program inside, and whether it must work: commands have to stay inside, and to be able to work. */
const attempts = {
  "write to the workspace": true,
  "read the workspace": true,
  "connect to the proxy": true,
  "read a hidden file": false,
  "write outside": false,
  "read a hidden file by another name": false,
  "write a hook of git": false,
  "write a hook of git in another case": false,
  "rename the git directory": false,
  "connect to a server of this machine": false,
} as const;

type Attempt = keyof typeof attempts;

/** Runs in a Node inside, and prints which attempts have worked. */
const script = `
  const fs = require("node:fs"), net = require("node:net"), path = require("node:path");
  const [workspace, outside, proxy, other] = process.argv.slice(1);
  const works = (act) => { try { act(); return true; } catch { return false; } };
  const connects = (port) => new Promise((resolve) => {
    const socket = net.connect({ host: "127.0.0.1", port: Number(port) });
    const settle = (answer) => () => { resolve(answer); socket.destroy(); };
    socket.once("connect", settle(true)).once("error", settle(false));
  });
  const at = (...names) => path.join(workspace, ...names), secret = path.join(outside, "secret");
  (async () => console.log(JSON.stringify({
    "write to the workspace": works(() => fs.writeFileSync(at("new"), "")),
    "read the workspace": works(() => fs.readFileSync(at("file"))),
    "read a hidden file": works(() => fs.readFileSync(secret)),
    "write outside": works(() => fs.writeFileSync(path.join(outside, "new"), "")),
    "read a hidden file by another name": works(() => { fs.linkSync(secret, at("linked")); fs.readFileSync(at("linked")); }),
    "write a hook of git": works(() => fs.writeFileSync(at(".git", "hooks", "new"), "")),
    "write a hook of git in another case": works(() => fs.writeFileSync(at(".git", "Hooks", "other"), "")),
    "rename the git directory": works(() => fs.renameSync(at(".git"), at("renamed"))),
    "connect to the proxy": await connects(proxy),
    "connect to a server of this machine": await connects(other),
  })))();
`;

type Outcome = { readonly kind: "holds" } | { readonly kind: "failed"; readonly reason: string };

const maxTrialMs = 20_000;

let trial: Promise<Outcome> | undefined;

/** Once for all sessions of this process. `program`: another one than that of macOS. */
export async function trySeatbelt(program = seatbeltProgram): Promise<SandboxState> {
  const outcome = await (program === seatbeltProgram ? (trial ??= runTrial(program)) : runTrial(program));
  if (outcome.kind === "holds")
    return { kind: "works", with: "seatbelt", guardsSockets: true, limitsMemoryFiles: true };
  return {
    kind: "unavailable",
    reason: `The sandbox of macOS does not work here: ${outcome.reason}.`,
    fix: 'Set sandbox.seatbelt to false, and work in a container or a virtual machine, or set sandbox.mode to "off" to run commands without a sandbox.',
  };
}

async function runTrial(program: string): Promise<Outcome> {
  const directory = realpathSync(mkdtempSync(join(tmpdir(), "tau-seatbelt-")));
  const servers: Server[] = [];
  try {
    const [proxy, other] = [await listen(servers), await listen(servers)];
    const { workspace, outside, temporary } = createPlaces(directory);
    const { rules, parameters } = createSeatbeltProfile({
      mounts: [
        { kind: "writable", path: workspace },
        { kind: "hidden-file", path: join(outside, "secret") },
      ],
      temporary,
      protected: [{ root: workspace, names: [".git/hooks"], parents: [{ name: ".git", exists: true }] }],
      network: { ports: [proxy], reachesHosts: false },
    });
    const inside = [process.execPath, "-e", script, workspace, outside, String(proxy), String(other)] as const;
    const { output, complaint } = await run(program, [...toArguments({ rules, parameters }), ...inside], workspace);
    return judge(output, complaint);
  } catch (error) {
    return { kind: "failed", reason: getErrorMessage(error) };
  } finally {
    for (const server of servers) server.close();
    rmSync(directory, { recursive: true, force: true });
  }
}

/** Reads what the program inside printed. Pure. */
export function judge(output: string, complaint: string): Outcome {
  let answers: Partial<Record<Attempt, boolean>>;
  try {
    answers = JSON.parse(output) as typeof answers;
  } catch {
    const said = complaint.trim().replaceAll(/\s*\n\s*/g, "; ");
    return { kind: "failed", reason: `no program could be run in it (${said || "it said nothing"})` };
  }
  const wrong = (Object.keys(attempts) as Attempt[]).filter((attempt) => answers[attempt] !== attempts[attempt]);
  if (wrong.length === 0) return { kind: "holds" };
  const describe = (attempt: Attempt) => `a command ${attempts[attempt] ? "cannot" : "can"} ${attempt}`;
  return { kind: "failed", reason: wrong.map(describe).join(", ") };
}

function createPlaces(directory: string) {
  const [workspace, outside, temporary] = ["workspace", "outside", "temporary"].map((name) =>
    join(directory, name),
  ) as [string, string, string];
  for (const path of [join(workspace, ".git", "hooks"), outside, temporary]) mkdirSync(path, { recursive: true });
  writeFileSync(join(workspace, "file"), "");
  writeFileSync(join(outside, "secret"), "");
  return { workspace, outside, temporary };
}

async function listen(servers: Server[]): Promise<number> {
  const server = createServer((socket) => socket.end());
  servers.push(server);
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", resolve);
  });
  return (server.address() as AddressInfo).port;
}

async function run(program: string, args: readonly string[], cwd: string) {
  const child = nodeSpawn(program, args, { cwd, env: {}, stdio: ["ignore", "pipe", "pipe"] });
  const texts = { output: "", complaint: "" };
  child.stdout.on("data", (piece: Buffer) => (texts.output += piece.toString()));
  child.stderr.on("data", (piece: Buffer) => (texts.complaint += piece.toString()));
  const end = new Promise<void>((resolve) => {
    child.once("error", (error) => {
      texts.complaint = getErrorMessage(error);
      resolve();
    });
    child.once("close", () => resolve());
  });
  if ((await untilTimeout(end, maxTrialMs, systemClock)).kind !== "done") {
    child.kill("SIGKILL");
    texts.complaint = "it did not answer in time";
  }
  return texts;
}
