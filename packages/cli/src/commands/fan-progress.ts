/** Shows the tasks of `tau fan` on standard error: a table that is drawn again on a terminal, else a line for each change. */
import type { FanoutTask, TaskEvent } from "@tau/features/agents";
import { cutTo, terminalWidth } from "../process/table.ts";
import { markOwn, showsProgress } from "../process/terminal-text.ts";
import type { Io } from "./command.ts";

/** A longer table would not fit on a screen, and could not be drawn again. */
const maxRows = 15;

export class FanProgress {
  readonly #io: Io;
  readonly #states: Map<string, { description: string; state: string }>;
  readonly #isLive: boolean;
  #drawnRows = 0;

  constructor(tasks: readonly FanoutTask[], io: Io) {
    this.#io = io;
    this.#states = new Map(tasks.map(({ id, description }) => [id, { description, state: "waits" }]));
    this.#isLive = showsProgress(io);
  }

  show(event: TaskEvent): void {
    const id = event.kind === "started" ? event.taskId : event.result.taskId;
    const row = this.#states.get(id)!;
    row.state = describeState(event);
    if (this.#isLive) this.#draw();
    else this.#io.err(`${id}: ${row.state}\n`);
  }

  #draw(): void {
    const rows = [...this.#states];
    // Of many, those that have ended are left out.
    const open = rows.filter(([, { state }]) => !/^(done|failed)/.test(state));
    const shown = (rows.length <= maxRows ? rows : open).slice(0, maxRows);
    const ended = rows.length - open.length;
    const width = terminalWidth({ ...this.#io, terminal: { ...this.#io.terminal, out: true } });
    const lines = [
      `${ended} of ${rows.length} tasks have ended`,
      ...shown.map(([id, { description, state }]) => `  ${id}  ${state}  ${description}`),
    ].map((line) => cutTo(line.replaceAll(/\s*\n\s*/g, " "), width - 1));
    const up = this.#drawnRows === 0 ? "" : `\u001b[${this.#drawnRows}A`;
    this.#io.err(`${markOwn(`${up}\u001b[G\u001b[J`)}${lines.join("\n")}\n`);
    this.#drawnRows = lines.length;
  }
}

function describeState(event: TaskEvent): string {
  if (event.kind === "started") return "works";
  const { success, error, duration, tokensUsed } = event.result;
  const figures = tokensUsed === undefined ? "" : `, ${tokensUsed} tokens`;
  return success ? `done (${Math.round(duration / 1_000)} s${figures})` : `failed: ${error}`;
}
