/** The code of the feature `debug`: its tool and its command, for one session. */
import { type Clock, systemClock } from "@tau/ai";
import {
  type ExtensionFactory,
  type ExtensionToolContext,
  type FeaturePlace,
  getFeatureSettings,
} from "@tau/extensions";
import { formatCommandLine } from "../kit/command-line.ts";
import { actions, type ActionPorts } from "./actions.ts";
import type { DapAdapter, DapResolvedAdapter } from "./adapters.ts";
import { chooseAdapter, listAdapters, probeAdapter, type ProbeResult } from "./choose-adapter.ts";
import { Debugger } from "./debugger.ts";
import { DebugFailure } from "./failure.ts";
import { type DebugArguments, debugTool } from "./feature.ts";
import { createDebuggerCommand } from "./menu.ts";
import { debugSettings } from "./settings.ts";

export const createDebugExtension =
  (
    { cwd, env }: Pick<FeaturePlace, "cwd" | "env">,
    { clock = systemClock }: { clock?: Clock } = {},
  ): ExtensionFactory =>
  (tau) => {
    const inSession = new Debugger({
      spawn: (command, args, options) => tau.spawn(command, args, options),
      clock,
      log: (message) => tau.log("debug", message),
    });
    const probed = new Map<string, Promise<ProbeResult>>();
    const probe = (adapter: DapAdapter, command: string): Promise<ProbeResult> => {
      const key = `${adapter.name} ${command}`;
      const result = probed.get(key) ?? probeAdapter(tau, adapter, { command, cwd });
      probed.set(key, result);
      // One that cannot be used may be installed meanwhile.
      void result.then(
        ({ isUsable }) => void (isUsable || probed.delete(key)),
        () => probed.delete(key),
      );
      return result;
    };

    const createPorts = (context: ExtensionToolContext, signal: AbortSignal | undefined): ActionPorts => ({
      debugger: inSession,
      cwd,
      signal,
      files: context.ports!.files,
      async chooseAdapter(name, program) {
        const { adapters } = getFeatureSettings(tau, debugSettings).debug;
        const place = { cwd, isProjectTrusted: context.isProjectTrusted(), path: env["PATH"] };
        return await chooseAdapter({ adapters: listAdapters(adapters), place, name, program, probe });
      },
      async allowStart(adapter, { attachesTo }) {
        const command = formatCommandLine([adapter.resolvedCommand, ...adapter.args]);
        const summary = `Start the debugger ${adapter.name}${attachesTo === undefined ? "" : ` for ${attachesTo}`}: ${command}`;
        const access = [{ capability: "exec", target: { kind: "command", command } }] as const;
        const verdict = await tau.requestAccess(access, { name: debugTool.name, summary, signal });
        if (verdict.kind === "denied") throw new DebugFailure("denied", verdict.reason);
        const isOutside = attachesTo !== undefined && tau.getSettings().sandbox.mode !== "off";
        if (isOutside) await askToLeaveSandbox(context, adapter, attachesTo);
        return { isOutside };
      },
      keepText: (text) => tau.keepText(text),
    });

    tau.registerTool({
      ...debugTool,
      async execute(_id, args: DebugArguments, signal, _onUpdate, context) {
        const ports = createPorts(context, signal);
        const { text, stop } = await inSession.use(() => actions[args.action](args, ports));
        return { content: [{ type: "text", text }], details: stop ? { stop } : {} };
      },
    });
    tau.registerCommand("debugger", createDebuggerCommand(inSession));
    tau.on("session_shutdown", async () => void (await inSession.end()));
  };

/**
 * A program that runs elsewhere cannot be seen from a sandbox, so that its debugger has the rights of the user. Only a person can
 * say so, each time.
 */
async function askToLeaveSandbox(
  { hasUI, ui }: ExtensionToolContext,
  { name, resolvedCommand, args }: DapResolvedAdapter,
  attachesTo: string,
): Promise<void> {
  const title = `Attach ${name} to ${attachesTo}, outside of the sandbox?`;
  const message = `${formatCommandLine([resolvedCommand, ...args])}\nIt will have your rights, and the model can run code in that program.`;
  const isAllowed = hasUI && (await ui.confirm(title, message));
  if (!isAllowed)
    throw new DebugFailure(
      "denied",
      `${attachesTo} runs outside of the sandbox, and nobody allowed a debugger there. Launch the program with debug instead.`,
    );
}
