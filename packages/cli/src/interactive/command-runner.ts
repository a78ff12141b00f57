/** Runs what is typed after a slash. */
import { findCommandHere } from "@tau/protocol/surface";
import { askUnknown } from "./commands/unknown.ts";
import type { EditorSlot } from "./editor-slot.ts";
import type { LazyExtensions } from "./extensions/lazy-extensions.ts";
import type { Interface } from "./interface.ts";
import type { SessionFacts } from "./session-facts.ts";
import { terminalCommands } from "./slash-commands.ts";

interface CommandRunnerOptions {
  ui: Interface;
  editor: EditorSlot;
  extensions: LazyExtensions;
  facts: SessionFacts;
}

export class CommandRunner {
  readonly #options: CommandRunnerOptions;

  constructor(options: CommandRunnerOptions) {
    this.#options = options;
  }

  /**
   * Resolves to whether nothing is left to send. Templates and skills are not commands of ours: the session expands them. A word
   * that neither of us knows is sent only if the user says so; a text of several words may begin with a slash.
   */
  readonly run = async (name: string, argument: string): Promise<boolean> => {
    const { ui, editor, extensions, facts } = this.#options;
    if (extensions.current?.hasCommand(name)) return false;
    const command = findCommandHere(terminalCommands, name);
    if (!command && argument === "") {
      const answer = await askUnknown(ui, name);
      if (answer.kind === "run") return await this.run(answer.name, "");
      if (answer.kind === "edit" && editor.getText() === "") editor.setText(`/${name}`);
      if (answer.kind === "edit") return true;
    }
    if (command) {
      await command.run(ui, argument);
      await facts.refresh();
    }
    await extensions.attachFirst();
    return command !== undefined;
  };
}
