/** The code of the feature `lsp`. */
import { type Clock, systemClock } from "@tau/ai";
import { assertNever, getErrorMessage } from "@tau/ai/internal";
import {
  type ExtensionAPI,
  type ExtensionFactory,
  type ExtensionToolContext,
  type FeaturePlace,
  getFeatureSettings,
} from "@tau/extensions";
import { formatCommandLine } from "../kit/command-line.ts";
import { createSyntaxSymbols, type SyntaxSymbols } from "../kit/syntax/symbols.ts";
import { type ActionCall, type ActionResult, findReferences, findSymbols, hover, locate, request } from "./actions.ts";
import { AfterWrite } from "./after-write.ts";
import { isWholeProject, type LspArguments } from "./arguments.ts";
import { codeActions, rename, renameFile } from "./changes.ts";
import { findCheckers } from "./checkers.ts";
import { LspError } from "./failure.ts";
import type { FoundServer } from "./find-server.ts";
import { lspTool } from "./feature.ts";
import { createMenuCommand, reload, showCapabilities, showStatus } from "./overview.ts";
import { checkProject, findProblems } from "./problems.ts";
import { readServerConfig, type ServerConfig } from "./server-config.ts";
import type { LspSpawn } from "./program.ts";
import { LspServers } from "./servers.ts";
import { LspSession } from "./session.ts";
import { lspSettings } from "./settings.ts";
import { SourceFiles } from "./source-files.ts";

export const createLspExtension =
  ({ cwd, agentDir, settings, env }: FeaturePlace, clock: Clock = systemClock): ExtensionFactory =>
  (tau) => {
    let config: ServerConfig = { servers: [], problems: [] };
    const servers = createServers(tau, {
      cwd,
      env,
      clock,
      getServers: () => config.servers,
      isProjectTrusted: () => settings.isProjectTrusted,
    });
    /** With the files of the last call: once it has ended, they have the permissions of the session. */
    let session: LspSession | undefined;
    const openSession = ({ ports }: ExtensionToolContext): LspSession => {
      const port = ports!.files;
      session =
        session?.through(port) ?? new LspSession({ cwd, servers, files: new SourceFiles({ cwd, clock, port }) });
      return session;
    };
    const syntax = createSyntaxSymbols({
      spawn: tau.spawn,
      places: { cwd, agentDir, isProjectTrusted: () => settings.isProjectTrusted },
    });
    tau.on("session_shutdown", () => syntax.close());
    /** Reads the configuration as it is now: a person changes it while a session runs. */
    const configure = async (): Promise<void> => {
      const { servers: own } = getFeatureSettings(tau, lspSettings).lsp;
      config = await readServerConfig({ cwd, agentDir, isProjectTrusted: settings.isProjectTrusted, settings: own });
    };

    tau.registerTool({
      ...lspTool,
      async execute(_id, args: LspArguments, signal, _onUpdate, context) {
        await configure();
        const notes = config.problems.map((problem) => `\nNote: ${problem}`).join("");
        try {
          const { text, places } = await run(
            { session: openSession(context), args, signal },
            { context, syntax, isProjectTrusted: settings.isProjectTrusted, env },
          );
          return { content: [{ type: "text", text: text + notes }], details: { places: places ?? [] } };
        } catch (error) {
          if (!(error instanceof LspError) || notes === "") throw error;
          throw new LspError(error.kind, error.message + notes, { cause: error });
        }
      },
    });
    followWrites(
      tau,
      new AfterWrite(
        () => session,
        (message) => tau.log("info", message),
      ),
    );
    const menu = createMenuCommand(servers);
    tau.registerCommand("lsp", {
      ...menu,
      async handler(args, context) {
        await configure();
        await menu.handler(args, context);
      },
    });
  };

/** Does nothing unless a server is running for a file that is changed: the code is loaded by the first question. */
function followWrites(tau: ExtensionAPI, after: AfterWrite): void {
  const getSettings = () => getFeatureSettings(tau, lspSettings).lsp;
  tau.on("tool_call", async ({ toolName, input }) => {
    const { path, content } = input;
    const { diagnosticsOnWrite, formatOnWrite } = getSettings();
    if (typeof path !== "string" || (toolName !== "write" && toolName !== "edit")) return;
    try {
      if (diagnosticsOnWrite) await after.note(path);
      if (formatOnWrite && toolName === "write" && typeof content === "string")
        input["content"] = (await after.format(path, content)) ?? content;
    } catch (error) {
      // Whatever a server does, the file is written as the model wants it.
      tau.log("info", `The language server was of no use for ${path}: ${getErrorMessage(error)}`);
    }
  });
  tau.on("files_changed", async ({ paths }) => {
    const text = await after.check(paths, getSettings().diagnosticsOnWrite);
    return text === undefined ? undefined : { content: [{ type: "text", text }] };
  });
  tau.on("tool_result", ({ content }) => {
    const text = after.takeLate();
    return text === undefined ? undefined : { content: [...content, { type: "text", text }] };
  });
}

interface ServersOptions {
  cwd: string;
  env: FeaturePlace["env"];
  clock: Clock;
  getServers: () => ServerConfig["servers"];
  isProjectTrusted: () => boolean;
}

const createServers = (tau: ExtensionAPI, options: ServersOptions): LspServers =>
  new LspServers({
    ...options,
    share: (key, open) =>
      tau.shared(key, (host) => {
        const spawn: LspSpawn = (command, args, spawnOptions) => host.spawn(command, args, spawnOptions);
        return open(spawn);
      }),
    allowStart: (found) => allowStart(tau, found),
    log: (message) => tau.log("info", message),
  });

/**
 * Judges a server as the command that it is: it runs code of the project, which the model may have written. Plan mode
 * denies it where there is no sandbox.
 */
async function allowStart(tau: ExtensionAPI, { program, definition: { name, args } }: FoundServer): Promise<void> {
  const command = formatCommandLine([program, ...args]);
  const access = [{ capability: "exec", target: { kind: "command", command } }] as const;
  const summary = `Start the language server ${name}: ${command}`;
  const verdict = await tau.requestAccess(access, { name: lspTool.name, summary, isContained: true });
  if (verdict.kind === "denied") throw new LspError("refused", `${name} was not started: ${verdict.reason}`);
}

interface RunParts {
  context: ExtensionToolContext;
  syntax: SyntaxSymbols;
  isProjectTrusted: boolean;
  env: FeaturePlace["env"];
}

async function run(call: ActionCall, { context, syntax, isProjectTrusted, env }: RunParts): Promise<ActionResult> {
  const { args, session, signal } = call;
  const { action } = args;
  const executeTool = (name: string, toolArgs: unknown) =>
    context.executeTool(name, toolArgs, signal ? { signal } : {});
  switch (action) {
    case "definition":
    case "type_definition":
    case "implementation":
      return await locate(call, action);
    case "references":
      return await findReferences(call);
    case "hover":
      return await hover(call);
    case "symbols":
      return await findSymbols(call, syntax);
    case "code_actions":
      return await codeActions({ ...call, executeTool });
    case "rename":
      return await rename({ ...call, executeTool });
    case "rename_file":
      return await renameFile({ ...call, executeTool });
    case "diagnostics": {
      if (!isWholeProject(args)) return await findProblems(call);
      const checkers = findCheckers({ cwd: session.cwd, isProjectTrusted, env });
      return await checkProject(call, checkers, executeTool);
    }
    case "status":
      return await showStatus(call);
    case "capabilities":
      return await showCapabilities(call);
    case "request":
      return await request(call);
    case "reload":
      return await reload(call);
    default:
      return assertNever(action);
  }
}
