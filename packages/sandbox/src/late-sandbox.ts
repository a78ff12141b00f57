/** A sandbox whose code is loaded with the first command: many sessions run none. */
import type { PortPolicy } from "./network/asked-ports.ts";
import type { SessionSandbox, SessionSandboxOptions } from "./port.ts";

export function createLateSandbox(getOptions: () => SessionSandboxOptions): SessionSandbox {
  let opened: Promise<SessionSandbox> | undefined;
  let created: SessionSandbox | undefined;
  let portPolicy: PortPolicy | undefined;
  const create = async () => {
    const sandbox = (await import("./session-sandbox.ts")).createSessionSandbox(getOptions());
    if (portPolicy) sandbox.usePortPolicy(portPolicy);
    return (created = sandbox);
  };
  const open = () => (opened ??= create());
  return {
    get granted() {
      return created?.granted ?? { hosts: [], paths: [] };
    },
    usePortPolicy: (policy) => void (portPolicy = policy),
    enter: async (request) => (await open()).enter(request),
    join: (hosts) => ({ enter: async (request) => (await open()).join(hosts).enter(request) }),
    widen: async (grant) => (await open()).widen(grant),
    getState: async () => (await open()).getState(),
    findTemporary: async () => (await open()).findTemporary(),
    close: async () => (await opened)?.close(),
  };
}
