/** The debug adapters that are known, as data. */

/** How a program is attached to. `$pid`, `$port`, `$program`, `$args` and `$cwd` stand for the values of the call. */
export type DapTemplate = Readonly<Record<string, unknown>>;

export interface DapAdapter {
  name: string;
  /** For people: the languages that it is for. */
  languages: string;
  /** Programs that are this adapter, the first that is installed is used. */
  commands: readonly string[];
  args: readonly string[];
  /** Default `stdio`. */
  connectMode?: "stdio" | "socket";
  /** The arguments of `socket`: it listens at `$path`, or on macOS connects to `$port` where `dial` says how. */
  socket?: { listen: readonly string[]; dial?: readonly string[] };
  /** Endings of programs that it is for, with the dot. */
  fileTypes: readonly string[];
  /** Whether it is for executables of the machine. */
  isNative?: boolean;
  /** Files that say that a project may need it. */
  rootMarkers: readonly string[];
  /** The program that runs the debugged file without a debugger. Undefined: the file runs itself. */
  interpreter?: string;
  /** Whether it runs in `/`, and not in the directory of the program, from which it would load modules. Default false. */
  avoidsProject?: boolean;
  /** Looks for the interpreter in virtual environments of the project first. */
  isInEnvironment?: boolean;
  launch: DapTemplate;
  attachPid?: DapTemplate;
  attachPort?: DapTemplate;
  /** The context in which expressions are evaluated. Default `watch`, which adapters do not take for a command of theirs. */
  evaluateContext?: string;
  /** Says whether the installed one can be used: the output of these arguments has the version as its first number. */
  probe?: { args: readonly string[]; minVersion?: number };
  /** Says what installs it. */
  install: string;
}

/** An adapter that was found on this machine. */
export interface DapResolvedAdapter extends DapAdapter {
  /** An absolute path, or a name that a shell finds. */
  resolvedCommand: string;
}

const program = { program: "$program", args: "$args", cwd: "$cwd" } as const;

const lldbVersions = Array.from({ length: 14 }, (_, index) => 24 - index);

