/** Kernels: code in Python and JavaScript that keeps its variables and calls tools. */
import { nonEmptyText, wholeNumber } from "@tau/config/fields";
import { group, resolveFields, setting } from "@tau/config/settings";
import type { Clock } from "@tau/ai";
import type { Feature, FeaturePlace, FeatureTool } from "@tau/extensions";
import type { DoctorResult } from "@tau/extensions";
import { findPython } from "./find-python.ts";

export const kernelsSettings = {
  kernels: group("Kernels, which run the cells of the tool `eval`.", {
    python: setting(nonEmptyText, {
      default: undefined,
      project: "when trusted",
      description:
        "The Python of kernels: a path, or a name on PATH. Default: that of `VIRTUAL_ENV`, `.venv` or `venv`, or `python3`.",
    }),
    idleMinutes: setting(wholeNumber({ min: 1, unit: "minutes" }), {
      default: 30,
      description: "After how many minutes without a cell a kernel ends.",
    }),
    maxMemoryMb: setting(wholeNumber({ min: 64, unit: "megabytes" }), {
      default: undefined,
      project: "when trusted",
      description: "How much memory a kernel may use, in megabytes. Default: as much as commands.",
    }),
  }),
};

export const evalToolName = "eval";
export const languages = ["python", "javascript"] as const;
export type Language = (typeof languages)[number];

export interface EvalArguments {
  language: Language;
  code: string;
  timeoutMs?: number;
  reset?: boolean;
}

const maxSummary = 100;

const parameters = {
  type: "object",
  properties: {
    language: { type: "string", enum: [...languages] },
    code: { type: "string" },
    timeoutMs: { type: "integer", minimum: 1, description: "Default: none" },
    reset: { type: "boolean", description: "Start with a new kernel" },
  },
  required: ["language", "code"],
};

export const evalTool: FeatureTool = {
  name: evalToolName,
  category: "runtime",
  label: "Eval",
  description:
    'Run a cell of Python or JavaScript (Node) in a kernel that keeps variables, imports and functions. The last expression is the result; print, display and top-level await work. Tools are functions: await tool.grep(pattern="x") or await tool.grep({ pattern: "x" }); results are data.',
  parameters,
  describeAt: (place) => (findPythonAt(place) === undefined ? withoutPython : {}),
  promptSnippet: "run code that keeps its variables",
  access: ({ language, code }: EvalArguments) => [
    { capability: "exec", target: { kind: "command", command: toCommand(language, code) } },
  ],
  summarise: ({ language, code }: EvalArguments) =>
    `Run ${language === "python" ? "Python" : "JavaScript"}: ${code.trim().split("\n")[0]!.slice(0, maxSummary)}`,
  shows: "cell",
  executionMode: "parallel",
  exposure: "deferred",
};

/** Describes the tool where there is no Python. */
const withoutPython = {
  description:
    'Run a cell of JavaScript (Node) in a kernel that keeps variables, imports and functions. The last expression is the result; console.log, display and top-level await work. Tools are functions: await tool.grep({ pattern: "x" }); results are data.',
  parameters: {
    ...parameters,
    properties: { ...parameters.properties, language: { type: "string", enum: ["javascript"] } },
  },
};

/** The Python of kernels there. */
export const findPythonAt = ({
  cwd,
  settings,
  env,
}: Pick<FeaturePlace, "cwd" | "settings" | "env">): string | undefined =>
  findPython({
    setting: resolveFields(kernelsSettings, settings.get()).kernels.python,
    env,
    cwd,
    isProjectTrusted: settings.isProjectTrusted,
  });

/** The command that does the same, as a policy judges it: it reads the code for programs that it starts. */
const toCommand = (language: Language, code: string): string =>
  `${language === "python" ? "python3 -c" : "node -e"} '${code.replaceAll("'", `'\\''`)}'`;

export interface KernelsPorts {
  /** Default: the clock of the system. */
  clock?: Clock;
}

/** The feature `kernels`: the tool `eval`. */
export const kernels = (ports: KernelsPorts = {}): Feature => ({
  name: "kernels",
  summary: "Cells of Python and JavaScript that keep their variables and call tools.",
  tools: [evalTool],
  commands: [{ name: "kernels", description: "Kernels of this session: list, restart and end them" }],
  settings: kernelsSettings,
  doctor: [{ name: "kernels", check: checkPython }],
  isOffered: ({ canStartPrograms }) => canStartPrograms,
  load: async (place) => {
    const { registerKernels } = await import("./kernels.ts");
    return (tau) => registerKernels(tau, place, ports);
  },
});

async function checkPython(place: FeaturePlace): Promise<DoctorResult> {
  const { python: wanted } = resolveFields(kernelsSettings, place.settings.get()).kernels;
  const path = findPythonAt(place);
  if (path !== undefined) return { status: "ok", says: `Python kernels run ${path}` };
  return {
    status: "warn",
    says:
      wanted === undefined
        ? "there is no python3, so cells can only be JavaScript"
        : `the Python of kernels.python, ${wanted}, does not exist, so cells can only be JavaScript`,
    fix: wanted === undefined ? "Install python3 (3.9 or newer), or set kernels.python." : "Correct kernels.python.",
  };
}
