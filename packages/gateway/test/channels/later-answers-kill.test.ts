/** A gateway that is killed between a person's answer to a question and the end of the run that the answer resumes. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { buildChild } from "../fixtures/child.ts";

interface Sent {
  readonly nonce: string;
  readonly text: string;
  readonly buttons?: readonly { readonly value: string }[];
}

const patience = { timeout: 60_000 };

test.each([
  { kind: "files", every: 3 },
  // Each gateway is on another machine: it has nothing but the storage.
  { kind: "storage", every: 6 },
])(
  "$kind: whichever step the gateway is killed at after an answer, the call is made once at most, and the person gets one answer",
  { timeout: 1_200_000 },
  async ({ kind, every }) => {
    const root = mkdtempSync(join(tmpdir(), "tau-later-kill-"));
    let child: ChildProcess | undefined;
    onTestFinished(() => {
      child?.kill("SIGKILL");
      rmSync(root, { recursive: true, force: true });
    });
    const program = join(root, "asked-child.mjs");
    await buildChild(fileURLToPath(new URL("asked-child.ts", import.meta.url)), program);
    // The log keeps its path: one with another path has no question.
    const [place, backup] = [join(root, "place"), join(root, "backup")];
    const agentDir = join(place, "agent");
    mkdirSync(join(agentDir, "gateway"), { recursive: true, mode: 0o700 });
    const peers = [{ accountId: "chat", id: "ann", name: "Ann", pairedAt: 1 }];
    writeFileSync(join(agentDir, "gateway/channel-peers.json"), JSON.stringify({ peers, codes: [] }), { mode: 0o600 });

    const start = async (step = 0) => {
      if (kind === "storage") rmSync(agentDir, { recursive: true });
      const args = [program, agentDir, place, String(step), kind];
      const started = spawn(process.execPath, args, { stdio: ["pipe", "pipe", "inherit"] });
      child = started;
      started.stdin.on("error", () => {});
      await once(started.stdout, "data");
      return started;
    };
    const end = async (signal: NodeJS.Signals = "SIGKILL") => {
      child!.kill(signal);
      await once(child!, "exit");
    };
    const write = (id: string, text: string) => child!.stdin!.write(`${JSON.stringify({ id, text })}\n`);
    const read = <T>(name: string): T[] => {
      const path = join(place, name);
      if (!existsSync(path)) return [];
      const lines = readFileSync(path, "utf8").split("\n");
      return lines.filter((line) => line !== "").map((line) => JSON.parse(line) as T);
    };
    const listQuestions = () => read<Sent>("sent").flatMap(({ buttons }) => buttons?.[0]?.value ?? []);
    // What the platform got twice with the same nonce, people see once.
    const countAnswers = () =>
      new Set(read<Sent>("sent").flatMap(({ nonce, text }) => (text === "Done." ? [nonce] : []))).size;

    await start();
    write("m1", "Refund it");
    await expect.poll(() => listQuestions().length, patience).toBe(1);
    await expect.poll(() => read("received"), patience).toEqual(["m1"]);
    await end();
    const [yes = ""] = listQuestions();
    cpSync(place, backup, { recursive: true });

    const whole = await start();
    write("m2", yes);
    await expect.poll(countAnswers, patience).toBe(1);
    const steps = once(whole.stdout, "data");
    await end("SIGTERM");
    const count = Number(String((await steps)[0]));
    expect(count).toBeGreaterThan(5);
    expect(read("made")).toHaveLength(1);

    const all = Array.from({ length: count }, (_, index) => index + 1);
    let askedAgain = 0;
    for (const step of process.env["TAU_LONG"] ? all : all.filter((each) => each % every === 0)) {
      rmSync(place, { recursive: true });
      cpSync(backup, place, { recursive: true });
      const killed = await start(step);
      write("m2", yes);
      if (killed.exitCode === null && killed.signalCode === null) await once(killed, "exit");
      const before = read("made").length;
      await start();
      // Until it is acknowledged, the platform sends the message again.
      if (!read("received").includes("m2")) write("m2", yes);
      const isDone = () => {
        // An answer that was lost with the process is asked for again.
        if (listQuestions().length > 1 + askedHere) write(`m${3 + askedHere++}`, yes);
        return countAnswers();
      };
      let askedHere = 0;
      await expect.poll(isDone, patience).toBe(1);
      await end();
      askedAgain += askedHere;
      const made = read("made").length;
      // A call that had begun is not repeated, so it may not have been made at all.
      expect([step, made <= 1, made >= before]).toEqual([step, true, true]);
      await start();
      await end();
      expect([step, countAnswers(), read("made").length]).toEqual([step, 1, made]);
    }
    if (process.env["TAU_LONG"]) console.log(JSON.stringify({ steps: count, askedAgain }));
  },
);
