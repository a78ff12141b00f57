/** Talks to the program that parses. A file that takes too long, or ends it, costs its own answer only. */
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import type { ExtensionAPI } from "@tau/extensions";
import { getErrorMessage } from "@tau/ai/internal";
import { readAnswers } from "../read-answers.ts";
import type { Grammar } from "./grammars.ts";
import { getProgramSource, type ParserAnswer, type ParserRequest } from "./parser-program.ts";

type Program = Awaited<ReturnType<ExtensionAPI["spawn"]>>;
type DistributiveOmit<T, K extends PropertyKey> = T extends unknown ? Omit<T, K> : never;
type Question = Extract<ParserRequest, { kind: "match" | "outline" | "filter" }>;
type ParserQuery = DistributiveOmit<Question, "id" | "grammar" | "isWasm" | "contexts"> & { grammar: Grammar };

/** Why there is no answer for a file. */
type ParserFailure = { kind: "failed"; reason: "time" | "ended" } | { kind: "unavailable"; message: string };

type ParserResult = ParserAnswer | ParserFailure;

interface ParserPorts {
  spawn: ExtensionAPI["spawn"];
  /** Finds the parser's module. Default: the one that is installed with tau. Throws if there is none. */
  locate?: () => string;
  /** How long one file may take, in milliseconds. Default 5,000. */
  fileTimeMs?: number;
  /** How long the start of the program and of a grammar may take, in milliseconds. Default 30,000. */
  startTimeMs?: number;
  /** How long the program is kept without work, in milliseconds. Default 60,000. */
  idleMs?: number;
}

const packageName = "@ast-grep/napi";

const locateParser = (): string => createRequire(import.meta.url).resolve(packageName);
const locateTreeSitter = (): string => createRequire(import.meta.url).resolve("web-tree-sitter");

/** Longer answers are not read. */
const maxAnswerLength = 64 * 1024 * 1024;

interface Waiting {
  query: ParserQuery;
  resolve: (result: ParserResult) => void;
}

/** Parses one file after the other. The program is started with the first, and ended when nothing is left to do for a while. */
export class Parser {
  readonly #ports: Required<ParserPorts>;
  readonly #queue: Waiting[] = [];
  #running: Promise<Program> | undefined;
  #isWorking = false;
  #idleTimer: NodeJS.Timeout | undefined;
  #nextId = 1;
  /** The files of grammars that the running program has; an empty name stands for those of its own. */
  readonly #prepared = new Set<string>();
  #onAnswer: ((answer: ParserAnswer) => void) | undefined;

  constructor(ports: ParserPorts) {
    this.#ports = { locate: locateParser, fileTimeMs: 5_000, startTimeMs: 30_000, idleMs: 60_000, ...ports };
  }

  ask(query: ParserQuery): Promise<ParserResult> {
    return new Promise((resolve) => {
      this.#queue.push({ query, resolve });
      void this.#work();
    });
  }

  async close(): Promise<void> {
    clearTimeout(this.#idleTimer);
    const running = this.#running;
    this.#running = undefined;
    const program = await running?.catch(() => undefined);
    await program?.end(0);
  }

  async #work(): Promise<void> {
    if (this.#isWorking) return;
    this.#isWorking = true;
    clearTimeout(this.#idleTimer);
    for (let next = this.#queue.shift(); next; next = this.#queue.shift()) next.resolve(await this.#answer(next.query));
    this.#isWorking = false;
    this.#idleTimer = setTimeout(() => void this.close(), this.#ports.idleMs);
    this.#idleTimer.unref();
  }

  async #answer({ grammar, ...question }: ParserQuery): Promise<ParserResult> {
    const { name, wasmPath, language } = grammar;
    const { contexts } = language;
    const isWasm = wasmPath !== undefined;
    let program: Program | undefined;
    try {
      if (!isWasm) this.#mustHaveParser();
      this.#running ??= this.#start();
      program = await this.#running;
      const key = wasmPath ?? "";
      if (!this.#prepared.has(key)) {
        // The bytes of a grammar are sent: the sandbox of the program need not have its file.
        const wasm = isWasm && { wasm: (await readFile(wasmPath)).toString("base64") };
        const prepare = { kind: "prepare", grammar: name, isWasm, ...wasm } as const;
        const prepared = await this.#exchange(program, prepare, this.#ports.startTimeMs);
        if (prepared.kind !== "prepared") return prepared;
        this.#prepared.add(key);
      }
    } catch (error) {
      if (!program) this.#running = undefined;
      return { kind: "unavailable", message: getErrorMessage(error) };
    }
    const request = { ...question, grammar: name, isWasm, ...(contexts && { contexts }) };
    return await this.#exchange(program, request, this.#ports.fileTimeMs);
  }

  /** Ends a program that gives no answer. */
  async #exchange(
    { stdin, exit }: Program,
    request: DistributiveOmit<ParserRequest, "id">,
    maxMs: number,
  ): Promise<ParserResult> {
    const id = this.#nextId++;
    let timer: NodeJS.Timeout | undefined;
    const answer = new Promise<ParserResult>((resolve) => {
      this.#onAnswer = (result) => {
        if (result.id === id) resolve(result);
      };
      timer = setTimeout(() => resolve({ kind: "failed", reason: "time" }), maxMs);
      void exit.then(() => resolve({ kind: "failed", reason: "ended" }));
    });
    stdin.write(`${JSON.stringify({ ...request, id })}\n`);
    const result = await answer;
    clearTimeout(timer);
    if (result.kind === "failed") await this.close();
    return result;
  }

  #mustHaveParser(): void {
    if (this.#findModule(this.#ports.locate) !== "") return;
    throw new Error(
      `Structural search needs the package ${packageName}, which is not installed here (${process.platform}-${process.arch}). Install tau with its optional dependencies: npm install -g without --omit=optional.`,
    );
  }

  /** Empty if it is not installed. */
  #findModule(locate: () => string): string {
    try {
      return locate();
    } catch {
      return "";
    }
  }

  async #start(): Promise<Program> {
    this.#prepared.clear();
    const modules = [this.#ports.locate, locateTreeSitter].map((locate) => this.#findModule(locate));
    const program = await this.#ports.spawn(process.execPath, ["-e", getProgramSource(), ...modules], {
      inherits: [],
      sandbox: { network: "none" },
    });
    // What is written to a program that has ended is lost; `exit` reports that it has.
    program.stdin.on("error", () => {});
    program.stderr.resume();
    program.stdout.on("error", () => {});
    readAnswers(program.stdout, {
      maxLength: maxAnswerLength,
      onLine: (line) => {
        const answer = parseAnswer(line);
        if (answer) this.#onAnswer?.(answer);
        else void program.end(0);
      },
      onTooLong: () => void program.end(0),
    });
    return program;
  }
}

/** Undefined for what is no answer: the file that is being parsed may have damaged the program. */
function parseAnswer(line: string): ParserAnswer | undefined {
  try {
    return JSON.parse(line) as ParserAnswer;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
