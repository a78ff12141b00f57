/** The data for a footer of an extension, and the line of status texts in ours. */
import { type Theme, truncateToWidth } from "@tau/tui";
import { toStyledLine } from "./safe-text.ts";
import { describeFailure } from "./guarded-component.ts";

export class FooterData {
  readonly #getBranch: () => string | undefined;
  readonly #statuses = new Map<string, string>();
  readonly #listeners = new Set<() => void>();
  #lastBranch: string | undefined;
  #providerCount = 0;

  constructor(getBranch: () => string | undefined) {
    this.#getBranch = getBranch;
  }

  /** Null outside a repository. */
  getGitBranch(): string | null {
    return this.#getBranch() ?? null;
  }

  getExtensionStatuses(): ReadonlyMap<string, string> {
    return this.#statuses;
  }

  /** Returns the number of providers whose models can be used. */
  getAvailableProviderCount(): number {
    return this.#providerCount;
  }

  /** Returns how to stop. */
  onBranchChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Undefined removes it. */
  setStatus(key: string, text: string | undefined): void {
    if (text === undefined) this.#statuses.delete(key);
    else this.#statuses.set(key, toStyledLine(text));
  }

  setProviderCount(count: number): void {
    this.#providerCount = count;
  }

  /** Before each frame. A listener that fails is reported to `onFailed`, and not called again. */
  update(onFailed: (message: string) => void): void {
    const branch = this.#getBranch();
    if (branch === this.#lastBranch) return;
    this.#lastBranch = branch;
    for (const listener of this.#listeners) {
      try {
        listener();
      } catch (error) {
        this.#listeners.delete(listener);
        onFailed(describeFailure("A branch listener of an extension", error));
      }
    }
  }

  clear(): void {
    this.#statuses.clear();
    this.#listeners.clear();
  }

  /** Draws one line, by key; none without any. */
  drawStatuses(theme: Theme, width: number): string[] {
    if (this.#statuses.size === 0) return [];
    const texts = [...this.#statuses].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, text]) => text);
    return [truncateToWidth(theme.fg("dim", texts.join(" ")), width, theme.fg("dim", "…"))];
  }
}
