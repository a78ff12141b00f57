/** Shows what is in progress, above the editor, and the directory and the model, below it. */
import { isOtherModel, type StateData, type StatsData, type View } from "@tau/protocol";
import type { Keybinding, Theme } from "@tau/tui";
import { drawActivity, drawQueue, getActivity } from "./activity-line.ts";
import { toStyledLine } from "./extensions/safe-text.ts";
import { LiveLines } from "./live-lines.ts";
import type { SessionClient } from "./session-client.ts";
import type { OwnStatusLine, StatusFacts } from "./own-status-line.ts";
import { drawOwnStatus, drawStatus } from "./status-line.ts";

interface StatusAreaOptions {
  theme: Theme;
  /** The home directory of the user. */
  home: string | undefined;
  now: () => number;
  getView: () => View;
  /** Messages that were sent and not confirmed. */
  getLate: () => readonly string[];
  /** The command that the user runs with `!`. */
  getShellCommand: () => string | undefined;
  /** Whether something is asked, and gets the keys. */
  hasDialog: () => boolean;
  /** The mode of an editor that has modes. */
  getEditorMode: () => string | undefined;
  /** The branch of the repository in a directory. */
  getBranch: (cwd: string) => Promise<string | undefined>;
  describeKey: (id: Keybinding) => string;
  requestRender: () => void;
  /** The status line of the user's settings. Default: none. */
  own?: OwnStatusLine;
  /** The version of tau, for `own`. */
  version?: string;
}

const spinnerMs = 100;

/** How an extension wants to show that something is in progress. */
interface Working {
  /** Default: the current activity. */
  message?: string;
  isHidden?: boolean;
  /** Drawn as they are, in turn. None: nothing moves. Default: ours. */
  frames?: readonly string[];
  /** How long each frame is shown. */
  intervalMs?: number;
}

