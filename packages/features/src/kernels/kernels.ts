/** The tool `eval`, the command `/kernels` and the tools that kernels register, for one session. */
import { systemClock } from "@tau/ai";
import { getErrorMessage } from "@tau/ai/internal";
import { type ExtensionAPI, type FeaturePlace, getFeatureSettings } from "@tau/extensions";
import { showMenu } from "../kit/show-menu.ts";
import { createAnswer } from "./answer-request.ts";
import { CellOutput } from "./cell-output.ts";
import {
  type EvalArguments,
  evalTool,
  findPythonAt,
  type KernelsPorts,
  kernelsSettings,
  languages,
} from "./feature.ts";
import { formatCell } from "./format-cell.ts";
import { KernelError } from "./kernel-error.ts";
import { KernelSet } from "./kernel-set.ts";
import { rewriteImports } from "./rewrite-imports.ts";

export function registerKernels(
  tau: ExtensionAPI,
  { settings, env }: Pick<FeaturePlace, "settings" | "env">,
  { clock = systemClock }: KernelsPorts,
): void {
  const getSettings = () => getFeatureSettings(tau, kernelsSettings).kernels;
  let set: KernelSet | undefined;
  const getSet = (cwd: string) =>
    (set ??= new KernelSet({ tau, clock, getSettings, findPython: () => findPythonAt({ cwd, settings, env }) }));
  tau.on("session_shutdown", () => set?.endAll("Its session has ended."));

  tau.registerTool({
    ...evalTool,
    async execute(toolCallId, { language, code, timeoutMs, reset }: EvalArguments, signal, onUpdate, context) {
      if (tau.getPermissionMode() === "plan")
        throw new KernelError("denied", "Cells do not run in plan mode: a kernel can write files.");
      const startMs = clock.monotonic();
      const output = new CellOutput(
        clock,
        onUpdate && ((text) => onUpdate({ content: [{ type: "text", text }], updateType: "stdout" })),
      );
      const { outcome, lost } = await getSet(context.cwd).run({
        language,
        code: language === "javascript" ? rewriteImports(code) : code,
        callId: toolCallId,
        reset,
        timeoutMs,
        signal,
        onOutput: (chunk) => output.push(chunk),
        answer: createAnswer({ context, signal, tau, print: (text) => output.push(Buffer.from(text)) }),
      });
      return await formatCell(outcome, {
        language,
        lost,
        timeoutMs,
        output: output.finish(),
        durationMs: Math.round(clock.monotonic() - startMs),
        keepText: (text) => tau.keepText(text),
      });
    },
  });

  tau.registerCommand("kernels", {
    description: "Kernels of this session: list, restart and end them",
    async handler(args, context) {
      const [action, name] = args.trim().split(/\s+/);
      const own = getSet(context.cwd);
      const language = languages.find((each) => each === name);
      if (action === "restart" || action === "end") {
        if (!language) return context.ui.notify(`Say which: /kernels ${action} ${languages.join("|")}`, "warning");
        return context.ui.notify(await act(own, action, language), "info");
      }
      if (action) return context.ui.notify("Use /kernels, /kernels restart NAME or /kernels end NAME.", "warning");
      if (!context.hasUI) return context.ui.notify(own.describe().join("\n"), "info");
      await showMenu(context.ui, {
        title: "Kernels",
        getRows: () =>
          languages.map((each) => ({
            label: own.describeOne(each),
            actions: [
              { label: "Restart", run: async () => context.ui.notify(await act(own, "restart", each), "info") },
              { label: "End", run: async () => context.ui.notify(await act(own, "end", each), "info") },
            ],
          })),
      });
    },
  });
}

async function act(set: KernelSet, action: "restart" | "end", language: (typeof languages)[number]): Promise<string> {
  try {
    const hadOne = await set.end(language, action === "restart" ? "The user restarted it." : "The user ended it.");
    if (action === "end") return hadOne ? `The ${language} kernel was ended.` : `There is no ${language} kernel.`;
    await set.start(language);
    return `The ${language} kernel was restarted; its variables are gone.`;
  } catch (error) {
    return `The ${language} kernel could not be restarted: ${getErrorMessage(error)}`;
  }
}
