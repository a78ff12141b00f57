/** The settings of a person and of a project: what counts of them, how they are changed, and who is told. */
import { homedir } from "node:os";
import { type Clock, type Ids, getErrorMessage, systemClock, systemIds } from "@tau/ai";
import { Listeners, SerialQueue } from "@tau/ai/internal";
import { type FileSystem, nodeFileSystem } from "@tau/tools/platform";
import { HarnessError } from "../errors.ts";
import { defaultAgentDir } from "../agent-dir.ts";
import { parseJsonDocument } from "../json/document.ts";
import { editText } from "../json/edit.ts";
import { type FileWatch, watchFiles } from "../watch-files.ts";
import { checkSettings } from "./check.ts";
import { locateSettings } from "./locate.ts";
import { frozen, resolveSettings } from "./resolve.ts";
import type { Settings, SettingsInput } from "./schema.ts";
import { memorySource, type SettingsSource } from "./source.ts";
import {
  isUnsettled,
  judge,
  nothingKnown,
  readSource,
  type SettingsProblem,
  type SettingsScope,
  type Standing,
} from "./standing.ts";

export interface SettingsManagerOptions {
  /** Whether the person trusts the project, so that all of its settings count. Default false. */
  projectTrusted?: boolean;
  /** Follow changes of the files, as long as somebody listens. Default true. */
  watch?: boolean;
  fileSystem?: FileSystem;
  clock?: Clock;
  ids?: Ids;
}

/** Something is different now: a setting, or what is wrong with them. */
export interface SettingsChange {
  readonly settings: Settings;
  readonly problems: readonly SettingsProblem[];
  /** The settings that are different, by their first name, such as `retry`. */
  readonly changed: readonly (keyof Settings)[];
}

/** One that throws is reported as a problem; the others are called all the same. */
export type SettingsListener = (change: SettingsChange) => void;

/** How long a file may be broken, or gone, before that is what it is and not somebody saving it. */
const settleMs = 500;

const scopes = ["global", "project"] as const;

interface Parts {
  readonly sources: Readonly<Record<SettingsScope, SettingsSource>>;
  /** To be watched. */
  readonly files: readonly string[];
  readonly trusted: boolean;
  readonly clock: Clock;
}

