import { describeUnknownCommand } from "@tau/protocol";

/** A text begins like a command, and neither the page nor the session knows it. */
export class UnknownCommand extends Error {
  override readonly name = "UnknownCommand";

  /** `has` says whether the page has a command. */
  constructor(command: string, has: (name: string) => boolean) {
    super(describeUnknownCommand(command, has));
  }
}
