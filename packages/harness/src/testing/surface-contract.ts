/**
 * The contract of every surface: after each step, the view of the surface equals that of the host. The script has prompts,
 * steering, an approval, a denial, an abort, a lost connection, a branch, a compaction and navigation.
 */
import {
  type Approval,
  type Command,
  type CommandData,
  type CommandName,
  type View,
  HarnessError,
} from "@tau/protocol";
import type { Host } from "../host/host.ts";
import type { Cursor } from "../host/hosted-session.ts";

/** A surface under test, connected to one session of a host. */
export interface ContractSurface {
  /** Executes a command as a client of this surface does, and resolves with its data. */
  execute<Name extends CommandName>(command: Command<Name>): Promise<CommandData<Name>>;
  /** The view that the surface has built from its events. */
  view(): View;
  /** The position of the surface in the stream of events. */
  cursor(): Cursor;
  /** Cuts the connection, so that the surface misses events. */
  disconnect(): void | Promise<void>;
  /** Connects again, with the cursor from before. */
  reconnect(from: Cursor): void | Promise<void>;
  close(): void | Promise<void>;
}

export interface SurfaceContractCase {
  host: Host;
  sessionId: string;
  connect: (host: Host, sessionId: string) => ContractSurface | Promise<ContractSurface>;
  /** Sets what the model does next. Called before each step that uses it. */
  script: (steps: readonly ContractStep[]) => void;
  /** Resolves when the surface has received every event so far. */
  settle: (surface: ContractSurface) => Promise<void>;
}

/** Steps that the scripted model takes next. */
export type ContractStep =
  | { kind: "answer"; text: string }
  /** Calls the tool `look`, which waits for `release`. */
  | { kind: "look" }
  /** Reads a path outside the workspace, so that the policy asks. */
  | { kind: "ask" };

export interface ContractReport {
  /** The name of each step, and whether the views were equal after it. */
  steps: readonly { name: string; isEqual: boolean; surface: View; host: View }[];
  questions: readonly Approval[];
}

/** Runs the script. The caller asserts that every step is equal. */
export async function surfaceContract(
  { host, sessionId, connect, script, settle }: SurfaceContractCase,
  release: () => void,
): Promise<ContractReport> {
  const steps: ContractReport["steps"][number][] = [];
  const questions: Approval[] = [];
  const surface = await connect(host, sessionId);
  const hosted = host.get(sessionId);
  const stop = hosted.subscribe((item) => {
    if (item.kind === "event" && item.event.type === "approval_requested") questions.push(item.event.approval);
  });
  const check = async (name: string) => {
    await hosted.session.waitForIdle();
    await settle(surface);
    const [surfaceView, hostView] = [surface.view(), hosted.view];
    const isEqual = JSON.stringify(surfaceView) === JSON.stringify(hostView);
    steps.push({ name, isEqual, surface: surfaceView, host: hostView });
  };
  const waitFor = (what: string, isReached: () => boolean) =>
    new Promise<void>((resolve, reject) => {
      const unsubscribe = hosted.subscribe((item) => {
        const isOver = item.kind === "event" && item.event.type === "agent_end";
        if (!isReached() && !isOver) return;
        queueMicrotask(() => unsubscribe());
        if (isReached()) resolve();
        else reject(new HarnessError("run_failed", `The run of the contract ended without ${what}.`));
      });
    });
  try {
    script([{ kind: "answer", text: "One." }]);
    await surface.execute({ type: "execute", prompt: "First." });
    await check("a prompt");
    const { leafId } = hosted.view.log;

    script([{ kind: "look" }, { kind: "answer", text: "As you say." }]);
    const steered = surface.execute({ type: "execute", prompt: "Look around." });
    await waitFor("a call of the tool look", () => hosted.view.live.tools.length > 0);
    await surface.execute({ type: "steer", message: "Be brief." });
    release();
    await steered;
    await check("steering");

    for (const decision of ["allow", "deny"] as const) {
      script([{ kind: "ask" }, { kind: "answer", text: "Done." }]);
      const asked = surface.execute({ type: "execute", prompt: "Look outside." });
      await waitFor("a question about a path outside", () => hosted.view.live.approvals.length > 0);
      const [{ id: approvalId }] = hosted.view.live.approvals as [Approval];
      await surface.execute({ type: "approve", approvalId, decision });
      await asked;
      await check(decision === "allow" ? "an approval" : "a denial");
    }

    script([{ kind: "look" }]);
    const aborted = surface.execute({ type: "prompt", message: "Look again." });
    await waitFor("a call of the tool look", () => hosted.view.live.tools.length > 0);
    await aborted;
    await surface.execute({ type: "abort" });
    release();
    await check("an abort");

    script([{ kind: "answer", text: "Cut." }]);
    const cursor = surface.cursor();
    await surface.disconnect();
    await hosted.run("Sent while the surface is disconnected.", {});
    await surface.reconnect(cursor);
    await check("a lost connection");

    const branched = await surface.execute({ type: "branch", entryId: leafId! });
    await check("a branch");
    if (host.sessionIds.includes(branched.sessionId)) await host.close(branched.sessionId);

    script([{ kind: "answer", text: "A summary." }]);
    await surface.execute({ type: "compact" }).catch(() => {});
    await check("a compaction");

    await surface.execute({ type: "navigate", entryId: leafId });
    await check("navigation");
    return { steps, questions };
  } finally {
    stop();
    await surface.close();
  }
}
