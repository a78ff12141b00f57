/** A call in one line: the name of its tool and what it is about. */

const telling = ["command", "path", "file_path", "pattern", "url", "query", "name"];

/** The most telling argument; of several lines, the first. */
export function getCallSubject(input: Readonly<Record<string, unknown>>): string {
  const key = telling.find((name) => typeof input[name] === "string") ?? Object.keys(input)[0];
  const value = key === undefined ? undefined : input[key];
  if (typeof value !== "string") return "";
  const [first = "", ...rest] = value.trim().split("\n");
  return rest.length === 0 ? first : `${first} …`;
}

/** Of arguments that are still arriving, as JSON: what is readable of the most telling one. */
export function getPartialSubject(json: string): string {
  for (const name of telling) {
    const match = new RegExp(`"${name}"\\s*:\\s*"((?:[^"\\\\]|\\\\.)*)`).exec(json);
    if (match) return match[1]!.replaceAll(/\\n[\s\S]*/g, " …").replaceAll(/\\(.)/g, "$1");
  }
  return "";
}
