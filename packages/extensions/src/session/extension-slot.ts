/** The place of a session where its extensions are: a reload puts others there, and what the surface and the host share stays. */
import type { ExtensionEvent, SessionEnd } from "../api/events.ts";
import type { SessionExtensions } from "./session-extensions.ts";
import type { ExtensionHost, ExtensionSurface } from "./surface.ts";

export type SessionStart = Omit<ExtensionEvent<"session_start">, "type">;

/** Loads the extensions as they are now; undefined if there are none. */
type LoadExtensions = (start: SessionStart) => Promise<SessionExtensions | undefined>;

export class ExtensionSlot {
  readonly #load: LoadExtensions;
  #current: SessionExtensions | undefined;
  #surface: ExtensionSurface | undefined;
  #host: ExtensionHost | undefined;
  #detach = () => {};
  /** Counts reloads and the end. One that another has followed puts nothing into the slot any more. */
  #round = 0;

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
    this.#current = await this.#load(start);
  }

  /** Ends those that are there and loads them again. `bind` connects the new ones with the session. */
  async reload(bind: (extensions: SessionExtensions) => Promise<void>): Promise<void> {
    const round = ++this.#round;
    const before = this.#current;
    await before?.close({ reason: "reload" }, "The extensions were reloaded.");
    if (round !== this.#round) return;
    this.#detach();
    this.#surface?.reset?.();
    const loaded = await this.#load({ reason: "reload" });
    if (round !== this.#round) return await loaded?.abandon();
    this.#current = loaded;
    if (!loaded) return;
    await bind(loaded);
    if (round !== this.#round) return;
    if (this.#host) loaded.setHost(this.#host);
    if (this.#surface) await this.#attachCurrent();
    else if (before?.isStarted) await loaded.start();
  }

  /** Ends them. A reload that runs brings no others. */
  async close(event: SessionEnd, why: string): Promise<void> {
    this.#round++;
    await this.#current?.close(event, why);
  }

  async #attachCurrent(): Promise<void> {
    const [current, surface] = [this.#current, this.#surface];
    if (current && surface) this.#detach = await current.attach(surface);
  }
}
