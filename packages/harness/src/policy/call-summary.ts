/** What a call would do, for a person who is asked. Pure. */
import { type JudgedCall, patchedPaths, getText } from "./call-requests.ts";

const maxCharacters = 300;

type Words = Readonly<Record<string, (call: JudgedCall) => string | undefined>>;

const about =
  (verb: string, missing?: string) =>
  ({ args }: JudgedCall): string | undefined => {
    const path = getText(args, "path") ?? missing;
    return path === undefined ? undefined : `${verb} ${path}`;
  };

const searched =
  (verb: string) =>
  ({ args }: JudgedCall): string =>
    `${verb} ${getText(args, "path") ?? "."} for ${getText(args, "pattern") ?? "?"}`;

const words: Words = {
  read: about("Read"),
  ls: about("List", "."),
  grep: searched("Search"),
  find: searched("Look in"),
  write({ args }) {
    const [path, content] = [getText(args, "path"), getText(args, "content")];
    if (path === undefined || content === undefined) return undefined;
    return `Write ${content.length} ${content.length === 1 ? "character" : "characters"} to ${path}`;
  },
  edit: about("Change"),
  hashline_edit: about("Change"),
  hashline_patch({ args }) {
    const paths = patchedPaths(args).filter((path) => path !== undefined);
    return paths.length === 0 ? undefined : `Change ${[...new Set(paths)].join(", ")}`;
  },
  bash({ args }) {
    const command = getText(args, "command");
    return command === undefined ? undefined : `Run ${command}`;
  },
};

/** One line of at most 300 characters, in which nothing is hidden but what was cut. */
export function summariseCall(call: JudgedCall): string {
  const said = Object.hasOwn(words, call.name) ? words[call.name]?.(call) : undefined;
  return oneLine(said ?? `Call ${call.name} with ${JSON.stringify(call.args) ?? "nothing"}`, maxCharacters);
}

/** `text` with everything that cannot be seen, breaks a line or turns the direction of reading written out. */
export function oneLine(text: string, most: number): string {
  // Not outside: making it takes longer than all else here, and few runs need it.
  const hidden = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;
  // Cut twice: writing out makes it longer, and a long text need not be written out to its end.
  const shown = text.slice(0, most + 1).replaceAll(hidden, writtenOut);
  return shown.length > most ? `${shown.slice(0, most - 1)}…` : shown;
}

function writtenOut(character: string): string {
  if (character === "\n") return "\\n";
  if (character === "\t") return "\\t";
  return `\\u{${character.codePointAt(0)!.toString(16)}}`;
}
