/** The sandbox of a session that may be in plan mode: each command runs where it belongs when it is started. */
import type { SessionSandbox } from "./port.ts";

interface PlanSandboxParts {
  readonly usual: SessionSandbox;
  /** The sandbox of commands in plan mode, in which they can change nothing. */
  readonly readOnly: SessionSandbox;
  readonly isPlanning: () => boolean;
}

/** Grants beyond the settings apply to the usual sandbox only. */
export function createPlanSandbox({ usual, readOnly, isPlanning }: PlanSandboxParts): SessionSandbox {
  const getCurrent = () => (isPlanning() ? readOnly : usual);
  return {
    get granted() {
      return usual.granted;
    },
    usePortPolicy: (policy) => usual.usePortPolicy(policy),
    enter: (request) => getCurrent().enter(request),
    join: (hosts) => ({
      enter: (request) => (isPlanning() ? readOnly : usual).join(hosts).enter(request),
    }),
    widen: async (grant) => {
      const wider = await usual.widen(grant);
      // The person may turn plan mode on before the command is started.
      return { enter: (request) => (isPlanning() ? readOnly : wider).enter(request) };
    },
    getState: () => usual.getState(),
    findTemporary: () => getCurrent().findTemporary(),
    close: async () => void (await Promise.all([usual.close(), readOnly.close()])),
  };
}