export const builtinAdapters: readonly DapAdapter[] = [
  {
    name: "debugpy",
    languages: "Python",
    commands: ["python3", "python"],
    args: ["-m", "debugpy.adapter"],
    // Python imports from the directory in which it is started.
    avoidsProject: true,
    fileTypes: [".py"],
    rootMarkers: ["pyproject.toml", "setup.py", "requirements.txt", "Pipfile"],
    interpreter: "python3",
    isInEnvironment: true,
    // A subprocess would be another session, at a port that only the sandbox has.
    launch: { ...program, type: "python", console: "internalConsole", justMyCode: false, subProcess: false },
    attachPid: { type: "python", processId: "$pid", justMyCode: false, subProcess: false },
    attachPort: {
      type: "python",
      connect: { host: "127.0.0.1", port: "$port" },
      justMyCode: false,
      subProcess: false,
    },
    evaluateContext: "repl",
    probe: { args: ["-c", "import debugpy; print(debugpy.__version__)"] },
    install: "pip install debugpy",
  },
  {
    name: "gdb",
    languages: "C, C++, Rust and other native programs",
    commands: ["gdb"],
    args: ["-q", "-nx", "-i", "dap"],
    fileTypes: [],
    isNative: true,
    rootMarkers: ["CMakeLists.txt", "Makefile", "meson.build", "Cargo.toml", "configure.ac"],
    launch: program,
    attachPid: { pid: "$pid", program: "$program" },
    attachPort: { target: "127.0.0.1:$port", program: "$program" },
    probe: { args: ["--version"], minVersion: 14 },
    install: "apt install gdb, or brew install gdb (14 or newer)",
  },
  {
    name: "lldb-dap",
    languages: "C, C++, Rust, Swift and other native programs",
    commands: [
      "lldb-dap",
      ...lldbVersions.map((version) => `lldb-dap-${version}`),
      "lldb-vscode",
      ...lldbVersions.map((version) => `lldb-vscode-${version}`),
    ],
    args: [],
    fileTypes: [],
    isNative: true,
    rootMarkers: ["CMakeLists.txt", "Makefile", "meson.build", "Cargo.toml", "configure.ac", "Package.swift"],
    launch: program,
    attachPid: { pid: "$pid", program: "$program" },
    attachPort: { program: "$program", attachCommands: ["gdb-remote 127.0.0.1:$port"] },
    install: "apt install lldb, or brew install llvm",
  },
  {
    name: "dlv",
    languages: "Go",
    commands: ["dlv"],
    args: ["dap"],
    connectMode: "socket",
    socket: { listen: ["--listen=unix:$path"], dial: ["--client-addr=127.0.0.1:$port"] },
    fileTypes: [".go"],
    rootMarkers: ["go.mod", "go.work"],
    interpreter: "go run",
    launch: { ...program, mode: "debug" },
    attachPid: { mode: "local", processId: "$pid" },
    install: "go install github.com/go-delve/delve/cmd/dlv@latest",
  },
  {
    name: "js-debug",
    languages: "JavaScript and TypeScript (Node.js)",
    commands: ["js-debug-adapter", "js-debug"],
    args: [],
    connectMode: "socket",
    socket: { listen: ["$path"] },
    fileTypes: [".js", ".mjs", ".cjs", ".ts", ".mts", ".cts"],
    rootMarkers: ["package.json"],
    interpreter: "node",
    launch: { ...program, type: "pwa-node", console: "internalConsole" },
    attachPid: { type: "pwa-node", processId: "$pid" },
    attachPort: { type: "pwa-node", address: "127.0.0.1", port: "$port" },
    evaluateContext: "repl",
    install:
      "the js-debug-dap archive of the releases of microsoft/vscode-js-debug; then set debug.adapters.js-debug to the command node with its dapDebugServer.js as argument",
  },
  {
    name: "netcoredbg",
    languages: "C# and F#",
    commands: ["netcoredbg"],
    args: ["--interpreter=vscode"],
    fileTypes: [".dll"],
    rootMarkers: ["global.json", "Directory.Build.props"],
    interpreter: "dotnet",
    launch: program,
    attachPid: { processId: "$pid" },
    install: "a release of Samsung/netcoredbg",
  },
  {
    name: "dart",
    languages: "Dart",
    commands: ["dart"],
    args: ["debug_adapter"],
    fileTypes: [".dart"],
    rootMarkers: ["pubspec.yaml"],
    interpreter: "dart run",
    launch: program,
    install: "the Dart SDK",
  },
  {
    name: "php",
    languages: "PHP with Xdebug",
    commands: ["php-debug-adapter"],
    args: [],
    fileTypes: [".php"],
    rootMarkers: ["composer.json"],
    interpreter: "php",
    launch: { ...program, port: 0 },
    install: "a release of xdebug/vscode-php-debug, as the program php-debug-adapter",
  },
  {
    name: "elixir",
    languages: "Elixir",
    commands: ["elixir-ls-debugger", "elixir-debug-adapter"],
    args: [],
    fileTypes: [".exs", ".ex"],
    rootMarkers: ["mix.exs"],
    interpreter: "elixir",
    launch: { type: "mix_task", projectDir: "$cwd", task: "run", taskArgs: "$args" },
    install: "a release of elixir-lsp/elixir-ls",
  },
  {
    name: "ocaml",
    languages: "OCaml bytecode",
    commands: ["ocamlearlybird"],
    args: ["debug"],
    fileTypes: [".bc"],
    rootMarkers: ["dune-project"],
    launch: program,
    install: "opam install earlybird",
  },
  {
    name: "kotlin",
    languages: "Kotlin",
    commands: ["kotlin-debug-adapter"],
    args: [],
    fileTypes: [".kt", ".kts"],
    rootMarkers: ["build.gradle.kts"],
    interpreter: "kotlin",
    launch: { projectRoot: "$cwd", mainClass: "$program" },
    install: "a release of fwcd/kotlin-debug-adapter",
  },
  {
    name: "bash",
    languages: "Bash",
    commands: ["bash-debug-adapter"],
    args: [],
    fileTypes: [".sh", ".bash"],
    rootMarkers: [],
    interpreter: "bash",
    launch: { ...program, pathBash: "bash", terminalKind: "debugConsole", env: {} },
    install: "a release of rogalmic/vscode-bash-debug, as the program bash-debug-adapter",
  },
];

interface TemplateValues {
  program: string | undefined;
  args: readonly string[];
  cwd: string;
  pid?: number | undefined;
  port?: number | undefined;
}

/** Fills a template. A field whose whole value is a placeholder without a value is left out. Pure. */
export function fillTemplate(template: DapTemplate, values: TemplateValues): Record<string, unknown> {
  const fill = (value: unknown): unknown => {
    if (typeof value === "string") {
      const [, name] = /^\$(program|args|cwd|pid|port)$/.exec(value) ?? [];
      if (name !== undefined) return values[name as keyof TemplateValues];
      return value.replaceAll(/\$(port|pid)\b/g, (_, part: "port" | "pid") => String(values[part] ?? ""));
    }
    if (Array.isArray(value)) return value.map(fill);
    if (typeof value === "object" && value !== null) {
      return Object.fromEntries(Object.entries(value).flatMap(([key, part]) => toEntry(key, fill(part))));
    }
    return value;
  };
  return fill(template) as Record<string, unknown>;
}

const toEntry = (key: string, value: unknown): [string, unknown][] => (value === undefined ? [] : [[key, value]]);