export class StatusArea {
  /** Above the editor. */
  readonly activity = new LiveLines((width) => this.#drawActivity(width));
  /** Below it. */
  readonly status = new LiveLines((width) => this.#drawStatus(width));
  readonly #options: StatusAreaOptions;
  #working: Working = {};
  /** The session that was asked last. */
  #client: SessionClient | undefined;
  #known: { state: StateData; stats: StatsData; branch: string | undefined; at: number } | undefined;
  #busy: { since: number; timer: NodeJS.Timeout } | undefined;
  #isClosed = false;

  constructor(options: StatusAreaOptions) {
    this.#options = options;
  }

  /** Replaces how work is shown; an empty object restores what is usual. */
  setWorking(working: Working): void {
    this.#working = working;
    this.#options.requestRender();
  }

  get working(): Working {
    return this.#working;
  }

  /** The branch of the repository, as of the last `refresh`. */
  get branch(): string | undefined {
    return this.#known?.branch;
  }

  /** The state as of the last `refresh`. */
  get state(): StateData | undefined {
    return this.#known?.state;
  }

  /** Asks for what the view does not hold. */
  async refresh(client: SessionClient): Promise<void> {
    this.#client = client;
    const [state, stats] = await Promise.all([
      client.execute({ type: "get_state" }),
      client.execute({ type: "get_session_stats" }),
    ]);
    // Another session may be shown by now.
    if (this.#client !== client) return;
    const at = this.#options.now();
    // Before git has answered, which may take long.
    this.#known = { state, stats, at, branch: this.#known?.branch };
    this.#options.requestRender();
    const branch = await this.#options.getBranch(state.cwd);
    // A later call may have been faster.
    if (this.#known.state.cwd === state.cwd) this.#known = { ...this.#known, branch };
    this.#updateOwn();
    this.#options.requestRender();
  }

  /** Asks only for what the session has used: tokens, cost, context, and what is left of a budget. */
  async refreshUse(client: SessionClient): Promise<void> {
    const stats = await client.execute({ type: "get_session_stats" });
    // Another session may be shown by now, or none yet.
    if (this.#client !== client || !this.#known) return;
    this.#known = { ...this.#known, stats, at: this.#options.now() };
    this.#updateOwn();
    this.#options.requestRender();
  }

  #updateOwn(): void {
    const { own } = this.#options;
    const facts = own && this.#getFacts();
    if (facts) own.update(facts);
  }

  #getFacts(): StatusFacts | undefined {
    if (!this.#known) return undefined;
    const { home, version = "", getView } = this.#options;
    const { state, stats, branch } = this.#known;
    const { permissionMode } = getView().live;
    const permissions = { ...state.permissions, mode: permissionMode };
    return { state: { ...state, permissions }, stats, branch, home, version, sessionName: getView().log.name };
  }

  /** Before each frame. */
  update(): void {
    const isBusy = !this.#isClosed && this.#getActivity() !== undefined;
    if (isBusy === (this.#busy !== undefined)) return;
    clearInterval(this.#busy?.timer);
    this.#busy = undefined;
    if (!isBusy) return;
    const timer = setInterval(() => this.#options.requestRender(), spinnerMs);
    this.#busy = { since: this.#options.now(), timer };
  }

  /** Stops showing what is in progress: the last frame stays on the screen. */
  close(): void {
    this.#isClosed = true;
    this.update();
  }

  /** Whether the model works, and nothing else has to be shown. */
  get #isRunning(): boolean {
    const { run, compaction, retry, approvals } = this.#options.getView().live;
    return run !== undefined && !compaction && !retry && approvals.length === 0;
  }

  #getActivity(): string | undefined {
    const command = this.#options.getShellCommand();
    return command === undefined ? getActivity(this.#options.getView().live) : `Running ${command}`;
  }

  #drawActivity(width: number): string[] {
    const { theme, now, getView, getLate, describeKey, hasDialog } = this.#options;
    const activity = this.#getActivity();
    const dequeueKey = describeKey("app.message.dequeue");
    const queue = drawQueue(getView().live, { theme, width, late: getLate(), dequeueKey });
    // The row of the activity stays: if the lines below the conversation became fewer, lines that are in the scrollback
    // already would be drawn on the screen again.
    const { isHidden = false, message, frames, intervalMs = spinnerMs } = this.#working;
    if (activity === undefined || !this.#busy || isHidden) return ["", "", ...queue];
    const elapsed = now() - this.#busy.since;
    const step = Math.floor(elapsed / Math.max(1, intervalMs));
    const line = drawActivity(this.#isRunning ? (message ?? activity) : activity, {
      theme,
      width,
      seconds: Math.floor(elapsed / 1_000),
      frame: Math.floor(elapsed / spinnerMs),
      ...(frames && { mark: frames.length === 0 ? "" : toStyledLine(frames[step % frames.length] ?? "") }),
      interruptKey: hasDialog() ? undefined : describeKey("app.interrupt"),
    });
    return ["", line, ...queue];
  }

  #drawStatus(width: number): string[] {
    if (!this.#known) return ["", ""];
    const { state, branch } = this.#known;
    const { model, role, cwd, thinkingLevel } = state;
    const { used } = this.#options.getView().live;
    const status = {
      cwd,
      home: this.#options.home,
      branch,
      sessionName: this.#options.getView().log.name,
      model: model && `${model.provider}/${model.id}`,
      used: used && isOtherModel(used) ? used : undefined,
      role,
      thinkingLevel,
      stats: this.#countDown(this.#known),
      permissionMode: this.#options.getView().live.permissionMode,
      jobs: this.#options.getView().live.jobs.length,
      editorMode: this.#options.getEditorMode(),
      lacksSandbox: state.sandbox.mode === "auto" && state.sandbox.state === "unavailable",
    };
    const facts = this.#getFacts();
    const lines = facts && this.#options.own?.getLines(facts);
    return lines
      ? drawOwnStatus(lines, status, this.#options.theme, width)
      : drawStatus(status, this.#options.theme, width);
  }

  /** During a run the time that it may take becomes less. */
  #countDown({ stats, at }: { stats: StatsData; at: number }): StatsData {
    const { budgetLeft } = stats;
    if (budgetLeft?.timeMs === undefined || !this.#options.getView().live.run) return stats;
    const timeMs = Math.max(0, budgetLeft.timeMs - (this.#options.now() - at));
    return { ...stats, budgetLeft: { ...budgetLeft, timeMs } };
  }
}
