/** The settings of the user and of a project: reads, merges, changes and watches their files. */
import { homedir } from "node:os";
import { type Clock, type Ids, systemClock, systemIds } from "@tau/ai";
import { getErrorMessage, isRecord, Listeners, SerialQueue } from "@tau/ai/internal";
import { type FileSystem, nodeFileSystem } from "@tau/tools/platform";
import { HarnessError } from "@tau/protocol";
import { defaultAgentDir } from "../files/agent-dir.ts";
import { createCheck, fn } from "../fields/arguments.ts";
import { jsonObject, oneOf, text } from "../fields/kinds.ts";
import { formatFileProblem } from "../files/file-problem.ts";
import { parseJsonDocument } from "../json/document.ts";
import { editText } from "../json/edit.ts";
import { type FileWatch, watchFiles } from "../files/watch-files.ts";
import { type CheckOptions, checkSettings } from "./check.ts";
import {
  getScope,
  type LocatedSettings,
  locateSettings,
  type SettingsLayerName,
  settingsLayers,
  settingsScopes,
} from "./locate.ts";
import {
  mergeInputs,
  resolveGivenSetting,
  resolveRestrictions,
  resolveSettings,
  type SettingsLayer,
  toFrozen,
} from "./resolve.ts";
import {
  createSettingsTable,
  type Restrictions,
  type Settings,
  type SettingsInput,
  type SettingsTable,
  type WithSettings,
} from "./schema.ts";
import { type RunSettings, toRunLayers } from "./run-settings.ts";
import { createMemorySource } from "./source.ts";
import {
  type FileContent,
  type FileState,
  mayBeIncomplete,
  mayLoosen,
  noFile,
  readSource,
  type SettingsProblem,
  type SettingsScope,
  updateState,
} from "./file-state.ts";

export interface SettingsManagerOptions {
  /** Whose files are read and written. Settings of others are in memory. Default: those of the user and of the project. */
  scopes?: readonly SettingsScope[];
  /** Whether the user trusts the project, so that all of its settings apply. Default false. */
  projectTrusted?: boolean;
  /** The features whose settings may be in the files. Default: none. */
  features?: readonly WithSettings[];
  /** Settings of the user for this run, each over the ones before it and all over the files. Default: none. */
  runSettings?: readonly RunSettings[];
  /** Whether the files are watched while there are listeners. Default true. */
  watch?: boolean;
  fileSystem?: FileSystem;
  clock?: Clock;
  ids?: Ids;
}

/** Settings or problems that are different now. */
export interface SettingsChange {
  readonly settings: Settings;
  readonly problems: readonly SettingsProblem[];
  /** The settings that are different, by their first name, such as `retry`. */
  readonly changed: readonly (keyof Settings)[];
  /** Whether the project is trusted now and was not before, or the other way round. */
  readonly trustChanged: boolean;
}

/** Called after a change. An error that it throws is reported in `problems`. */
export type SettingsListener = (change: SettingsChange) => void;

/** Whether the files of the project are those that the user trusted. */
type TrustCheck = () => Promise<boolean>;

/** How long a file may be damaged or missing while an editor saves it. */
const maxSaveMs = 500;

type States = Readonly<Record<SettingsLayerName, FileState>>;

const noFiles: States = { global: noFile, pi: noFile, project: noFile };

interface ReadOptions {
  isPatient: boolean;
  /** Whether trust in the project is left as it is. Default false. */
  keepsTrust?: boolean;
  /** Default: as it is now. */
  wasTrusted?: boolean;
}

interface Parts extends LocatedSettings {
  /** Over the files. */
  readonly runLayers: readonly SettingsLayer[];
  readonly clock: Clock;
  readonly table: SettingsTable;
}

const checkArguments = createCheck({
  cwd: text,
  agentDir: text,
  options: jsonObject,
  listener: fn,
  scope: oneOf("global", "project"),
});

