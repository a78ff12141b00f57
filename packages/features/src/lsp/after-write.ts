/** Problems that a change of a file has caused, in the result of the call that made it or in a later one. */
import { getErrorMessage, untilTimeout } from "@tau/ai/internal";
import { formatPlaces } from "./locations.ts";
import { announceChanges } from "./changes.ts";
import type { LspClient } from "./client.ts";
import { type Diagnostic, findNewProblems, toProblemPlace } from "./diagnostics.ts";
import { getDiagnostics } from "./problems.ts";
import type { LspSession } from "./session.ts";
import { applyEdits, parseTextEdit, toOffsetEdits } from "./workspace-edit.ts";
import { TextLines } from "./positions.ts";

/** How long a result waits for the problems of its text. */
export const maxWaitMs = 500;
/** After this time nobody waits for them any more. */
const maxLateMs = 60_000;
const maxFiles = 20;
const maxShown = 20;

interface LateReport {
  /** Set when the server has reported. */
  text?: string;
}

export class AfterWrite {
  /** Undefined before the first question of the session: there are no files that it may read then. */
  readonly #getSession: () => LspSession | undefined;
  readonly #log: (message: string) => void;
  /** Problems before a change that is being made, by path. */
  readonly #before = new Map<string, Map<LspClient, readonly Diagnostic[]>>();
  /** By path; a later change of the file takes the place of an earlier one. */
  readonly #late = new Map<string, LateReport>();

  constructor(getSession: () => LspSession | undefined, log: (message: string) => void) {
    this.#getSession = getSession;
    this.#log = log;
  }

  /**
   * Notes which problems a file has before it is changed, as far as its servers say so at once. The change is not judged yet, so
   * that only a file is read that the model may read.
   */
  async note(file: string): Promise<void> {
    const session = this.#getSession();
    if (!session) return;
    const path = session.resolve(file);
    const before = new Map<LspClient, readonly Diagnostic[]>();
    for (const { client } of await session.servers.listRunning(path)) {
      try {
        const isAsked = !client.pullsDiagnostics || client.diagnostics.get(path) !== undefined;
        if (!client.documents.get(path) || !isAsked) await pull(session, client, path);
      } catch {
        // A new file has no problems yet, and a server that does not answer has none that could be compared.
        continue;
      }
      const reported = client.diagnostics.get(path);
      if (reported) before.set(client, reported.diagnostics);
    }
    // A change that is refused is never checked.
    this.#before.delete(path);
    this.#before.set(path, before);
    const [oldest] = this.#before.keys();
    if (this.#before.size > maxFiles && oldest !== undefined) this.#before.delete(oldest);
  }

  /** The text as the server formats it; undefined if no server does. */
  async format(file: string, text: string): Promise<string | undefined> {
    const session = this.#getSession();
    if (!session) return undefined;
    const path = session.resolve(file);
    const running = await session.servers.listRunning(path);
    const client = running.map((server) => server.client).find((each) => each.can("documentFormattingProvider"));
    if (!client) return undefined;
    const { uri } = client.sync(path, text);
    const params = { textDocument: { uri }, options: { tabSize: 2, insertSpaces: true } };
    const answer = await client.request("textDocument/formatting", params, { timeoutMs: maxWaitMs * 4 });
    if (!Array.isArray(answer)) return undefined;
    const lines = new TextLines(text);
    const edits = toOffsetEdits(lines, answer.map(parseTextEdit), client.positionEncoding);
    return applyEdits(text, edits);
  }

  /** Lets running servers know the new texts, and resolves with the problems that are new, or nothing. */
  async check(paths: readonly string[], reports: boolean): Promise<string | undefined> {
    const session = this.#getSession();
    if (!session) return undefined;
    for (const { client } of await session.servers.listRunning()) {
      await announceChanges(session, client, paths);
    }
    if (!reports) return undefined;
    const texts = await Promise.all(paths.slice(0, maxFiles).map((path) => this.#checkFile(session, path)));
    return joinTexts(texts);
  }

  /** Reports that came after their results, each once. */
  takeLate(): string | undefined {
    const ready = [...this.#late].filter(([, { text }]) => text !== undefined);
    for (const [path] of ready) this.#late.delete(path);
    return joinTexts(ready.map(([, { text }]) => text));
  }

  async #checkFile(session: LspSession, path: string): Promise<string | undefined> {
    const before = this.#before.get(path);
    this.#before.delete(path);
    const late: LateReport = {};
    this.#late.delete(path);
    const running = await session.servers.listRunning(path);
    if (running.length === 0) return undefined;
    const work = Promise.all(running.map(({ client }) => findNew(session, client, path, before?.get(client))));
    const texts = work.then(joinTexts, (error: unknown) => {
      this.#log(`Problems of ${path} are not known: ${getErrorMessage(error)}`);
      return undefined;
    });
    const outcome = await untilTimeout(texts, maxWaitMs, session.servers.clock);
    if (outcome.kind === "done") return outcome.value;
    this.#late.set(path, late);
    void texts.then((text) => (late.text = text ?? ""));
    return undefined;
  }
}

async function pull(session: LspSession, client: LspClient, path: string): Promise<void> {
  const document = await session.sync(client, path);
  if (client.pullsDiagnostics) await client.pullDiagnostics(document, { timeoutMs: maxWaitMs });
}

async function findNew(
  session: LspSession,
  client: LspClient,
  path: string,
  before = client.diagnostics.get(path)?.diagnostics,
): Promise<string | undefined> {
  const { files } = session;
  const document = await session.sync(client, path);
  const found = await getDiagnostics(client, document, { timeoutMs: maxLateMs });
  const problems = findNewProblems(before ?? [], found ?? []).filter(({ severity }) => severity !== "hint");
  if (problems.length === 0) return undefined;
  const { lines } = await files.read(path);
  const options = { path: files.show(path), encoding: client.positionEncoding, lines };
  const places = problems.slice(0, maxShown).map((problem) => toProblemPlace(problem, options));
  const title = before ? "New problems" : "Problems";
  return `${title} in ${files.show(path)} (${client.name}):\n${formatPlaces(places, problems.length)}`;
}

function joinTexts(texts: readonly (string | undefined)[]): string | undefined {
  const text = texts.filter(Boolean).join("\n");
  return text === "" ? undefined : text;
}
