/** A document that is edited: undo, redo, and the texts that were cut. */
import {
  createDocument,
  getRange,
  insertText,
  isBefore,
  isSame,
  type Position,
  replaceRange,
  type TextDocument,
} from "./document.ts";
import { addKill, emptyKillRing, type Kill, rotateKills } from "./kill-ring.ts";
import { dropPaste, restorePastes } from "./paste-markers.ts";
import { UndoHistory } from "./undo.ts";

/** The last key's action, if the next one may continue with it. */
type LastAction = { kind: "none" | "type" | "kill" } | { kind: "yank"; from: Position };

type Find = (document: TextDocument) => Position;

const none: LastAction = { kind: "none" };

export class TextEditing {
  #document: TextDocument = createDocument();
  readonly #undo = new UndoHistory();
  #kills = emptyKillRing;
  #last: LastAction = none;

  get document(): TextDocument {
    return this.#document;
  }

  /** Moves the cursor, or does something else that cannot be undone. */
  set(document: TextDocument): void {
    this.#document = document;
    this.#last = none;
  }

  /** Like `set`, and what was before cannot come back. */
  reset(document: TextDocument): void {
    this.set(document);
    this.#undo.clear();
  }

  /** Makes a change that is one step of undo. */
  change(document: TextDocument): void {
    this.#undo.begin(this.#document);
    this.set(document);
  }

  /** A word that is typed is one step of undo, together with the blank before it. */
  type(text: string): void {
    if (this.#last.kind !== "type" || /\s/.test(text)) this.#undo.begin(this.#document);
    this.#document = insertText(this.#document, text);
    this.#last = { kind: "type" };
  }

  /** Deletes from the cursor to what `find` gives. The paste of a marker that is deleted backward is forgotten. */
  delete(find: Find): void {
    const { from, to, isBackward } = this.#getRangeTo(find);
    if (isSame(from, to)) return this.set(this.#document);
    const rest = replaceRange(this.#document, from, to, "");
    this.change(isBackward ? dropPaste(rest, getRange(this.#document, from, to)) : rest);
  }

  /** Deletes, and keeps the text for `yank`. */
  kill(find: Find): void {
    const { from, to, isBackward } = this.#getRangeTo(find);
    if (isSame(from, to)) return;
    const join = this.#last.kind === "kill" ? (isBackward ? "before" : "after") : undefined;
    const { pastes } = this.#document;
    this.#kills = addKill(this.#kills, { text: getRange(this.#document, from, to), pastes }, join);
    this.change(replaceRange(this.#document, from, to, ""));
    this.#last = { kind: "kill" };
  }

  #getRangeTo(find: Find) {
    const { cursor } = this.#document;
    const target = find(this.#document);
    const isBackward = isBefore(target, cursor);
    return { from: isBackward ? target : cursor, to: isBackward ? cursor : target, isBackward };
  }

  /** Inserts the text that was cut last. */
  yank(): void {
    const kill = this.#kills.kills.at(-1);
    if (kill) this.#insertKill(kill, this.#document.cursor);
  }

  /** After `yank`: puts the text that was cut before in its place. */
  yankPop(): void {
    if (this.#last.kind !== "yank" || this.#kills.kills.length < 2) return;
    this.#kills = rotateKills(this.#kills);
    this.#insertKill(this.#kills.kills.at(-1) as Kill, this.#last.from);
  }

  /** In the place of what is between `from` and the cursor. */
  #insertKill(kill: Kill, from: Position): void {
    const { text, pastes } = restorePastes(this.#document.pastes, kill.text, kill.pastes);
    this.change(replaceRange({ ...this.#document, pastes }, from, this.#document.cursor, text));
    this.#last = { kind: "yank", from };
  }

  undo(): void {
    this.set(this.#undo.undo(this.#document) ?? this.#document);
  }

  redo(): void {
    this.set(this.#undo.redo(this.#document) ?? this.#document);
  }
}
