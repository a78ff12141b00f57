/** The action `diagnostics`: of files by their servers, of the project by its own checker. */
import type { ToolCallOutcome } from "@tau/agent";
import type { CodePlace } from "@tau/protocol/surface";
import { countPlaces } from "@tau/protocol/surface";
import { type ActionCall, type ActionResult, getOpenOptions } from "./actions.ts";
import { getTimeout, listFiles } from "./arguments.ts";
import { type FoundChecker, parseProblems } from "./checkers.ts";
import type { LspClient } from "./client.ts";
import { type Diagnostic, toProblemPlace, waitForDiagnostics } from "./diagnostics.ts";
import type { SyncedDocument } from "./documents.ts";
import { LspError } from "./failure.ts";
import { formatPlaces } from "./locations.ts";

/** So many problems are shown. */
const maxShown = 50;
const maxFiles = 20;
const defaultWaitMs = 3_000;

interface DiagnosticsOptions {
  timeoutMs: number;
  /** How long a server is waited for that reports by itself. Default: `timeoutMs`. */
  pushTimeoutMs?: number;
  signal?: AbortSignal | undefined;
}

/** The problems of a document, as a server sees the text that it got. Undefined: it did not say in time. */
export async function getDiagnostics(
  client: LspClient,
  document: SyncedDocument,
  { timeoutMs, pushTimeoutMs = timeoutMs, signal }: DiagnosticsOptions,
): Promise<readonly Diagnostic[] | undefined> {
  const { path, version, minVersion, sentAt } = document;
  if (!client.pullsDiagnostics) {
    const reported = await waitForDiagnostics(client.diagnostics, client.clock, path, {
      timeoutMs: pushTimeoutMs,
      signal,
      expectedDocumentVersion: version,
      minVersion,
      sentAt,
      changedAt: client.documents.changedAt,
      // A server that has just started may say only now that it wants to be asked.
      isOver: () => client.pullsDiagnostics,
    });
    if (reported || !client.pullsDiagnostics) return reported;
  }
  await client.pullDiagnostics(document, { timeoutMs, signal });
  return client.diagnostics.get(path)?.diagnostics;
}

export async function findProblems(call: ActionCall): Promise<ActionResult> {
  const { args, session } = call;
  const files = listFiles(args);
  if (files.length === 0) throw new LspError("invalid_input", "The action diagnostics needs a file, several, or *.");
  if (files.length > maxFiles) throw new LspError("invalid_input", `At most ${maxFiles} files can be checked at once.`);
  const places: CodePlace[] = [];
  const notes: string[] = [];
  for (const file of files) {
    const path = session.resolve(file);
    await session.files.read(path);
    const { main, linters } = session.servers.choose(path);
    for (const server of [main, ...linters]) {
      try {
        places.push(...(await checkFile(call, server, path)));
      } catch (error) {
        // The other servers and files still have their say.
        if (!(error instanceof LspError) || error.kind === "aborted") throw error;
        notes.push(error.message);
      }
    }
  }
  if (places.length === 0 && notes.length > 0) throw new LspError("refused", notes.join("\n"));
  const shown = places.slice(0, maxShown);
  const text =
    places.length === 0
      ? "No problems."
      : `${countPlaces({ places, omitted: 0 })}:\n${formatPlaces(shown, places.length)}`;
  return { text: [text, ...notes].join("\n"), places: shown };
}

async function checkFile(
  call: ActionCall,
  server: Parameters<ActionCall["session"]["openIn"]>[0],
  path: string,
): Promise<CodePlace[]> {
  const { session, args, signal } = call;
  const { client, document } = await session.openIn(server, path, getOpenOptions(call));
  // The time of a question includes that of loading the project; a server that pushes says nothing while it loads.
  const timeoutMs = getTimeout(args);
  const pushTimeoutMs = args.timeoutMs === undefined ? defaultWaitMs : timeoutMs;
  const found = await getDiagnostics(client, document, { timeoutMs, pushTimeoutMs, signal });
  if (!found)
    throw new LspError(
      "timeout",
      `${client.name} has reported nothing about ${session.files.show(path)} within ${pushTimeoutMs} ms.`,
    );
  const { lines } = await session.files.read(path);
  const options = { path: session.files.show(path), encoding: client.positionEncoding, lines };
  return found.map((diagnostic) => toProblemPlace(diagnostic, options));
}

/** Calls another tool, as the model would. */
export type ExecuteTool = (name: string, args: unknown) => Promise<ToolCallOutcome>;

/** Runs the checkers of the project, judged as the commands that they are. */
export async function checkProject(
  { session, args }: ActionCall,
  checkers: readonly FoundChecker[],
  executeTool: ExecuteTool,
): Promise<ActionResult> {
  if (checkers.length === 0)
    throw new LspError(
      "unavailable",
      "No checker is known for this kind of project (tsc, cargo, go and pyright are). Name files.",
    );
  const timeout = Math.ceil(getTimeout({ ...args, timeoutMs: args.timeoutMs ?? 120_000 }) / 1_000);
  const places: CodePlace[] = [];
  const notes: string[] = [];
  for (const { checker, command } of checkers) {
    if (command === undefined) {
      notes.push(`${checker.program} is not installed.`);
      continue;
    }
    const { result, isError, errorCode } = await executeTool("bash", { command, timeout });
    const output = result.content.map((block) => (block.type === "text" ? block.text : "")).join("\n");
    const problems = parseProblems(checker, output, session.cwd);
    places.push(...problems);
    if (isError && problems.length === 0) notes.push(`${command}: ${errorCode ?? "failed"}\n${output.slice(0, 4_000)}`);
    else
      notes.push(
        `${command}: ${problems.length === 0 ? "no problems" : countPlaces({ places: problems, omitted: 0 })}`,
      );
  }
  const shown = places.slice(0, maxShown);
  return { text: [...notes, formatPlaces(shown, places.length)].filter(Boolean).join("\n"), places: shown };
}
