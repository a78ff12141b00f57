/** `/debugger`: what is being debugged, and ending or restarting it. */
import type { CommandDefinition } from "@tau/extensions";
import { getErrorMessage } from "@tau/ai/internal";
import { formatCommandLine } from "../kit/command-line.ts";
import { type MenuRow, showMenu } from "../kit/show-menu.ts";
import { toVisibleLine } from "../kit/visible-text.ts";
import type { Debugger } from "./debugger.ts";

const restartMs = 60_000;

export const createDebuggerCommand = (inSession: Debugger): CommandDefinition => ({
  description: "The program that is being debugged: its state, stop, restart",
  async handler(_args, { ui }) {
    const report = async (work: Promise<unknown>): Promise<void> => {
      await work.catch((error: unknown) => ui.notify(getErrorMessage(error), "error"));
    };
    if (!inSession.program) return void ui.notify("No program has been debugged in this session.", "info");
    await showMenu(ui, {
      title: inSession.isActive ? "Debugger" : "Debugger: no program is running",
      getRows: () => listRows(inSession, report),
    });
  },
});

function listRows(inSession: Debugger, report: (work: Promise<unknown>) => Promise<void>): MenuRow[] {
  const { program, sessions, isActive, breakpoints } = inSession;
  if (!program) return [];
  const { target } = program;
  const stop = { label: "Stop", run: () => report(inSession.end()) };
  const restart = {
    label: isActive ? "Restart" : "Start again",
    run: () =>
      report(
        inSession.use(async () => {
          await inSession.end();
          await inSession.start(target, { timeoutMs: restartMs });
        }),
      ),
  };
  const details = [
    `${target.adapter.name}: ${formatCommandLine([target.adapter.resolvedCommand, ...target.adapter.args])}`,
    `Directory: ${target.cwd}`,
    `Breakpoints: ${breakpoints.count}`,
  ];
  const [own, ...children] = sessions;
  const label = toVisibleLine(target.label, 100);
  return [
    {
      label: `${label} (${own?.status ?? "ended"})`,
      details,
      actions: isActive ? [stop, restart] : [restart],
    },
    ...children.map((child) => ({
      label: `child ${child.id} of ${label} (${child.status})`,
      actions: [{ label: "Stop", run: () => report(child.terminate()) }],
    })),
  ];
}
