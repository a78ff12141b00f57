/**
 * Instructions of directories below the working directory, and in directories that were added to the workspace, which the model gets
 * when a call first touches a file there.
 */
import { dirname, relative } from "node:path";
import type { AgentMessage } from "@tau/agent";
import type { TextContent } from "@tau/ai";
import { enclose, escapeText } from "@tau/config/internal";
import type { ResourceLoader } from "@tau/config/resources";
import { isWithin } from "@tau/tools/platform";

interface NearbyParts {
  readonly cwd: string;
  /** Lists the directories that were added to the workspace. */
  readonly listAdded: () => readonly string[];
  /** Whether the user trusts what such a directory says to the model. */
  readonly isTrusted: (directory: string) => Promise<boolean>;
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
    const { cwd, listAdded, isTrusted, readContextFile, getMessages, report } = this.#parts;
    if (!readContextFile) return undefined;
    const messages = getMessages();
    // A compaction, or a move in the tree, may have taken them out of the context.
    if (messages !== this.#messages) this.#seen = new Set();
    this.#messages = messages;
    const added = listAdded();
    const findAdded = (path: string) => added.find((root) => isWithin(root, path));
    const directories = [
      ...new Set(
        paths.flatMap((path) => [...listDirectories(path, cwd), ...listAddedDirectories(path, findAdded(path))]),
      ),
    ];
    const texts: string[] = [];
    for (const directory of directories.filter((each) => !this.#seen.has(each)).slice(0, maxDirectories)) {
      this.#seen.add(directory);
      const root = isWithin(cwd, directory) ? undefined : findAdded(directory);
      const project = root === undefined ? undefined : { cwd: root, isTrusted: () => isTrusted(root) };
      const { value: file, problems } = await readContextFile(directory, project);
      if (problems.length > 0) report(problems);
      // The call itself may have read it.
      if (!file || paths.includes(file.path) || isShown(file.path, messages)) continue;
      texts.push(enclose("instructions", { path: file.path }, file.content.trim()));
    }
    if (texts.length === 0) return undefined;
    const intro = "There are instructions for files below this directory. Follow them there:";
    return { type: "text", text: [intro, ...texts].join("\n\n") };
  }
}

/** The directories from the one below `cwd` to that of a file. Pure. */
function listDirectories(path: string, cwd: string): string[] {
  const directories: string[] = [];
  for (let directory = dirname(path); directory !== cwd && isWithin(cwd, directory); directory = dirname(directory)) {
    // What programs have put there is not the project's.
    if (relative(cwd, directory).split(/[/\\]/).includes("node_modules")) continue;
    directories.unshift(directory);
  }
  return directories;
}

/** The directories from one that was added to that of a file. Pure. */
const listAddedDirectories = (path: string, root: string | undefined): string[] =>
  root === undefined ? [] : [root, ...listDirectories(path, root)];

function isShown(path: string, messages: readonly AgentMessage[]): boolean {
  const tag = `<instructions path="${escapeText(path)}">`;
  return messages.some(
    (message) =>
      message.role === "toolResult" &&
      message.content.some((block) => block.type === "text" && block.text.includes(tag)),
  );
}
