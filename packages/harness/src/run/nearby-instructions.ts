/** Instructions of directories below the working directory, which the model gets when a call first touches a file there. */
import { dirname, relative } from "node:path";
import type { AgentMessage } from "@tau/agent";
import type { TextContent } from "@tau/ai";
import { enclose, escapeText } from "@tau/config/internal";
import type { ResourceLoader } from "@tau/config/resources";
import { isWithin } from "@tau/tools/platform";

interface NearbyParts {
  readonly cwd: string;
  readonly readContextFile: ResourceLoader["readContextFile"];
  /** The messages of the conversation. Another list whenever the conversation was read again. */
  readonly getMessages: () => readonly AgentMessage[];
  readonly report: (problems: ResourceLoader["problems"]) => void;
}

/** Directories of one call that are looked at. */
const maxDirectories = 16;

export class NearbyInstructions {
  readonly #parts: NearbyParts;
  /** Directories that were looked at since the conversation was read. */
  #seen = new Set<string>();
  #messages: readonly AgentMessage[] | undefined;

  constructor(parts: NearbyParts) {
    this.#parts = parts;
  }

  /** Undefined if the model has them all. */
  async find(paths: readonly string[]): Promise<TextContent | undefined> {
    const { cwd, readContextFile, getMessages, report } = this.#parts;
    if (!readContextFile) return undefined;
    const messages = getMessages();
    // A compaction, or a move in the tree, may have taken them out of the context.
    if (messages !== this.#messages) this.#seen = new Set();
    this.#messages = messages;
    const directories = [...new Set(paths.flatMap((path) => listDirectories(path, cwd)))];
    const texts: string[] = [];
    for (const directory of directories.filter((each) => !this.#seen.has(each)).slice(0, maxDirectories)) {
      this.#seen.add(directory);
      const { value: file, problems } = await readContextFile(directory);
      if (problems.length > 0) report(problems);
      // The call itself may have read it.
      if (!file || paths.includes(file.path) || isShown(file.path, messages)) continue;
      texts.push(enclose("instructions", { path: file.path }, file.content.trim()));
    }
    if (texts.length === 0) return undefined;
    const intro = "The project has instructions for files below this directory. Follow them there:";
    return { type: "text", text: [intro, ...texts].join("\n\n") };
  }
}

/** The directories from the one below `cwd` to that of a file. Pure. */
export function listDirectories(path: string, cwd: string): string[] {
  const directories: string[] = [];
  for (let directory = dirname(path); directory !== cwd && isWithin(cwd, directory); directory = dirname(directory)) {
    // What programs have put there is not the project's.
    if (relative(cwd, directory).split(/[/\\]/).includes("node_modules")) continue;
    directories.unshift(directory);
  }
  return directories;
}

function isShown(path: string, messages: readonly AgentMessage[]): boolean {
  const tag = `<instructions path="${escapeText(path)}">`;
  return messages.some(
    (message) =>
      message.role === "toolResult" &&
      message.content.some((block) => block.type === "text" && block.text.includes(tag)),
  );
}
