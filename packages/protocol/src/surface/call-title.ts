/** Describes a tool call in one line. No tool is known by its name. Pure. */
import { countPlaces, parsePlaces } from "../code-places.ts";
import { type Fields, getNumber, getText, toFields } from "./fields.ts";

/** Arguments that say best what a call is about, in this order. */
const subjectNames = ["command", "path", "file_path", "pattern", "url", "query", "name"];

/** Finds the argument that says best what a call is about. If it has several lines, returns the first. */
export function getCallSubject(input: Fields): string {
  const { action, id, text } = input;
  const writing = action === "write" && typeof id === "string" && typeof text === "string";
  const key = subjectNames.find((name) => typeof input[name] === "string") ?? Object.keys(input)[0];
  const value = writing ? `write to job ${id}: ${text}` : key === undefined ? undefined : input[key];
  if (typeof value !== "string") return "";
  const [first = "", ...rest] = value.trim().split("\n");
  return rest.length === 0 ? first : `${first} …`;
}

/** Finds the subject in arguments that are still arriving, as JSON: what is readable of it so far. */
export function getPartialSubject(json: string): string {
  for (const name of subjectNames) {
    const match = new RegExp(`"${name}"\\s*:\\s*"((?:[^"\\\\]|\\\\.)*)`).exec(json);
    if (match) return match[1]!.replaceAll(/\\n[\s\S]*/g, " …").replaceAll(/\\(.)/g, "$1");
  }
  return "";
}

/** Limits what is read of an argument that is arriving, as JSON: it is read again for each frame. */
const maxPartialLength = 32_000;

/** Reads an argument in arguments that are still arriving, as JSON: what is readable of it so far, or the last lines of much. */
export function getPartialText(json: string, name: "code" | "language"): string {
  const match = new RegExp(`"${name}"\\s*:\\s*"([^"\\\\]*(?:\\\\.[^"\\\\]*)*)`).exec(json);
  const written = match?.[1] ?? "";
  // An escape may be cut: what is left of its line is not shown.
  const end = written.length <= maxPartialLength ? written : written.slice(-maxPartialLength).replace(/^.*?\\n/, "");
  return end.replaceAll(/\\(?:u([0-9a-f]{4})|u.{0,3}$|(.))/gi, (_escape, code?: string, letter?: string) =>
    code === undefined ? (escapes[letter ?? ""] ?? letter ?? "") : String.fromCharCode(Number.parseInt(code, 16)),
  );
}

const escapes: Readonly<Record<string, string>> = { n: "\n", t: "\t", r: "\r", b: "\b", f: "\f" };

/** Lists the remarks that follow the title of a finished call: how many places, a new file, an exit code other than 0, a signal. */
export function listOutcomeNotes(details: unknown, isError: boolean): string[] {
  const { isNew, exitCode, signal } = toFields(details);
  const code = getNumber(exitCode);
  const places = parsePlaces(details);
  return [
    places.places.length > 0 && !isError ? countPlaces(places) : "",
    isNew === true && !isError ? "new" : "",
    code !== undefined && code !== 0 ? `exit ${code}` : "",
    getText(signal),
  ].filter((note) => note !== "");
}

/** Lists the diffs in the details of a tool's result, of one file or of several. */
export function getDiffs(details: unknown): string[] {
  const { diff, files } = toFields(details);
  const all = [diff, ...(Array.isArray(files) ? files.map((file) => toFields(file)["diff"]) : [])];
  return all.filter((text): text is string => typeof text === "string" && text !== "");
}
