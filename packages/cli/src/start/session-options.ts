import type { NamedPackage } from "@tau/extensions";
import type { PermissionMode } from "@tau/protocol";

/** The values of the flags. Names are those of the flags, in camel case, unless the flag names another. */
export interface SessionOptions {
  print: boolean;
  /** `result` is `--output-format json`: only the line that ends the events of `json`. */
  mode: "text" | "json" | "result" | "rpc";
  /** The form of the events of `json`. Absent: the setting says it. */
  events?: "tau" | "pi";
  /** The file with the JSON Schema of the answer. */
  outputSchema?: string;
  /** The file to write the answer to. */
  output?: string;
  quiet: boolean;
  verbose: boolean;
  offline: boolean;
  /** The name of a file with settings. */
  profile?: string;
  /** Settings for this run, as `KEY=VALUE`. */
  set: readonly string[];
  gateway: boolean;
  maxTurns?: number;
  maxCost?: number;
  /** Seconds. */
  timeout?: number;
  provider?: string;
  model?: string;
  /** The name of a role, also with its mark. */
  role?: string;
  /** Models of roles in this process. */
  smol?: string;
  slow?: string;
  planModel?: string;
  thinking?: string;
  apiKey?: string;
  models?: readonly string[];
  /** True without a search. */
  listModels?: string | true;
  continue: boolean;
  /** The name of the session to continue; true to choose one. */
  resume?: string | true;
  session?: string;
  /** The entry at which its tree is opened in the terminal. */
  entry?: string;
  sessionId?: string;
  fork?: string;
  sessionDir?: string;
  noSession: boolean;
  name?: string;
  agent?: string;
  tools?: readonly string[];
  excludeTools?: readonly string[];
  noTools: boolean;
  sequentialTools: boolean;
  policy?: string;
  permissionMode?: PermissionMode;
  /** Whether the session begins in plan mode, on top of `permissionMode`. */
  planMode: boolean;
  sandbox?: "off" | "auto" | "required";
  noBuiltinTools: boolean;
  /** Directories in which tools may work besides the working directory. */
  addDir: readonly string[];
  /** Whether the project is trusted in this process, whatever is stored. */
  approve?: boolean;
  systemPrompt?: string;
  appendSystemPrompt: readonly string[];
  skills: readonly string[];
  noSkills: boolean;
  promptTemplates: readonly string[];
  noPromptTemplates: boolean;
  noContextFiles: boolean;
  /** Files and directories. */
  themes: readonly string[];
  useTheme?: string;
  tuiMode?: "regular" | "fullscreen";
  noThemes: boolean;
  /** Files, directories, and sources of packages. */
  extensions: readonly string[];
  /** The packages among `extensions`, once they are fetched; then they are not in `extensions` any more. */
  namedPackages?: readonly NamedPackage[];
  noExtensions: boolean;
  noMcp: boolean;
  /** The options that extensions have registered, by name. */
  extensionFlags: ReadonlyMap<string, string | true>;
  /** Options that can only be those of extensions, with all arguments: they are parsed again when extensions are loaded. */
  unknownFlags?: { names: readonly string[]; args: readonly string[] };
  /** Where to run, if not in the working directory. */
  directory?: string;
  /** The branch of the worktree to work in; true for one with a name of its own. */
  worktree?: string | true;
  /** The session to write as HTML. Then the only word is the file to write; without one, a name is made. */
  export?: string;
  /** The arguments that are neither options nor files. */
  words: readonly string[];
  /** The prompt: the words, with blanks between them. Empty without any. */
  message: string;
  /** The files that `@file` names, without the sign. */
  files: readonly string[];
}