export class SettingsManager {
  readonly #parts: Parts;
  readonly #listeners = new Listeners<SettingsChange>((error) =>
    this.#addProblem("listener_failed", `A listener for settings failed: ${getErrorMessage(error)}`),
  );
  #states: States;
  #settings: Settings;
  #restrictions: Restrictions;
  /** Problems that are not about the content of the files. */
  #otherProblems: readonly SettingsProblem[] = [];
  /** Work on the files. */
  readonly #queue = new SerialQueue();
  /** Whether the project's settings that execute or redirect apply. */
  #isProjectTrusted: boolean;
  #checkTrust: TrustCheck | undefined;
  #watch: FileWatch | undefined;
  #cancelSecondRead: () => void = () => {};

  private constructor(parts: Parts, isProjectTrusted: boolean, states: States) {
    this.#parts = parts;
    this.#isProjectTrusted = isProjectTrusted;
    this.#states = states;
    const layers = this.#getLayers();
    this.#settings = resolveSettings(layers, parts.table);
    this.#restrictions = resolveRestrictions(layers);
  }

  /**
   * The settings in `<agentDir>/settings.json`, and in `.tau/settings.json` over `.pi/settings.json` of a project.
   * `agentDir` is `TAU_DIR`, else `~/.tau`. Does not fail for damaged files: see `problems` and `mustBeWhole`. Throws
   * `HarnessError` `invalid_input` for `runSettings` that are not valid.
   */
  static async create(
    cwd: string,
    agentDir: string = defaultAgentDir(),
    options: SettingsManagerOptions = {},
  ): Promise<SettingsManager> {
    checkArguments({ cwd, agentDir, options });
    const { projectTrusted = false, watch = true, scopes = settingsScopes, runSettings = [] } = options;
    const { fileSystem = nodeFileSystem, clock = systemClock, ids = systemIds } = options;
    const { sources, files } = locateSettings({ cwd, agentDir, scopes }, { fileSystem, clock, ids });
    const contents = await readSources(sources);
    const table = createSettingsTable(options.features);
    const runLayers = toRunLayers(runSettings, { table, cwd });
    const states = { ...noFiles };
    for (const layer of settingsLayers) {
      states[layer] = updateLayer(noFile, contents[layer], { layer, sources, table, isProjectTrusted: projectTrusted });
    }
    return new SettingsManager({ sources, files: watch ? files : [], runLayers, clock, table }, projectTrusted, states);
  }

  /**
   * Settings without files. `projectTrusted` is whether features and extensions may use what the project brings. Throws
   * `HarnessError` `invalid_input` for settings that are not valid.
   */
  static inMemory(
    settings: SettingsInput = {},
    options: Pick<SettingsManagerOptions, "clock" | "features" | "projectTrusted"> = {},
  ): SettingsManager {
    const table = createSettingsTable(options.features);
    const values = checkOrThrow(settings, { trusted: true, table });
    const cwd = process.cwd();
    const location = { directory: cwd, cwd, home: homedir() };
    const sources = {
      global: createMemorySource(location, JSON.stringify(values)),
      pi: createMemorySource(location),
      project: createMemorySource(location),
    };
    const parts = { sources, files: [], runLayers: [], clock: options.clock ?? systemClock, table };
    return new SettingsManager(parts, options.projectTrusted ?? false, {
      ...noFiles,
      global: { ...noFile, values, exists: true },
    });
  }

  /** The settings that apply, with all defaults. Frozen; a new object whenever a setting changes. */
  get(): Settings {
    return this.#settings;
  }

  /** All settings that the files may have, with those of features. */
  get table(): SettingsTable {
    return this.#parts.table;
  }

  get isProjectTrusted(): boolean {
    return this.#isProjectTrusted;
  }

  /**
   * Counts all of the project's settings from now on, or only those that need no trust. With `check`, its answer decides
   * from then on, each time that files are read.
   */
  async setProjectTrusted(isTrusted: boolean, check?: TrustCheck): Promise<void> {
    // In the queue: the check of a read that has begun before would replace the answer.
    await this.#queue.add(async () => {
      const wasTrusted = this.#isProjectTrusted;
      this.#isProjectTrusted = isTrusted;
      this.#checkTrust = check;
      await this.#read({ isPatient: false, wasTrusted });
    });
  }

  /** `isProjectTrusted` after the check, if there is one. */
  async checkProjectTrust(): Promise<boolean> {
    if (this.#checkTrust) await this.reload();
    return this.#isProjectTrusted;
  }

  /** Whether files changed after the user trusted the project. */
  get hasLostTrust(): boolean {
    return this.#checkTrust !== undefined && !this.#isProjectTrusted;
  }

  /** The valid settings in the user's own file. Frozen. */
  getGlobal(): SettingsInput {
    return toFrozen(this.#states.global.values);
  }

  /** The valid settings in the project's files, without those that need trust. Frozen. */
  getProject(): SettingsInput {
    return toFrozen(mergeInputs(this.#states.pi.values, this.#states.project.values) as SettingsInput);
  }

  /** The settings of the user for this run alone. They are never written. Frozen. */
  getRun(): SettingsInput {
    const merged = this.#parts.runLayers.reduce<unknown>((under, { values }) => mergeInputs(under, values), {});
    return toFrozen(merged as SettingsInput);
  }

  /**
   * Returns a setting of the user alone, or of the project alone, with absolute paths and without its default: for lists in
   * which both apply. Frozen.
   */
  getGiven<Name extends keyof Settings>(scope: SettingsScope, name: Name): Settings[Name] | undefined {
    const layers = this.#getLayers().filter(({ isProject }) => isProject === (scope === "project"));
    return resolveGivenSetting(layers, name);
  }

  /** Returns what the project makes stricter, if it is trusted. Frozen. */
  getRestrictions(): Restrictions {
    return this.#restrictions;
  }

  /** Settings of pi in the files that have no effect, by their dotted names. */
  get ignored(): readonly string[] {
    return [...new Set(settingsLayers.flatMap((layer) => this.#states[layer].ignored))];
  }

  /** The current problems, in the order of the files. */
  get problems(): readonly SettingsProblem[] {
    return [...settingsLayers.flatMap((layer) => this.#states[layer].problems), ...this.#otherProblems];
  }

  /**
   * Throws `HarnessError` `invalid_input` if a file cannot be read whole, or if one of its settings that restrict a session
   * is wrong. A session is not started with such settings. Those of a project that is not trusted are ignored instead.
   */
  mustBeWhole(): void {
    const counts = ({ scope }: SettingsProblem) => scope === "global" || this.#isProjectTrusted;
    const problem = this.problems.find((each) => counts(each) && mayLoosen(each));
    if (!problem) return;
    const { scope, file } = problem;
    const command = `: tau config edit${scope === "project" ? " --project" : ""}`;
    const isOurs = this.#parts.sources[scope].file === file;
    const advice = `tau does not start, because a setting that restricts it could be missing. Correct the file${isOurs ? command : "."}`;
    throw new HarnessError("invalid_input", `${formatFileProblem(problem)} ${advice}`);
  }

  /**
   * Changes a file: objects are merged, lists replaced, null is written and stands for the default, and undefined removes a
   * setting. Comments and changes by other programs are kept. Resolves when the change is on disk and applies.
   *
   * Throws `HarnessError`: `invalid_input` for a change that is not valid; `write_failed` if the file is damaged, another
   * process keeps its lease, or the disk refuses. The file is never left half written.
   *
   * `around` is called with what writes the file. `changes` that depend on the settings are a function: it is called while
   * no other process writes the file and these settings are those of the file, and again if an editor saved meanwhile.
   */
  async update(
    scope: SettingsScope,
    changes: SettingsInput | (() => SettingsInput),
    around: (write: () => Promise<void>) => Promise<void> = (write) => write(),
  ): Promise<void> {
    checkArguments({ scope });
    const { table } = this.#parts;
    const source = this.#parts.sources[scope];
    const check = (input: SettingsInput) =>
      checkOrThrow(input, {
        trusted: isTrusted(scope, this.#isProjectTrusted),
        isProject: scope === "project",
        table,
      });
    if (typeof changes !== "function") check(changes);
    await this.#queue.add(async () => {
      await around(() =>
        source.rewrite(async (text) => {
          if (text.trim() !== "") await refuseDamaged(source.file, text);
          if (typeof changes !== "function") return await editText(text, changes);
          // Among the files of the project is the lease now, so they are not those that the user trusted.
          await this.#read({ isPatient: false, keepsTrust: true });
          const current = changes();
          check(current);
          return await editText(text, current);
        }),
      );
      await this.#read({ isPatient: true });
    });
  }

  /** Reads the files now. A damaged file is reported at once. */
  async reload(): Promise<void> {
    await this.#queue.add(() => this.#read({ isPatient: false }));
  }

  /** Calls `listener` after every change, also by other programs. Returns a function that ends that. */
  subscribe(listener: SettingsListener): () => void {
    checkArguments({ listener });
    const remove = this.#listeners.add(listener);
    if (!this.#watch && this.#parts.files.length > 0) this.#watch = this.#startWatch();
    return () => {
      remove();
      if (this.#listeners.size === 0) this.#stopWatch();
    };
  }

  /** Removes all listeners, and waits until nothing is being read or written. */
  async close(): Promise<void> {
    this.#listeners.clear();
    this.#stopWatch();
    await this.#queue.whenIdle();
    this.#cancelSecondRead();
  }

  #startWatch(): FileWatch {
    return watchFiles(this.#parts.files, {
      clock: this.#parts.clock,
      onChange: () => void this.#queue.add(() => this.#read({ isPatient: true })),
      onError: (message) => {
        this.#addProblem("unwatched", `${message} Changes take effect after a reload.`);
      },
    });
  }

  #stopWatch(): void {
    this.#watch?.close();
    this.#watch = undefined;
    this.#cancelSecondRead();
  }

  /** Reads the files. If it is patient, a file that may be half saved is left as it was and read again later. */
  async #read({ isPatient, keepsTrust = false, wasTrusted = this.#isProjectTrusted }: ReadOptions): Promise<void> {
    this.#cancelSecondRead();
    const { sources, clock, table } = this.#parts;
    const states = { ...this.#states };
    let isComplete = true;
    const contents = await readSources(sources);
    // Not before: what was read has to be what the user trusted.
    if (this.#checkTrust && !keepsTrust) this.#isProjectTrusted = await this.#checkTrust();
    const isProjectTrusted = this.#isProjectTrusted;
    for (const layer of settingsLayers) {
      const [before, content] = [states[layer], contents[layer]];
      if (isPatient && mayBeIncomplete(before, content)) isComplete = false;
      else states[layer] = updateLayer(before, content, { layer, sources, table, isProjectTrusted });
    }
    if (!isComplete && this.#watch) {
      const again = () => void this.#queue.add(() => this.#read({ isPatient: false }));
      this.#cancelSecondRead = clock.setTimer(maxSaveMs, again);
    }
    this.#publish(states, this.#isProjectTrusted !== wasTrusted);
  }

  #publish(states: States, trustChanged: boolean): void {
    const before = { settings: this.#settings, restrictions: this.#restrictions, problems: this.problems };
    this.#states = states;
    const layers = this.#getLayers();
    const settings = resolveSettings(layers, this.#parts.table);
    this.#restrictions = resolveRestrictions(layers);
    const { problems } = this;
    const names = Object.keys(settings) as (keyof Settings)[];
    const get = (values: object, name: string) => (values as Record<string, unknown>)[name];
    const isChanged = (name: keyof Settings) =>
      !isSame(settings[name], before.settings[name]) ||
      !isSame(get(this.#restrictions, name), get(before.restrictions, name));
    const changed = names.filter(isChanged);
    if (changed.length > 0) this.#settings = settings;
    else if (!trustChanged && isSame(problems, before.problems)) return;
    this.#listeners.emit({ settings: this.#settings, problems, changed, trustChanged });
  }

  #addProblem(kind: SettingsProblem["kind"], message: string): void {
    const { file } = this.#parts.sources.global;
    if (this.#otherProblems.some((known) => known.message === message)) return;
    const problem = { kind, scope: "global", file, line: 1, column: 1, key: "", message } as const;
    this.#otherProblems = [...this.#otherProblems, problem];
  }

  #getLayers(): SettingsLayer[] {
    const { sources, runLayers } = this.#parts;
    const files = settingsLayers.map((layer) => ({
      values: this.#states[layer].values,
      location: sources[layer].location,
      isProject: getScope(layer) === "project",
    }));
    return [...files, ...runLayers];
  }
}

type Sources = LocatedSettings["sources"];

async function readSources(sources: Sources): Promise<Record<SettingsLayerName, FileContent>> {
  const [global, pi, project] = await Promise.all([
    readSource(sources.global),
    readSource(sources.pi),
    readSource(sources.project),
  ]);
  return { global, pi, project };
}

/** Computes the new state of a layer from its file. Pure. */
function updateLayer(
  before: FileState,
  content: FileContent,
  { layer, sources, table, isProjectTrusted }: LayerOptions,
): FileState {
  const scope = getScope(layer);
  const { file } = sources[layer];
  return updateState(before, content, { scope, file, table, trusted: isTrusted(scope, isProjectTrusted) });
}

interface LayerOptions {
  layer: SettingsLayerName;
  sources: Sources;
  table: SettingsTable;
  isProjectTrusted: boolean;
}

const isTrusted = (scope: SettingsScope, isProjectTrusted: boolean): boolean => scope === "global" || isProjectTrusted;

/** A copy of valid settings. */
function checkOrThrow(settings: SettingsInput, options: CheckOptions): SettingsInput {
  const { values, errors } = checkSettings(replaceUndefined(settings), options);
  if (errors.length === 0) return values;
  throw new HarnessError("invalid_input", errors.map(({ message }) => message).join("\n"));
}

/** In a change, undefined removes a setting; the check of its name is the same as for null. */
function replaceUndefined(value: unknown): unknown {
  if (!isRecord(value)) return value === undefined ? null : value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, replaceUndefined(inner)]));
}

async function refuseDamaged(file: string, text: string): Promise<void> {
  const parsed = await parseJsonDocument(text);
  if (parsed.kind === "document") return;
  const message = `${parsed.message} Correct the file first; it was not changed.`;
  throw new HarnessError("write_failed", formatFileProblem({ file, ...parsed.position, message }));
}

const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);
