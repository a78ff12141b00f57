/** A text begins like a command, and neither the page nor the session knows it. */
export class UnknownCommand extends Error {
  override readonly name = "UnknownCommand";

  constructor(command: string) {
    super(`There is no command /${command} here. /help shows those that there are.`);
  }
}
