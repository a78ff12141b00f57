/** Asks a terminal to distinguish keys that all terminals once sent alike, such as Enter with and without Shift. */
import { setKittyProtocolActive } from "../keys/match.ts";
import { isPartialAnswer } from "../keys/sequence.ts";

/** Kitty: 1 distinguishes keys, 2 reports repeats and releases, 4 reports the shifted key and the key's place. */
const pushKitty = "\x1b[>7u";
const popKitty = "\x1b[<u";
const askKitty = "\x1b[?u";
/** Every terminal answers this. If it does so without an answer to `askKitty`, it does not know Kitty's protocol. */
const askAttributes = "\x1b[c";
const setOtherKeys = "\x1b[>4;2m";
const resetOtherKeys = "\x1b[>4;0m";

const kittyAnswer = /^\x1b\[\?(\d+)u$/;
const attributesAnswer = /^\x1b\[\?[\d;]*c$/;

export class KeyboardProtocol {
  readonly #write: (data: string) => void;
  #state: "off" | "asked" | "kitty" | "otherKeys" = "off";
  /** Whether the answer to the last question is still to come. */
  isWaiting = false;
  /** Called when it has come. */
  onAnswered: (() => void) | undefined;

  constructor(write: (data: string) => void) {
    this.#write = write;
  }

  get isKitty(): boolean {
    return this.#state === "kitty";
  }

  get isOtherKeys(): boolean {
    return this.#state === "otherKeys";
  }

  /** `others` are questions of somebody else. Their answers have come, or never do, when all is answered. */
  ask(others = ""): void {
    this.#state = "asked";
    this.isWaiting = true;
    this.#write(pushKitty + askKitty + others + askAttributes);
  }

  /** Whether the input is an answer, or a part of one that never came whole, and so not for the application. */
  takeAnswer(data: string): boolean {
    const flags = kittyAnswer.exec(data)?.[1];
    if (flags !== undefined) this.#choose(flags === "0" ? "otherKeys" : "kitty");
    else if (attributesAnswer.test(data)) {
      this.isWaiting = false;
      if (this.#state === "asked") this.#choose("otherKeys");
      this.onAnswered?.();
    } else return isPartialAnswer(data);
    return true;
  }

  /** Leaves the terminal's keyboard as it was. */
  restore(): void {
    if (this.#state === "off") return;
    this.#write(popKitty + (this.#state === "otherKeys" ? resetOtherKeys : ""));
    this.#state = "off";
    setKittyProtocolActive(false);
  }

  #choose(state: "kitty" | "otherKeys"): void {
    if (this.#state === "off" || this.#state === state) return;
    if (state === "otherKeys") this.#write(setOtherKeys);
    // The answer to an earlier question can come between the answers to this one.
    else if (this.#state === "otherKeys") this.#write(resetOtherKeys);
    this.#state = state;
    setKittyProtocolActive(state === "kitty");
  }
}
