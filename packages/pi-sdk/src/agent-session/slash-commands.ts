/** Runs and expands what a prompt begins with: commands of extensions, prompt templates and skills. */
import { getErrorMessage } from "@tau/ai/internal";
import type { SlashCommandData } from "@tau/protocol";
import type { RegisteredCommand } from "../extensions/extension.ts";
import type { CurrentRunner } from "./current-runner.ts";
import { expandPrompt } from "./expand-prompt.ts";
import { listCommands } from "./list-commands.ts";
import type { ResourceSource } from "./resource-source.ts";

interface CommandParts {
  extensions: CurrentRunner;
  resourceLoader: ResourceSource;
}

export class SlashCommands {
  readonly #parts: CommandParts;

  constructor(parts: CommandParts) {
    this.#parts = parts;
  }

  list(): SlashCommandData[] {
    const { extensions, resourceLoader } = this.#parts;
    return listCommands({
      commands: extensions.runner.getRegisteredCommandsWithPaths(),
      templates: resourceLoader.getPrompts().prompts,
      skills: resourceLoader.getSkills().skills,
    });
  }

  /** Runs the command of an extension that the text calls. False if it calls none. */
  async tryRun(text: string): Promise<boolean> {
    const { extensions } = this.#parts;
    const call = this.#find(text);
    if (!call) return false;
    try {
      await call.command.handler(call.args, extensions.runner.createCommandContext());
    } catch (error) {
      const extensionPath = `command:${call.command.name}`;
      extensions.runner.emitError({ extensionPath, event: "command", error: getErrorMessage(error) });
    }
    return true;
  }

  /** Throws for a text that calls a command of an extension, since those cannot wait in a queue. */
  refuse(text: string): void {
    const call = this.#find(text);
    if (!call) return;
    const name = `Extension command "/${call.command.name}"`;
    throw new Error(`${name} cannot be queued. Use prompt() or execute the command when not streaming.`);
  }

  /** Replaces a template or a skill at the beginning of a text by its content. */
  expand(text: string): string {
    const { extensions, resourceLoader } = this.#parts;
    return expandPrompt(text, {
      skills: resourceLoader.getSkills().skills,
      templates: resourceLoader.getPrompts().prompts,
      onUnreadable: ({ filePath }, error) =>
        extensions.runner.emitError({ extensionPath: filePath, event: "skill_expansion", error }),
    });
  }

  #find(text: string): { command: RegisteredCommand; args: string } | undefined {
    const match = /^\/(\S+)\s*([\s\S]*)$/.exec(text);
    const command = match && this.#parts.extensions.runner.getCommand(match[1]!);
    return command ? { command, args: match[2] ?? "" } : undefined;
  }
}
