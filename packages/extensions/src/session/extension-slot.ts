/** The place of a session where its extensions are: a reload puts others there, and what the surface and the host share stays. */
import type { ExtensionEvent, SessionEnd } from "../api/events.ts";
import type { LoadedFeature } from "../api/feature.ts";
import { ExtensionError } from "../errors.ts";
import type { SessionExtensions } from "./session-extensions.ts";
import type { ExtensionHost, ExtensionSurface } from "./surface.ts";

export type SessionStart = Omit<ExtensionEvent<"session_start">, "type">;

/** Loads the extensions as they are now, and after them the features; undefined if there are none. */
type LoadExtensions = (
  start: SessionStart,
  features: readonly LoadedFeature[],
) => Promise<SessionExtensions | undefined>;

/** Connects extensions with their session. */
type BindExtensions = (extensions: SessionExtensions) => Promise<void>;

export class ExtensionSlot {
  readonly #load: LoadExtensions;
  #current: SessionExtensions | undefined;
  #surface: ExtensionSurface | undefined;
  #host: ExtensionHost | undefined;
  #detach = () => {};
  /** Counts reloads and the end. One that another has followed puts nothing into the slot any more. */
  #round = 0;
  #start: SessionStart = { reason: "startup" };
  #isClosed = false;
  #bind: BindExtensions = async () => {};
  readonly #firstListeners = new Set<() => void | Promise<void>>();
  /** The features that are loaded; a reload keeps them. */
  #features: readonly LoadedFeature[] = [];
  /** Settle when the last feature is added and the last reload is over. Neither begins before the other ends. */
  #adding: Promise<unknown> = Promise.resolve();
  #reloading: Promise<unknown> = Promise.resolve();

  constructor(load: LoadExtensions) {
    this.#load = load;
  }

  get current(): SessionExtensions | undefined {
    return this.#current;
  }

  setHost(host: ExtensionHost): void {
    this.#host = host;
    this.#current?.setHost(host);
  }

  /** Dialogs and widgets of extensions go to this surface, also of those that a reload brings. */
  async attach(surface: ExtensionSurface): Promise<() => void> {
    this.#surface = surface;
    await this.#attachCurrent();
    return () => {
      if (this.#surface !== surface) return;
      this.#surface = undefined;
      this.#detach();
    };
  }

  /** Loads them for the first time, before there is a session. */
  async open(start: SessionStart): Promise<void> {
    this.#start = start;
    this.#current = await this.#load(start, []);
  }

  /** Connects those that are there with the session, and later those that a reload or `add` brings. */
  async bind(bind: BindExtensions): Promise<void> {
    this.#bind = bind;
    if (this.#current) await bind(this.#current);
  }

  /**
   * Adds a feature to a session that is open, also if it has no extensions. `starts`: the session has begun, so that the feature
   * has to be started too. Rejects if its factory fails.
   */
  add(feature: LoadedFeature, starts: boolean): Promise<void> {
    const before = Promise.all([this.#adding, this.#reloading]);
    const added = before.then(() => this.#add(feature, starts));
    this.#adding = added.catch(() => {});
    return added;
  }

  /**
   * Calls `listener` when a feature brings extensions into a session that had none, before they start: a surface attaches then.
   * Returns how to stop.
   */
  onFirst(listener: () => void | Promise<void>): () => void {
    this.#firstListeners.add(listener);
    return () => void this.#firstListeners.delete(listener);
  }

  async #add(feature: LoadedFeature, starts: boolean): Promise<void> {
    this.#mustBeOpen();
    if (this.#current) await this.#current.add(feature);
    else await this.#addFirst(feature, starts);
    this.#features = [...this.#features, feature];
  }

  async #addFirst(feature: LoadedFeature, starts: boolean): Promise<void> {
    const loaded = await this.#load(this.#start, [feature]);
    if (this.#isClosed) await loaded?.abandon();
    this.#mustBeOpen();
    this.#current = loaded;
    if (!loaded) return;
    await this.#bind(loaded);
    if (this.#host) loaded.setHost(this.#host);
    await Promise.all([...this.#firstListeners].map((listener) => listener()));
    if (this.#surface && !loaded.surface) await this.#attachCurrent();
    else if (starts) await loaded.start();
    const problem = loaded.problems.find(({ extension }) => extension === feature.name);
    if (problem) throw new ExtensionError("failed", problem.message);
  }

  #mustBeOpen(): void {
    if (this.#isClosed) throw new ExtensionError("closed", "The session was closed.");
  }

  /** Ends those that are there and loads them again. */
  async reload(): Promise<void> {
    const round = ++this.#round;
    const work = this.#adding.then(() => this.#reload(round));
    this.#reloading = Promise.allSettled([this.#reloading, work]);
    await work;
  }

  async #reload(round: number): Promise<void> {
    const before = this.#current;
    await before?.close({ reason: "reload" }, "The extensions were reloaded.");
    if (round !== this.#round) return;
    this.#detach();
    this.#surface?.reset?.();
    const loaded = await this.#load({ reason: "reload" }, this.#features);
    if (round !== this.#round) return await loaded?.abandon();
    this.#current = loaded;
    if (!loaded) return;
    await this.#bind(loaded);
    if (round !== this.#round) return;
    if (this.#host) loaded.setHost(this.#host);
    if (this.#surface) await this.#attachCurrent();
    else if (before?.isStarted) await loaded.start();
  }

  /** Ends them. A reload that runs brings no others. */
  async close(event: SessionEnd, why: string): Promise<void> {
    this.#round++;
    this.#isClosed = true;
    await this.#current?.close(event, why);
  }

  async #attachCurrent(): Promise<void> {
    const [current, surface] = [this.#current, this.#surface];
    if (current && surface) this.#detach = await current.attach(surface);
  }
}
