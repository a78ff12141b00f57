/** A text begins like a command, and neither the page nor the session knows it. */
export class UnknownCommand extends Error {
  override readonly name = "UnknownCommand";
}
