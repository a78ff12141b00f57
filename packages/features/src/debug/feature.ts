/** A debugger for the model: it starts programs, stops them at lines, and looks at their variables. */
import { extname } from "node:path";
import type { Feature, FeatureTool } from "@tau/extensions";
import type { AccessRequest } from "@tau/tools";
import { formatCommandLine } from "../kit/command-line.ts";
import { debugSettings } from "./settings.ts";

const debugActions = [
  "launch",
  "attach",
  "set_breakpoint",
  "remove_breakpoint",
  "continue",
  "step_over",
  "step_in",
  "step_out",
  "pause",
  "evaluate",
  "stack_trace",
  "threads",
  "scopes",
  "variables",
  "output",
  "terminate",
  "sessions",
  "custom_request",
] as const;

export type DebugAction = (typeof debugActions)[number];

export interface DebugArguments {
  action: DebugAction;
  program?: string;
  args?: string[];
  cwd?: string;
  adapter?: string;
  file?: string;
  line?: number;
  function?: string;
  condition?: string;
  hitCondition?: string;
  expression?: string;
  frameId?: number;
  variablesReference?: number;
  pid?: number;
  port?: number;
  levels?: number;
  timeoutMs?: number;
}

/** Programs that run files of these endings, as a person would type it. */
const interpreters: Readonly<Record<string, string>> = {
  ".py": "python3",
  ".go": "go run",
  ".js": "node",
  ".mjs": "node",
  ".cjs": "node",
  ".ts": "node",
  ".mts": "node",
  ".cts": "node",
  ".sh": "bash",
  ".bash": "bash",
  ".php": "php",
  ".dart": "dart run",
  ".dll": "dotnet",
  ".exs": "elixir",
};

/** The command line that would run the program without a debugger. It is judged as that. */
export function formatProgram({ program = "", args = [], cwd }: DebugArguments): string {
  const interpreter = interpreters[extname(program).toLowerCase()];
  const path = interpreter !== undefined || program.includes("/") ? program : `./${program}`;
  const line = [...(interpreter === undefined ? [] : [interpreter]), formatCommandLine([path, ...args])].join(" ");
  return cwd === undefined ? line : `${formatCommandLine(["cd", cwd])} && ${line}`;
}

/** Steps and looks follow from the start that was allowed; code that is evaluated does not. */
function listAccess(args: DebugArguments): AccessRequest[] {
  switch (args.action) {
    case "launch":
      // Without a program it is refused.
      return args.program === undefined
        ? []
        : [{ capability: "exec", target: { kind: "command", command: formatProgram(args) } }];
    case "attach":
    case "evaluate":
    case "custom_request":
      return [{ capability: "exec", target: { kind: "name", name: "debug" } }];
    case "set_breakpoint":
      return args.condition === undefined && args.hitCondition === undefined
        ? []
        : [{ capability: "exec", target: { kind: "name", name: "debug" } }];
    default:
      return [];
  }
}

function summarise(args: DebugArguments): string {
  const { action, file, line, function: name, expression, pid, port } = args;
  const place = file === undefined ? (name ?? "") : `${file}${line === undefined ? "" : `:${line}`}`;
  switch (action) {
    case "launch":
      return `Debug ${formatProgram(args)}`;
    case "attach":
      return `Debug ${pid === undefined ? `the program at port ${port}` : `process ${pid}`}`;
    case "evaluate":
      return `Debugger: evaluate ${expression}`;
    case "custom_request":
      return `Debugger: ${name} ${expression ?? ""}`.trim();
    default:
      return `Debugger: ${action.replaceAll("_", " ")} ${place}`.trim();
  }
}

const text = (description: string) => ({ type: "string", description });
const integer = (description: string) => ({ type: "integer", description });

export const debugTool: FeatureTool = {
  name: "debug",
  category: "code",
  label: "Debug",
  description:
    "Debug a program (Python, C, C++, Rust, Go, JavaScript and others): set breakpoints first, then launch; without one it runs until it fails or ends. launch, continue and the steps answer with the place of the next stop, its variables and new output.",
  parameters: {
    type: "object",
    properties: {
      action: { type: "string", enum: [...debugActions] },
      program: text("launch: the executable (compiled with -g) or script"),
      args: { type: "array", items: { type: "string" } },
      cwd: text("launch, attach: its directory"),
      adapter: text("The debugger to use; default: by the program"),
      file: text("Of a breakpoint"),
      line: { ...integer("Of a breakpoint"), minimum: 1 },
      function: text("Of a breakpoint, instead of file and line; the command of custom_request"),
      condition: text("The breakpoint stops only if this is true"),
      hitCondition: text("The breakpoint stops only at this hit, such as 5"),
      expression: text("evaluate; the arguments of custom_request as JSON"),
      frameId: integer("A frame of stack_trace; default: the innermost"),
      variablesReference: integer("variables: the value whose members to list"),
      pid: integer("attach: the process"),
      port: { ...integer("attach: a port on this machine"), minimum: 1, maximum: 65_535 },
      levels: { ...integer("stack_trace: how many frames; default 20"), minimum: 1 },
      timeoutMs: { ...integer("How long to wait for a stop; default 30000"), minimum: 1 },
    },
    required: ["action"],
  },
  promptSnippet: "debug a program",
  access: listAccess,
  summarise,
  shows: "step",
  executionMode: "sequential",
  exposure: "deferred",
};

/** The feature `debug`: the tool of the same name and `/debugger`. */
export const debug = (): Feature => ({
  name: "debug",
  summary: "A debugger: breakpoints, steps and variables of programs, with the debug adapters that are installed.",
  tools: [debugTool],
  commands: [{ name: "debugger", description: "The program that is being debugged: its state, stop, restart" }],
  settings: debugSettings,
  doctor: [
    {
      name: "debuggers",
      check: async (place) => await (await import("./doctor.ts")).checkAdapters(place),
    },
  ],
  isOffered: ({ canStartPrograms }) => canStartPrograms,
  load: async (place) => (await import("./debug.ts")).createDebugExtension(place),
});
