/** The behaviour that every surface shares, whatever its lines look like. */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { WireReply } from "@tau/ai/testing";
import { describe, expect, test } from "vitest";
import { call, createModelWorkspace, type ModelWorkspace, textReply, toolReply } from "./kit.ts";

/** A session as a client of the surface has seen it so far, read from its lines alone. */
export interface SeenSession {
  /** The text of all answers, in the order of its pieces. */
  text: string;
  /** How often each call began and ended, by its id. */
  calls: Map<string, { begun: number; ended: number; failed: boolean }>;
  /** The ids of the calls that were reported as not allowed. */
  denied: Set<string>;
}

export const createSeenSession = (): SeenSession => ({ text: "", calls: new Map(), denied: new Set() });

export function noteCall(seen: SeenSession, id: string, change: { begun?: true; ended?: { failed: boolean } }): void {
  const { begun, ended, failed } = seen.calls.get(id) ?? { begun: 0, ended: 0, failed: false };
  seen.calls.set(id, {
    begun: begun + (change.begun ? 1 : 0),
    ended: ended + (change.ended ? 1 : 0),
    failed: change.ended?.failed ?? failed,
  });
}

/** A client of the surface. Questions are answered with no, where the surface asks any. */
export interface SurfaceClient {
  readonly seen: SeenSession;
  /** Resolves when the run is over. */
  prompt(text: string): Promise<"done" | "aborted">;
  abort(): void;
  /** Closes the input. Resolves with the exit code. */
  close(): Promise<number>;
}

const hang: WireReply = { kind: "raw", chunks: [], ending: "hang" };

/** Declares the tests. `open` begins a session in the workspace, until the end of the test at the latest. */
export function surfaceContract(name: string, open: (workspace: ModelWorkspace) => Promise<SurfaceClient>): void {
  describe(`the surface ${name}`, () => {
    test("gives the text of an answer once and in order", async () => {
      const answer = Array.from({ length: 200 }, (_each, index) => `word${index} `).join("");
      const client = await open(await createModelWorkspace([textReply(answer)]));
      expect(await client.prompt("Say it.")).toBe("done");
      expect(client.seen.text).toBe(answer);
    });

    test("reports the beginning and the end of each call exactly once, also of one that fails", async () => {
      const workspace = await createModelWorkspace([
        { kind: "answer", answer: { content: [call("ls", {}), call("read", { path: "missing.txt" })] } },
        toolReply("nothing_of_that_name"),
        textReply("Done."),
      ]);
      const client = await open(workspace);
      expect(await client.prompt("Look.")).toBe("done");
      const calls = [...client.seen.calls.values()];
      expect(calls).toEqual([
        { begun: 1, ended: 1, failed: false },
        { begun: 1, ended: 1, failed: true },
        { begun: 1, ended: 1, failed: true },
      ]);
      expect(client.seen.text).toBe("Done.");
    });

    test("reports a call that is not allowed, which ends like every other, and the run continues", async () => {
      const workspace = await createModelWorkspace([
        toolReply("read", { path: "/etc/hostname" }),
        textReply("Then not."),
      ]);
      const client = await open(workspace);
      expect(await client.prompt("Read it.")).toBe("done");
      expect([...client.seen.calls.values()]).toEqual([{ begun: 1, ended: 1, failed: true }]);
      expect([...client.seen.denied]).toEqual([...client.seen.calls.keys()]);
      expect(client.seen.text).toBe("Then not.");
    });

    test("ends the run when it is aborted, and the call that was running", async () => {
      const workspace = await createModelWorkspace([toolReply("bash", { command: "sleep 600" })]);
      const client = await open(workspace);
      const prompted = client.prompt("Sleep.");
      await expect.poll(() => [...client.seen.calls.values()][0]?.begun).toBe(1);
      client.abort();
      expect(await prompted).toBe("aborted");
      expect([...client.seen.calls.values()]).toEqual([{ begun: 1, ended: 1, failed: true }]);
      expect(workspace.server.requests).toHaveLength(1);
    });

    test("ends the program when its input is closed", async () => {
      const client = await open(await createModelWorkspace([textReply("Done.")]));
      await client.prompt("Go.");
      expect(await client.close()).toBe(0);
    });
  });
}

/** Declares a test for surfaces that stay open between prompts. */
export function openSurfaceContract(name: string, open: (workspace: ModelWorkspace) => Promise<SurfaceClient>): void {
  test(`the surface ${name} ends the program when its input is closed during a run, and the prompt is stored`, async () => {
    const workspace = await createModelWorkspace([hang]);
    const client = await open(workspace);
    void client.prompt("Remember me.").catch(() => undefined);
    await expect.poll(() => workspace.server.requests.length).toBe(1);
    expect(await client.close()).toBe(0);
    const files = await readdir(join(workspace.agentDir, "sessions"), { recursive: true });
    const log = files.find((file) => file.endsWith(".jsonl"))!;
    expect(await readFile(join(workspace.agentDir, "sessions", log), "utf8")).toContain("Remember me.");
  });
}
