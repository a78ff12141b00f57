/** The registrations of a server that ask the client to pull diagnostics: pyright makes them after the handshake. */
import { isRecord } from "@tau/ai/internal";

const pullMethod = "textDocument/diagnostic";
const maxRegistrations = 100;
const maxIdLength = 1_000;

export class DiagnosticRegistrations {
  /** The options of each, by its id, the newest last. */
  readonly #options = new Map<string, Readonly<Record<string, unknown>>>();

  /** The options of the newest one; undefined if there is none. */
  get current(): Readonly<Record<string, unknown>> | undefined {
    return [...this.#options.values()].at(-1);
  }

  /** Takes the parameters of `client/registerCapability`. */
  add(registrations: unknown): void {
    if (!Array.isArray(registrations)) return;
    for (const registration of registrations as unknown[]) {
      const { id, method, registerOptions } = isRecord(registration) ? registration : {};
      if (method !== pullMethod || typeof id !== "string" || id.length > maxIdLength) continue;
      if (this.#options.size >= maxRegistrations) return;
      this.#options.set(id, isRecord(registerOptions) ? registerOptions : {});
    }
  }

  /** Takes the parameters of `client/unregisterCapability`. */
  remove(registrations: unknown): void {
    if (!Array.isArray(registrations)) return;
    for (const registration of registrations as unknown[])
      if (isRecord(registration) && typeof registration["id"] === "string") this.#options.delete(registration["id"]);
  }
}
