/** Uses another role for the rest of a run: one that a template or a skill asks for, or the role for a file. */
import { isAbsolute, relative, resolve } from "node:path";
import type { ToolCall } from "@tau/ai";
import { getErrorMessage } from "@tau/ai/internal";
import { listPathRoles } from "@tau/config/internal";
import type { PathRole } from "@tau/config/models";
import { HarnessError } from "@tau/protocol";
import { isWithin } from "@tau/tools/platform";
import type { GetTouches } from "../compaction/files.ts";
import type { AskedRole } from "../prompt/expand.ts";
import type { ModelChoice } from "./model-choice.ts";

interface RunRoleParts {
  cwd: string;
  model: Pick<ModelChoice, "useForRun" | "endRun">;
  /** The rules of `models.yml`. */
  getRules: () => readonly PathRole[];
  /** Whether there is a file at an absolute path. */
  isFile: (path: string) => Promise<boolean>;
  notice: (code: string, message: string) => void;
}

/** A longer text was pasted, and its words are no mentions. */
const maxWords = 500;
/** Words that look like files and are none. */
const maxLookups = 20;

export class RunRole {
  readonly #parts: RunRoleParts;
  /** Whether something has decided about the role of this run. */
  #isDecided = false;
  /** The files that calls touched since the last request. */
  readonly #touched = new Set<string>();

  constructor(parts: RunRoleParts) {
    this.#parts = parts;
  }

  /** Takes a prompt with the files that it names. What it asks for comes before the rules. */
  async takePrompt(text: string, { files, asked }: { files: readonly string[]; asked: AskedRole | undefined }) {
    if (this.#isDecided) return;
    if (asked) return await this.#use(asked.name, `${asked.by} asks for the role ${asked.name}.`);
    const rules = this.#parts.getRules();
    if (rules.length === 0) return;
    const paths = new Set([...files, ...findPathWords(text)].map((path) => this.#normalise(path)));
    let lookups = 0;
    for (const { path, pattern, role } of listPathRoles(rules, [...paths])) {
      if (++lookups > maxLookups) return;
      if (!(await this.#parts.isFile(resolve(this.#parts.cwd, path)))) continue;
      return await this.#use(role, formatReason(path, pattern, role));
    }
  }

  /** Takes a call that has been executed. */
  noteCall(call: ToolCall, touches: GetTouches): void {
    if (this.#isDecided || this.#parts.getRules().length === 0) return;
    const { read = [], modified = [] } = touches(call) ?? {};
    for (const path of [...read, ...modified]) this.#touched.add(this.#normalise(path));
  }

  /** Before the next request: applies the rules to the files that calls touched. */
  async takeCalls(): Promise<void> {
    if (this.#touched.size === 0) return;
    const [match] = listPathRoles(this.#parts.getRules(), [...this.#touched]);
    this.#touched.clear();
    if (match && !this.#isDecided) await this.#use(match.role, formatReason(match.path, match.pattern, match.role));
  }

  /** Returns to the model from before the run. */
  async end(): Promise<void> {
    this.#isDecided = false;
    this.#touched.clear();
    await this.#parts.model.endRun();
  }

  async #use(role: string, reason: string): Promise<void> {
    const { model, notice } = this.#parts;
    this.#isDecided = true;
    try {
      await model.useForRun(role, reason);
    } catch (error) {
      if (!(error instanceof HarnessError) || error.code !== "unknown_model") throw error;
      notice("role", `${reason} The run continues with its model. ${getErrorMessage(error)}`);
    }
  }

  /** Relative to the working directory if it is in it, with slashes. */
  #normalise(path: string): string {
    const { cwd } = this.#parts;
    const absolute = resolve(cwd, path);
    const shown = isWithin(cwd, absolute) ? relative(cwd, absolute) : absolute;
    return isAbsolute(shown) ? shown : shown.replaceAll("\\", "/");
  }
}

const formatReason = (path: string, pattern: string, role: string) =>
  `${path} matches ${JSON.stringify(pattern)}, which has the role ${role}.`;

/** The words of a text that may be files, without the marks around them and a line number behind them. */
const findPathWords = (text: string): string[] =>
  text
    .split(/\s+/, maxWords)
    .map((word) =>
      word
        .replace(/^[@"'`(<[]+/, "")
        .replace(/[.,;:!?"'`)>\]]+$/, "")
        .replace(/(?::\d+)+$/, ""),
    )
    .filter((word) => word !== "");
