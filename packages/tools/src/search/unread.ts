/** Lists the files that a search could not read, from ripgrep's error messages. */

export interface Unread {
  /** The first few, as ripgrep calls them, each with the system's reason. */
  readonly first: readonly { path: string; reason: string }[];
  readonly count: number;
}

export interface Complaints {
  push(chunk: Buffer): void;
  readonly unread: Unread;
  /** Messages that are not about a single file: why ripgrep did not begin. Bounded. */
  readonly reason: string;
}

const maxNamed = 5;
const maxReasonLength = 4_096;
/** No path is longer. */
const maxLineLength = 8_192;

/** Parses messages as they come, however many there are. */
export function createComplaints(): Complaints {
  const first: Unread["first"][number][] = [];
  let count = 0;
  let reason = "";
  let pending = "";
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  const take = (line: string) => {
    const complaint = parseComplaint(line);
    if (!complaint) {
      if (reason.length < maxReasonLength) reason += `${line}\n`;
      return;
    }
    count++;
    if (first.length < maxNamed) first.push(complaint);
  };
  return {
    push(chunk) {
      const lines = `${pending}${decoder.decode(chunk, { stream: true })}`.split("\n");
      pending = lines.pop()!.slice(0, maxLineLength);
      for (const line of lines) take(line);
    },
    get unread() {
      return { first, count };
    },
    get reason() {
      return `${reason}${pending}`.slice(0, maxReasonLength).replace(/^rg: /, "").trim();
    },
  };
}

/** `rg: PATH: REASON (os error N)`, with a remark of the walker in between. */
function parseComplaint(line: string): { path: string; reason: string } | undefined {
  const [, path, reason] = /^(?:rg: )?(.+): (.+) \(os error \d+\)$/.exec(line) ?? [];
  if (path === undefined || reason === undefined) return undefined;
  return { path: path.split(": IO error for operation on ", 1)[0]!, reason };
}

/** For the model; empty when nothing is missing. */
export function describeUnread({ first, count }: Unread, show: (path: string) => string): string {
  if (count === 0) return "";
  const named = first.map(({ path, reason }) => `${show(path)} (${reason})`);
  const others = count - first.length;
  return `[Could not be read, so not searched: ${named.join(", ")}${others > 0 ? ` and ${others} more` : ""}.]`;
}