export class SettingsManager {
  readonly #parts: Parts;
  readonly #listeners = new Listeners<SettingsChange>((error) =>
    this.#trouble("listener_failed", `A listener for settings failed: ${getErrorMessage(error)}`),
  );
  #standings: Readonly<Record<SettingsScope, Standing>> = { global: nothingKnown, project: nothingKnown };
  #settings: Settings;
  /** What is wrong with something else than the content of the files. */
  #troubles: readonly SettingsProblem[] = [];
  /** Work on the files. */
  readonly #queue = new SerialQueue();
  #watch: FileWatch | undefined;
  #cancelSecondLook: () => void = () => {};

  private constructor(parts: Parts, global: Standing = nothingKnown) {
    this.#parts = parts;
    this.#standings = { global, project: nothingKnown };
    this.#settings = this.#resolve();
  }

  /**
   * The settings in `<agentDir>/settings.json` and in `.tau/settings.json` of a project. `agentDir` is `TAU_DIR`, else
   * `~/.tau`. Damaged files never make it fail: see `problems`.
   */
  static async create(
    cwd: string,
    agentDir: string = defaultAgentDir(),
    options: SettingsManagerOptions = {},
  ): Promise<SettingsManager> {
    const {
      projectTrusted: trusted = false,
      watch = true,
      fileSystem = nodeFileSystem,
      clock = systemClock,
      ids = systemIds,
    } = options;
    const { sources, files } = locateSettings(cwd, agentDir, { fileSystem, clock, ids });
    const manager = new SettingsManager({ sources, files: watch ? files : [], trusted, clock });
    await manager.reload();
    return manager;
  }

  /** Settings without files. Throws `HarnessError` `invalid_input` for what a settings file may not say. */
  static inMemory(settings: SettingsInput = {}, options: Pick<SettingsManagerOptions, "clock"> = {}): SettingsManager {
    const values = checked(settings, true);
    const cwd = process.cwd();
    const place = { directory: cwd, cwd, home: homedir() };
    const sources = {
      global: memorySource(place, JSON.stringify(values)),
      project: memorySource(place),
    };
    const parts = { sources, files: [], trusted: true, clock: options.clock ?? systemClock };
    return new SettingsManager(parts, { values, problems: [], isThere: true });
  }

  /** What counts: everything filled in, frozen. Another object whenever something is different. */
  get(): Settings {
    return this.#settings;
  }

  /** What the person's own file says, without its mistakes. Frozen. */
  getGlobal(): SettingsInput {
    return frozen(this.#standings.global.values) as SettingsInput;
  }

  /** What the project's file says, without its mistakes and without what waits for trust. Frozen. */
  getProject(): SettingsInput {
    return frozen(this.#standings.project.values) as SettingsInput;
  }

  /** What is wrong now, in the order of the files. */
  get problems(): readonly SettingsProblem[] {
    return [...this.#standings.global.problems, ...this.#standings.project.problems, ...this.#troubles];
  }

  /**
   * Changes a file: objects are merged, lists replaced, null written as the default, and undefined takes a setting out. What
   * others have changed in the meantime stays, and so do comments. Resolves when it is on the disk and counts.
   *
   * Throws `HarnessError`: `invalid_input` for a change that is a mistake, `write_failed` when the file is damaged,
   * locked by another process for long, or the disk refuses. The file is whole then, and as a rule as it was.
   */
  async update(scope: SettingsScope, changes: SettingsInput): Promise<void> {
    const source = this.#parts.sources[scope];
    checked(changes, this.#isTrusted(scope));
    await this.#queue.add(async () => {
      await source.rewrite(async (text) => {
        if (text.trim() !== "") await mustBeWhole(source.file, text);
        return await editText(text, changes);
      });
      await this.#look({ isPatient: true });
    });
  }

  /** Reads both files now. What it finds broken is told at once. */
  async reload(): Promise<void> {
    await this.#queue.add(() => this.#look({ isPatient: false }));
  }

  /** Calls `listener` after every change, also by other programs, until the function that comes back is called. */
  subscribe(listener: SettingsListener): () => void {
    const remove = this.#listeners.add(listener);
    if (!this.#watch && this.#parts.files.length > 0) this.#watch = this.#startWatch();
    return () => {
      remove();
      if (this.#listeners.size === 0) this.#stopWatch();
    };
  }

  /** Forgets all listeners, and waits for what is being read or written. */
  async close(): Promise<void> {
    this.#listeners.clear();
    this.#stopWatch();
    await this.#queue.whenIdle();
    this.#cancelSecondLook();
  }

  #startWatch(): FileWatch {
    return watchFiles(this.#parts.files, {
      clock: this.#parts.clock,
      onChange: () => void this.#queue.add(() => this.#look({ isPatient: true })),
      onTrouble: (message) => {
        this.#trouble("unwatched", `${message} Changes count after a reload.`);
      },
    });
  }

  #stopWatch(): void {
    this.#watch?.close();
    this.#watch = undefined;
    this.#cancelSecondLook();
  }

  /** Reads both files. A patient look at a broken file changes nothing and comes back to it. */
  async #look({ isPatient }: { isPatient: boolean }): Promise<void> {
    this.#cancelSecondLook();
    const { sources, clock } = this.#parts;
    const standings = { ...this.#standings };
    let isSettled = true;
    for (const scope of scopes) {
      const before = standings[scope];
      const reading = await readSource(sources[scope]);
      if (isPatient && isUnsettled(before, reading)) isSettled = false;
      else
        standings[scope] = judge(before, reading, {
          scope,
          file: sources[scope].file,
          trusted: this.#isTrusted(scope),
        });
    }
    if (!isSettled && this.#watch) {
      const again = () => void this.#queue.add(() => this.#look({ isPatient: false }));
      this.#cancelSecondLook = clock.setTimer(settleMs, again);
    }
    this.#publish(standings);
  }

  #publish(standings: Readonly<Record<SettingsScope, Standing>>): void {
    const before = { settings: this.#settings, problems: this.problems };
    this.#standings = standings;
    const settings = this.#resolve();
    const { problems } = this;
    const names = Object.keys(settings) as (keyof Settings)[];
    const changed = names.filter((name) => !isSame(settings[name], before.settings[name]));
    if (changed.length > 0) this.#settings = settings;
    else if (isSame(problems, before.problems)) return;
    this.#listeners.emit({ settings: this.#settings, problems, changed });
  }

  #trouble(kind: SettingsProblem["kind"], message: string): void {
    const { file } = this.#parts.sources.global;
    if (this.#troubles.some((known) => known.message === message)) return;
    this.#troubles = [...this.#troubles, { kind, scope: "global", file, line: 1, column: 1, key: "", message }];
  }

  #resolve(): Settings {
    const { sources } = this.#parts;
    return resolveSettings(
      scopes.map((scope) => ({ values: this.#standings[scope].values, place: sources[scope].place })),
    );
  }

  #isTrusted(scope: SettingsScope): boolean {
    return scope === "global" || this.#parts.trusted;
  }
}

/** The same settings without their mistakes, of which there may be none. */
function checked(settings: SettingsInput, trusted: boolean): SettingsInput {
  const { values, mistakes } = checkSettings(defined(settings), { trusted });
  if (mistakes.length === 0) return values;
  throw new HarnessError("invalid_input", mistakes.map(({ message }) => message).join("\n"));
}

/** In a change, undefined is no value but takes one out; whether there is such a setting is asked all the same. */
function defined(value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value === undefined ? null : value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, defined(inner)]));
}

async function mustBeWhole(file: string, text: string): Promise<void> {
  const parsed = await parseJsonDocument(text);
  if (parsed.kind === "document") return;
  const { line, column } = parsed.position;
  const where = `${file}:${line}:${column}`;
  throw new HarnessError("write_failed", `${where}: ${parsed.message} Mend the file first; it was not changed.`);
}

const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);
