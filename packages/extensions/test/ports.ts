/** Ports for extensions where nothing around them matters. */
import { createFakeClock } from "@tau/ai/testing";
import { createEventBus } from "../src/runner/create-api.ts";
import { createLifetime } from "../src/runner/create-context.ts";
import type { ExtensionProblem } from "../src/api/extension.ts";
import type { InProcessPorts } from "../src/load/load-in-process.ts";

/** `reported` gets the problems after loading. */
export function createPorts(changes: Partial<InProcessPorts> = {}) {
  const reported: ExtensionProblem[] = [];
  const ports: InProcessPorts = {
    clock: createFakeClock(),
    loadShared: () => undefined,
    cacheDirectory: undefined,
    lifetime: createLifetime(),
    events: createEventBus(),
    getSession: () => undefined,
    flagValues: new Map(),
    findFlag: () => undefined,
    listMcpServers: () => [],
    report: (problem) => reported.push(problem),
    log: () => {},
    ...changes,
  };
  return { ports, reported };
}
