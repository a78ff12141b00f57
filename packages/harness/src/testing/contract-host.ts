/** A host with a scripted model, for the contract of surfaces. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, parse } from "node:path";
import { call, scriptedModel, text } from "@tau/ai/testing";
import { createHost, type Host } from "../host/host.ts";
import { SessionManager } from "../session/session-manager.ts";
import { SettingsManager } from "@tau/config/settings";
import type { ContractStep } from "./surface-contract.ts";

export interface ContractHost {
  host: Host;
  sessionId: string;
  /** Sets what the model does next. */
  script: (steps: readonly ContractStep[]) => void;
  /** Lets the tool `look` end. */
  release: () => void;
  /** Disposes of the host and removes its files. */
  close: () => Promise<void>;
}

export async function openContractHost(): Promise<ContractHost> {
  const directory = await mkdtemp(join(tmpdir(), "tau-host-"));
  // The only path that is never in a temporary directory, which a session may read without asking.
  const outside = parse(directory).root;
  const model = scriptedModel([]);
  // A run may be released before its tool waits.
  let isReleased = false;
  let release = (): void => void (isReleased = true);
  const look = {
    name: "look",
    label: "look",
    description: "Looks around.",
    parameters: { type: "object", properties: {} },
    execute: async (_id: string, _params: unknown, signal?: AbortSignal) => {
      await new Promise<void>((resolve) => {
        release = resolve;
        signal?.addEventListener("abort", () => resolve(), { once: true });
        if (isReleased) resolve();
      });
      isReleased = false;
      release = () => void (isReleased = true);
      return { content: [{ type: "text" as const, text: "A wall." }] };
    },
  };
  const agentDir = join(directory, "agent");
  const host = createHost({
    agentDir,
    params: {
      cwd: directory,
      agentDir,
      model,
      customTools: [look],
      settingsManager: SettingsManager.inMemory({ compaction: { keepRecentTokens: 10 } }),
      ask: "surface",
    },
  });
  const sessionId = await host.open(await SessionManager.create(directory, join(directory, "sessions")));
  const toTurn = (step: ContractStep) => {
    if (step.kind === "look") return [call("look")];
    return step.kind === "ask" ? [call("read", { path: outside })] : [text(step.text)];
  };
  return {
    host,
    sessionId,
    script: (steps) => model.add(...steps.map(toTurn)),
    release: () => release(),
    close: async () => {
      await host.dispose();
      await rm(directory, { recursive: true, force: true });
    },
  };
}
