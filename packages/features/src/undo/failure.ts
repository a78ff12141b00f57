/** An expected failure of undo, with a sentence for people. */
export class UndoError extends Error {
  override readonly name = "UndoError";
}
