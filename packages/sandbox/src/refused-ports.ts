/** Which port of loopback a failed command was refused at, as programs print it. Pure. */

const refusedMessage =
  /connection ?refused|ECONNREFUSED|(?:couldn't|could not|can't|cannot|failed to|unable to) connect/i;
const loopback = /\blocalhost\b|\b127\.0\.0\.1\b|::1\b/i;
/** `127.0.0.1:5432`, `port 5432`, `port=5432`, `/dev/tcp/localhost/5432`. */
const port = /(?:localhost|127\.0\.0\.1|::1\]?)['")]*[:/](\d{1,5})\b|\bport['"]?[ =:]+(\d{1,5})\b/gi;

/** Whether it is worth to look which servers there are. */
export const mayBeRefused = (output: string): boolean => refusedMessage.test(output);

/** Says nothing rather than something that may be wrong: only ports of `outer` are reported, where a server really listens. */
export function findRefusedPorts(output: string, outer: readonly number[]): number[] {
  if (outer.length === 0) return [];
  const lines = output.split("\n").filter((line) => refusedMessage.test(line) && loopback.test(line));
  const named = lines.flatMap((line) => [...line.matchAll(port)].map((match) => Number(match[1] ?? match[2])));
  return [...new Set(named)].filter((each) => outer.includes(each));
}
