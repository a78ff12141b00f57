import type { ToolCallOutcome } from "@tau/agent";
import type { ExtensionFactory, ExtensionToolContext, ToolDefinition } from "@tau/extensions";
import { createFeatureApi } from "./feature-api.ts";

/** The defaults of the settings. */
const defaults = { mode: "on", inlineBudget: 3_000 };

export interface CodemodeExtensionOptions {
  /** Default: the setting `codemode.mode`. */
  mode?: "on" | "only";
  /** Default: the setting `codemode.inlineBudget`. */
  inlineBudget?: number;
}

/**
 * pi's `createCodemodeExtension`: the tool `codemode` of tau. It is not active unless something names it. With the mode
 * `only`, it takes the place of the other tools when it is active as the session starts.
 */
export const createCodemodeExtension =
  (options: CodemodeExtensionOptions = {}): ExtensionFactory =>
  async (pi) => {
    const { codemode } = await import("@tau/features");
    const feature = codemode();
    const codemodeTool = feature.tools![0]!;
    const register = await feature.load({} as never);
    let definition: ToolDefinition | undefined;
    const describe = (names: readonly string[]) => {
      const tools = pi.getAllTools().filter(({ name }) => names.includes(name) && name !== codemodeTool.name);
      const settings = {
        codemode: { ...defaults, ...(pi.getSettings() as { codemode?: object }).codemode, ...options },
      };
      return codemodeTool.describeBeside!(tools, settings as never);
    };
    await register(
      createFeatureApi(pi, {
        registerTool(tool) {
          definition = {
            ...tool,
            defaultActive: false,
            exposure: "model-only",
            execute: (id, args, signal, onUpdate, context) =>
              tool.execute(id, args, signal, onUpdate, withExitCodes(context)),
          };
          pi.registerTool({
            ...definition,
            description: codemodeTool.describeBeside!([], { codemode: defaults } as never).description,
          });
        },
      }),
    );
    pi.on("session_start", () => {
      const active = pi.getActiveTools();
      if (!definition || !active.includes(codemodeTool.name)) return;
      const { description, hides } = describe(active);
      pi.registerTool({ ...definition, description });
      if (hides) pi.setActiveTools([codemodeTool.name]);
    });
  };

/** Scripts get the exit code of a command, which pi's tool has only in its text. */
const withExitCodes = (context: ExtensionToolContext): ExtensionToolContext =>
  Object.create(context, {
    executeTool: {
      value: async (...call: Parameters<ExtensionToolContext["executeTool"]>) => {
        const outcome = await context.executeTool(...call);
        return call[0] === "bash" ? addExitCode(outcome) : outcome;
      },
    },
  }) as ExtensionToolContext;

function addExitCode(outcome: ToolCallOutcome): ToolCallOutcome {
  const { result, isError } = outcome;
  const [text] = result.content;
  if (!isError) return { ...outcome, result: { ...result, details: { ...result.details, exitCode: 0 } } };
  const [whole, output = "", code] =
    (text?.type === "text" && /^([^]*?)\n*Command exited with code (\d+)$/.exec(text.text)) || [];
  if (whole === undefined) return outcome;
  return { ...outcome, errorDetails: { exitCode: Number(code), outputLength: output.length } };
}
