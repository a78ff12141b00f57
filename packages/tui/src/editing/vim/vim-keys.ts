/** The keys of vim in an editor: what is typed becomes keys of the state machine. */
import { matchesKey } from "../../keys/match.ts";
import {
  initialVimState,
  pressVimKey,
  usesEscape,
  type VimMode,
  type VimResult,
  type VimState,
  type VimText,
} from "./vim.ts";

const named = ["escape", "ctrl+r", "backspace"] as const;

export class VimKeys {
  #state: VimState = initialVimState;

  get mode(): VimMode {
    return this.#state.mode;
  }

  /** Begins again in insert mode. What was copied, and the last change, stay. */
  reset(): void {
    this.#state = { ...this.#state, mode: "insert", keys: [], current: undefined };
  }

  /** Whether a key does something here that goes before what the program does with it. */
  takes(data: string, document: VimText): boolean {
    if (matchesKey(data, "escape")) return this.mode === "insert" ? document.text !== "" : usesEscape(this.#state);
    return this.mode !== "insert" && matchesKey(data, "ctrl+r");
  }

  /** `typed` is the text that the key types. */
  press(data: string, typed: string | undefined, document: VimText): VimResult {
    const key = named.find((name) => matchesKey(data, name)) ?? typed ?? "other";
    const result = pressVimKey(this.#state, document, key);
    this.#state = result.state;
    return result;
  }
}
